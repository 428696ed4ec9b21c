/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The semaphores by which lvm2 waits for udev. */

#include "fast-rules/semaphores.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/sem.h>

#include "shared/util.h"

/* semctl(2) has two for a semaphore that was removed. */
static int removed_or(int error)
{
        return error == EINVAL || error == EIDRM ? -ENOENT : -error;
}

int semaphore_subtract(int id, unsigned int n)
{
        /* If fewer events are left, fails rather than waits. */
        struct sembuf operation = {.sem_op = (short) -(int) n, .sem_flg = IPC_NOWAIT};

        return semop(id, &operation, 1) < 0 ? removed_or(errno) : 0;
}

int cookie_complete(uint32_t cookie)
{
        int id;

        if ((cookie & COOKIE_BASE_MASK) == 0)
                return 0;
        id = semget(
                (key_t) ((uint32_t) DM_COOKIE_MAGIC << DM_UDEV_FLAGS_SHIFT | (cookie & COOKIE_BASE_MASK)), 1, 0);
        return id < 0 ? -errno : semaphore_subtract(id, 1);
}

int cookie_get_state(int id, struct cookie_state *ret)
{
        int left = semctl(id, 0, GETVAL);
        int waiting = left < 0 ? -1 : semctl(id, 0, GETZCNT);
        int last = waiting < 0 ? -1 : semctl(id, 0, GETPID);

        if (last < 0)
                return removed_or(errno);
        *ret = (struct cookie_state){.left = (unsigned int) left, .waiting = (unsigned int) waiting, .last = last};
        return 0;
}

int suspects_find(struct suspect **ret, size_t *ret_n)
{
        _cleanup_free_ char *text = NULL;
        int r = read_file_at(AT_FDCWD, "/proc/sysvipc/sem", &text, NULL);

        *ret = NULL;
        *ret_n = 0;
        if (r < 0)
                return r;
        /* The first line has the names of the columns; others may be of other programs. */
        FOREACH_LINE(line, text) {
                struct suspect suspect = {.since_usec = now_usec()};
                int64_t used_sec, changed_sec;

                if (sscanf(line, "%u %d %*o %*u %*u %*u %*u %*u %" SCNd64 " %" SCNd64, &suspect.key, &suspect.id,
                            &used_sec, &changed_sec) != 4 ||
                        suspect.key >> DM_UDEV_FLAGS_SHIFT != DM_COOKIE_MAGIC)
                        continue;
                r = cookie_get_state(suspect.id, &suspect.state);
                if (r == -ENOENT || r == -EACCES)
                        continue;
                if (r < 0)
                        return r;
                suspect.changed_sec = MAX(used_sec, changed_sec);
                if (APPEND(*ret, *ret_n, suspect) < 0)
                        return -ENOMEM;
        }
        return 0;
}
