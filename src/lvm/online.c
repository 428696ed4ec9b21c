/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* lvm2's files in /run: records of PVs and VGs in /run/lvm, and locks of VGs. */

#include "lvm/online.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "shared/dm.h"
#include "shared/flags.h"
#include "shared/util.h"

#define LVM_RUN_DIRECTORY "/run/lvm"

#define RECORDS_MAX 16384

/* Most commands of lvm2 have a lock for a few milliseconds. */
#define PAUSE_USEC (20 * USEC_PER_MSEC)

/* ------ online records ------ */

static const char *run_directory(void)
{
        return secure_getenv("HEADGATE_LVM_RUN_DIRECTORY") ?: LVM_RUN_DIRECTORY;
}

int online_open_to_look(void)
{
        int fd = open(run_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

int online_open_directory(void)
{
        static const char *const directories[] = {"pvs_online", "pvs_lookup", "vgs_online"};
        _cleanup_close_ int fd = -EBADF;

        /* Early at boot, systemd-tmpfiles has not created them yet. */
        if (mkdir(run_directory(), 0700) < 0 && errno != EEXIST)
                return -errno;
        fd = online_open_to_look();
        if (fd < 0)
                return fd;

        FOREACH_ELEMENT(directory, directories)
                if (mkdirat(fd, *directory, 0700) < 0 && errno != EEXIST)
                        return -errno;
        return TAKE_FD(fd);
}

int online_read_pv(int lvm_run_fd, const char *pvid, dev_t *ret, char **ret_vg_name)
{
        _cleanup_free_ char *content = NULL;
        unsigned int major_number, minor_number;
        int r;

        if (ret_vg_name)
                *ret_vg_name = NULL;
        r = read_file_at(lvm_run_fd, path_format("pvs_online/%s", pvid).text, &content, NULL);
        if (r == -ENOENT)
                return ONLINE_NONE;
        if (r < 0)
                return r;

        /* lvm2 creates the file, then writes to it. An empty file is about to be written, or its writer died. */
        if (sscanf(content, "%u:%u", &major_number, &minor_number) != 2)
                return ONLINE_NONE;
        FOREACH_LINE(line, content) {
                const char *name = ret_vg_name ? skip_prefix(line, "vg:") : NULL;

                if (name && vg_name_is_valid(name) && string_replace(ret_vg_name, strdup(name)) < 0)
                        return -ENOMEM;
        }
        *ret = makedev(major_number, minor_number);
        return ONLINE_FOUND;
}

dev_t online_find_pv(int lvm_run_fd, const char *pvid)
{
        dev_t number;

        return online_read_pv(lvm_run_fd, pvid, &number, NULL) == ONLINE_FOUND ? number : 0;
}

int online_list_vgs(int lvm_run_fd, struct strv *names)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(lvm_run_fd, "pvs_online");
        size_t n = 0;

        if (!directory)
                return errno == ENOENT ? 0 : -errno;

        FOREACH_ENTRY(pvid, directory) {
                char *name;
                dev_t number;
                int r;

                if (!lvm_id_is_valid(pvid))
                        continue;
                if (++n > RECORDS_MAX)
                        return -E2BIG;
                r = online_read_pv(lvm_run_fd, pvid, &number, &name);
                /* lvm2 creates only regular files. */
                if (r < 0 && r != -EISDIR && r != -EBADFD)
                        return r;
                if (name && strv_take(names, name) < 0)
                        return -ENOMEM;
        }
        return 0;
}

int online_write_lookup(int lvm_run_fd, const struct vg *vg)
{
        _cleanup_free_ char *text = malloc(vg->n_pvs * LVM_ID_SIZE + 1);
        char *end = text;

        if (!text)
                return -ENOMEM;
        FOREACH_PV(pv, vg)
                end = stpcpy(stpcpy(end, pv->pvid), "\n");
        *end = '\0';
        return write_file_atomic_at(lvm_run_fd, path_format("pvs_lookup/%s", vg->name).text, text);
}

int online_update_lookup(int lvm_run_fd, const struct vg *vg)
{
        int r = flags_is_set(lvm_run_fd, path_format("pvs_lookup/%s", vg->name).text);

        return r <= 0 ? r : online_write_lookup(lvm_run_fd, vg);
}

int online_claim(int lvm_run_fd, const char *vg_name)
{
        return flags_set(lvm_run_fd, path_format("vgs_online/%s", vg_name).text);
}

int online_is_claimed(int lvm_run_fd, const char *vg_name)
{
        return flags_is_set(lvm_run_fd, path_format("vgs_online/%s", vg_name).text);
}

int online_unclaim(int lvm_run_fd, const char *vg_name)
{
        return flags_clear(lvm_run_fd, path_format("vgs_online/%s", vg_name).text);
}

int online_forget_name(int lvm_run_fd, const char *vg_name)
{
        return flags_clear(lvm_run_fd, path_format("pvs_lookup/%s", vg_name).text)
                       ?: online_unclaim(lvm_run_fd, vg_name);
}

int online_forget(int lvm_run_fd, const char *pvid, const char *vg_name)
{
        int r = flags_clear(lvm_run_fd, path_format("pvs_online/%s", pvid).text);

        return r < 0 || !vg_name ? r : online_forget_name(lvm_run_fd, vg_name);
}

/* ------ locks ------ */

static struct path lock_path(const char *directory, const char *name)
{
        return path_format("%s/V_%s", directory, name);
}

int vg_locks_init(struct vg_locks *locks, const char *directory)
{
        *locks = (struct vg_locks){.directory = directory};
        /* With the mode in lvm2's tmpfiles.d(5). */
        return mkdir(directory, 0700) < 0 && errno != EEXIST ? -errno : 0;
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
                /* The former owner of the lock has removed the file, and another process may have created a new
                 * one. */
                if (is_file(fd, path))
                        return TAKE_FD(fd);
        }
}

bool vg_is_locked(const char *directory, const char *name)
{
        _cleanup_close_ int fd = open(lock_path(directory, name).text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

        /* An unlocked VG usually has no lock file. */
        return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* Returns the lock of the VG, which may be new; NULL without memory. */
static struct vg_lock *find_lock(struct vg_locks *locks, const char *name)
{
        _cleanup_free_ char *copy = NULL;

        FOREACH_ARRAY(lock, locks->locks, locks->n)
                if (streq(lock->name, name))
                        return lock;
        copy = strdup(name);
        if (!copy || !GREEDY_REALLOC(locks->locks, locks->n + 1))
                return NULL;
        locks->locks[locks->n] = (struct vg_lock){TAKE_PTR(copy), -EAGAIN};
        return &locks->locks[locks->n++];
}

int vg_locks_take(struct vg_locks *locks, const char *name, uint64_t until_usec)
{
        struct vg_lock *lock = find_lock(locks, name);

        if (!lock)
                return -ENOMEM;
        if (lock->fd >= 0)
                return 0;
        while ((lock->fd = try_lock(lock_path(locks->directory, name).text)) == -EAGAIN && now_usec() < until_usec)
                usleep(PAUSE_USEC);
        return lock->fd >= 0;
}

void vg_locks_done(struct vg_locks *locks)
{
        FOREACH_ARRAY(lock, locks->locks, locks->n) {
                struct path path = lock_path(locks->directory, lock->name);

                /* Removed while locked, so that no other process uses the file. */
                if (lock->fd >= 0 && is_file(lock->fd, path.text))
                        (void) unlink(path.text);
                closep(&lock->fd);
                free(lock->name);
        }
        free(locks->locks);
        *locks = (struct vg_locks){};
}
