/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/known.h"

#include <fcntl.h>

#include "lvm/metadata.h"
#include "lvm/online.h"
#include "shared/root.h"
#include "shared/util.h"

/* All backups together. A thousand VGs of one PV make 2 MiB. */
#define BACKUPS_SIZE_MAX (64U * 1024 * 1024)

static void known_volume_group_free(struct known_volume_group *volume_group)
{
        free(volume_group->name);
        free(volume_group->skip_reason);
        free(volume_group);
}

DEFINE_CLEANUP(struct known_volume_group *, known_volume_group_free)

void known_volume_groups_done(struct known_volume_groups *known)
{
        for (size_t i = 0; i < known->n; i++)
                known_volume_group_free(known->volume_groups[i]);
        free(known->volume_groups);
        if (known->by_name)
                dm_hash_destroy(known->by_name);
        if (known->by_id)
                dm_hash_destroy(known->by_id);
        *known = (struct known_volume_groups){};
}

static int known_volume_groups_init(struct known_volume_groups *known)
{
        known->volume_groups = calloc(KNOWN_VOLUME_GROUPS_MAX, sizeof(struct known_volume_group *));
        known->by_name = dm_hash_create(KNOWN_VOLUME_GROUPS_MAX);
        known->by_id = dm_hash_create(KNOWN_VOLUME_GROUPS_MAX);
        return known->volume_groups && known->by_name && known->by_id ? 0 : -ENOMEM;
}

struct known_volume_group *known_volume_groups_find(const struct known_volume_groups *known, const char *name)
{
        return dm_hash_lookup(known->by_name, name);
}

struct known_volume_group *known_volume_groups_find_id(const struct known_volume_groups *known, const char *vgid)
{
        return dm_hash_lookup(known->by_id, vgid);
}

/* Takes the VG over, unless it fails. Of two with one identifier, a VG and its clone, the first counts. */
static int append(struct known_volume_groups *known, struct known_volume_group *volume_group)
{
        if (known->n == KNOWN_VOLUME_GROUPS_MAX)
                return -E2BIG;
        if (!dm_hash_insert(known->by_name, volume_group->name, volume_group))
                return -ENOMEM;
        if (*volume_group->vgid && !known_volume_groups_find_id(known, volume_group->vgid) &&
                !dm_hash_insert(known->by_id, volume_group->vgid, volume_group)) {
                dm_hash_remove(known->by_name, volume_group->name);
                return -ENOMEM;
        }
        volume_group->index = known->n;
        known->volume_groups[known->n++] = volume_group;
        return 0;
}

int known_volume_groups_add(struct known_volume_groups *known, const char *name)
{
        _cleanup_(known_volume_group_freep) struct known_volume_group *volume_group = NULL;
        int r;

        if (known_volume_groups_find(known, name))
                return 0;
        volume_group = calloc(1, sizeof(*volume_group));
        if (!volume_group)
                return -ENOMEM;
        volume_group->name = strdup(name);
        if (!volume_group->name)
                return -ENOMEM;
        r = append(known, volume_group);
        if (r >= 0)
                volume_group = NULL;
        return r;
}

/* ------ backups ------ */

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
        _cleanup_(known_volume_group_freep) struct known_volume_group *volume_group = NULL;
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
        r = append(known, volume_group);
        if (r >= 0)
                volume_group = NULL;
        return r;
}

/* Returns 0 with what of `*size_left` is left, -ENOMEM, or -E2BIG if nothing more is to be read. */
static int read_backup(int backup_fd, const char *directory, const char *name, size_t *size_left,
        const struct system_id *host, struct known_volume_groups *known, struct problems *problems)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        _cleanup_free_ char *text = NULL;
        const char *reason;
        size_t size;
        int r;

        r = read_file_at(backup_fd, name, &text, &size);
        if (r == -ENOMEM)
                return r;
        /* It may just have gone: lvm2 replaces files. */
        if (r == -ENOENT)
                return 0;
        if (r < 0) {
                problems_add(problems, r, "%s/%s: %m.", directory, name);
                return 0;
        }
        if (size > *size_left)
                return -E2BIG;
        *size_left -= size;

        r = metadata_parse(text, &metadata, &reason);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                problems_add(problems, r, "%s/%s: %s.", directory, name, reason);
                return 0;
        }
        /* lvm2 names the file after the VG. What is named otherwise is a copy that somebody has made,
         * "vg0.bak", and may be of any age. */
        if (!streq(metadata->name, name))
                return 0;
        return add_metadata(metadata, host, known);
}

static int compare_strings(const void *a, const void *b)
{
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Of names that can be a VG's. */
static int list_directory(int dir_fd, const char *path, struct string_vector *names)
{
        _cleanup_closedir_ DIR *directory = NULL;
        _cleanup_close_ int fd = -EBADF;
        int r;

        fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        directory = fdopendir(fd);
        if (!directory)
                return -errno;
        (void) TAKE_FD(fd);

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

static int read_backups(int root_fd, const struct configuration *configuration, struct known_volume_groups *known,
        struct problems *problems)
{
        _cleanup_string_vector_ struct string_vector names = {};
        _cleanup_close_ int backup_fd = -EBADF;
        const char *directory = configuration->backup_dir;
        size_t size_left = BACKUPS_SIZE_MAX;
        int r;

        backup_fd = openat(root_fd, root_relative(directory), O_PATH | O_DIRECTORY | O_CLOEXEC);
        r = backup_fd < 0 ? -errno : list_directory(backup_fd, ".", &names);
        if (r == -ENOENT || r == -ENOMEM)
                return r == -ENOENT ? 0 : r;
        if (r < 0) {
                problems_add(problems, r, "%s: %m.", directory);
                return 0;
        }

        for (size_t i = 0; i < names.n; i++) {
                r = read_backup(backup_fd, directory, names.strings[i], &size_left, &configuration->system_id,
                        known, problems);
                if (r == -E2BIG) {
                        problems_add(
                                problems, r, "%s: too much, left out from %s on.", directory, names.strings[i]);
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

int known_volume_groups_read(int root_fd, const struct configuration *configuration,
        struct known_volume_groups *ret, struct problems *problems)
{
        _cleanup_known_volume_groups_ struct known_volume_groups known = {};
        int r;

        r = known_volume_groups_init(&known);
        if (r < 0)
                return r;
        r = read_backups(root_fd, configuration, &known, problems);
        if (r < 0)
                return r;
        r = read_online(root_fd, &known, problems);
        if (r < 0)
                return r;

        *ret = known;
        known = (struct known_volume_groups){};
        return 0;
}
