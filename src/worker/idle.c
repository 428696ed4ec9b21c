/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/idle.h"

#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"

/* How long a worker stays that has nothing to do. While it is there a disk costs no process of ours; gone, it
 * costs no memory. */
#define IDLE_USEC (10 * USEC_PER_SEC)

bool idle_has_work(const struct worker *worker)
{
        const struct inventory *inventory = worker->inventory;

        return inventory_has_device_before(inventory, DEVICE_KNOWN) || worker->check_requests ||
               worker->recordings.job || worker->deadlines.question || !dm_list_empty(&worker->jobs) ||
               !dm_list_empty(&inventory->groups[VOLUME_GROUP_COMPLETE]);
}

int idle_listen(struct worker *worker)
{
        int r = flags_set(worker->run_fd, FLAGS_LISTENING);

        return r < 0 ? log_error_errno(r, "Failed to say that the worker listens: %m") : 0;
}

int idle_stay(struct worker *worker)
{
        worker->leaving = false;
        worker->idle_since_usec = 0;
        worker_check_requests(worker);
        return idle_listen(worker);
}

/* The end of the run, L2 to L4, W5 and W6 of flags.h. Events whose rule has seen "listening" come through the monitor
 * as long as they are in udev's queue: it is read dry after the queue has ended. Until then "resync" stands for what
 * would be lost with this worker. Returns 1 if the worker is to go. */
static int leave(struct worker *worker, const struct gather_phase *phase)
{
        int r;

        if (!worker->leaving) {
                r = flags_end_listening(worker->run_fd); /* L2 */
                if (r < 0)
                        return log_error_errno(r, "Failed to say that the worker does not listen any more: %m");
                worker->leaving = true;
                worker_ask_step(worker);
                return 0;
        }

        if (!phase->queue_empty) /* L3 */
                return 0;
        r = uevents_drain(worker->uevents);
        if (r >= 0)
                r = cookies_drain(worker->cookies);
        if (r < 0)
                return r;
        if (idle_has_work(worker))
                return idle_stay(worker);

        r = flags_clear(worker->run_fd, FLAGS_RESYNC); /* L4 */
        if (r < 0)
                return log_error_errno(r, "Failed to remove /run/headgate/" FLAGS_RESYNC ": %m");
        closep(&worker->running_fd); /* W5 */
        worker->running_fd = -EBADF;
        r = flags_ask_pending(worker->run_fd); /* W6 */
        if (r == FLAGS_NOTHING_PENDING)
                return 1;
        if (r > 0)
                r = flags_take_running(worker->run_fd, &worker->running_fd);
        if (r < 0)
                return log_error_errno(r, "Failed to look for requests a last time: %m");
        return r == FLAGS_IS_RUNNING ? 1 : idle_stay(worker);
}

int idle_rest(struct worker *worker, const struct gather_phase *phase)
{
        uint64_t now = now_usec();

        /* It was started early to hear of all disks from udev, so it stays until they have come. */
        if (phase->booting && !phase->queue_empty)
                return 0;

        if (worker->idle_since_usec == 0)
                worker->idle_since_usec = now;
        if (now - worker->idle_since_usec >= IDLE_USEC)
                return leave(worker, phase);
        worker_wake_at(worker, worker->idle_since_usec + IDLE_USEC);
        return 0;
}
