/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/users.h"

#include <fcntl.h>
#include <libdevmapper.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "shared/kernel.h"
#include "shared/util.h"

/* Some of a process's links, and what it means if one leads below a mount point. */
static const struct {
        const char *name;
        const char *verb;
} process_links[] = {
        {"cwd", "has its working directory at"},
        {"root", "has its root directory at"},
        {"exe", "runs"},
};

/* The process that is just looked at. */
struct process {
        int fd; /* its directory in /proc */
        pid_t pid;
        struct usage_query *queries;
        size_t n;
};

/* ------ one user ------ */

/* As the process itself chose it, at most 15 bytes: any but NUL (proc(5)). Unlike its command line it can be read
 * whatever the process waits for. Returns 1 and `*ret`, 0 for one that has gone, or -ENOMEM. */
static int read_command(int process_fd, char **ret)
{
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = read_file_at(process_fd, "comm", &text, &size);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (size > 0 && text[size - 1] == '\n')
                text[size - 1] = '\0';
        *ret = string_printable(text);
        return *ret ? 1 : -ENOMEM;
}

/* One that was added last is not added again, and one that has gone is not, either. `how` is taken over, and NULL for
 * want of memory. */
static int add_user(struct users *users, const struct process *process, char *how)
{
        _cleanup_free_ char *taken = how, *command = NULL;
        int r;

        if (!taken)
                return -ENOMEM;
        if (users->n > 0 && users->last == process->pid)
                return 0;
        r = read_command(process->fd, &command);
        if (r <= 0)
                return r;
        if (users->n < USERS_KEPT_MAX)
                users->users[users->n] = (struct user){process->pid, TAKE_PTR(command), TAKE_PTR(taken)};
        users->n++;
        users->last = process->pid;
        return 0;
}

/* ------ links ------ */

/* What a link says, whatever it leads to. Returns whether there is one. */
static bool read_link(int dir_fd, const char *name, char target[static PATH_MAX])
{
        ssize_t length = readlinkat(dir_fd, name, target, PATH_MAX - 1);

        target[MAX(length, 0)] = '\0';
        return length >= 0;
}

/* The number of the block device that `link` below `dir_fd` is or leads to, whose absolute path is `target`; 0 if
 * that is no block device. Only what has its name below /dev/ is asked at all, and in a way that does not wait for any
 * server: to ask a file system that hangs is to hang. */
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

/* The mount namespaces of the processes that are looked through. */
struct namespaces {
        struct mount_table own;      /* the mounts in ours */
        struct dm_hash_table *known; /* by what /proc/PID/ns/mnt says: ours, and those that were looked at */
};

/* "mnt:[4026531841]", the same for all processes of a namespace (namespaces(7)). Returns whether there is one. */
static bool read_namespace(int process_fd, char name[static PATH_MAX])
{
        return read_link(process_fd, "ns/mnt", name) && *name != '\0';
}

static int remember(struct namespaces *namespaces, const char *name)
{
        return dm_hash_insert(namespaces->known, name, namespaces) ? 0 : -ENOMEM;
}

static int namespaces_init(struct namespaces *namespaces)
{
        _cleanup_close_ int self_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
        char name[PATH_MAX];
        int r;

        *namespaces = (struct namespaces){.known = dm_hash_create(64)};
        if (!namespaces->known)
                return -ENOMEM;
        if (self_fd < 0)
                return -errno;
        r = mount_table_read(self_fd, "mountinfo", &namespaces->own);
        if (r < 0)
                return r;
        return read_namespace(self_fd, name) ? remember(namespaces, name) : 0;
}

static void namespaces_done(struct namespaces *namespaces)
{
        mount_table_done(&namespaces->own);
        if (namespaces->known)
                dm_hash_destroy(namespaces->known);
}

/* The parent's ID is not that of an entry for what is mounted at the root of the process. */
static struct libmnt_fs *find_parent(const struct mount_table *table, struct libmnt_fs *entry)
{
        FOREACH_MOUNT(other, table)
        if (mnt_fs_get_id(other) == mnt_fs_get_parent_id(entry))
                return other;
        return NULL;
}

/* The number of a peer group, as in "shared:7 master:3" (mount_namespaces(7)); 0 for none. */
static unsigned long find_group(struct libmnt_fs *entry, const char *word)
{
        const char *fields = mnt_fs_get_optional_fields(entry);
        const char *found = fields ? strstr(fields, word) : NULL;

        return found ? strtoul(found + strlen(word), NULL, 10) : 0;
}

/* Whether a mount elsewhere goes when ours of the same place does: an unmount in the parent of ours is repeated in
 * that one's peers and slaves. */
static bool goes_with_ours(
        const struct namespaces *namespaces, const struct mount_table *theirs, struct libmnt_fs *entry)
{
        struct libmnt_fs *ours =
                mnt_table_find_target(namespaces->own.table, mnt_fs_get_target(entry), MNT_ITER_BACKWARD);
        struct libmnt_fs *our_parent, *their_parent;
        unsigned long group;

        if (!ours || mnt_fs_get_devno(ours) != mnt_fs_get_devno(entry))
                return false;
        our_parent = find_parent(&namespaces->own, ours);
        their_parent = find_parent(theirs, entry);
        group = our_parent ? find_group(our_parent, "shared:") : 0;
        return group > 0 && their_parent &&
               (find_group(their_parent, "shared:") == group || find_group(their_parent, "master:") == group);
}

/* A file system on several devices, as btrfs, has a number of its own, and the path of one of its devices. */
static dev_t device_of(struct libmnt_fs *entry)
{
        dev_t number = mnt_fs_get_devno(entry);
        const char *source = mnt_fs_get_srcpath(entry);

        return major(number) == 0 && source ? device_number_of_link(AT_FDCWD, source, source) ?: number : number;
}

static int add_user_elsewhere(struct users *users, const struct process *process, const char *target)
{
        _cleanup_free_ char *printable = string_printable(target);

        return add_user(users, process,
                printable ? string_format("has it mounted at %s in another mount namespace", printable) : NULL);
}

static int add_users_elsewhere(
        const struct process *process, const struct namespaces *namespaces, const struct mount_table *theirs)
{
        FOREACH_MOUNT(entry, theirs)
        {
                dev_t number = mnt_fs_get_target(entry) ? device_of(entry) : 0;

                for (size_t i = 0; number != 0 && i < process->n; i++) {
                        int r;

                        if (process->queries[i].number != number || goes_with_ours(namespaces, theirs, entry))
                                continue;
                        r = add_user_elsewhere(&process->queries[i].users, process, mnt_fs_get_target(entry));
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

/* If a process is the first one of its namespace, adds it as a user of all devices that are mounted there. */
static int look_at_namespace(const struct process *process, struct namespaces *namespaces)
{
        _cleanup_mount_table_ struct mount_table theirs = {};
        char name[PATH_MAX];
        int r;

        if (!read_namespace(process->fd, name) || dm_hash_lookup(namespaces->known, name))
                return 0;
        r = mount_table_read(process->fd, "mountinfo", &theirs);
        /* If this process has just gone, the next one of its namespace is as good. */
        if (r < 0 || theirs.n == 0)
                return r == -ENOMEM ? r : 0;
        r = add_users_elsewhere(process, namespaces, &theirs);
        return r < 0 ? r : remember(namespaces, name);
}

/* ------ one process after the other ------ */

/* The name of a file that was deleted goes on with " (deleted)". */
static bool lies_at(const char *path, const char *mount_point)
{
        const char *rest = skip_prefix(path, streq(mount_point, "/") ? "" : mount_point);

        return rest && (rest[0] == '/' || rest[0] == '\0');
}

static int add_users_of_mounts(const struct process *process, const char *path, const char *verb, const char *end)
{
        for (size_t i = 0; i < process->n; i++) {
                struct usage_query *query = &process->queries[i];
                _cleanup_free_ char *printable = NULL;
                int r;

                if (!query->mount_point || !lies_at(path, query->mount_point))
                        continue;
                printable = string_printable(path);
                r = add_user(
                        &query->users, process, printable ? string_format("%s %s%s", verb, printable, end) : NULL);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_users_of_devices(const struct process *process, dev_t number)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && number != 0 && i < process->n; i++)
                if (process->queries[i].number == number)
                        r = add_user(&process->queries[i].users, process, strdup("has it open"));
        return r;
}

static int look_at_files(const struct process *process)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(process->fd, "fd");
        int r = 0;

        if (!directory)
                return 0;
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));) {
                char target[PATH_MAX];

                /* Of what has no name, as pipes, there is only a kind and a number. */
                if (!read_link(dirfd(directory), entry->d_name, target) || target[0] != '/')
                        continue;
                r = add_users_of_mounts(process, target, "has", " open");
                if (r >= 0)
                        r = add_users_of_devices(
                                process, device_number_of_link(dirfd(directory), entry->d_name, target));
        }
        return r;
}

static int look_at_links(const struct process *process)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(process_links); i++) {
                char target[PATH_MAX];

                if (read_link(process->fd, process_links[i].name, target))
                        r = add_users_of_mounts(process, target, process_links[i].verb, "");
        }
        return r;
}

/* Neither kernel threads nor processes that have ended run a program. */
static bool runs_a_program(int process_fd)
{
        char target[PATH_MAX];

        return read_link(process_fd, "exe", target) || errno != ENOENT;
}

static int look_at(const struct process *process, struct namespaces *namespaces)
{
        int r;

        if (!runs_a_program(process->fd))
                return 0;
        r = look_at_namespace(process, namespaces);
        if (r >= 0)
                r = look_at_links(process);
        return r < 0 ? r : look_at_files(process);
}

int users_find(struct usage_query *queries, size_t n)
{
        _cleanup_closedir_ DIR *directory = opendir("/proc");
        _cleanup_(namespaces_done) struct namespaces namespaces = {};
        int r;

        if (!directory)
                return -errno;
        r = namespaces_init(&namespaces);
        /* By number, the lowest one first (the kernel's fs/proc/base.c). */
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));) {
                _cleanup_close_ int fd = -EBADF;
                uint32_t pid;

                if (parse_u32(entry->d_name, &pid) < 0 || (pid_t) pid == getpid())
                        continue;
                fd = openat(dirfd(directory), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (fd >= 0)
                        r = look_at(&(struct process){fd, (pid_t) pid, queries, n}, &namespaces);
        }
        return r;
}

/* ------ all of them ------ */

char *users_describe(const struct users *users)
{
        _cleanup_free_ char *text = strdup("");
        size_t n_kept = MIN(users->n, USERS_KEPT_MAX);

        for (size_t i = 0; text && i < n_kept; i++) {
                const struct user *user = &users->users[i];
                const char *separator = i == 0 ? "" : i + 1 == users->n ? " and " : ", ";

                if (string_replace(&text, string_format("%s%sprocess %d (%s) %s", text, separator, user->pid,
                                                  user->command, user->how)) < 0)
                        return NULL;
        }
        if (text && users->n > n_kept)
                return string_format("%s, and %zu more", text, users->n - n_kept);
        return TAKE_PTR(text);
}

void users_done(struct users *users)
{
        for (size_t i = 0; i < MIN(users->n, USERS_KEPT_MAX); i++) {
                free(users->users[i].command);
                free(users->users[i].how);
        }
        *users = (struct users){};
}
