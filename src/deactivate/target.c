/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names on the command line: parses names of VGs and LVs, and paths, and finds their nodes in a storage tree. */

#include "deactivate/target.h"

#include <sys/stat.h>

#include "shared/dm.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

void target_done(struct target *target)
{
        free(target->vg);
        *target = (struct target){};
}

/* "VG", or "VG/LV" */
static int parse_names(struct target *target, const char *names)
{
        char *slash;

        target->vg = strdup(names);
        if (!target->vg)
                return -ENOMEM;
        slash = strchr(target->vg, '/');
        if (slash) {
                *slash = '\0';
                target->lv = slash + 1;
        }
        return volume_group_name_is_valid(target->vg) && (!target->lv || volume_group_name_is_valid(target->lv))
                       ? 0
                       : -EINVAL;
}

/* "VG-LV", with each "-" of the names doubled. */
static int parse_mapper_name(struct target *target, const char *name)
{
        char *lv, *layer;

        target->vg = strdup(name);
        if (!target->vg || !dm_split_lvm_name(NULL, NULL, &target->vg, &lv, &layer))
                return -ENOMEM;
        target->lv = lv;
        return *target->vg != '\0' && *lv != '\0' ? 0 : -EINVAL;
}

static int parse_path(struct target *target, const char *path)
{
        const char *in_mapper = skip_prefix(path, "/dev/mapper/"), *in_dev = skip_prefix(path, "/dev/");
        struct stat status;
        int r = -ENOENT;

        if (stat(path, &status) >= 0) {
                target->number = status.st_rdev;
                return S_ISBLK(status.st_mode) ? 0 : -ENOTBLK;
        }
        if (errno != ENOENT)
                return -errno;
        if (in_mapper)
                r = parse_mapper_name(target, in_mapper);
        else if (in_dev && strchr(in_dev, '/'))
                r = parse_names(target, in_dev);
        return r == -EINVAL ? -ENOENT : r;
}

int target_parse(const char *name, struct target *ret)
{
        bool is_path = name[0] == '/' || skip_prefix(name, "./") || skip_prefix(name, "../");
        int r;

        *ret = (struct target){.name = name};
        r = is_path ? parse_path(ret, name) : parse_names(ret, name);
        if (r < 0)
                target_done(ret);
        return r;
}

struct tree_node *target_find_node(const struct target *target, const struct tree *tree)
{
        /* A pool may have no device but that of its layer. */
        static const char *const layers[] = {"", "tpool", "vpool"};

        if (!target->lv)
                return tree_find_number(tree, target->number);
        FOREACH_ARRAY(layer, layers, ELEMENTSOF(layers))
                FOREACH_NODE(node, &tree->nodes)
                        if (node->vg && streq(node->vg, target->vg) && streq(node->lv, target->lv) &&
                                streq(node->layer, *layer))
                                return node;
        return NULL;
}

void target_select(struct target *target, struct tree *tree)
{
        bool is_vg = target->vg && !target->lv;
        struct tree_node *node = is_vg ? NULL : target_find_node(target, tree);

        target->found = is_vg ? selection_add_vg(tree, target->vg) : node && selection_add(tree, node);
}

int target_is_down(const struct target *target, int root_fd, const struct configuration *configuration)
{
        _cleanup_dm_config_ struct dm_config_tree *metadata = NULL;
        struct path path, section;
        int r;

        if (!target->vg)
                return 1;
        path = path_format("%s/%s", root_relative(configuration->backup_dir), target->vg);
        section = target->lv ? path_format("%s/logical_volumes/%s", target->vg, target->lv)
                             : path_format("%s", target->vg);
        r = config_tree_read(root_fd, path.text, &metadata);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        return dm_config_find_node(metadata->root, section.text) != NULL;
}
