/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Users of a device or a mount: processes, from /proc; and for messages also the nodes on it, and an unmount that the kernel has
 * not finished. */

#include "teardown/users.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <systemd/sd-login.h>

#include "shared/dm.h"
#include "shared/kernel.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

/* Links in a process's /proc directory, and the use that each means. */
static const struct {
        const char *name;
        const char *verb;
} process_links[] = {
        {"cwd", "has its working directory at "},
        {"root", "has its root directory at "},
        {"exe", "runs "},
};

/* Limit for loop devices on files on loop devices, and so on. */
#define HOLDERS_DEPTH_MAX 8

/* A search through all processes. */
struct search {
        struct usage_query *queries;
        size_t n;
        struct mount_table *mounts;       /* in our mount namespace */
        struct dm_hash_table *namespaces; /* targets of /proc/PID/ns/mnt: ours, and those that were searched */
        int process_fd;                   /* /proc directory of the current process */
        pid_t pid;                        /* and its PID */
        int error;                        /* -ENOMEM after a failed allocation */
};

/* ------ commands ------ */

/* Characters that need no quoting in a shell. */
#define PLAIN "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_./:@%+=,-"

/* " (COMMAND NAME)", to be pasted into a shell; "" if the name has unsafe characters. */
static char *format_command(const char *command, const char *name)
{
        const char *quote = name[strspn(name, PLAIN)] == '\0' ? "" : "'";

        if (!string_is_printable(name) || strchr(name, '\''))
                return strdup("");
        return string_format(" (%s%s%s%s)", command, quote, name, quote);
}

/* Only for a system service: stopping a session, a user's manager or a VM's scope would end much more. */
static char *format_stop_command(pid_t pid)
{
        _cleanup_free_ char *unit = NULL;
        const char *suffix = sd_pid_get_unit(pid, &unit) >= 0 ? strrchr(unit, '.') : NULL;

        if (!suffix || !streq(suffix, ".service") || unit_name_is_essential(unit))
                return strdup("");
        return format_command("systemctl stop ", unit);
}

/* Adds the current process. `command` with `path` ends its use; NULL if its unit has to be stopped. Ignores a process that was
 * added last or has ended. */
static void add_user(struct search *search, struct usage_query *query, const char *verb, const char *path,
        const char *end, const char *command)
{
        _cleanup_free_ char *name = NULL, *end_of_use = NULL, *text = NULL;
        int r;

        if (query->n_users > 0 && query->last == search->pid)
                return;
        /* Chosen by the process, at most 15 bytes, any except NUL (proc(5)). Unlike its command line, it can be read also if the
         * process hangs. */
        r = sysfs_read_at(search->process_fd, "comm", &name);
        if (r < 0 && r != -ENOMEM)
                return;
        query->n_users++;
        query->last = search->pid;
        if (query->users.n == USERS_KEPT_MAX)
                return;
        if (query->commands)
                end_of_use = command ? format_command(command, path) : format_stop_command(search->pid);
        text = name ? string_format(
                              "process %d (%s) %s%s%s%s", search->pid, name, verb, path, end, end_of_use ?: "")
                    : NULL;
        if (!text || strv_take(&query->users, string_printable(text)) < 0)
                search->error = -ENOMEM;
}

/* ------ links ------ */

/* Reads a link without following it. Returns whether it exists. */
static bool read_link(int dir_fd, const char *name, char target[static PATH_MAX])
{
        ssize_t length = readlinkat(dir_fd, name, target, PATH_MAX - 1);

        target[MAX(length, 0)] = '\0';
        return length >= 0;
}

/* The number of the block device at `link` below `dir_fd`, whose absolute path is `target`; 0 if it is none. Calls stat only for
 * paths below /dev/, and without contacting a server, since a hanging file system would block this. */
static dev_t device_number_of_link(int dir_fd, const char *link, const char *target)
{
        struct statx status;

        if (!skip_prefix(target, "/dev/") ||
                statx(dir_fd, link, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &status) < 0 ||
                !S_ISBLK(status.stx_mode))
                return 0;
        return makedev(status.stx_rdev_major, status.stx_rdev_minor);
}

/* ------ mount namespaces ------ */

/* NULL for the mount at the root of the process, whose parent is not listed. */
static struct libmnt_fs *find_parent(const struct mount_table *table, struct libmnt_fs *entry)
{
        FOREACH_MOUNT(other, table)
                if (mnt_fs_get_id(other) == mnt_fs_get_parent_id(entry))
                        return other;
        return NULL;
}

/* The number of a peer group, as in "shared:7 master:3" (mount_namespaces(7)); 0 if there is none. */
static unsigned long find_group(struct libmnt_fs *entry, const char *word)
{
        const char *fields = mnt_fs_get_optional_fields(entry);
        const char *found = fields ? strstr(fields, word) : NULL;

        return found ? strtoul(found + strlen(word), NULL, 10) : 0;
}

/* Whether a mount in another namespace ends with ours: an unmount is propagated to peers and slaves of the parent mount. */
static bool goes_with_ours(
        const struct mount_table *own, const struct mount_table *theirs, struct libmnt_fs *entry)
{
        struct libmnt_fs *ours = mnt_table_find_target(own->table, mnt_fs_get_target(entry), MNT_ITER_BACKWARD);
        struct libmnt_fs *our_parent, *their_parent;
        unsigned long group;

        if (!ours || mnt_fs_get_devno(ours) != mnt_fs_get_devno(entry))
                return false;
        our_parent = find_parent(own, ours);
        their_parent = find_parent(theirs, entry);
        group = our_parent ? find_group(our_parent, "shared:") : 0;
        return group > 0 && their_parent &&
               (find_group(their_parent, "shared:") == group || find_group(their_parent, "master:") == group);
}

/* A file system on several devices, such as btrfs, has a number of its own, and the path of one of its devices. */
static dev_t device_of(struct libmnt_fs *entry)
{
        dev_t number = mnt_fs_get_devno(entry);
        const char *source = mnt_fs_get_srcpath(entry);

        return major(number) == 0 && source ? device_number_of_link(AT_FDCWD, source, source) ?: number : number;
}

/* If the process is the first one of its namespace, adds it as a user of all devices mounted there. */
static void look_at_namespace(struct search *search)
{
        _cleanup_mount_table_ struct mount_table theirs = {};
        struct path command = path_format("nsenter -t %d -m umount ", search->pid);
        char name[PATH_MAX];

        /* "mnt:[4026531841]", the same for all processes of a namespace (namespaces(7)). */
        if (!read_link(search->process_fd, "ns/mnt", name) || dm_hash_lookup(search->namespaces, name))
                return;
        if (mount_table_read(search->process_fd, "mountinfo", &theirs) == -ENOMEM)
                search->error = -ENOMEM;
        FOREACH_MOUNT(entry, &theirs) {
                const char *target = mnt_fs_get_target(entry);
                dev_t number = target ? device_of(entry) : 0;

                FOREACH_ARRAY(query, search->queries, number != 0 ? search->n : 0)
                        if (query->number == number && !goes_with_ours(search->mounts, &theirs, entry))
                                add_user(search, query, "has it mounted at ", target,
                                        " in another mount namespace", command.text);
        }
        /* If this process has ended meanwhile, the next one of its namespace is used. */
        if (theirs.n > 0 && !dm_hash_insert(search->namespaces, name, search->namespaces))
                search->error = -ENOMEM;
}

/* ------ one process after the other ------ */

/* Adds users of a file, whose path ends in " (deleted)" if it was deleted. `number` is its block device number, or 0. */
static void add_users_of(struct search *search, const char *verb, const char *path, const char *end, dev_t number)
{
        FOREACH_ARRAY(query, search->queries, search->n) {
                if (query->mount_point && path_is_at_or_below(path, query->mount_point))
                        add_user(search, query, verb, path, end, NULL);
                if (number != 0 && query->number == number)
                        add_user(search, query, "has it open", "", "", NULL);
        }
}

static void look_at_process(struct search *search)
{
        _cleanup_closedir_ DIR *files = NULL;
        char target[PATH_MAX];

        /* Kernel threads and ended processes have no program. */
        if (!read_link(search->process_fd, "exe", target) && errno == ENOENT)
                return;
        look_at_namespace(search);
        FOREACH_ELEMENT(link, process_links)
                if (read_link(search->process_fd, link->name, target))
                        add_users_of(search, link->verb, target, "", 0);
        files = open_directory_at(search->process_fd, "fd");
        FOREACH_ENTRY(name, files)
                /* Pipes and other files without a name have no path. */
                if (read_link(dirfd(files), name, target) && target[0] == '/')
                        add_users_of(search, "has ", target, " open",
                                device_number_of_link(dirfd(files), name, target));
}

int users_find(struct usage_query *queries, size_t n)
{
        _cleanup_mount_table_ struct mount_table mounts = {};
        _cleanup_dm_hash_ struct dm_hash_table *namespaces = dm_hash_create(64);
        _cleanup_closedir_ DIR *directory = opendir("/proc");
        struct search search = {.queries = queries, .n = n, .mounts = &mounts, .namespaces = namespaces};
        char name[PATH_MAX];
        int r;

        if (!directory)
                return -errno;
        if (!namespaces)
                return -ENOMEM;
        r = mount_table_read(dirfd(directory), "self/mountinfo", &mounts);
        if (r < 0)
                return r;
        if (read_link(dirfd(directory), "self/ns/mnt", name) && !dm_hash_insert(namespaces, name, namespaces))
                return -ENOMEM;
        /* In the order of PIDs (the kernel's fs/proc/base.c). */
        FOREACH_ENTRY(number, directory) {
                _cleanup_close_ int fd = -EBADF;
                uint32_t pid;

                if (parse_u32(number, &pid) < 0 || (pid_t) pid == getpid())
                        continue;
                fd = openat(dirfd(directory), number, O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (fd < 0)
                        continue;
                search.process_fd = fd;
                search.pid = (pid_t) pid;
                look_at_process(&search);
        }
        return search.error;
}

char *users_describe(const struct usage_query *query)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        size_t n = query->users.n;

        for (size_t i = 0; file && i < n; i++)
                fprintf(file, "%s%s",
                        i == 0                    ? ""
                        : i + 1 == query->n_users ? " and "
                                                  : ", ",
                        query->users.strings[i]);
        if (file && query->n_users > n)
                fprintf(file, ", and %zu more", query->n_users - n);
        return file ? memstream_finish(&stream) : NULL;
}

/* ------ an unmount that has not finished ------ */

/* The type of the file system on a device, by /sys/fs/TYPE/DEVICE (the kernel's Documentation/ABI/testing/sysfs-fs-ext4 and
 * -xfs); NULL for none, or without memory. */
static char *find_file_system(const char *kernel_name)
{
        _cleanup_closedir_ DIR *directory = opendir("/sys/fs");

        FOREACH_ENTRY(type, directory)
                if (faccessat(dirfd(directory), path_format("%s/%s", type, kernel_name).text, F_OK, 0) == 0)
                        return string_printable(type);
        return NULL;
}

/* The kernel removes a mount point before it has written all data, which may take long. */
static char *describe_unmounting(const struct tree_node *node)
{
        _cleanup_enumeration_ struct enumeration mounts = {};
        _cleanup_free_ char *type = NULL;

        FOREACH_NODE(upper, &node->uppers)
                if (upper->kind == TREE_MOUNT && upper->state == TREE_GONE)
                        enumeration_add(&mounts, upper->name);
        if (mounts.text)
                return string_format("the unmount of %s has not finished", mounts.text);
        if (node->kernel_name)
                type = find_file_system(node->kernel_name);
        if (type)
                return string_format("the unmount of its file system has not finished (%s)", type);
        return strdup(
                tree_node_has_other_users(node) ? "by the kernel, or by a process that /proc does not show" : "");
}

/* ------ users of a node ------ */

char *node_describe(const struct tree_node *node)
{
        _cleanup_free_ char *name = string_printable(node->name);

        return !node->kernel_name || streq(node->name, node->kernel_name)
                       ? TAKE_PTR(name)
                       : string_format("%s (%s)", name ?: "?", node->kernel_name);
}

/* Devices on a node, from sysfs; the tree may be older. */
static void enumerate_devices(const struct tree_node *node, struct enumeration *names)
{
        struct path path = path_format("/sys/dev/block/%u:%u/holders", major(node->number), minor(node->number));
        /* A mount may have the number of the device below it. */
        _cleanup_closedir_ DIR *directory = node->kernel_name ? opendir(path.text) : NULL;

        FOREACH_ENTRY(name, directory) {
                _cleanup_free_ char *dm_name = NULL, *full = NULL;

                if (sysfs_read_at(dirfd(directory), path_format("%s/dm/name", name).text, &dm_name) >= 0)
                        full = string_format("%s (%s)", dm_name, name);
                enumeration_add(names, full ?: name);
        }
}

/* Words for each kind of user, and the command that ends its use; the name follows both. */
static const struct {
        const char *words, *command;
} holder_words[] = {
        [TREE_MOUNT] = {"mounted at ", "umount "},
        [TREE_SWAP] = {"swap on ", "swapoff "},
        [TREE_LOOP] = {"loop device /dev/", "losetup -d /dev/"},
        [TREE_MD] = {"md array /dev/", "mdadm --stop /dev/"},
        [TREE_MULTIPATH] = {"multipath device ", "multipath -f "},
        [TREE_DM_PARTITION] = {"partition ", "dmsetup remove "},
        [TREE_CRYPT] = {"encrypted device ", "cryptsetup close "},
        [TREE_DM] = {"device ", "dmsetup remove "},
        /* For all other kinds of LVs, too. */
        [TREE_LV_LINEAR] = {"LV /dev/mapper/", "lvchange -an /dev/mapper/"},
};

static void add_holder(const struct tree_node *holder, bool commands, struct enumeration *names)
{
        enum tree_kind kind = holder->kind < TREE_LV_LINEAR ? holder->kind : TREE_LV_LINEAR;
        _cleanup_free_ char *command = NULL, *text = NULL;

        /* Partitions end with their disk, hidden LVs with their LV. */
        if (!holder_words[kind].words || tree_lv_is_hidden(holder))
                return;
        command = commands ? format_command(holder_words[kind].command, holder->name) : NULL;
        text = string_format("%s%s%s%s%s", holder_words[kind].words, holder->name, holder->file ? " of " : "",
                holder->file ?: "", command ?: "");
        enumeration_add(names, text ?: holder->name);
}

/* With `commands`, the users of a user come before it. A loop device can be on itself, so the depth is limited. */
static void enumerate_holders(
        const struct tree_node *node, bool commands, unsigned int depth, struct enumeration *names)
{
        FOREACH_NODE(upper, &node->uppers) {
                bool is_later = commands && ANY(FOREACH_NODE(lower, &upper->lowers),
                                                    lower != node && tree_nodes_have(&node->uppers, lower));

                /* enumerate_devices() adds the devices on the node itself. */
                if (upper->state == TREE_GONE || is_later ||
                        (depth == 0 && node->kernel_name && upper->kernel_name))
                        continue;
                if (commands && depth < HOLDERS_DEPTH_MAX)
                        enumerate_holders(upper, commands, depth + 1, names);
                add_holder(upper, commands, names);
        }
}

char *node_describe_holders(const struct tree_node *node, const struct usage_query *query)
{
        bool commands = query->commands;
        /* Without one command, those before it would be useless. */
        _cleanup_enumeration_ struct enumeration holders = {.max = commands ? 16 : 0}, devices = {};
        _cleanup_free_ char *processes = users_describe(query);
        bool has_users = processes && *processes != '\0';

        enumerate_holders(node, commands, 0, &holders);
        enumerate_devices(node, &devices);
        if (!holders.text && !devices.text && !has_users)
                return processes ? describe_unmounting(node) : NULL;
        return string_format("%s%s%s%s%s%s", processes ?: "",
                has_users && (holders.text || devices.text) ? "; " : "", holders.text ?: "",
                holders.text && devices.text ? "; " : "", devices.text ? "used by " : "", devices.text ?: "");
}

/* The node itself, if it is a mount, or its first remaining mount; NULL if there is none. */
static const char *find_mount_point(const struct tree_node *node)
{
        if (node->kind == TREE_MOUNT)
                return node->name;
        FOREACH_NODE(upper, &node->uppers)
                if (upper->kind == TREE_MOUNT && upper->state != TREE_GONE)
                        return upper->name;
        return NULL;
}

int nodes_report_users(const struct tree_nodes *nodes, bool commands,
        void (*report)(void *userdata, struct tree_node *node, const char *holders, size_t n_processes),
        void *userdata)
{
        _cleanup_free_ struct usage_query *queries = calloc(nodes->n + 1, sizeof(*queries));
        bool search = false;
        int r;

        if (!queries)
                return -ENOMEM;
        for (size_t i = 0; i < nodes->n; i++) {
                const struct tree_node *node = nodes->nodes[i];

                queries[i].commands = commands;
                if (node->skip_reason || root_is_chosen())
                        continue;
                queries[i].number = node->kernel_name ? node->number : 0;
                queries[i].mount_point = find_mount_point(node);
                search = true;
        }
        r = search ? users_find(queries, nodes->n) : 0;
        if (r < 0)
                log_debug("Failed to look for processes: %s", strerror(-r));
        for (size_t i = 0; i < nodes->n; i++) {
                _cleanup_free_ char *holders = node_describe_holders(nodes->nodes[i], &queries[i]);

                report(userdata, nodes->nodes[i], holders, queries[i].n_users);
                strv_done(&queries[i].users);
        }
        return 0;
}
