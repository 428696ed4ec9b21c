/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "initrd/device.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "shared/kernel.h"
#include "shared/names.h"

/* ------ attributes in sysfs ------ */

static int parse_number(const char *string, dev_t *ret)
{
        unsigned int major_number, minor_number;
        char end;

        if (sscanf(string, "%u:%u%c", &major_number, &minor_number, &end) != 2)
                return -EINVAL;
        *ret = makedev(major_number, minor_number);
        return 0;
}

static int read_number(int dir_fd, const char *path, dev_t *ret)
{
        _cleanup_free_ char *text = NULL;
        int r;

        r = sysfs_read_at(dir_fd, path, &text);
        return r < 0 ? r : parse_number(text, ret);
}

/* ------ names ------ */

/* The path that /dev has for a tag, by udev's 60-persistent-storage.rules. NULL without memory. */
static char *tag_path(const char *directory, const char *value)
{
        /* Each byte becomes at most "\x20". */
        size_t size = 4 * strlen(value) + 1;
        _cleanup_free_ char *encoded = malloc(size);

        if (!encoded || blkid_encode_string(value, encoded, size) < 0)
                return NULL;
        return string_format("dev/disk/%s/%s", directory, encoded);
}

static int name_to_path(const char *name, char **ret)
{
        static const struct {
                const char *prefix;
                const char *directory;
        } tags[] = {
                {"UUID=", "by-uuid"},
                {"LABEL=", "by-label"},
                {"PARTUUID=", "by-partuuid"},
                {"PARTLABEL=", "by-partlabel"},
        };

        for (size_t i = 0; i < ELEMENTSOF(tags); i++) {
                size_t length = strlen(tags[i].prefix);

                if (strncmp(name, tags[i].prefix, length) != 0)
                        continue;
                *ret = tag_path(tags[i].directory, name + length);
                return *ret ? 0 : -ENOMEM;
        }
        if (!skip_prefix(name, "/dev/"))
                return -EINVAL;
        *ret = strdup(name + 1);
        return *ret ? 0 : -ENOMEM;
}

/* While anything on the machine is renamed or mounted, the kernel cannot tell whether ".." still leads to where it came
 * from, and wants to be asked again (openat2(2), EAGAIN). So many times in a row are more than bad luck. */
#define OPEN_TRIES 1000

static int open_in_root(int root_fd, const char *path)
{
        const struct open_how how = {
                .flags = O_PATH | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT,
        };

        for (unsigned int tries = 1;; tries++) {
                /* glibc of Debian 12 has no function for it. */
                int fd = (int) syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

                if (fd >= 0)
                        return fd;
                if (errno != EAGAIN || tries == OPEN_TRIES)
                        return -errno;
        }
}

/* The last part of what is left when all links have been followed, which never lead out of the root directory. */
static int follow_links(int root_fd, const char *path, char **ret)
{
        char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
        _cleanup_close_ int fd = -EBADF;
        char target[PATH_MAX];
        ssize_t n;

        fd = open_in_root(root_fd, path);
        if (fd < 0)
                return fd == -ENOENT || fd == -ENOTDIR ? -ENODEV : fd;

        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = readlink(link, target, sizeof(target) - 1);
        if (n < 0)
                return -errno;
        target[n] = '\0';
        *ret = strdup(strrchr(target, '/') + 1);
        return *ret ? 0 : -ENOMEM;
}

int device_from_name(int root_fd, const char *name, dev_t *ret)
{
        _cleanup_free_ char *path = NULL, *kernel_name = NULL, *attribute = NULL;
        int r;

        if (parse_number(name, ret) == 0)
                return 0;
        r = name_to_path(name, &path);
        if (r < 0)
                return r;
        r = follow_links(root_fd, path, &kernel_name);
        if (r < 0)
                return r;
        attribute = string_format("sys/class/block/%s/dev", kernel_name);
        if (!attribute)
                return -ENOMEM;
        r = read_number(root_fd, attribute, ret);
        return r == -ENOENT || r == -ENOTDIR ? -ENODEV : r;
}

/* ------ lists of devices ------ */

struct device_list {
        dev_t *devices;
        size_t n;
};

static void device_list_done(struct device_list *list)
{
        free(list->devices);
}

static bool device_list_has(const struct device_list *list, dev_t device)
{
        for (size_t i = 0; i < list->n; i++)
                if (list->devices[i] == device)
                        return true;
        return false;
}

/* Each device once, so that what has several ways down is looked at only once. */
static int device_list_add(struct device_list *list, dev_t device)
{
        dev_t *larger;

        if (device_list_has(list, device))
                return 0;
        larger = reallocarray(list->devices, list->n + 1, sizeof(dev_t));
        if (!larger)
                return -ENOMEM;
        list->devices = larger;
        list->devices[list->n++] = device;
        return 0;
}

/* A directory of links to devices, as sysfs has several. One that is not there is empty. */
static int device_list_add_directory(struct device_list *list, int dir_fd, const char *path)
{
        _cleanup_closedir_ DIR *dir = NULL;
        const struct dirent *entry;
        int r;

        dir = open_directory_at(dir_fd, path);
        if (!dir)
                return errno == ENOENT ? 0 : -errno;
        while (errno = 0, (entry = readdir(dir))) {
                _cleanup_free_ char *attribute = string_format("%s/dev", entry->d_name);
                dev_t device;

                if (entry->d_name[0] == '.')
                        continue;
                if (!attribute)
                        return -ENOMEM;
                r = read_number(dirfd(dir), attribute, &device);
                if (r >= 0)
                        r = device_list_add(list, device);
                if (r < 0)
                        return r;
        }
        return -errno;
}

/* ------ btrfs ------ */

int device_btrfs_members(int root_fd, dev_t device, dev_t **ret, size_t *ret_n)
{
        _cleanup_closedir_ DIR *dir = NULL;
        const struct dirent *entry;
        int r;

        dir = open_directory_at(root_fd, "sys/fs/btrfs");
        if (!dir)
                return errno == ENOENT ? DEVICE_NO_MEMBER : -errno;
        while (errno = 0, (entry = readdir(dir))) {
                _cleanup_(device_list_done) struct device_list members = {};
                _cleanup_free_ char *path = string_format("%s/devices", entry->d_name);

                if (entry->d_name[0] == '.')
                        continue;
                if (!path)
                        return -ENOMEM;
                r = device_list_add_directory(&members, dirfd(dir), path);
                if (r < 0)
                        return r;
                if (device_list_has(&members, device)) {
                        *ret = TAKE_PTR(members.devices);
                        *ret_n = members.n;
                        return DEVICE_MEMBER;
                }
        }
        return errno > 0 ? -errno : DEVICE_NO_MEMBER;
}

/* ------ what is below ------ */

static int add_volume_group(int device_fd, struct string_vector *names)
{
        _cleanup_free_ char *uuid = NULL, *name = NULL;
        char *lv, *layer;
        int r;

        r = sysfs_read_at(device_fd, "dm/uuid", &uuid);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        if (!skip_prefix(uuid, LVM_UUID_PREFIX))
                return 0;
        r = sysfs_read_at(device_fd, "dm/name", &name);
        if (r < 0)
                return r;
        /* Where it is. */
        if (!dm_split_lvm_name(NULL, NULL, &name, &lv, &layer))
                return -ENOMEM;
        /* Scripts take it for the name of a VG, which no other program's device is to choose. */
        return volume_group_name_is_valid(name) ? string_vector_add(names, name) : -EOPNOTSUPP;
}

/* One device: its VG to `names`, what is directly below it to `list`. */
static int look_at(int root_fd, dev_t device, struct string_vector *names, struct device_list *list)
{
        _cleanup_free_ char *path = sysfs_path(device, "");
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (!path)
                return -ENOMEM;
        fd = openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? -ENODEV : -errno;
        /* The file behind it may be anywhere. */
        if (faccessat(fd, "loop/backing_file", F_OK, 0) == 0)
                return -EOPNOTSUPP;

        r = add_volume_group(fd, names);
        if (r < 0)
                return r;
        /* A partition has no slaves of its own, its disk may: an array, or multipath. */
        if (faccessat(fd, "partition", F_OK, 0) == 0) {
                dev_t disk;

                r = read_number(fd, "../dev", &disk);
                return r < 0 ? r : device_list_add(list, disk);
        }
        return device_list_add_directory(list, fd, "slaves");
}

int device_volume_groups(int root_fd, dev_t device, struct string_vector *names)
{
        _cleanup_(device_list_done) struct device_list list = {};
        int r;

        r = device_list_add(&list, device);
        /* The list grows while it is worked through. */
        for (size_t i = 0; r >= 0 && i < list.n; i++)
                r = look_at(root_fd, list.devices[i], names, &list);
        return r;
}
