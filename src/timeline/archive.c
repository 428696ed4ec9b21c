/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The archive of timelines: its directory, and what a file in it says. */

#include "timeline/archive.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "lvm/volume_group.h"
#include "shared/dm.h"
#include "shared/log.h"
#include "shared/util.h"

#define VERSION 1

/* What is before the bars, and their end. */
#define HEADER_SIZE_MAX 4096

static const char *const kind_names[] = {
        [TIMELINE_BOOT] = "boot",
        [TIMELINE_SHUTDOWN] = "shutdown",
};

static const char *const end_names[_TIMELINE_END_MAX] = {
        [TIMELINE_DONE] = "done",
        [TIMELINE_SKIPPED] = "skipped",
        [TIMELINE_UNFINISHED] = "unfinished",
        [TIMELINE_FAILED] = "failed",
};

/* What is written of a bar, beside its state and end, and read. */
struct field {
        const char *key;
        size_t offset; /* in struct timeline_bar */
};

#define FIELD(member) offsetof(struct timeline_bar, member)

static const struct field strings[] = {
        {"name", FIELD(name)},
        {"tree", FIELD(tree)},
        {"kind", FIELD(kind)},
        {"reason", FIELD(reason)},
};

static const struct field numbers[] = {
        {"first_usec", FIELD(first_usec)},
        {"pvs_usec", FIELD(phases_usec[TIMELINE_PVS])},
        {"queue_usec", FIELD(phases_usec[TIMELINE_QUEUE])},
        {"lvm2_usec", FIELD(phases_usec[TIMELINE_LVM2])},
        {"udev_usec", FIELD(phases_usec[TIMELINE_UDEV])},
        {"held_usec", FIELD(phases_usec[TIMELINE_HELD])},
        {"removal_usec", FIELD(phases_usec[TIMELINE_REMOVAL])},
        {"asked_usec", FIELD(asked_usec)},
        {"linked_usec", FIELD(linked_usec)},
        {"n_pvs", FIELD(n_pvs)},
        {"n_lvs", FIELD(n_lvs)},
        {"n_tries", FIELD(n_tries)},
};

static void *field_of(struct timeline_bar *bar, const struct field *field)
{
        return (char *) bar + field->offset;
}

/* ------ what a file says ------ */

static void print_number(FILE *file, const char *key, uint64_t number)
{
        if (number > 0)
                fprintf(file, "%s = %" PRIu64 "\n", key, number);
}

static int print_bar(FILE *file, struct timeline_bar *bar, size_t number)
{
        fprintf(file, "b%zu {\n", number);
        FOREACH_ARRAY(field, strings, ELEMENTSOF(strings))
                if (config_print_string(file, field->key, *(char **) field_of(bar, field)) < 0)
                        return -ENOMEM;
        fprintf(file, "state = \"%s\"\nend = \"%s\"\n", bar->state, end_names[bar->end]);
        FOREACH_ARRAY(field, numbers, ELEMENTSOF(numbers))
                print_number(file, field->key, *(uint64_t *) field_of(bar, field));
        print_number(file, "complete", bar->complete);
        fputs("}\n", file);
        return 0;
}

/* The bars that fit, the slowest first. */
static int format_bars(const struct timeline *timeline, char **ret, size_t *ret_n)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        size_t n, size_that_fits = 0;
        int r;

        if (!file)
                return -ENOMEM;
        for (n = 0; n < timeline->n; n++) {
                if (print_bar(file, &timeline->bars[n], n) < 0 || fflush(file) != 0)
                        return -ENOMEM;
                if (stream.size > ARCHIVE_FILE_SIZE_MAX - HEADER_SIZE_MAX)
                        break;
                size_that_fits = stream.size;
        }
        r = memstream_finish(&stream, ret, NULL);
        if (r < 0)
                return r;
        (*ret)[size_that_fits] = '\0';
        *ret_n = n;
        return 0;
}

char *archive_format(struct timeline *timeline)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        _cleanup_free_ char *bars = NULL;
        char *text;
        size_t n;

        SORT(timeline->bars, timeline->n, timeline_by_blame);
        if (!file || format_bars(timeline, &bars, &n) < 0)
                return NULL;
        fprintf(file, "version = %d\nkind = \"%s\"\n", VERSION, kind_names[timeline->kind]);
        if (config_print_string(file, "host", timeline->host) < 0 ||
                config_print_string(file, "kernel", timeline->kernel) < 0)
                return NULL;
        print_number(file, "realtime_usec", timeline->realtime_usec);
        fprintf(file, "n_bars = %zu\n", n);
        print_number(file, "n_left_out", timeline->n_left_out + timeline->n - n);
        fprintf(file, "bars {\n%s}\n", bars);
        return memstream_finish(&stream, &text, NULL) < 0 ? NULL : text;
}

/* Numbers below 0 are nothing that was written here. */
static uint64_t find_number(const struct dm_config_node *section, const char *key)
{
        int64_t number = dm_config_find_int64(section, key, 0);

        return number > 0 ? (uint64_t) number : 0;
}

/* Where a string is already, it stays. */
static int copy_string(const struct dm_config_node *section, const char *key, char **ret)
{
        const char *value = dm_config_find_str(section, key, NULL);

        return *ret || !value || (*ret = strdup(value)) ? 0 : -ENOMEM;
}

/* The states that blame and plot know are words that nobody has to free. NULL for any other. */
static const char *find_state(enum timeline_kind kind, const char *word)
{
        if (kind == TIMELINE_SHUTDOWN)
                return streq(word, "gone") ? "gone" : streq(word, "left") ? "left" : NULL;
        for (enum volume_group_state i = 0; i < _VOLUME_GROUP_STATE_MAX; i++)
                if (streq(word, volume_group_state_to_string(i)))
                        return volume_group_state_to_string(i);
        return NULL;
}

static int parse_bar(const struct dm_config_node *section, struct timeline *timeline)
{
        const char *end = dm_config_find_str(section, "end", "");
        struct timeline_bar *bar = timeline_add(timeline);

        if (!bar)
                return -ENOMEM;
        FOREACH_ARRAY(field, strings, ELEMENTSOF(strings))
                if (copy_string(section, field->key, field_of(bar, field)) < 0)
                        return -ENOMEM;
        FOREACH_ARRAY(field, numbers, ELEMENTSOF(numbers))
                *(uint64_t *) field_of(bar, field) = find_number(section, field->key);
        bar->complete = find_number(section, "complete") > 0;
        bar->state = find_state(timeline->kind, dm_config_find_str(section, "state", ""));
        while (bar->end < _TIMELINE_END_MAX && !streq(end, end_names[bar->end]))
                bar->end++;
        return bar->end < _TIMELINE_END_MAX && bar->name && bar->state &&
                               (timeline->kind == TIMELINE_SHUTDOWN) == (bar->tree && bar->kind)
                       ? 0
                       : -EBADMSG;
}

static int parse_tree(const struct dm_config_node *root, struct timeline *timeline)
{
        const struct dm_config_node *bars = dm_config_find_node(root, "bars");
        size_t n_before = timeline->n;
        int r;

        if (find_number(root, "version") == 0)
                return -EBADMSG;
        if (find_number(root, "version") != VERSION)
                return -EPROTONOSUPPORT;
        if (!streq(dm_config_find_str(root, "kind", ""), kind_names[timeline->kind]) || !bars)
                return -EBADMSG;
        if (copy_string(root, "host", &timeline->host) < 0 || copy_string(root, "kernel", &timeline->kernel) < 0)
                return -ENOMEM;
        if (timeline->realtime_usec == 0)
                timeline->realtime_usec = find_number(root, "realtime_usec");
        for (const struct dm_config_node *bar = bars->child; bar; bar = bar->sib) {
                r = parse_bar(bar->child, timeline);
                if (r < 0)
                        return r;
        }
        if (timeline->n - n_before != find_number(root, "n_bars"))
                return -EBADMSG;
        timeline->n_left_out += find_number(root, "n_left_out");
        return 0;
}

int archive_parse(const char *text, struct timeline *timeline)
{
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;
        size_t n_before = timeline->n;
        int r;

        r = config_tree_parse(text, &tree);
        if (r >= 0)
                r = parse_tree(tree->root, timeline);
        if (r < 0)
                timeline_truncate(timeline, n_before);
        return r;
}

/* ------ the directory ------ */

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
        _cleanup_close_ int fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
        char path[] = ARCHIVE_DIRECTORY;

        if (fd < 0)
                return -errno;
        for (char *name, *rest = path; (name = strsep(&rest, "/"));) {
                int next = open_below(fd, name);

                close(fd);
                fd = next;
                if (fd < 0)
                        return fd;
        }
        return TAKE_FD(fd);
}

/* What follows the ID in the name of a file. */
static const char *const suffixes[_ARCHIVE_PART_MAX] = {
        [ARCHIVE_BOOT] = ".boot",
        [ARCHIVE_SHUTDOWN_LOCAL] = ".shutdown",
        [ARCHIVE_SHUTDOWN_NETWORK] = ".shutdown-net",
};

static char *file_name(sd_id128_t boot, enum archive_part part)
{
        return string_format(SD_ID128_FORMAT_STR "%s", SD_ID128_FORMAT_VAL(boot), suffixes[part]);
}

int archive_note_boots(int archive_fd, struct boots *boots)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(archive_fd, ".");

        if (!directory)
                return -errno;
        for (;;) {
                const struct dirent *entry;
                enum archive_part part = 0;
                struct known_boot *boot;
                struct stat status;
                const char *suffix;
                sd_id128_t id;

                errno = 0;
                entry = readdir(directory);
                if (!entry)
                        return -errno;
                suffix = boot_id_parse(entry->d_name, &id);
                while (suffix && part < _ARCHIVE_PART_MAX && !streq(suffix, suffixes[part]))
                        part++;
                if (!suffix || part == _ARCHIVE_PART_MAX ||
                        fstatat(archive_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                boot = boots_note(boots, id,
                        (uint64_t) status.st_mtim.tv_sec * USEC_PER_SEC +
                                (uint64_t) status.st_mtim.tv_nsec / 1000);
                if (!boot)
                        return -ENOMEM;
                boot->boot_is_archived |= part == ARCHIVE_BOOT;
                boot->shutdown_is_archived |= part != ARCHIVE_BOOT;
        }
}

/* Removes what other writers have left half written. */
static int remove_half_written(int archive_fd)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(archive_fd, ".");
        int r = 0;

        if (!directory)
                return -errno;
        for (;;) {
                const struct dirent *entry;

                errno = 0;
                entry = readdir(directory);
                if (!entry)
                        return r < 0 ? r : -errno;
                if (fnmatch(".?*.new", entry->d_name, 0) == 0 && unlinkat(archive_fd, entry->d_name, 0) < 0)
                        r = -errno;
        }
}

/* Removes those of a part that are too many. `boot` counts as the last one, whatever the clock has said to others. One that
 * cannot be removed is no reason to leave the others. */
static int prune(int archive_fd, enum archive_part part, sd_id128_t boot)
{
        _cleanup_boots_ struct boots boots = {};
        size_t n = 0;
        int r;

        r = archive_note_boots(archive_fd, &boots);
        boots_sort(&boots, boot);
        for (size_t i = boots.n; i-- > 0;) {
                _cleanup_free_ char *name = file_name(boots.boots[i].id, part);

                if (!name)
                        return -ENOMEM;
                if (faccessat(archive_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 || ++n <= ARCHIVE_BOOTS_MAX)
                        continue;
                if (unlinkat(archive_fd, name, 0) < 0)
                        r = -errno;
        }
        return r;
}

int archive_write(int archive_fd, enum archive_part part, sd_id128_t boot, struct timeline *timeline)
{
        _cleanup_free_ char *name = file_name(boot, part), *text = archive_format(timeline);
        /* A descriptor of its own, so that the lock goes with it. */
        _cleanup_close_ int locked_fd = openat(archive_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r;

        if (!name || !text)
                return -ENOMEM;
        if (locked_fd < 0 || flock(locked_fd, LOCK_EX) < 0)
                return -errno;
        r = write_file_durably_at(archive_fd, name, text);
        if (r < 0)
                return r;
        r = remove_half_written(archive_fd);
        return MIN(r, prune(archive_fd, part, boot));
}

int archive_read(int archive_fd, sd_id128_t boot, struct timeline *timeline)
{
        bool found = false;

        for (enum archive_part part = 0; part < _ARCHIVE_PART_MAX; part++) {
                _cleanup_free_ char *name = file_name(boot, part), *text = NULL;
                int r;

                if ((part == ARCHIVE_BOOT) != (timeline->kind == TIMELINE_BOOT))
                        continue;
                if (!name)
                        return -ENOMEM;
                r = read_file_at(archive_fd, name, &text, NULL);
                if (r >= 0)
                        r = archive_parse(text, timeline);
                if (r == -ENOMEM)
                        return r;
                if (r < 0 && r != -ENOENT)
                        log_warning("Skipping /" ARCHIVE_DIRECTORY "/%s: %s.", name,
                                r == -EBADMSG           ? "it is damaged"
                                : r == -EPROTONOSUPPORT ? "another version of headgate has written it"
                                                        : strerror(-r));
                found |= r >= 0;
        }
        return found ? 0 : -ENOENT;
}
