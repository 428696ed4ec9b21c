/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The semaphores by which lvm2 waits for udev. */

#include "fast-rules/semaphores.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/sem.h>

#include "shared/util.h"

/* semctl(2) leaves it to its callers to define this. */
union semun {
        int val;
        struct semid_ds *buf;
        struct seminfo *info;
};

/* semctl(2) has two for a semaphore that was removed. */
static int removed_or(int error)
{
        return error == EINVAL || error == EIDRM ? -ENOENT : -error;
}

static int subtract(int id, unsigned int n)
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
        return id < 0 ? -errno : subtract(id, 1);
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

int cookie_complete_all(int id, const struct cookie_state *state)
{
        return state->left == 0 ? 0 : subtract(id, state->left);
}

int suspects_find(struct suspect **ret, size_t *ret_n)
{
        struct seminfo info = {};
        int highest = semctl(0, 0, SEM_INFO, (union semun){.info = &info});

        *ret = NULL;
        *ret_n = 0;
        if (highest < 0)
                return -errno;
        *ret = calloc((size_t) highest + 1, sizeof(**ret));
        if (!*ret)
                return -ENOMEM;
        for (int index = 0; index <= highest; index++) {
                struct suspect *suspect = &(*ret)[*ret_n];
                struct semid_ds set = {};
                int r;

                suspect->id = semctl(index, 0, SEM_STAT, (union semun){.buf = &set});
                /* Unused, inaccessible, or not device-mapper's. */
                if (suspect->id < 0 || (uint32_t) set.sem_perm.__key >> DM_UDEV_FLAGS_SHIFT != DM_COOKIE_MAGIC)
                        continue;
                r = cookie_get_state(suspect->id, &suspect->state);
                if (r == -ENOENT)
                        continue;
                if (r < 0)
                        return r;
                suspect->base = (unsigned int) set.sem_perm.__key & COOKIE_BASE_MASK;
                suspect->changed_sec = MAX(set.sem_otime, set.sem_ctime);
                suspect->since_usec = now_usec();
                ++*ret_n;
        }
        return 0;
}
