/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/backups.h"

#include <fcntl.h>

#include "lvm/metadata.h"
#include "lvm/online.h"
#include "shared/program.h"
#include "shared/util.h"

/* A thousand VGs of one PV make 2 MiB. */
#define BACKUPS_SIZE_MAX (64U * 1024 * 1024)

struct backups {
        const char *path; /* for messages */
        int fd;
        struct string_vector names; /* of the files, sorted; only those that a VG can have */
        size_t size_left;           /* how much may still be read */
};

static void backups_done(struct backups *backups)
{
        if (backups->fd >= 0)
                close(backups->fd);
        string_vector_done(&backups->names);
}

static int compare_strings(const void *a, const void *b)
{
        return strcmp(*(char *const *) a, *(char *const *) b);
}

static int list_names(int backup_fd, struct string_vector *names)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(backup_fd, ".");
        int r;

        if (!directory)
                return -errno;

        for (const struct dirent *entry; (entry = readdir(directory));) {
                if (!volume_group_name_is_valid(entry->d_name))
                        continue;
                r = string_vector_add(names, entry->d_name);
                if (r < 0)
                        return r;
        }
        if (names->n > 0)
                qsort(names->strings, names->n, sizeof(names->strings[0]), compare_strings);
        return 0;
}

static int backups_open(int root_fd, const char *path, struct backups *backups)
{
        backups->path = path;
        backups->size_left = BACKUPS_SIZE_MAX;
        backups->fd = openat(root_fd, root_relative(path), O_PATH | O_DIRECTORY | O_CLOEXEC);
        return backups->fd < 0 ? -errno : list_names(backups->fd, &backups->names);
}

static bool has_autoactivated_lv(const struct metadata *metadata)
{
        for (size_t i = 0; i < metadata->n_lvs; i++)
                if (metadata->lvs[i].autoactivated)
                        return true;
        return false;
}

static int describe_skip(const struct metadata *metadata, const struct system_id *host, char **ret)
{
        int r;

        r = metadata_describe_skip(metadata, ret);
        if (r < 0 || *ret)
                return r;

        if (system_id_is_foreign(host, metadata->system_id))
                *ret = string_format("the VG belongs to the host with system ID %s.", metadata->system_id);
        else if (!has_autoactivated_lv(metadata))
                *ret = strdup("the VG has no LVs that are activated by themselves.");
        else
                return 0;
        return *ret ? 0 : -ENOMEM;
}

static int add_metadata(
        const struct metadata *metadata, const struct system_id *host, struct known_volume_groups *known)
{
        _cleanup_known_volume_group_ struct known_volume_group *volume_group = NULL;
        int r;

        volume_group = calloc(1, sizeof(*volume_group));
        if (!volume_group)
                return -ENOMEM;
        volume_group->name = strdup(metadata->name);
        if (!volume_group->name)
                return -ENOMEM;
        memcpy(volume_group->vgid, metadata->vgid, sizeof(volume_group->vgid));
        r = describe_skip(metadata, host, &volume_group->skip_reason);
        if (r < 0)
                return r;
        r = known_volume_groups_take(known, volume_group);
        if (r >= 0)
                volume_group = NULL;
        return r;
}

/* Returns 0, -ENOMEM, or -E2BIG if nothing more is to be read. */
static int read_backup(struct backups *backups, const char *name, const struct system_id *host,
        struct known_volume_groups *known, struct problems *problems)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        _cleanup_free_ char *text = NULL;
        const char *reason;
        size_t size;
        int r;

        r = read_file_at(backups->fd, name, &text, &size);
        if (r == -ENOMEM)
                return r;
        /* It may just have gone: lvm2 replaces files. */
        if (r == -ENOENT)
                return 0;
        if (r < 0) {
                problems_add(problems, r, "%s/%s: %m.", backups->path, name);
                return 0;
        }
        if (size > backups->size_left)
                return -E2BIG;
        backups->size_left -= size;

        r = metadata_parse(text, &metadata, &reason);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                problems_add(problems, r, "%s/%s: %s.", backups->path, name, reason);
                return 0;
        }
        /* lvm2 names the file after the VG. What is named otherwise is a copy that somebody has made,
         * "vg0.bak", and may be of any age. */
        if (!streq(metadata->name, name))
                return 0;
        return add_metadata(metadata, host, known);
}

static int read_backups(int root_fd, const struct configuration *configuration, struct known_volume_groups *known,
        struct problems *problems)
{
        _cleanup_(backups_done) struct backups backups = {.fd = -EBADF};
        int r;

        r = backups_open(root_fd, configuration->backup_dir, &backups);
        if (r == -ENOMEM)
                return r;
        if (r < 0 && r != -ENOENT)
                problems_add(problems, r, "%s: %m.", backups.path);

        for (size_t i = 0; i < backups.names.n; i++) {
                const char *name = backups.names.strings[i];

                if (known_volume_groups_leave_out(known, name))
                        continue;
                r = read_backup(&backups, name, &configuration->system_id, known, problems);
                if (r == -E2BIG) {
                        problems_add(problems, r, "%s: too much, left out from %s on.", backups.path, name);
                        return 0;
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ what the initrd has left ------ */

static int read_online(int root_fd, struct known_volume_groups *known, struct problems *problems)
{
        _cleanup_string_vector_ struct string_vector names = {};
        _cleanup_close_ int lvm_run_fd = -EBADF;
        int r;

        lvm_run_fd = openat(root_fd, "run/lvm", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (lvm_run_fd < 0 && errno == ENOENT)
                return 0;
        r = lvm_run_fd < 0 ? -errno : online_list_volume_groups(lvm_run_fd, &names);
        for (size_t i = 0; r >= 0 && i < names.n; i++)
                r = known_volume_groups_add(known, names.strings[i]);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                problems_add(problems, r, "/run/lvm/pvs_online: %m.");
        return 0;
}

int known_volume_groups_read_others(int root_fd, const struct configuration *configuration,
        const struct string_vector *left_out, struct known_volume_groups *ret, struct problems *problems)
{
        _cleanup_known_volume_groups_ struct known_volume_groups known = {.left_out = left_out};
        int r;

        r = known_volume_groups_init(&known);
        if (r < 0)
                return r;
        r = read_backups(root_fd, configuration, &known, problems);
        if (r < 0)
                return r;

        *ret = known;
        known = (struct known_volume_groups){};
        return 0;
}

int known_volume_groups_read(int root_fd, const struct configuration *configuration,
        struct known_volume_groups *ret, struct problems *problems)
{
        _cleanup_known_volume_groups_ struct known_volume_groups known = {};
        int r;

        r = known_volume_groups_read_others(root_fd, configuration, NULL, &known, problems);
        if (r < 0)
                return r;
        r = read_online(root_fd, &known, problems);
        if (r < 0)
                return r;

        *ret = known;
        known = (struct known_volume_groups){};
        return 0;
}
