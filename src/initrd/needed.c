/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* LVs that an initrd needs. The search starts from the devices that the initrd mounts and resumes from, by mounts and
 * configuration of the running system, and follows the storage tree to the disks. */

#include "initrd/needed.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include "boot/known.h"
#include "boot/switches.h"
#include "initrd/maker.h"
#include "shared/kernel.h"
#include "tree/read.h"
#include "tree/walk.h"

/* Mount points of an initrd. */
static const char *const targets[] = {"/", "/usr"};

#define RESUME "resume"
#define OTHER "other"

/* The result, and the sources. */
struct search {
        int root_fd;
        struct tree *tree; /* all block devices */
        struct needed *needed;
        int error; /* the first error; later results do not count */
};

/* ------ the result ------ */

/* Keeps the first negative errno. */
static void fail(struct search *search, int error)
{
        search->error = search->error ?: MIN(error, 0);
}

/* Takes ownership of the text. For a device to resume from, this is not an error: the initrd boots without it. */
static void cannot_tell(struct search *search, const char *by, char *obstacle)
{
        if (streq(by, RESUME) || search->error < 0) {
                free(obstacle);
                return;
        }
        search->needed->obstacle = obstacle;
        fail(search, obstacle ? -ENXIO : -ENOMEM);
}

static void add_lv(struct search *search, const struct tree_node *node, const char *by)
{
        _cleanup_free_ char *name = string_format("%s/%s", node->vg, node->lv);
        struct needed *needed = search->needed;
        struct needed_lv *lv;
        size_t i = 0;

        if (!name || !GREEDY_REALLOC(needed->lvs, needed->n + 1)) {
                fail(search, -ENOMEM);
                return;
        }
        while (i < needed->n && !streq(needed->lvs[i].name, name))
                i++;
        if (i == needed->n)
                needed->lvs[needed->n++] =
                        (struct needed_lv){.name = TAKE_PTR(name), .vg = strdup(node->vg), .lv = strdup(node->lv)};
        lv = &needed->lvs[i];
        if (!lv->vg || !lv->lv || (!strv_has(&lv->by, by) && strv_add(&lv->by, by) < 0))
                fail(search, -ENOMEM);
}

void needed_done(struct needed *needed)
{
        FOREACH_ARRAY(lv, needed->lvs, needed->n) {
                free(lv->name);
                free(lv->vg);
                free(lv->lv);
                strv_done(&lv->by);
        }
        free(needed->lvs);
        free(needed->obstacle);
        *needed = (struct needed){};
}

/* ------ devices ------ */

static void cannot_see(struct search *search, dev_t number, const char *by)
{
        cannot_tell(search, by,
                string_format("%s needs %u:%u, and its lower devices are not visible", by, major(number),
                        minor(number)));
}

/* Whether scripts can use the name as VG/LV: a foreign device may have any name. Both parts allow the same characters. */
static bool has_sound_name(const struct tree_node *node)
{
        return vg_name_is_valid(node->vg) && vg_name_is_valid(node->lv);
}

/* Adds the device, if it is an LV, and all LVs below it or below other devices of its btrfs. The file of a loop device may be
 * anywhere. */
static void need_device(struct search *search, struct tree_node *device, const char *by)
{
        _cleanup_tree_nodes_ struct tree_nodes members = {};
        _cleanup_tree_walk_ struct tree_walk walk = tree_walk_new(search->tree);

        fail(search, search->tree->error ?: tree_find_btrfs_devices(search->tree, device, &members));
        tree_walk_add(&walk, device);
        FOREACH_NODE(member, &members)
                tree_walk_add(&walk, member);
        FOREACH_VISITED(node, &walk) {
                if (node->kind == TREE_LOOP || node->has_lost ||
                        (node->kind == TREE_PARTITION && node->lowers.n == 0) ||
                        (node->vg && !has_sound_name(node)))
                        cannot_see(search, node->number, by);
                else if (node->vg && !skip_prefix(node->lv, "pvmove") &&
                         (node == device || !tree_lv_is_hidden(node)))
                        add_lv(search, node, by);
                FOREACH_NODE(lower, &node->lowers)
                        tree_walk_add(&walk, lower);
        }
}

static void need_number(struct search *search, dev_t number, const char *by)
{
        struct tree_node *device = tree_find_number(search->tree, number);

        if (device)
                need_device(search, device, by);
        else
                cannot_see(search, number, by);
}

/* Adds the device that is named in fstab, on the kernel command line or in initramfs.conf. */
static void need_name(struct search *search, const char *name, const char *by)
{
        _cleanup_free_ char *kernel_name = NULL;
        struct tree_node *device = NULL;
        dev_t number;
        int r = parse_device_number(name, &number);

        if (r >= 0) {
                need_number(search, number, by);
                return;
        }
        if (r == -EINVAL)
                r = device_follow(search->root_fd, name, &kernel_name);
        if (r >= 0)
                device = tree_find_kernel_name(search->tree, kernel_name);
        if (device)
                need_device(search, device, by);
        else if (r >= 0 || r == -ENODEV)
                cannot_tell(search, by, string_format("%s needs %s, which does not exist", by, name));
        else if (r == -EINVAL)
                cannot_tell(search, by, string_format("%s needs %s, which is not a block device", by, name));
        else
                fail(search, r);
}

/* ------ mounts ------ */

/* A file system without a device number, such as btrfs, may still have a device as its source. */
static void need_mounted(struct search *search, struct libmnt_fs *mounted, const char *by)
{
        const char *type = mnt_fs_get_fstype(mounted) ?: "unknown", *source = mnt_fs_get_source(mounted) ?: "";
        dev_t device = mnt_fs_get_devno(mounted);

        if (major(device) != 0)
                need_number(search, device, by);
        else if (streq(type, "btrfs"))
                need_name(search, source, by);
        else
                cannot_tell(search, by, string_format("%s is of type %s, without a block device", by, type));
}

/* A missing or unreadable file has no entries. */
static struct mount_table read_table(struct search *search, const char *path)
{
        struct mount_table table = {};

        fail(search, mount_table_read(search->root_fd, path, &table));
        return table;
}

static void need_mounts(struct search *search)
{
        _cleanup_mount_table_ struct mount_table mounts = read_table(search, "proc/self/mountinfo");

        if (!mounts.table)
                fail(search, -ENOENT);
        FOREACH_ELEMENT(target, targets) {
                /* Of several mounts on one another, the last is visible. */
                struct libmnt_fs *mounted = mnt_table_find_target(mounts.table, *target, MNT_ITER_BACKWARD);

                if (mounted)
                        need_mounted(search, mounted, *target);
                else if (streq(*target, "/"))
                        cannot_tell(search, "/", strdup("/ is not a mount point"));
        }
}

/* The next boot may mount other devices than are mounted now. */
static void need_fstab(struct search *search)
{
        _cleanup_mount_table_ struct mount_table fstab = read_table(search, "etc/fstab");

        FOREACH_ELEMENT(target, targets) {
                struct libmnt_fs *entry = mnt_table_find_target(fstab.table, *target, MNT_ITER_FORWARD);

                if (entry)
                        need_name(search, mnt_fs_get_srcpath(entry) ?: mnt_fs_get_source(entry), *target);
        }
        /* systemd in an initrd waits for these. */
        FOREACH_MOUNT(entry, &fstab) {
                const char *source = mnt_fs_get_srcpath(entry) ?: mnt_fs_get_source(entry);
                _cleanup_free_ char *kernel_name = NULL;

                if (mnt_fs_get_option(entry, "x-initrd.mount", NULL, NULL) == 0 &&
                        device_follow(search->root_fd, source, &kernel_name) >= 0)
                        need_name(search, source, OTHER);
        }
}

/* RESUME=auto, the default of initramfs-tools, may choose any of them. */
static void need_swaps(struct search *search)
{
        _cleanup_mount_table_ struct mount_table swaps = read_table(search, "proc/swaps");

        FOREACH_MOUNT(swap, &swaps)
                need_name(search, mnt_fs_get_source(swap), RESUME);
}

/* ------ words of the configuration ------ */

/* Reads a file, to be freed by the caller; NULL if there is none. */
static char *read_text(struct search *search, const char *path)
{
        char *text = NULL;
        int r = read_file_at(search->root_fd, path, &text, NULL);

        if (r < 0 && r != -ENOENT && r != -EISDIR)
                fail(search, r);
        return text;
}

/* Removes quotes of a shell word without expansions: at most one pair. Drops the rest after it. */
static void unquote(char *value)
{
        size_t length;

        if (*value == '"' || *value == '\'') {
                char quote = *value;

                length = strcspn(value + 1, (char[]){quote, '\0'});
                memmove(value, value + 1, length);
        } else
                length = strcspn(value, " \t;#");
        value[length] = '\0';
}

/* Finds a variable in initramfs.conf and the files in conf.d, in mkinitramfs's order (initramfs-tools 0.142). These are shell
 * scripts; only plain assignments count. Returns a string to be freed by the caller, or NULL. */
static char *find_in_config(struct search *search, const char *key)
{
        _cleanup_strv_ struct strv files = {};
        char *value = NULL;

        fail(search, strv_add(&files, "etc/initramfs-tools/initramfs.conf"));
        fail(search, list_directory_at(search->root_fd, "usr/share/initramfs-tools/conf.d", false, &files));
        fail(search, list_directory_at(search->root_fd, "etc/initramfs-tools/conf.d", false, &files));
        STRV_FOREACH(file, &files) {
                _cleanup_free_ char *text = strstr(*file, ".dpkg-") ? NULL : read_text(search, *file);

                FOREACH_LINE(line, text) {
                        char *found = line + strlen(key);

                        if (!skip_prefix(line, key))
                                continue;
                        unquote(found);
                        if (!strpbrk(found, "$`\\"))
                                fail(search, string_replace(&value, strdup(found)));
                }
        }
        return value;
}

/* Adds the device named on the kernel command line. The next boot may not have it. */
static void need_booted(struct search *search, const char *key, const char *by)
{
        _cleanup_free_ char *command_line = read_text(search, "proc/cmdline");
        _cleanup_strv_ struct strv words = {};
        const char *name = NULL;

        fail(search, command_line_split(command_line ?: "", &words));
        STRV_FOREACH(word, &words)
                name = skip_prefix(*word, key) ?: name;
        if (name)
                need_name(search, name, by);
}

static void need_root(struct search *search)
{
        _cleanup_free_ char *configured = find_in_config(search, "ROOT=");

        need_booted(search, "root=", "/");
        if (configured)
                need_name(search, configured, "/");
}

static void need_resume(struct search *search)
{
        _cleanup_free_ char *configured = find_in_config(search, "RESUME=");

        need_booted(search, "resume=", RESUME);
        /* dracut resumes only from this device. It passes devices that it adds to an image when it makes that. */
        if (initrd_find_makers(search->root_fd).maker == INITRD_MAKER_DRACUT ||
                (configured && streq(configured, "none")))
                return;
        if (configured && *configured != '\0' && !streq(configured, "auto"))
                need_name(search, configured, RESUME);
        /* Also if a device is set: mkinitramfs chooses another one if that is missing. */
        need_swaps(search);
}

int needed_find(int root_fd, char *const devices[], size_t n_devices, struct needed *ret)
{
        _cleanup_dm_devices_ struct dm_devices *dm_devices = NULL;
        _cleanup_tree_ struct tree *tree = NULL;
        struct search search = {.root_fd = root_fd, .needed = ret};
        int r;

        *ret = (struct needed){};
        r = dm_devices_get_at(root_fd, &dm_devices)
                ?: tree_new(root_fd, &tree)
                ?: tree_add_devices(tree, dm_devices);
        if (r < 0)
                return r;
        search.tree = tree;
        need_mounts(&search);
        need_fstab(&search);
        need_root(&search);
        need_resume(&search);
        FOREACH_ARRAY(device, devices, n_devices)
                need_name(&search, *device, OTHER);
        SORT(ret->lvs, ret->n, compare_strings);
        return search.error;
}
