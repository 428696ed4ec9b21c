/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which VGs an initrd of initramfs-tools cannot do without: from what it mounts and resumes from, as the running system's
 * mounts and configuration say, down through the storage tree. */

#include "initrd/needed.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "shared/kernel.h"
#include "tree/read.h"

/* What an initrd of initramfs-tools mounts. */
static const char *const targets[] = {"/", "/usr"};

#define RESUME "resume"
#define OTHER "other"

/* What is found, and where it is looked for. */
struct search {
        int root_fd;
        struct tree *tree; /* all block devices */
        struct needed *needed;
};

/* ------ the result ------ */

/* Takes the text over. */
static int cannot_tell(struct search *search, char *obstacle)
{
        free(search->needed->obstacle);
        search->needed->obstacle = obstacle;
        return obstacle ? -ENXIO : -ENOMEM;
}

static int add_volume_group(struct needed *needed, const char *name, const char *by)
{
        struct needed_volume_group *volume_group = needed->volume_groups, *end = volume_group + needed->n;

        while (volume_group < end && !streq(volume_group->name, name))
                volume_group++;
        if (volume_group == end) {
                volume_group = reallocarray(needed->volume_groups, needed->n + 1, sizeof(*volume_group));
                if (!volume_group)
                        return -ENOMEM;
                needed->volume_groups = volume_group;
                volume_group += needed->n;
                *volume_group = (struct needed_volume_group){.name = strdup(name)};
                if (!volume_group->name)
                        return -ENOMEM;
                needed->n++;
        }
        for (size_t i = 0; i < volume_group->by.n; i++)
                if (streq(volume_group->by.strings[i], by))
                        return 0;
        return string_vector_add(&volume_group->by, by);
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

/* ------ names ------ */

/* The path below the root of a name: one in /dev, or a tag, for which udev's 60-persistent-storage.rules make links. */
static int name_to_path(const char *name, char **ret)
{
        static const struct {
                const char *prefix, *directory;
        } tags[] = {
                {"UUID=", "by-uuid"},
                {"LABEL=", "by-label"},
                {"PARTUUID=", "by-partuuid"},
                {"PARTLABEL=", "by-partlabel"},
        };

        for (size_t i = 0; i < ELEMENTSOF(tags); i++) {
                const char *value = skip_prefix(name, tags[i].prefix);
                /* Each byte becomes at most "\x20". */
                size_t size = value ? 4 * strlen(value) + 1 : 0;
                _cleanup_free_ char *encoded = value ? malloc(size) : NULL;

                if (!value)
                        continue;
                if (!encoded || blkid_encode_string(value, encoded, size) < 0)
                        return -ENOMEM;
                *ret = string_format("dev/disk/%s/%s", tags[i].directory, encoded);
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

/* The device that a name in fstab, on the kernel's command line or in initramfs.conf means. Links are followed below the
 * root, so that tests can bring a /dev of their own. Returns 0, -ENODEV if there is no such device, -EINVAL for what names no
 * device, or another negative errno. */
static int find_device(const struct search *search, const char *name, struct tree_node **ret)
{
        _cleanup_free_ char *path = NULL, *kernel_name = NULL;
        int r;

        r = name_to_path(name, &path);
        if (r >= 0)
                r = follow_links(search->root_fd, path, &kernel_name);
        if (r < 0)
                return r;
        *ret = tree_find_kernel_name(search->tree, kernel_name);
        return *ret ? 0 : -ENODEV;
}

/* ------ devices ------ */

static int cannot_see(struct search *search, dev_t number, const char *by)
{
        return cannot_tell(search, string_format("%s needs %u:%u, and what is below that cannot be seen", by,
                                           major(number), minor(number)));
}

/* Adds the VG of each LV that is the device or lies anywhere below it. The file of a loop device may be anywhere, and scripts
 * take for the name of a VG what is printed, which no other program's device is to choose. */
static int need_below(struct search *search, struct tree_node *device, const char *by)
{
        _cleanup_tree_nodes_ struct tree_nodes nodes = {};
        int r;

        r = tree_nodes_add(&nodes, device);
        /* The list grows while it is worked through. */
        for (size_t i = 0; r >= 0 && i < nodes.n; i++) {
                const struct tree_node *node = nodes.nodes[i];

                if (node->kind == TREE_LOOP || node->has_lost ||
                        (node->kind == TREE_PARTITION && node->lowers.n == 0) ||
                        (node->vg && !volume_group_name_is_valid(node->vg)))
                        return cannot_see(search, device->number, by);
                if (node->vg)
                        r = add_volume_group(search->needed, node->vg, by);
                FOREACH_NODE(lower, &node->lowers)
                        if (r >= 0 && !tree_nodes_have(&nodes, lower))
                                r = tree_nodes_add(&nodes, lower);
        }
        return r;
}

static int need_device(struct search *search, struct tree_node *device, const char *by)
{
        _cleanup_tree_nodes_ struct tree_nodes members = {};
        int r;

        r = tree_find_btrfs_devices(search->tree, device, &members);
        if (r >= 0 && members.n == 0)
                return need_below(search, device, by);
        for (size_t i = 0; r >= 0 && i < members.n; i++)
                r = need_below(search, members.nodes[i], by);
        return r;
}

static int need_number(struct search *search, dev_t number, const char *by)
{
        struct tree_node *device = tree_find_number(search->tree, number);

        return device ? need_device(search, device, by) : cannot_see(search, number, by);
}

static int need_name(struct search *search, const char *name, const char *by)
{
        struct tree_node *device;
        dev_t number;
        int r;

        r = parse_device_number(name, &number);
        if (r != -EINVAL)
                return r < 0 ? r : need_number(search, number, by);
        r = find_device(search, name, &device);
        if (r == -ENODEV)
                return cannot_tell(search, string_format("%s needs %s, which does not exist", by, name));
        if (r == -EINVAL)
                return cannot_tell(search, string_format("%s needs %s, which is no block device", by, name));
        return r < 0 ? r : need_device(search, device, by);
}

/* An initrd goes on without a device to resume from. */
static int want_name(struct search *search, const char *name)
{
        int r = need_name(search, name, RESUME);

        if (r != -ENXIO)
                return r;
        free(TAKE_PTR(search->needed->obstacle));
        return 0;
}

/* ------ mounts ------ */

/* A file system without a device number of its own may still lie on devices, as btrfs does, whose source is
 * one. */
static int need_mounted(struct search *search, struct libmnt_fs *mounted, const char *by)
{
        const char *type = mnt_fs_get_fstype(mounted) ?: "unknown", *source = mnt_fs_get_source(mounted) ?: "";
        dev_t device = mnt_fs_get_devno(mounted);

        if (major(device) != 0)
                return need_number(search, device, by);
        if (streq(type, "btrfs"))
                return need_name(search, source, by);
        return cannot_tell(search, string_format("%s is of type %s, without a block device", by, type));
}

static int need_mounts(struct search *search)
{
        _cleanup_mount_table_ struct mount_table table = {};
        int r;

        r = mount_table_read(search->root_fd, "proc/self/mountinfo", &table);
        if (r == 0)
                return -ENOENT;
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(targets); i++) {
                /* Of several mounted on one another, the last is what is seen. */
                struct libmnt_fs *mounted = mnt_table_find_target(table.table, targets[i], MNT_ITER_BACKWARD);

                if (mounted)
                        r = need_mounted(search, mounted, targets[i]);
                else if (streq(targets[i], "/"))
                        r = cannot_tell(search, strdup("/ is no mount point"));
        }
        return r;
}

/* What is mounted now may not be what is to be mounted at the next boot. */
static int need_fstab(struct search *search)
{
        _cleanup_mount_table_ struct mount_table table = {};
        int r;

        r = mount_table_read(search->root_fd, "etc/fstab", &table);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(targets); i++) {
                struct libmnt_fs *entry = mnt_table_find_target(table.table, targets[i], MNT_ITER_FORWARD);

                if (entry)
                        r = need_name(search, mnt_fs_get_srcpath(entry) ?: mnt_fs_get_source(entry), targets[i]);
        }
        return r;
}

/* RESUME=auto, the default of initramfs-tools, may choose any of them. */
static int want_swaps(struct search *search)
{
        _cleanup_mount_table_ struct mount_table table = {};
        int r;

        r = mount_table_read(search->root_fd, "proc/swaps", &table);
        if (r < 0)
                return r;
        FOREACH_MOUNT(swap, &table) {
                r = want_name(search, mnt_fs_get_source(swap));
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ words of the configuration ------ */

/* Replaces `*value` by that of the last of the words, between any of `separators`, that begins with `key`. */
static int find_last(char *text, const char *separators, const char *key, char **value)
{
        for (const char *word; (word = strsep(&text, separators));) {
                const char *found = skip_prefix(word, key);

                if (found && string_replace(value, strdup(found)) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* Of the kernel's. Like the next one, sets nothing without such a word. */
static int find_in_command_line(int root_fd, const char *key, char **ret)
{
        _cleanup_free_ char *text = NULL;
        int r;

        r = read_file_at(root_fd, "proc/cmdline", &text, NULL);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        return find_last(text, " \t\n", key, ret);
}

/* What a shell makes of a word without expansions: at most one pair of quotes, and what comes behind is
 * dropped. */
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

static int find_in_file(int root_fd, const char *path, const char *key, char **value)
{
        _cleanup_free_ char *text = NULL, *found = NULL;
        int r;

        r = read_file_at(root_fd, path, &text, NULL);
        if (r < 0)
                return r == -ENOENT || r == -EISDIR ? 0 : r;
        r = find_last(text, "\n", key, &found);
        if (r < 0 || !found)
                return r;
        unquote(found);
        return strpbrk(found, "$`\\") ? 0 : string_replace(value, TAKE_PTR(found));
}

static int is_configuration(const struct dirent *entry)
{
        return entry->d_name[0] != '.' && !strstr(entry->d_name, ".dpkg-");
}

/* Of initramfs.conf and the files in conf.d, in the order in which mkinitramfs reads them (initramfs-tools 0.142). These are
 * shell scripts; what only a shell can tell counts as no assignment. */
static int find_in_configuration(int root_fd, const char *key, char **ret)
{
        static const char *const directories[] = {
                "usr/share/initramfs-tools/conf.d", "etc/initramfs-tools/conf.d"};
        int r;

        r = find_in_file(root_fd, "etc/initramfs-tools/initramfs.conf", key, ret);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(directories); i++) {
                struct dirent **entries;
                int n = scandirat(root_fd, directories[i], &entries, is_configuration, alphasort);

                if (n < 0 && errno != ENOENT)
                        return -errno;
                for (int j = 0; j < n; j++) {
                        _cleanup_free_ char *path = string_format("%s/%s", directories[i], entries[j]->d_name);

                        free(entries[j]);
                        if (r >= 0)
                                r = path ? find_in_file(root_fd, path, key, ret) : -ENOMEM;
                }
                if (n >= 0)
                        free(entries);
        }
        return r;
}

static int need_root(struct search *search)
{
        _cleanup_free_ char *booted = NULL, *configured = NULL;
        int r;

        r = find_in_command_line(search->root_fd, "root=", &booted);
        if (r >= 0 && booted)
                r = need_name(search, booted, "/");
        if (r >= 0)
                r = find_in_configuration(search->root_fd, "ROOT=", &configured);
        return r < 0 || !configured ? r : need_name(search, configured, "/");
}

/* The kernel's command line counts more than RESUME=, but a machine may be booted without it the next time. */
static int want_resume(struct search *search)
{
        _cleanup_free_ char *booted = NULL, *configured = NULL;
        int r;

        r = find_in_command_line(search->root_fd, RESUME "=", &booted);
        if (r >= 0 && booted)
                r = want_name(search, booted);
        if (r >= 0)
                r = find_in_configuration(search->root_fd, "RESUME=", &configured);
        if (r < 0)
                return r;
        if (configured && streq(configured, "none"))
                return 0;
        if (configured && *configured != '\0' && !streq(configured, "auto")) {
                r = want_name(search, configured);
                if (r < 0)
                        return r;
        }
        /* Also where a device is set: mkinitramfs chooses another one if that is not there. */
        return want_swaps(search);
}

/* Of device-mapper's devices sysfs says enough, and that without a right to ask the driver. */
static int read_tree(int root_fd, struct tree **ret)
{
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        int r;

        r = dm_devices_get_by_sysfs(root_fd, &devices);
        if (r >= 0 || r == -ENOENT)
                r = tree_new(root_fd, ret);
        return r < 0 ? r : tree_add_devices(*ret, devices);
}

int needed_find(int root_fd, char *const devices[], size_t n_devices, struct needed *ret)
{
        _cleanup_tree_ struct tree *tree = NULL;
        struct search search = {.root_fd = root_fd, .needed = ret};
        int r;

        *ret = (struct needed){};
        r = read_tree(root_fd, &tree);
        search.tree = tree;
        if (r >= 0)
                r = need_mounts(&search);
        if (r >= 0)
                r = need_fstab(&search);
        if (r >= 0)
                r = need_root(&search);
        if (r >= 0)
                r = want_resume(&search);
        for (size_t i = 0; r >= 0 && i < n_devices; i++)
                r = need_name(&search, devices[i], OTHER);
        if (r >= 0 && ret->n > 1)
                qsort(ret->volume_groups, ret->n, sizeof(*ret->volume_groups), compare);
        return r;
}
