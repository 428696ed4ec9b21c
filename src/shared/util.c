/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Helpers: whole files, numbers, durations, formatted strings, growing arrays. */

#include "shared/util.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

/* Limit of files that are read as a whole: headgate's own, cgroup files, lvm.conf, and lvm2's metadata backups,
 * with about 200 bytes for each PV and 400 for each LV. */
#define READ_FILE_SIZE_MAX (16U * 1024 * 1024)

uint64_t clock_usec(clockid_t clock)
{
        struct timespec ts = {};

        (void) clock_gettime(clock, &ts);
        return (uint64_t) ts.tv_sec * USEC_PER_SEC + (uint64_t) ts.tv_nsec / 1000;
}

_Static_assert(sizeof(off_t) == 8, "build with -D_FILE_OFFSET_BITS=64");

ssize_t read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
        char *bytes = buffer;
        size_t done = 0;

        /* No device is that large, and pread() would fail with EINVAL. */
        if (offset > (uint64_t) INT64_MAX - size)
                return 0;

        while (done < size) {
                ssize_t n = pread(fd, bytes + done, size - done, (off_t) (offset + done));

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                done += (size_t) n;
        }
        return (ssize_t) done;
}

int read_file_at(int dir_fd, const char *path, char **ret, size_t *ret_size)
{
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *buffer = NULL;
        struct stat status;
        size_t size = 0;

        /* Opening a pipe would block, and opening a device may have side effects. */
        if (fstatat(dir_fd, path, &status, 0) < 0)
                return -errno;
        if (S_ISDIR(status.st_mode))
                return -EISDIR;
        if (!S_ISREG(status.st_mode))
                return -EBADFD;

        fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0)
                return -errno;

        for (size_t allocated = 4096;; allocated *= 2) {
                char *larger = realloc(buffer, allocated);
                ssize_t n;

                if (!larger)
                        return -ENOMEM;
                buffer = larger;
                n = read_at(fd, buffer + size, allocated - size - 1, size);
                if (n < 0)
                        return (int) n;
                size += (size_t) n;
                if (size > READ_FILE_SIZE_MAX)
                        return -EFBIG;
                if (size < allocated - 1)
                        break;
        }

        buffer[size] = '\0';
        *ret = TAKE_PTR(buffer);
        if (ret_size)
                *ret_size = size;
        return 0;
}

int write_all(int fd, const void *data, size_t size)
{
        const char *position = data;

        while (size > 0) {
                ssize_t n = write(fd, position, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                position += n;
                size -= (size_t) n;
        }
        return 0;
}

void allow_many_files(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return;
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
}

DIR *open_directory_at(int dir_fd, const char *path)
{
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *directory = fd < 0 ? NULL : fdopendir(fd);

        if (directory)
                (void) TAKE_FD(fd);
        return directory;
}

bool path_is_at_or_below(const char *path, const char *directory)
{
        const char *rest = skip_prefix(path, streq(directory, "/") ? "" : directory);

        return rest && (*rest == '\0' || *rest == '/');
}

const char *directory_read(DIR *directory)
{
        for (const struct dirent *entry; directory && (entry = readdir(directory));)
                if (!streq(entry->d_name, ".") && !streq(entry->d_name, ".."))
                        return entry->d_name;
        return NULL;
}

int list_directory_at(int dir_fd, const char *path, bool hidden, struct strv *ret)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(dir_fd, path + strspn(path, "/"));
        size_t before = ret->n;
        int r = 0;

        if (!directory)
                return errno == ENOENT ? 0 : -errno;
        FOREACH_ENTRY(name, directory)
                r = r < 0 || (!hidden && name[0] == '.') ? r : strv_take(ret, string_format("%s/%s", path, name));
        SORT(ret->strings + before, ret->n - before, compare_strings);
        return r;
}

int read_link_at(int dir_fd, const char *path, char **ret)
{
        char target[PATH_MAX];
        ssize_t length = readlinkat(dir_fd, path, target, sizeof(target));

        if (length < 0)
                return 0;
        *ret = strndup(target, (size_t) length);
        return *ret ? 1 : -ENOMEM;
}

bool is_masked_at(int dir_fd, const char *path)
{
        char target[sizeof("/dev/null")] = "";
        struct stat status;

        if (fstatat(dir_fd, path, &status, 0) >= 0 && S_ISREG(status.st_mode) && status.st_size == 0)
                return true;
        return readlinkat(dir_fd, path, target, sizeof(target)) == (ssize_t) sizeof(target) - 1 &&
               streq(target, "/dev/null");
}

int write_file_with_mode_at(int dir_fd, const char *name, const char *content, mode_t mode)
{
        const char *last = basename(name);
        struct path temporary = path_format("%.*s.%s.new", (int) (last - name), name, last);
        _cleanup_close_ int fd =
                openat(dir_fd, temporary.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        int r = fd < 0 ? -errno : write_all(fd, content, strlen(content));

        if (fd < 0)
                return r;
        if (r >= 0 && fchmod(fd, mode) < 0)
                r = -errno;
        if (r >= 0 && renameat(dir_fd, temporary.text, dir_fd, name) < 0)
                r = -errno;
        if (r < 0)
                (void) unlinkat(dir_fd, temporary.text, 0);
        return r;
}

int parse_u64(const char *string, uint64_t *ret)
{
        char *end = NULL;
        uintmax_t value;

        /* strtoumax() accepts white space and a sign, this function does not. */
        if (*string < '0' || *string > '9')
                return -EINVAL;

        errno = 0;
        value = strtoumax(string, &end, 10);
        if (*end != '\0')
                return -EINVAL;
        if (errno != 0)
                return -ERANGE;
        *ret = value;
        return 0;
}

int parse_u32(const char *string, uint32_t *ret)
{
        uint64_t value;
        int r = parse_u64(string, &value);

        if (r < 0 || value > UINT32_MAX)
                return r < 0 ? r : -ERANGE;
        *ret = (uint32_t) value;
        return 0;
}

int parse_device_number(const char *string, dev_t *ret)
{
        const char *colon = strchr(string, ':');
        uint32_t major_number, minor_number;

        if (!colon || parse_u32(path_format("%.*s", (int) (colon - string), string).text, &major_number) < 0 ||
                parse_u32(colon + 1, &minor_number) < 0 || major_number == 0)
                return -EINVAL;
        *ret = makedev(major_number, minor_number);
        return 0;
}

char *format_duration(uint64_t usec, char ret[static TIME_SIZE])
{
        uint64_t seconds = usec / USEC_PER_SEC;

        if (usec < USEC_PER_SEC)
                (void) snprintf(ret, TIME_SIZE, "%" PRIu64 "ms", usec / USEC_PER_MSEC);
        else if (seconds < 60)
                (void) snprintf(ret, TIME_SIZE, "%" PRIu64 ".%" PRIu64 "s", seconds,
                        usec % USEC_PER_SEC / (100 * USEC_PER_MSEC));
        else if (seconds < 3600)
                (void) snprintf(ret, TIME_SIZE, "%" PRIu64 "min %" PRIu64 "s", seconds / 60, seconds % 60);
        else if (seconds < 24 * 3600)
                (void) snprintf(ret, TIME_SIZE, "%" PRIu64 "h %" PRIu64 "min", seconds / 3600, seconds / 60 % 60);
        else
                (void) snprintf(
                        ret, TIME_SIZE, "%" PRIu64 "d %" PRIu64 "h", seconds / (24 * 3600), seconds / 3600 % 24);
        return ret;
}

char *format_local_time(int64_t seconds, char ret[static TIME_SIZE])
{
        time_t when = (time_t) seconds;
        struct tm local;

        /* Years beyond four digits have no date. */
        if (!localtime_r(&when, &local) || strftime(ret, sizeof("2026-01-01 00:00:00"), "%F %T", &local) == 0)
                *ret = '\0';
        return ret;
}

void *greedy_realloc(void **array, size_t need, size_t element_size)
{
        size_t n = need - 1;
        void *larger = *array;

        /* There is room up to the next power of two. */
        if ((n & (n - 1)) == 0)
                larger = reallocarray(*array, MAX(2 * n, (size_t) 1), element_size);
        if (larger)
                *array = larger;
        return larger;
}

int compare_strings(const void *a, const void *b)
{
        return strcmp(*(char *const *) a, *(char *const *) b);
}

int compare_numbers(const void *a, const void *b)
{
        return CMP(*(const uint64_t *) a, *(const uint64_t *) b);
}

FILE *memstream_open(struct memstream *stream)
{
        stream->file = open_memstream(&stream->text, &stream->size);
        return stream->file;
}

char *memstream_finish(struct memstream *stream)
{
        FILE *file = TAKE_PTR(stream->file);

        return fclose(file) == 0 ? TAKE_PTR(stream->text) : NULL;
}

void memstream_done(struct memstream *stream)
{
        fclosep(&stream->file);
        free(stream->text);
        *stream = (struct memstream){};
}

char *string_format_list(const char *format, va_list arguments)
{
        char *string;

        return vasprintf(&string, format, arguments) < 0 ? NULL : string;
}

char *string_format(const char *format, ...)
{
        return FORMAT_ARGUMENTS(string_format_list, format);
}

struct path path_format(const char *format, ...)
{
        va_list arguments;
        struct path path;

        va_start(arguments, format);
        (void) vsnprintf(path.text, sizeof(path.text), format, arguments);
        va_end(arguments);
        return path;
}

char *format_short_duration(uint64_t usec, char ret[static TIME_SIZE])
{
        uint64_t unit = usec < USEC_PER_SEC - USEC_PER_MSEC / 2 ? USEC_PER_MSEC : USEC_PER_SEC;
        uint64_t tenths = (usec + unit / 20) / (unit / 10);

        if (usec >= 60 * USEC_PER_SEC)
                return format_duration(usec, ret);
        if (usec < USEC_PER_MSEC)
                (void) snprintf(ret, TIME_SIZE, "%" PRIu64 "us", usec);
        else if (unit == USEC_PER_MSEC && tenths >= 1000)
                (void) snprintf(ret, TIME_SIZE, "%" PRIu64 "ms", (usec + unit / 2) / unit);
        else
                (void) snprintf(ret, TIME_SIZE, "%" PRIu64 ".%" PRIu64 "%s", tenths / 10, tenths % 10,
                        unit == USEC_PER_SEC ? "s" : "ms");
        return ret;
}

int string_replace(char **string, char *replacement)
{
        if (!replacement)
                return -ENOMEM;
        free(*string);
        *string = replacement;
        return 0;
}

/* Not isprint(), which depends on the locale. */
static bool is_printable(char c)
{
        return c >= ' ' && c <= '~';
}

char *string_escape(const char *string, bool (*stays)(char c))
{
        char *escaped, *end;
        size_t size = 1;

        for (const char *c = string; *c; c++)
                size += stays(*c) ? 1 : strlen("\\xNN");
        escaped = end = malloc(size);
        if (!escaped)
                return NULL;
        for (; *string; string++)
                if (stays(*string))
                        *end++ = *string;
                else
                        end += sprintf(end, "\\x%02x", (unsigned char) *string);
        *end = '\0';
        return escaped;
}

char *string_printable(const char *string)
{
        return string_escape(string, is_printable);
}

bool string_is_printable(const char *string)
{
        while (is_printable(*string))
                string++;
        return *string == '\0';
}

char *string_format_printable(const char *format, va_list arguments)
{
        _cleanup_free_ char *string = string_format_list(format, arguments);

        return string ? string_printable(string) : NULL;
}

int strv_take(struct strv *vector, char *string)
{
        /* Plus one for the final NULL. */
        if (!string || !GREEDY_REALLOC(vector->strings, vector->n + 2)) {
                free(string);
                return -ENOMEM;
        }
        vector->strings[vector->n++] = string;
        vector->strings[vector->n] = NULL;
        return 0;
}

int strv_add(struct strv *vector, const char *string)
{
        return strv_take(vector, strdup(string));
}

int strv_add_all(struct strv *vector, const char *const *strings, size_t n)
{
        int r = 0;

        FOREACH_ARRAY(string, strings, n)
                r = r ?: strv_add(vector, *string);
        return r;
}

bool strv_has(const struct strv *vector, const char *string)
{
        return ANY(STRV_FOREACH(other, vector), streq(*other, string));
}

char *strv_join(const struct strv *vector, const char *separator)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);

        for (size_t i = 0; file && i < vector->n; i++)
                fprintf(file, "%s%s", i > 0 ? separator : "", vector->strings[i]);
        return file ? memstream_finish(&stream) : NULL;
}

void strv_done(struct strv *vector)
{
        STRV_FOREACH(string, vector)
                free(*string);
        free(vector->strings);
        *vector = (struct strv){};
}

void problems_add(struct problems *problems, int error, const char *format, ...)
{
        if (problems->error == 0)
                problems->error = error;

        errno = -error;
        /* The error is kept; missing memory is reported elsewhere. */
        (void) !strv_take(&problems->lines, FORMAT_ARGUMENTS(string_format_printable, format));
}

void problems_done(struct problems *problems)
{
        strv_done(&problems->lines);
        problems->error = 0;
}
