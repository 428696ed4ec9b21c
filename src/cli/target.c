/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/target.h"

#include <fcntl.h>

#include <sys/stat.h>

#include "shared/dm.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

#define DEV_DIRECTORY "/dev/"
#define MAPPER_DIRECTORY "/dev/mapper/"

static bool is_path(const char *name)
{
        return name[0] == '/' || skip_prefix(name, "./") || skip_prefix(name, "../");
}

/* "VG/LV" */
static int set_lv(struct target *target, const char *name)
{
        const char *slash = strchr(name, '/');

        target->vg = strndup(name, (size_t) (slash - name));
        target->lv = strdup(slash + 1);
        if (!target->vg || !target->lv)
                return -ENOMEM;
        return volume_group_name_is_valid(target->vg) && volume_group_name_is_valid(target->lv) ? 0 : -EINVAL;
}

/* "VG-LV", with each "-" of the names doubled. */
static int set_mapper_name(struct target *target, const char *name)
{
        struct dm_pool *pool = dm_pool_create("name", 512);
        char *vg = NULL, *lv = NULL, *layer = NULL;
        int r = -ENOMEM;

        if (pool && dm_split_lvm_name(pool, name, &vg, &lv, &layer)) {
                target->vg = strdup(vg);
                target->lv = strdup(lv);
                r = !target->vg || !target->lv ? -ENOMEM : *vg == '\0' || *lv == '\0' ? -EINVAL : 0;
        }
        if (pool)
                dm_pool_destroy(pool);
        return r;
}

static int set_path(struct target *target, const char *path)
{
        const char *in_mapper = skip_prefix(path, MAPPER_DIRECTORY), *in_dev = skip_prefix(path, DEV_DIRECTORY);
        struct stat status;
        int r = -ENOENT;

        if (stat(path, &status) >= 0) {
                target->number = status.st_rdev;
                return S_ISBLK(status.st_mode) ? 0 : -ENOTBLK;
        }
        if (errno != ENOENT)
                return -errno;
        if (in_mapper)
                r = set_mapper_name(target, in_mapper);
        else if (in_dev && strchr(in_dev, '/'))
                r = set_lv(target, in_dev);
        return r == -EINVAL ? -ENOENT : r;
}

static int set_vg(struct target *target, const char *name)
{
        target->vg = strdup(name);
        if (!target->vg)
                return -ENOMEM;
        return volume_group_name_is_valid(name) ? 0 : -EINVAL;
}

int target_parse(const char *name, struct target *ret)
{
        struct target target = {.name = name};
        int r;

        if (is_path(name))
                r = set_path(&target, name);
        else if (strchr(name, '/'))
                r = set_lv(&target, name);
        else
                r = set_vg(&target, name);
        if (r < 0) {
                target_done(&target);
                return r;
        }
        *ret = target;
        return 0;
}

/* The device of an LV; that of a pool is there as a layer at least. */
static int find_lv(const struct tree *tree, const struct target *target, struct tree_node **ret)
{
        static const char *const layers[] = {NULL, "tpool", "vpool"};
        struct dm_pool *pool = dm_pool_create("name", 512);
        int r = pool ? 0 : -ENOMEM;

        *ret = NULL;
        for (size_t i = 0; r >= 0 && !*ret && i < ELEMENTSOF(layers); i++) {
                const char *name = dm_build_dm_name(pool, target->vg, target->lv, layers[i]);
                struct tree_node *node = name ? dm_hash_lookup(tree->dm_names, name) : NULL;

                if (node && node->vg)
                        *ret = node;
                r = name ? 0 : -ENOMEM;
        }
        if (pool)
                dm_pool_destroy(pool);
        return r;
}

int target_find_node(const struct target *target, const struct tree *tree, struct tree_node **ret)
{
        if (target->lv)
                return find_lv(tree, target, ret);
        *ret = tree_find_number(tree, target->number);
        return 0;
}

int target_select(struct target *target, struct selection *selection)
{
        struct tree_node *node = NULL;
        int r;

        if (target->vg && !target->lv) {
                r = selection_add_vg(selection, target->vg);
        } else {
                r = target_find_node(target, selection->tree, &node);
                if (r >= 0 && node)
                        r = selection_add(selection, node);
        }
        target->found = r > 0;
        return MIN(r, 0);
}

int target_is_down(const struct target *target, int root_fd, const struct configuration *configuration)
{
        _cleanup_dm_config_ struct dm_config_tree *metadata = NULL;
        _cleanup_free_ char *path = NULL, *section = NULL;
        int r;

        if (!target->vg)
                return 1;
        path = string_format("%s/%s", root_relative(configuration->backup_dir), target->vg);
        section = target->lv ? string_format("%s/logical_volumes/%s", target->vg, target->lv) : strdup(target->vg);
        r = path && section ? config_tree_read(root_fd, path, &metadata) : -ENOMEM;
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        return dm_config_find_node(metadata->root, section) != NULL;
}

void target_done(struct target *target)
{
        free(target->vg);
        free(target->lv);
        target->vg = target->lv = NULL;
}
