/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/namespaces.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "shared/util.h"
#include "teardown/device_number.h"

#define NAMESPACE_LINK "ns/mnt"

/* "mnt:[4026531841]", the same for all processes of a namespace (namespaces(7)). Returns whether there is one. */
static bool read_name(int process_fd, char name[static PATH_MAX])
{
        ssize_t length = readlinkat(process_fd, NAMESPACE_LINK, name, PATH_MAX - 1);

        name[MAX(length, 0)] = '\0';
        return length > 0;
}

static int remember(struct namespaces *namespaces, const char *name)
{
        return dm_hash_insert(namespaces->known, name, namespaces) ? 0 : -ENOMEM;
}

int namespaces_init(struct namespaces *namespaces)
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
        return read_name(self_fd, name) ? remember(namespaces, name) : 0;
}

void namespaces_done(struct namespaces *namespaces)
{
        mnt_unref_table(namespaces->own);
        if (namespaces->known)
                dm_hash_destroy(namespaces->known);
        *namespaces = (struct namespaces){};
}

/* ------ mounts that follow ours ------ */

/* The parent's ID is not that of an entry for what is mounted at the root of the process. */
static struct libmnt_fs *find_parent(struct libmnt_table *table, struct libmnt_fs *entry)
{
        _cleanup_mount_iterator_ struct libmnt_iter *iterator = mnt_new_iter(MNT_ITER_FORWARD);
        struct libmnt_fs *other;

        while (iterator && mnt_table_next_fs(table, iterator, &other) == 0)
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
        const struct namespaces *namespaces, struct libmnt_table *theirs, struct libmnt_fs *entry)
{
        struct libmnt_fs *ours =
                mnt_table_find_target(namespaces->own, mnt_fs_get_target(entry), MNT_ITER_BACKWARD);
        struct libmnt_fs *our_parent, *their_parent;
        unsigned long group;

        if (!ours || mnt_fs_get_devno(ours) != mnt_fs_get_devno(entry))
                return false;
        our_parent = find_parent(namespaces->own, ours);
        their_parent = find_parent(theirs, entry);
        group = our_parent ? find_group(our_parent, "shared:") : 0;
        return group > 0 && their_parent &&
               (find_group(their_parent, "shared:") == group || find_group(their_parent, "master:") == group);
}

/* ------ what is mounted in others ------ */

/* A file system on several devices, as btrfs, has a number of its own, and the path of one of its devices. */
static dev_t device_of(struct libmnt_fs *entry)
{
        dev_t number = mnt_fs_get_devno(entry);
        const char *source = mnt_fs_get_srcpath(entry);

        return major(number) == 0 && source ? device_number_of_link(AT_FDCWD, source, source) ?: number : number;
}

static int add_user(struct sought *sought, int process_fd, pid_t pid, const char *target)
{
        _cleanup_free_ char *printable = string_printable(target);

        return users_add(&sought->users, process_fd, pid,
                printable ? string_format("has it mounted at %s in another mount namespace", printable) : NULL);
}

static int add_users(const struct namespaces *namespaces, struct libmnt_table *theirs, int process_fd, pid_t pid,
        struct sought *sought, size_t n)
{
        _cleanup_mount_iterator_ struct libmnt_iter *iterator = mnt_new_iter(MNT_ITER_FORWARD);
        struct libmnt_fs *entry;
        int r = iterator ? 0 : -ENOMEM;

        while (r >= 0 && mnt_table_next_fs(theirs, iterator, &entry) == 0) {
                dev_t number = mnt_fs_get_target(entry) ? device_of(entry) : 0;

                for (size_t i = 0; r >= 0 && number != 0 && i < n; i++)
                        if (sought[i].number == number && !goes_with_ours(namespaces, theirs, entry))
                                r = add_user(&sought[i], process_fd, pid, mnt_fs_get_target(entry));
        }
        return r;
}

int namespaces_look(struct namespaces *namespaces, int process_fd, pid_t pid, struct sought *sought, size_t n)
{
        _cleanup_mount_table_ struct libmnt_table *theirs = NULL;
        char name[PATH_MAX];
        int r;

        if (!read_name(process_fd, name) || dm_hash_lookup(namespaces->known, name))
                return 0;
        r = mount_table_read(process_fd, "mountinfo", &theirs);
        /* If this process has just gone, the next one of its namespace is as good. */
        if (r < 0 || mnt_table_is_empty(theirs))
                return r == -ENOMEM ? r : 0;
        r = add_users(namespaces, theirs, process_fd, pid, sought, n);
        return r < 0 ? r : remember(namespaces, name);
}
