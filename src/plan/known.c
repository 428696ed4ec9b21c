/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/known.h"

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

int known_volume_groups_init(struct known_volume_groups *known)
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
