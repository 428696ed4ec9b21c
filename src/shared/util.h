/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "shared/macro.h"

/* Microseconds of CLOCK_MONOTONIC, the clock of every time that headgate keeps: it counts from the start of the
 * machine and all programs of one boot share it. */
#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC UINT64_C(1000000)
#define USEC_INFINITY UINT64_MAX
#define now_usec() clock_usec(CLOCK_MONOTONIC)

/* Microseconds since 1970: the clock of file times, which somebody may set at any moment. */
#define now_realtime_usec() clock_usec(CLOCK_REALTIME)

/* Reads any clock, which has to exist. */
uint64_t clock_usec(clockid_t clock);

/* From one time to another; 0 if the first is not known. */
static inline uint64_t usec_between(uint64_t from, uint64_t to)
{
        return from > 0 && to > from ? to - from : 0;
}

/* Reads `size` bytes (at most SSIZE_MAX) at `offset`, which may be any number. Returns how many there were
 * before the end, or a negative errno. */
ssize_t read_at(int fd, void *buffer, size_t size, uint64_t offset) _nonnull_all_ _must_check_;

/* Reads the whole of a small file below `dir_fd` (AT_FDCWD for a plain path). `*ret`, to be freed by the caller,
 * ends with a NUL that is not counted in `*ret_size`; `ret_size` may be NULL. Returns 0 or a negative errno;
 * -EFBIG above 16 MiB, -EISDIR or -EBADFD for what is no regular file. */
int read_file_at(int dir_fd, const char *path, char **ret, size_t *ret_size) _nonnull_(2, 3) _must_check_;

/* Opens a directory; NULL, with errno, if it cannot be. To be given back with closedir(). */
DIR *open_directory_at(int dir_fd, const char *path) _nonnull_all_ _must_check_;

/* Whether the path is that of the directory, or of something in it. */
bool path_is_at_or_below(const char *path, const char *directory) _nonnull_all_;

/* Each name in it but those that begin with "."; NULL is a directory without any. */
#define FOREACH_ENTRY(name, directory) for (const char *name; (name = directory_read(directory));)
const char *directory_read(DIR *directory);

/* Where a symbolic link leads, as it is written. Returns 1 and `*ret`, to be freed by the caller; 0 if there is none; or
 * -ENOMEM. */
int read_link_at(int dir_fd, const char *path, char **ret) _nonnull_all_ _must_check_;

/* Whether a unit or a file of rules is masked: the path is a link to /dev/null (systemd.unit(5), udev(7)). */
bool is_masked_at(int dir_fd, const char *path) _nonnull_all_;

/* Replaces the file `name`, below `dir_fd` or absolute, as a whole: readers see the old or the new content, never a part, and a
 * killed writer leaves at most a file named ".NAME.new", which the next writer reuses. Returns 0 or a negative
 * errno. Only root may read it, or, by the second one, whom `mode` lets. */
#define write_file_atomic_at(dir_fd, name, content) write_file_with_mode_at(dir_fd, name, content, 0600)
int write_file_with_mode_at(
        int dir_fd, const char *name, const char *content, mode_t mode) _nonnull_all_ _must_check_;

/* Writes all of `data`, whatever the number of write() calls. Returns 0 or a negative errno. */
int write_all(int fd, const void *data, size_t size) _must_check_;

/* Lets this process, and those that it starts, have as many files open as its hard limit says: 524288 with systemd,
 * where the usual limit is 1024 for the sake of programs that use select(), as headgate does nowhere. */
void allow_many_files(void);

/* A whole string as an unsigned decimal number; -EINVAL for anything else, -ERANGE if it does not fit. */
int parse_u64(const char *string, uint64_t *ret) _nonnull_all_ _must_check_;
int parse_u32(const char *string, uint32_t *ret) _nonnull_all_ _must_check_;

/* The same of "MAJOR:MINOR", a block device's number, of which MAJOR is never 0. Returns 0, -EINVAL or -ENOMEM. */
int parse_device_number(const char *string, dev_t *ret) _nonnull_all_ _must_check_;

/* Durations and times are written into `ret`, which is returned; or into a string that is there until the end of the block. */
#define TIME_SIZE 48
#define DURATION_TO_STRING(usec) format_duration(usec, (char[TIME_SIZE]){})
#define SHORT_DURATION_TO_STRING(usec) format_short_duration(usec, (char[TIME_SIZE]){})
#define LOCAL_TIME_TO_STRING(seconds) format_local_time(seconds, (char[TIME_SIZE]){})

/* "250ms", "4.2s", "2min 6s": as short as a table wants it. */
char *format_duration(uint64_t usec, char ret[static TIME_SIZE]);

/* "146us", "22.2ms", "352ms", "1.3s", rounded, and from a minute on as above: for what may be very short. */
char *format_short_duration(uint64_t usec, char ret[static TIME_SIZE]);

/* Seconds since 1970 as "2026-01-31 12:00:00" in local time, "" for a time that has no date. */
char *format_local_time(int64_t seconds, char ret[static TIME_SIZE]);

/* Makes room for one more element of an array that starts as NULL and grows by nothing else: `need` is one more each time.
 * Returns the array, or NULL without memory, and then it is as it was. */
#define GREEDY_REALLOC(array, need) ((typeof(array)) greedy_realloc((void **) &(array), need, sizeof((array)[0])))
void *greedy_realloc(void **array, size_t need, size_t element_size) _nonnull_all_ _must_check_;

/* Appends an element that is no list in braces. Returns 0 or -ENOMEM. */
#define APPEND(array, n, element) (GREEDY_REALLOC(array, (n) + 1) ? ((array)[(n)++] = (element), 0) : -ENOMEM)

/* As qsort(); an empty array may be NULL. */
#define SORT(array, n, compare)                                                                                   \
        do {                                                                                                      \
                if ((n) > 1)                                                                                      \
                        qsort(array, n, sizeof((array)[0]), compare);                                             \
        } while (0)

/* Compares strings, or structs that begin with one, as qsort() and bsearch() want it. */
int compare_strings(const void *a, const void *b) _nonnull_all_;
/* Likewise of uint64_t. */
int compare_numbers(const void *a, const void *b) _nonnull_all_;

/* A string that is written as a file. Starts empty: all zeros. */
struct memstream {
        FILE *file;
        char *text;
        size_t size;
};

/* Returns the file, which is the memstream's, or NULL without memory. */
FILE *memstream_open(struct memstream *stream) _nonnull_all_ _must_check_;
/* Ends it. Returns 0 and the string, to be freed by the caller, with a NUL that `*ret_size`, which may be NULL, does not
 * count; or -ENOMEM. */
int memstream_finish(struct memstream *stream, char **ret, size_t *ret_size) _nonnull_(1, 2) _must_check_;
void memstream_done(struct memstream *stream) _nonnull_all_;
#define _cleanup_memstream_ _cleanup_(memstream_done)

/* A string made as with printf(), to be freed by the caller; NULL without memory. */
char *string_format(const char *format, ...) _printf_(1, 2) _must_check_;

/* The same as with vprintf(). */
char *string_format_list(const char *format, va_list arguments) _nonnull_(1) _printf_(1, 0) _must_check_;

/* A path that is made for a system call. One that is cut off is longer than what the kernel takes: -ENAMETOOLONG. */
struct path {
        char text[PATH_MAX + 1];
};
struct path path_format(const char *format, ...) _printf_(1, 2);

/* What string_format_list(), or a function like it, makes of the arguments of a function with "...", of which `format` is the
 * last one before. */
#define FORMAT_ARGUMENTS(function, format)                                                                        \
        ({                                                                                                        \
                va_list _arguments;                                                                               \
                va_start(_arguments, format);                                                                     \
                char *_made = function(format, _arguments);                                                       \
                va_end(_arguments);                                                                               \
                _made;                                                                                            \
        })

/* The ending of a word that is counted: "" for one, else "s". */
static inline const char *plural(size_t n)
{
        return n == 1 ? "" : "s";
}

/* Puts `replacement`, which it takes over, in the place of a string. Returns 0, or -ENOMEM for NULL, and then the
 * string is as it was. */
int string_replace(char **string, char *replacement) _nonnull_(1) _must_check_;

/* A copy in which each byte that does not stay is written as \xNN, to be freed by the caller; NULL without memory. */
char *string_escape(const char *string, bool (*stays)(char c)) _nonnull_all_ _must_check_;

/* A copy in which each byte that is not printable ASCII is written as \xNN, to be freed by the caller; NULL
 * without memory. For names that come from elsewhere and go to a log or a terminal. */
char *string_printable(const char *string) _nonnull_all_ _must_check_;

/* Whether string_printable() would leave it as it is. */
bool string_is_printable(const char *string) _nonnull_all_;

/* The same as string_printable() of what vprintf() would print. */
char *string_format_printable(const char *format, va_list arguments) _nonnull_(1) _printf_(1, 0) _must_check_;

/* A vector of strings that ends with NULL, as execv() wants it. Starts empty: all zeros. */
struct strv {
        char **strings;
        size_t n;
};

/* Each of its strings: `string` is a pointer to it. */
#define STRV_FOREACH(string, strv) FOREACH_ARRAY(string, (strv)->strings, (strv)->n)

/* Appends a copy of `string`. Returns 0 or -ENOMEM, and then the vector is as it was. */
int strv_add(struct strv *vector, const char *string) _nonnull_all_ _must_check_;
/* The same of `string` itself, which it takes over; -ENOMEM for NULL. */
int strv_take(struct strv *vector, char *string) _nonnull_(1) _must_check_;
/* Appends copies of all of them, or of the first ones. */
int strv_add_all(struct strv *vector, const char *const *strings, size_t n) _nonnull_(1) _must_check_;
bool strv_has(const struct strv *vector, const char *string) _nonnull_all_;
/* All strings with a separator between them, to be freed by the caller; NULL without memory. */
char *strv_join(const struct strv *vector, const char *separator) _nonnull_all_ _must_check_;
void strv_done(struct strv *vector) _nonnull_all_;
#define _cleanup_strv_ _cleanup_(strv_done)

/* Each line of a text, which is taken apart and may be NULL. */
#define FOREACH_LINE(line, text) for (char *line, *line##_rest = (text); (line = strsep(&line##_rest, "\n"));)

/* Adds the paths of all in a directory whose names do not begin with ".", sorted. A slash at the beginning of `path` does not
 * count. Returns 0, also without the directory, or a negative errno. */
int list_directory_at(int dir_fd, const char *path, struct strv *ret) _nonnull_all_ _must_check_;

/* What went wrong with single entries while the rest went on: files that others wrote, and that hold more than one
 * thing. The code under src/lvm, src/shared and src/boot collects, a program logs. Starts empty: all zeros. */
struct problems {
        struct strv lines; /* one problem each, printable, without newline */
        int error;         /* the first one's negative errno; 0 as long as there is none */
};

/* Adds a line, "/etc/lvm/backup/vg7: the metadata text is malformed". `error` is a negative errno, for %m in
 * `format`, too. Names may come from anywhere: what is not printable ASCII is written as \xNN. Without memory only
 * the error is kept. */
void problems_add(struct problems *problems, int error, const char *format, ...) _nonnull_(1, 3) _printf_(3, 4);

void problems_done(struct problems *problems) _nonnull_all_;
#define _cleanup_problems_ _cleanup_(problems_done)
