/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names on the command line: parses names of VGs and LVs, and paths, and finds their nodes in a storage tree. */

#include "deactivate/target.h"

#include <sys/stat.h>

#include "lvm/dm-devices.h"
#include "shared/dm.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/udev.h"
#include "shared/util.h"

void target_done(struct target *target)
{
        free(target->vg);
        free(target->dm_name);
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
        return vg_name_is_valid(target->vg) && (!target->lv || vg_name_is_valid(target->lv)) ? 0 : -EINVAL;
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

/* The device-mapper device that a path is named after; NULL without one. */
static const struct dm_device *find_named(const struct dm_devices *list, const char *path)
{
        const char *in_mapper = skip_prefix(path, "/dev/mapper/");

        FOREACH_DM_DEVICE(device, list)
                if (in_mapper ? streq(device->name, in_mapper)
                              : device->vg && *device->layer == '\0' &&
                                        streq(path_format("/dev/%s/%s", device->vg, device->lv).text, path))
                        return device;
        return NULL;
}

/* Whether udev lists the link for the device. A stale link, and udev's record of it, may have the number of a removed device that
 * another one has now. For device-mapper devices, `dm_name` shows this; "" for others. */
static bool udev_has_link(dev_t number, const char *dm_name, const char *path)
{
        _cleanup_udev_ struct udev *udev = udev_new();
        _cleanup_udev_device_ struct udev_device *device =
                udev ? udev_device_new_from_devnum(udev, 'b', number) : NULL;
        struct udev_list_entry *link = device ? udev_device_get_devlinks_list_entry(device) : NULL;

        return link && streq(udev_device_get_property_value(device, "DM_NAME") ?: "", dm_name) &&
               udev_list_entry_get_by_name(link, path);
}

static int parse_path(struct target *target, const char *path)
{
        const char *in_mapper = skip_prefix(path, "/dev/mapper/") ?: skip_prefix(path, "/dev/disk/by-id/dm-name-");
        _cleanup_dm_devices_ struct dm_devices *list = NULL;
        const struct dm_device *device;
        struct stat entry, status;
        int r = dm_devices_get(&list);

        if (r < 0)
                return r;
        device = find_named(list, path);
        if (device) {
                target->number = device->number;
                return string_replace(&target->dm_name, strdup(device->name));
        }
        if (lstat(path, &entry) >= 0 && stat(path, &status) >= 0) {
                if (!S_ISBLK(status.st_mode))
                        return -ENOTBLK;
                target->number = status.st_rdev;
                device = dm_devices_find(list, target->number);
                return (in_mapper || S_ISLNK(entry.st_mode)) &&
                                       !udev_has_link(target->number, device ? device->name : "", path)
                               ? -ESTALE
                               : 0;
        }
        if (errno != ENOENT)
                return -errno;
        r = -ENOENT;
        if (in_mapper)
                r = parse_mapper_name(target, in_mapper);
        else if (skip_prefix(path, "/dev/") && strchr(path + strlen("/dev/"), '/'))
                r = parse_names(target, path + strlen("/dev/"));
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

void target_log_error(const char *name, int error)
{
        if (error == -EINVAL)
                log_error("\"%s\" cannot be the name of a VG or an LV; a device is named by its path.", name);
        else if (error == -ENOTBLK)
                log_error("%s is not a block device.", name);
        else if (error == -ESTALE)
                log_error("%s may be stale: udev does not list this link for its device, ignoring it.", name);
        else
                (void) log_error_errno(error, "%s: %m", name);
}

struct tree_node *target_find_node(const struct target *target, const struct tree *tree)
{
        struct tree_node *found = NULL;

        if (target->dm_name)
                return dm_hash_lookup(tree->dm_names, target->dm_name);
        if (!target->lv)
                return tree_find_number(tree, target->number);
        /* A pool may have only the device of its layer. */
        FOREACH_NODE(node, &tree->nodes)
                if (node->vg && streq(node->vg, target->vg) && streq(node->lv, target->lv) &&
                        (*node->layer == '\0' || (!found && node->kind < TREE_LV_COW)))
                        found = node;
        return found;
}

void target_select(struct target *target, struct tree *tree)
{
        const struct tree_node *node = target_find_node(target, tree);
        /* lvm2 deactivates such an LV only with its users. Snapshots go with their origin. */
        bool is_part = node && target->lv &&
                       ANY(FOREACH_NODE(upper, &node->uppers),
                               tree_are_in_one_vg(node, upper) && !tree_is_snapshot_of(node, upper));

        target->found = !is_part && selection_add(tree, node, target->lv ? NULL : target->vg);
}

int target_is_down(const struct target *target, int root_fd, const struct config *config)
{
        _cleanup_dm_config_ struct dm_config_tree *metadata = NULL;
        struct path path = path_format("%s/%s", root_relative(config->backup_dir), target->vg);
        struct path section =
                path_format("%s%s%s", target->vg, target->lv ? "/logical_volumes/" : "", target->lv ?: "");
        int r = config_tree_read(root_fd, path.text, &metadata, NULL);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        return dm_config_find_node(metadata->root, section.text) != NULL;
}
