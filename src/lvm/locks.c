/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/locks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "shared/util.h"

/* Most commands of lvm2 have a lock for a few milliseconds. */
#define PAUSE_USEC (20 * USEC_PER_MSEC)

struct lock {
        char *path;
        int fd; /* with the lock; or a negative errno */
};

int volume_group_locks_init(struct volume_group_locks *locks, const char *directory)
{
        *locks = (struct volume_group_locks){.directory = strdup(directory), .locks = dm_hash_create(256)};
        if (!locks->directory || !locks->locks)
                return -ENOMEM;
        /* As lvm2's own tmpfiles.d(5) makes it. */
        return mkdir(directory, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int volume_group_locks_get(const struct volume_group_locks *locks, const char *name)
{
        const struct lock *lock = dm_hash_lookup(locks->locks, name);

        return lock ? MIN(lock->fd, 0) : -ENOENT;
}

static bool is_file(int fd, const char *path)
{
        struct stat opened, named;

        return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
               opened.st_ino == named.st_ino;
}

/* Returns a descriptor or a negative errno. */
static int try_lock(const char *path)
{
        for (;;) {
                _cleanup_close_ int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0777);

                if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
                        return errno == EWOULDBLOCK ? -EAGAIN : -errno;
                /* Whoever had the lock until now has removed the file, and somebody may have made a new one. */
                if (is_file(fd, path))
                        return TAKE_FD(fd);
        }
}

static int lock_until(const char *path, uint64_t until_usec)
{
        int fd;

        while ((fd = try_lock(path)) == -EAGAIN && now_usec() < until_usec)
                usleep(PAUSE_USEC);
        return fd;
}

static struct lock *lock_free(struct lock *lock)
{
        if (!lock)
                return NULL;
        /* As long as it is locked, nobody else can take it for his. */
        if (lock->fd >= 0 && is_file(lock->fd, lock->path))
                (void) unlink(lock->path);
        if (lock->fd >= 0)
                close(lock->fd);
        free(lock->path);
        free(lock);
        return NULL;
}
DEFINE_CLEANUP(struct lock *, lock_free)

static int lock_new(const struct volume_group_locks *locks, const char *name, struct lock **ret)
{
        _cleanup_(lock_freep) struct lock *lock = calloc(1, sizeof(*lock));

        if (!lock)
                return -ENOMEM;
        lock->fd = -EAGAIN;
        lock->path = string_format("%s/V_%s", locks->directory, name);
        if (!lock->path || !dm_hash_insert(locks->locks, name, lock))
                return -ENOMEM;
        *ret = TAKE_PTR(lock);
        return 0;
}

int volume_group_locks_take(struct volume_group_locks *locks, const char *name, uint64_t until_usec)
{
        struct lock *lock = dm_hash_lookup(locks->locks, name);
        int r;

        if (!lock) {
                r = lock_new(locks, name, &lock);
                if (r < 0)
                        return r;
        }
        if (lock->fd >= 0)
                return 0;
        lock->fd = lock_until(lock->path, until_usec);
        return lock->fd >= 0;
}

static void give_back(void *data)
{
        lock_free(data);
}

void volume_group_locks_done(struct volume_group_locks *locks)
{
        if (locks->locks) {
                dm_hash_iter(locks->locks, give_back);
                dm_hash_destroy(locks->locks);
        }
        free(locks->directory);
        *locks = (struct volume_group_locks){};
}
