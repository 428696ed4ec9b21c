/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "shared/macro.h"

/* Microseconds of CLOCK_MONOTONIC, the clock of all times of headgate: it starts at boot, and is the same for all
 * programs. */
#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC UINT64_C(1000000)
#define USEC_INFINITY UINT64_MAX
#define now_usec() clock_usec(CLOCK_MONOTONIC)

/* Microseconds since 1970: the clock of file times, which may be set at any moment. */
#define now_realtime_usec() clock_usec(CLOCK_REALTIME)

/* Reads a clock, which must exist. */
uint64_t clock_usec(clockid_t clock);

/* Time from `from` to `to`; 0 if the first is unknown. */
static inline uint64_t usec_between(uint64_t from, uint64_t to)
{
        return from > 0 && to > from ? to - from : 0;
}

/* Reads `size` bytes (at most SSIZE_MAX) at any `offset`. Returns the number of bytes before the end, or a negative
 * errno. */
ssize_t read_at(int fd, void *buffer, size_t size, uint64_t offset) _nonnull_all_ _must_check_;

/* Reads a small file below `dir_fd` (AT_FDCWD for a plain path). `*ret`, to be freed by the caller, ends with NUL,
 * which `*ret_size` does not count; `ret_size` may be NULL. Returns 0 or a negative errno; -EFBIG above 16 MiB,
 * -EISDIR or -EBADFD if it is not a regular file. */
int read_file_at(int dir_fd, const char *path, char **ret, size_t *ret_size) _nonnull_(2, 3) _must_check_;

/* Opens a directory, to be closed with closedir(); NULL and errno on error. */
DIR *open_directory_at(int dir_fd, const char *path) _nonnull_all_ _must_check_;

/* Whether the path is the directory or below it. */
bool path_is_at_or_below(const char *path, const char *directory) _nonnull_all_;

/* Walks over its names, except "." and ".."; NULL counts as empty. VGs, and so their files, may have names that begin with ".". */
#define FOREACH_ENTRY(name, directory) for (const char *name; (name = directory_read(directory));)
const char *directory_read(DIR *directory);

/* Reads a symbolic link. Returns 1 and `*ret`, to be freed by the caller; 0 if there is none; or -ENOMEM. */
int read_link_at(int dir_fd, const char *path, char **ret) _nonnull_all_ _must_check_;

/* Whether a unit or a file of rules is masked: the file is empty, or a link to /dev/null (systemd.unit(5), udev(7)). */
bool is_masked_at(int dir_fd, const char *path) _nonnull_all_;

/* Replaces the file `name`, below `dir_fd` or absolute, atomically: readers see the old or the new content. A
 * killed writer leaves at most a file ".NAME.new", which the next writer reuses. Returns 0 or a negative errno. The
 * first one makes a file that only root may read, the second one uses `mode`. */
#define write_file_atomic_at(dir_fd, name, content) write_file_with_mode_at(dir_fd, name, content, 0600)
int write_file_with_mode_at(
        int dir_fd, const char *name, const char *content, mode_t mode) _nonnull_all_ _must_check_;

/* Writes all of `data`, by several calls of write() if necessary. Returns 0 or a negative errno. */
int write_all(int fd, const void *data, size_t size) _must_check_;

/* Raises the limit of open files of this process and its children to the hard limit. With systemd that is 524288;
 * the default of 1024 exists for programs that use select(), which headgate does not. */
void allow_many_files(void);

/* Parses a string as an unsigned decimal number; -EINVAL for anything else, -ERANGE if it does not fit. */
int parse_u64(const char *string, uint64_t *ret) _nonnull_all_ _must_check_;
int parse_u32(const char *string, uint32_t *ret) _nonnull_all_ _must_check_;

/* Parses "MAJOR:MINOR", the number of a block device, whose MAJOR is never 0. Returns 0 or -EINVAL. */
int parse_device_number(const char *string, dev_t *ret) _nonnull_all_ _must_check_;

/* Formatted durations and times: written to `ret`, which is returned; or to a string that is valid until the end of
 * the block. */
#define TIME_SIZE 48
#define DURATION_TO_STRING(usec) format_duration(usec, (char[TIME_SIZE]){})
#define SHORT_DURATION_TO_STRING(usec) format_short_duration(usec, (char[TIME_SIZE]){})
#define LOCAL_TIME_TO_STRING(seconds) format_local_time(seconds, (char[TIME_SIZE]){})

/* "250ms", "4.2s", "2min 6s": short, for tables. */
char *format_duration(uint64_t usec, char ret[static TIME_SIZE]);

/* "146us", "22.2ms", "352ms", "1.3s", rounded, from a minute on as above: for durations that may be very short. */
char *format_short_duration(uint64_t usec, char ret[static TIME_SIZE]);

/* Seconds since 1970 as "2026-01-31 12:00:00" in local time; "" if there is no such date. */
char *format_local_time(int64_t seconds, char ret[static TIME_SIZE]);

/* Makes room for one more element of an array that starts as NULL; `need` grows by one each time. Returns the
 * array, or NULL without memory, with the array unchanged. */
#define GREEDY_REALLOC(array, need) ((typeof(array)) greedy_realloc((void **) &(array), need, sizeof((array)[0])))
void *greedy_realloc(void **array, size_t need, size_t element_size) _nonnull_all_ _must_check_;

/* Appends an element, which must not be a list in braces. Returns 0 or -ENOMEM. */
#define APPEND(array, n, element) (GREEDY_REALLOC(array, (n) + 1) ? ((array)[(n)++] = (element), 0) : -ENOMEM)

/* Like qsort(); an empty array may be NULL. */
#define SORT(array, n, compare)                                                                                   \
        do {                                                                                                      \
                if ((n) > 1)                                                                                      \
                        qsort(array, n, sizeof((array)[0]), compare);                                             \
        } while (0)

/* Compares strings, or structs that begin with one, for qsort() and bsearch(). */
int compare_strings(const void *a, const void *b) _nonnull_all_;
/* Likewise for uint64_t. */
int compare_numbers(const void *a, const void *b) _nonnull_all_;

/* A string that is written as a file. Initialize with zeros. */
struct memstream {
        FILE *file;
        char *text;
        size_t size;
};

/* Returns the file, owned by the memstream, or NULL without memory. */
FILE *memstream_open(struct memstream *stream) _nonnull_all_ _must_check_;
/* Ends it. Returns the string, to be freed by the caller, with a NUL that `size` does not count; NULL without memory. */
char *memstream_finish(struct memstream *stream) _nonnull_all_ _must_check_;
void memstream_done(struct memstream *stream) _nonnull_all_;
#define _cleanup_memstream_ _cleanup_(memstream_done)

/* Makes a string like printf(), to be freed by the caller; NULL without memory. */
char *string_format(const char *format, ...) _printf_(1, 2) _must_check_;

/* Likewise like vprintf(). */
char *string_format_list(const char *format, va_list arguments) _nonnull_(1) _printf_(1, 0) _must_check_;

/* A formatted path for a system call. A truncated one is longer than the kernel's limit: -ENAMETOOLONG. */
struct path {
        char text[PATH_MAX + 1];
};
struct path path_format(const char *format, ...) _printf_(1, 2);

/* Calls string_format_list(), or a similar function, with the arguments for "..."; `format` is the last one before
 * these. */
#define FORMAT_ARGUMENTS(function, format)                                                                        \
        ({                                                                                                        \
                va_list _arguments;                                                                               \
                va_start(_arguments, format);                                                                     \
                char *_made = function(format, _arguments);                                                       \
                va_end(_arguments);                                                                               \
                _made;                                                                                            \
        })

/* Plural suffix: "" for 1, else "s". */
static inline const char *plural(size_t n)
{
        return n == 1 ? "" : "s";
}

/* Replaces a string by `replacement`, and takes ownership of that. Returns 0, or -ENOMEM if that is NULL, with the
 * string unchanged. */
int string_replace(char **string, char *replacement) _nonnull_(1) _must_check_;

/* Copies a string with each byte for which `stays` is false as \xNN; to be freed by the caller, NULL without
 * memory. */
char *string_escape(const char *string, bool (*stays)(char c)) _nonnull_all_ _must_check_;

/* Copies a string with each byte that is not printable ASCII as \xNN, for foreign names in logs and on terminals.
 * To be freed by the caller; NULL without memory. */
char *string_printable(const char *string) _nonnull_all_ _must_check_;

/* Whether string_printable() would not change it. */
bool string_is_printable(const char *string) _nonnull_all_;

/* Likewise string_printable() of the output of vprintf(). */
char *string_format_printable(const char *format, va_list arguments) _nonnull_(1) _printf_(1, 0) _must_check_;

/* A vector of strings that ends with NULL, as for execv(). Initialize with zeros. */
struct strv {
        char **strings;
        size_t n;
};

/* Walks over its strings; `string` points to a pointer. */
#define STRV_FOREACH(string, strv) FOREACH_ARRAY(string, (strv)->strings, (strv)->n)

/* Appends a copy of `string`. Returns 0, or -ENOMEM with the vector unchanged. */
int strv_add(struct strv *vector, const char *string) _nonnull_all_ _must_check_;
/* Appends `string` itself, and takes ownership; -ENOMEM for NULL. */
int strv_take(struct strv *vector, char *string) _nonnull_(1) _must_check_;
/* Appends copies of all strings, or on error of the first ones. */
int strv_add_all(struct strv *vector, const char *const *strings, size_t n) _nonnull_(1) _must_check_;
bool strv_has(const struct strv *vector, const char *string) _nonnull_all_;
/* Joins all strings with a separator; to be freed by the caller, NULL without memory. */
char *strv_join(const struct strv *vector, const char *separator) _nonnull_all_ _must_check_;
void strv_done(struct strv *vector) _nonnull_all_;
#define _cleanup_strv_ _cleanup_(strv_done)

/* Walks over the lines of a text, which is modified, and may be NULL. */
#define FOREACH_LINE(line, text) for (char *line, *line##_rest = (text); (line = strsep(&line##_rest, "\n"));)

/* Adds the sorted paths of a directory's entries, with `hidden` also of names that begin with ".". A slash at the start of
 * `path` is ignored. Returns 0, also without the directory, or a negative errno. */
int list_directory_at(int dir_fd, const char *path, bool hidden, struct strv *ret) _nonnull_all_ _must_check_;

/* Errors in single entries of files, while the rest counts. The code in src/lvm, src/shared and src/boot collects
 * them, a program logs them. Initialize with zeros. */
struct problems {
        struct strv lines; /* one problem each, printable, without newline */
        int error;         /* the first negative errno; 0 for none */
};

/* Adds a line, "/etc/lvm/backup/vg7: the metadata text is malformed". `error` is a negative errno, for %m in
 * `format`, too. Bytes that are not printable ASCII are written as \xNN. Without memory only the error is kept. */
void problems_add(struct problems *problems, int error, const char *format, ...) _nonnull_(1, 3) _printf_(3, 4);

void problems_done(struct problems *problems) _nonnull_all_;
#define _cleanup_problems_ _cleanup_(problems_done)
