/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/known.h"

#include <fcntl.h>

#include "lvm/online.h"
#include "plan/backups.h"
#include "shared/util.h"

struct known_volume_group *known_volume_group_free(struct known_volume_group *volume_group)
{
        if (!volume_group)
                return NULL;

        free(volume_group->name);
        free(volume_group->skip_reason);
        free(volume_group);
        return NULL;
}

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

int known_volume_groups_take(struct known_volume_groups *known, struct known_volume_group *volume_group)
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

static int compare_strings(const void *a, const void *b)
{
        return strcmp(*(char *const *) a, *(char *const *) b);
}

bool known_volume_groups_leave_out(const struct known_volume_groups *known, const char *name)
{
        const struct string_vector *left_out = known->left_out;

        return left_out && left_out->n > 0 &&
               bsearch(&name, left_out->strings, left_out->n, sizeof(*left_out->strings), compare_strings);
}

int known_volume_groups_add(struct known_volume_groups *known, const char *name)
{
        _cleanup_known_volume_group_ struct known_volume_group *volume_group = NULL;
        int r;

        if (known_volume_groups_find(known, name) || known_volume_groups_leave_out(known, name))
                return 0;
        volume_group = calloc(1, sizeof(*volume_group));
        if (!volume_group)
                return -ENOMEM;
        volume_group->name = strdup(name);
        if (!volume_group->name)
                return -ENOMEM;
        r = known_volume_groups_take(known, volume_group);
        if (r >= 0)
                volume_group = NULL;
        return r;
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
        r = backups_read(root_fd, configuration, &known, problems);
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
