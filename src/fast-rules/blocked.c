/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds processes that are blocked by a lock of a vgchange, in /proc/locks. */

#include "fast-rules/blocked.h"

#include <stdio.h>

#include "lvm/command.h"
#include "shared/util.h"

static const struct waiter *find_waiter(const struct waiter *waiters, size_t n, pid_t pid)
{
        FOREACH_ARRAY(waiter, waiters, n)
                if (waiter->pid == pid)
                        return waiter;
        return NULL;
}

/* lvm2 locks by flock(2). A line is "1: FLOCK  ADVISORY  WRITE 233 08:01:393 0 EOF" for the holder of a lock, followed by
 * "1: -> FLOCK ..." for each waiter (lock_get_status() in the kernel's fs/locks.c). Returns the number of waiters. */
static size_t read_waiters(char *locks, struct waiter *ret)
{
        pid_t holder = 0;
        size_t n = 0;

        FOREACH_LINE(line, locks) {
                bool waits = strstr(line, "-> ");
                int pid = 0;

                (void) sscanf(line, waits ? "%*[^>]> FLOCK %*s %*s %d" : "%*[^:]: FLOCK %*s %*s %d", &pid);
                if (!waits)
                        holder = pid;
                else if (pid > 0 && holder > 0 && n < BLOCKED_MAX)
                        ret[n++] = (struct waiter){.pid = pid, .holder = holder};
        }
        return n;
}

/* lvm2's waiters queue for a second lock, which the first waiter holds (_do_write_priority_flock() in lib/locking). */
static pid_t find_vgchange(const struct waiter *waiters, size_t n, pid_t holder, const struct dm_list *jobs)
{
        const struct waiter *next;

        for (size_t i = 0; i < n && (next = find_waiter(waiters, n, holder)); i++)
                holder = next->holder;
        return ANY(FOREACH_LISTED(const struct job, job, jobs), job->command.pid == holder) ? holder : 0;
}

void blocked_look(struct blocked *blocked, char *locks, const struct dm_list *jobs)
{
        struct waiter waiters[BLOCKED_MAX];
        struct blocked found = {};
        size_t n = read_waiters(locks, waiters);

        FOREACH_ARRAY(waiter, waiters, n) {
                const struct waiter *before = find_waiter(blocked->waiters, blocked->n, waiter->pid);
                pid_t vgchange = find_vgchange(waiters, n, waiter->holder, jobs);

                if (vgchange > 0)
                        found.waiters[found.n++] = (struct waiter){
                                .pid = waiter->pid,
                                .holder = vgchange,
                                .looks = before && before->holder == vgchange ? before->looks + 1 : 1,
                        };
        }
        *blocked = found;
}
