/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "timeline/archive.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "shared/log.h"
#include "shared/util.h"
#include "timeline/record.h"

/* What follows the ID in the name of a file. */
static const char *const suffixes[_ARCHIVE_PART_MAX] = {
        [ARCHIVE_BOOT] = ".boot",
        [ARCHIVE_SHUTDOWN_LOCAL] = ".shutdown",
        [ARCHIVE_SHUTDOWN_NETWORK] = ".shutdown-net",
};

int archive_open(int root_fd)
{
        int fd = openat(root_fd, ARCHIVE_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

/* Opens a directory in one that is open, unless it is a mount point. openat2() would do that at once, but systemd
 * forbids it where files may not be made setuid (RestrictSUIDSGID= in systemd.exec(5)). */
static int open_below(int dir_fd, const char *name)
{
        struct statx status;
        int fd;

        if (statx(dir_fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &status) < 0)
                return -errno;
        if (!(status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
                return -EOPNOTSUPP;
        if (status.stx_attributes & STATX_ATTR_MOUNT_ROOT)
                return -EXDEV;
        fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

int archive_open_at_shutdown(int root_fd)
{
        _cleanup_free_ char *path = strdup(ARCHIVE_DIRECTORY);
        _cleanup_close_ int fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
        char *rest = path;

        if (!path)
                return -ENOMEM;
        if (fd < 0)
                return -errno;
        for (const char *name; (name = strsep(&rest, "/"));) {
                int next = open_below(fd, name);

                close(fd);
                fd = next;
                if (fd < 0)
                        return fd;
        }
        return TAKE_FD(fd);
}

static char *file_name(sd_id128_t boot, enum archive_part part)
{
        return string_format(SD_ID128_FORMAT_STR "%s", SD_ID128_FORMAT_VAL(boot), suffixes[part]);
}

/* The boot and the part that a file is of. Returns 0, or -EINVAL for the name of any other file. */
static int parse_file_name(const char *name, sd_id128_t *ret_boot, enum archive_part *ret_part)
{
        char id[SD_ID128_STRING_MAX] = "";
        size_t length = sizeof(id) - 1;

        if (strlen(name) <= length)
                return -EINVAL;
        memcpy(id, name, length);
        if (sd_id128_from_string(id, ret_boot) < 0)
                return -EINVAL;
        for (size_t i = 0; i < _ARCHIVE_PART_MAX; i++)
                if (streq(name + length, suffixes[i])) {
                        *ret_part = i;
                        return 0;
                }
        return -EINVAL;
}

/* ------ what there is ------ */

struct kept_file {
        sd_id128_t boot;
        enum archive_part part;
        uint64_t written_usec; /* since 1970 */
};

/* Called for each file. Returns 0 or a negative errno, which ends the walk. */
typedef int (*file_function)(const char *name, const struct kept_file *file, void *userdata);

/* `file` is NULL for what a writer has left half written. */
static int for_each_file(int archive_fd, file_function function, void *userdata)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(archive_fd, ".");
        const struct dirent *entry;
        int r = 0;

        if (!directory)
                return -errno;
        while (r >= 0 && (errno = 0, entry = readdir(directory))) {
                size_t length = strlen(entry->d_name);
                struct kept_file file;
                struct stat status;

                if (parse_file_name(entry->d_name, &file.boot, &file.part) >= 0) {
                        if (fstatat(archive_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
                                continue;
                        file.written_usec = (uint64_t) status.st_mtim.tv_sec * USEC_PER_SEC +
                                            (uint64_t) status.st_mtim.tv_nsec / 1000;
                        r = function(entry->d_name, &file, userdata);
                } else if (entry->d_name[0] == '.' && length > strlen(".new") &&
                           streq(entry->d_name + length - strlen(".new"), ".new"))
                        r = function(entry->d_name, NULL, userdata);
        }
        return r < 0 ? r : -errno;
}

static int note_file(_unused_ const char *name, const struct kept_file *file, void *userdata)
{
        struct boots *boots = userdata;
        struct known_boot *boot;
        int r;

        if (!file)
                return 0;
        r = boots_note(boots, file->boot, file->written_usec, &boot);
        if (r < 0)
                return r;
        boot->boot_is_kept |= file->part == ARCHIVE_BOOT;
        boot->shutdown_is_kept |= file->part != ARCHIVE_BOOT;
        return 0;
}

int archive_note_boots(int archive_fd, struct boots *boots)
{
        return for_each_file(archive_fd, note_file, boots);
}

/* ------ writing ------ */

/* The files of one part. */
struct candidates {
        enum archive_part part;
        sd_id128_t boot; /* what is written now stays, whatever the clock has said to others */
        struct candidate {
                uint64_t written_usec; /* 0 for what is half written */
                char *name;
        } * files;
        size_t n;
};

static int note_candidate(const char *name, const struct kept_file *file, void *userdata)
{
        struct candidates *candidates = userdata;
        struct candidate *larger;
        char *copy;

        if (file && (file->part != candidates->part || sd_id128_equal(file->boot, candidates->boot)))
                return 0;
        larger = reallocarray(candidates->files, candidates->n + 1, sizeof(*larger));
        if (!larger)
                return -ENOMEM;
        candidates->files = larger;
        copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        candidates->files[candidates->n++] = (struct candidate){file ? file->written_usec : 0, copy};
        return 0;
}

static int compare_newest_first(const void *a, const void *b)
{
        const struct candidate *first = a, *second = b;

        return first->written_usec > second->written_usec ? -1 : first->written_usec < second->written_usec;
}

/* One that cannot be removed is no reason to leave the others. */
static int prune(int archive_fd, enum archive_part part, sd_id128_t boot)
{
        struct candidates candidates = {.part = part, .boot = boot};
        int r;

        r = for_each_file(archive_fd, note_candidate, &candidates);
        if (candidates.n > 1)
                qsort(candidates.files, candidates.n, sizeof(*candidates.files), compare_newest_first);
        for (size_t i = 0; i < candidates.n; i++) {
                bool superfluous = i >= ARCHIVE_BOOTS_MAX - 1 || candidates.files[i].written_usec == 0;

                if (superfluous && unlinkat(archive_fd, candidates.files[i].name, 0) < 0 && r >= 0)
                        r = -errno;
                free(candidates.files[i].name);
        }
        free(candidates.files);
        return r;
}

int archive_write(int archive_fd, enum archive_part part, sd_id128_t boot, struct timeline *timeline)
{
        _cleanup_free_ char *name = file_name(boot, part), *text = record_format(timeline);
        /* A descriptor of its own, so that the lock goes with it. */
        _cleanup_close_ int locked_fd = openat(archive_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r;

        if (!name || !text)
                return -ENOMEM;
        if (locked_fd < 0 || flock(locked_fd, LOCK_EX) < 0)
                return -errno;
        r = write_file_durably_at(archive_fd, name, text);
        return r < 0 ? r : prune(archive_fd, part, boot);
}

/* ------ reading ------ */

static int read_part(int archive_fd, sd_id128_t boot, enum archive_part part, struct timeline *timeline)
{
        _cleanup_free_ char *name = file_name(boot, part), *text = NULL;
        int r;

        if (!name)
                return -ENOMEM;
        r = read_file_at(archive_fd, name, &text, NULL);
        if (r >= 0)
                r = record_parse(text, timeline);
        if (r >= 0 || r == -ENOENT || r == -ENOMEM)
                return r;
        log_warning("Skipping /" ARCHIVE_DIRECTORY "/%s: %s.", name,
                r == -EBADMSG           ? "it is damaged"
                : r == -EPROTONOSUPPORT ? "another version of headgate has written it"
                                        : strerror(-r));
        return -ENOENT;
}

int archive_read(int archive_fd, sd_id128_t boot, struct timeline *timeline)
{
        bool found = false;

        for (enum archive_part part = 0; part < _ARCHIVE_PART_MAX; part++) {
                int r;

                if ((part == ARCHIVE_BOOT) != (timeline->kind == TIMELINE_BOOT))
                        continue;
                r = read_part(archive_fd, boot, part, timeline);
                if (r < 0 && r != -ENOENT)
                        return r;
                found |= r >= 0;
        }
        return found ? 0 : -ENOENT;
}
