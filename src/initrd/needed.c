/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "initrd/needed.h"

#include <sys/sysmacros.h>

#include "initrd/configuration.h"
#include "initrd/device.h"
#include "shared/kernel.h"

/* What an initrd of initramfs-tools mounts. */
static const char *const targets[] = {"/", "/usr"};

#define RESUME "resume"
#define OTHER "other"

/* ------ the result ------ */

/* Takes the text over. */
static int cannot_tell(struct needed *needed, char *obstacle)
{
        free(needed->obstacle);
        needed->obstacle = obstacle;
        return obstacle ? -ENXIO : -ENOMEM;
}

static int add_need(struct needed_volume_group *volume_group, const char *by)
{
        for (size_t i = 0; i < volume_group->by.n; i++)
                if (streq(volume_group->by.strings[i], by))
                        return 0;
        return string_vector_add(&volume_group->by, by);
}

static int add_volume_group(struct needed *needed, const char *name, const char *by)
{
        struct needed_volume_group *larger;
        _cleanup_free_ char *copy = NULL;

        for (size_t i = 0; i < needed->n; i++)
                if (streq(needed->volume_groups[i].name, name))
                        return add_need(&needed->volume_groups[i], by);

        copy = strdup(name);
        larger = reallocarray(needed->volume_groups, needed->n + 1, sizeof(*larger));
        if (larger)
                needed->volume_groups = larger;
        if (!copy || !larger)
                return -ENOMEM;
        needed->volume_groups[needed->n++] = (struct needed_volume_group){.name = TAKE_PTR(copy)};
        return add_need(&needed->volume_groups[needed->n - 1], by);
}

static int compare(const void *a, const void *b)
{
        const struct needed_volume_group *first = a, *second = b;

        return strcmp(first->name, second->name);
}

void needed_done(struct needed *needed)
{
        for (size_t i = 0; i < needed->n; i++) {
                free(needed->volume_groups[i].name);
                string_vector_done(&needed->volume_groups[i].by);
        }
        free(needed->volume_groups);
        free(needed->obstacle);
        *needed = (struct needed){};
}

/* ------ devices ------ */

static int need_below(int root_fd, dev_t device, const char *by, struct needed *needed)
{
        _cleanup_string_vector_ struct string_vector names = {};
        int r;

        r = device_volume_groups(root_fd, device, &names);
        if (r == -ENODEV || r == -EOPNOTSUPP)
                return cannot_tell(needed, string_format("%s needs %u:%u, and what is below that cannot be seen",
                                                   by, major(device), minor(device)));
        for (size_t i = 0; r >= 0 && i < names.n; i++)
                r = add_volume_group(needed, names.strings[i], by);
        return r;
}

static int need_device(int root_fd, dev_t device, const char *by, struct needed *needed)
{
        _cleanup_free_ dev_t *members = NULL;
        size_t n = 0;
        int r;

        r = device_btrfs_members(root_fd, device, &members, &n);
        if (r == DEVICE_NO_MEMBER)
                return need_below(root_fd, device, by, needed);
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = need_below(root_fd, members[i], by, needed);
        return r;
}

static int need_name(int root_fd, const char *name, const char *by, struct needed *needed)
{
        dev_t device;
        int r;

        r = device_from_name(root_fd, name, &device);
        if (r == -ENODEV)
                return cannot_tell(needed, string_format("%s needs %s, which does not exist", by, name));
        if (r == -EINVAL)
                return cannot_tell(needed, string_format("%s needs %s, which is no block device", by, name));
        return r < 0 ? r : need_device(root_fd, device, by, needed);
}

/* An initrd goes on without a device to resume from. */
static int want_name(int root_fd, const char *name, const char *by, struct needed *needed)
{
        int r;

        r = need_name(root_fd, name, by, needed);
        if (r == -ENXIO) {
                free(TAKE_PTR(needed->obstacle));
                return 0;
        }
        return r;
}

/* ------ mounts ------ */

/* A file system without a device number of its own may still lie on devices, as btrfs does, whose source is
 * one. */
static int need_mounted(int root_fd, struct libmnt_fs *mounted, const char *by, struct needed *needed)
{
        const char *type = mnt_fs_get_fstype(mounted) ?: "unknown", *source = mnt_fs_get_source(mounted) ?: "";
        dev_t device = mnt_fs_get_devno(mounted);

        if (major(device) != 0)
                return need_device(root_fd, device, by, needed);
        if (streq(type, "btrfs"))
                return need_name(root_fd, source, by, needed);
        return cannot_tell(needed, string_format("%s is of type %s, without a block device", by, type));
}

static int need_mounts(int root_fd, struct needed *needed)
{
        _cleanup_mount_table_ struct mount_table table = {};
        int r;

        r = mount_table_read(root_fd, "proc/self/mountinfo", &table);
        if (r == 0)
                return -ENOENT;
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(targets); i++) {
                /* Of several mounted on one another, the last is what is seen. */
                struct libmnt_fs *mounted = mnt_table_find_target(table.table, targets[i], MNT_ITER_BACKWARD);

                if (mounted)
                        r = need_mounted(root_fd, mounted, targets[i], needed);
                else if (streq(targets[i], "/"))
                        r = cannot_tell(needed, strdup("/ is no mount point"));
        }
        return r;
}

/* What is mounted now may not be what is to be mounted at the next boot. */
static int need_fstab(int root_fd, struct needed *needed)
{
        _cleanup_mount_table_ struct mount_table table = {};
        int r;

        r = mount_table_read(root_fd, "etc/fstab", &table);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(targets); i++) {
                struct libmnt_fs *entry = mnt_table_find_target(table.table, targets[i], MNT_ITER_FORWARD);

                if (entry)
                        r = need_name(root_fd, mnt_fs_get_srcpath(entry) ?: mnt_fs_get_source(entry), targets[i],
                                needed);
        }
        return r;
}

/* RESUME=auto, the default of initramfs-tools, may choose any of them. */
static int want_swaps(int root_fd, struct needed *needed)
{
        _cleanup_mount_table_ struct mount_table table = {};
        int r;

        r = mount_table_read(root_fd, "proc/swaps", &table);
        if (r < 0)
                return r;
        FOREACH_MOUNT(swap, &table)
        {
                r = want_name(root_fd, mnt_fs_get_source(swap), RESUME, needed);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ words of the configuration ------ */

static int need_root(int root_fd, struct needed *needed)
{
        static int (*const sources[])(int, const char *, char **) = {
                kernel_command_line_get,
                initramfs_configuration_get,
        };
        static const char *const keys[] = {"root=", "ROOT="};

        for (size_t i = 0; i < ELEMENTSOF(sources); i++) {
                _cleanup_free_ char *name = NULL;
                int r;

                r = sources[i](root_fd, keys[i], &name);
                if (r >= 0)
                        r = need_name(root_fd, name, "/", needed);
                if (r < 0 && r != -ENOENT)
                        return r;
        }
        return 0;
}

/* The kernel's command line counts more than RESUME=, but a machine may be booted without it the next time. */
static int want_resume(int root_fd, struct needed *needed)
{
        _cleanup_free_ char *from_command_line = NULL, *configured = NULL;
        int r;

        r = kernel_command_line_get(root_fd, RESUME "=", &from_command_line);
        if (r >= 0)
                r = want_name(root_fd, from_command_line, RESUME, needed);
        if (r < 0 && r != -ENOENT)
                return r;

        r = initramfs_configuration_get(root_fd, "RESUME=", &configured);
        if (r < 0 && r != -ENOENT)
                return r;
        if (configured && streq(configured, "none"))
                return 0;
        if (configured && *configured != '\0' && !streq(configured, "auto")) {
                r = want_name(root_fd, configured, RESUME, needed);
                if (r < 0)
                        return r;
        }
        /* Also where a device is set: mkinitramfs chooses another one if that is not there. */
        return want_swaps(root_fd, needed);
}

int needed_find(int root_fd, char *const devices[], size_t n_devices, struct needed *ret)
{
        int r;

        *ret = (struct needed){};
        r = need_mounts(root_fd, ret);
        if (r >= 0)
                r = need_fstab(root_fd, ret);
        if (r >= 0)
                r = need_root(root_fd, ret);
        if (r >= 0)
                r = want_resume(root_fd, ret);
        for (size_t i = 0; r >= 0 && i < n_devices; i++)
                r = need_name(root_fd, devices[i], OTHER, ret);
        if (r >= 0 && ret->n > 1)
                qsort(ret->volume_groups, ret->n, sizeof(*ret->volume_groups), compare);
        return r;
}
