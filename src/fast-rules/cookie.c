/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fast-rules/cookie.h"

#include <errno.h>
#include <libdevmapper.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#define BASE_MASK ((1u << DM_UDEV_FLAGS_SHIFT) - 1)

/* semctl(2) leaves it to its callers to define this. */
union semun {
        int val;
        struct semid_ds *buf;
        struct seminfo *info;
};

/* semctl(2) has two for a semaphore that has gone. */
static int gone_or(int error)
{
        return error == EINVAL || error == EIDRM ? -ENOENT : -error;
}

static int subtract(int id, unsigned int n)
{
        /* More than there is must not be waited for. */
        struct sembuf operation = {.sem_op = (short) -(int) n, .sem_flg = IPC_NOWAIT};

        return semop(id, &operation, 1) < 0 ? (errno == EAGAIN ? -EAGAIN : gone_or(errno)) : 0;
}

int cookie_complete(uint32_t cookie)
{
        int id;

        if ((cookie & BASE_MASK) == 0)
                return 0;
        id = semget((key_t) ((uint32_t) DM_COOKIE_MAGIC << DM_UDEV_FLAGS_SHIFT | (cookie & BASE_MASK)), 1, 0);
        return id < 0 ? -errno : subtract(id, 1);
}

int cookie_get_state(int id, struct cookie_state *ret)
{
        int value = semctl(id, 0, GETVAL), waiting, last;

        if (value < 0)
                return gone_or(errno);
        waiting = semctl(id, 0, GETZCNT);
        last = waiting < 0 ? -1 : semctl(id, 0, GETPID);
        if (last < 0)
                return gone_or(errno);
        *ret = (struct cookie_state){
                .left = (unsigned int) value, .waiting = (unsigned int) waiting, .last = last};
        return 0;
}

int cookie_complete_all(int id, const struct cookie_state *state)
{
        return state->left == 0 ? 0 : subtract(id, state->left);
}

int cookie_for_each(cookie_function function, void *userdata)
{
        struct seminfo info = {};
        int highest = semctl(0, 0, SEM_INFO, (union semun){.info = &info});

        if (highest < 0)
                return -errno;
        for (int index = 0; index <= highest; index++) {
                struct semid_ds set = {};
                struct cookie_state state;
                int id = semctl(index, 0, SEM_STAT, (union semun){.buf = &set}), r;

                /* Not used, or not ours to look at. */
                if (id < 0 || (uint32_t) set.sem_perm.__key >> DM_UDEV_FLAGS_SHIFT != DM_COOKIE_MAGIC)
                        continue;
                r = cookie_get_state(id, &state);
                if (r == -ENOENT)
                        continue;
                if (r >= 0)
                        r = function(id, &state, userdata);
                if (r < 0)
                        return r;
        }
        return 0;
}
