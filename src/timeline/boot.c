/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The timeline of this boot, made of the worker's records and of the times of what is in /dev. */

#include "timeline/boot.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "shared/util.h"

/* What the kernel takes for the time of a file is that of its last tick, at most 10 ms old. */
#define TICK_USEC (10 * USEC_PER_MSEC)

/* When the LVs of a VG came, on the monotonic clock. */
struct arrival {
        uint64_t made_usec;   /* the last one's device */
        uint64_t linked_usec; /* the last one's link */
};

/* When a file was made, on the clock of file times. */
static int read_birth(int root_fd, const char *path, int flags, uint64_t *ret_usec)
{
        struct statx status;

        if (statx(root_fd, path, flags, STATX_BTIME, &status) < 0)
                return -errno;
        if (!(status.stx_mask & STATX_BTIME))
                return -ENODATA;
        *ret_usec = (uint64_t) status.stx_btime.tv_sec * USEC_PER_SEC + status.stx_btime.tv_nsec / 1000;
        return 0;
}

/* Returns 1 if it can be told, 0 if not, or -ENOMEM. */
static int read_arrival(const struct volume_group *volume_group, const struct volume_group_times *times,
        int root_fd, struct arrival *ret)
{
        *ret = (struct arrival){};
        if (volume_group->clock_usec == 0)
                return 0;
        for (size_t i = 0; i < volume_group->n_lvs; i++) {
                const struct volume_group_lv *lv = &volume_group->lvs[i];
                _cleanup_free_ char *path = NULL;
                uint64_t made = 0, linked = 0;

                if (!lv->autoactivated || !lv->active)
                        continue;
                path = string_format("dev/%s/%s", volume_group->name, lv->name);
                if (!path)
                        return -ENOMEM;
                if (read_birth(root_fd, path, AT_SYMLINK_NOFOLLOW, &linked) < 0 ||
                        read_birth(root_fd, path, 0, &made) < 0)
                        return 0;
                ret->made_usec = MAX(ret->made_usec, made - volume_group->clock_usec);
                ret->linked_usec = MAX(ret->linked_usec, linked - volume_group->clock_usec);
        }
        /* vgchange has waited for the links. What is younger was made anew, as mkfs has udev do for one. */
        return ret->made_usec + TICK_USEC >= times->activating_usec && ret->made_usec <= times->settled_usec &&
               ret->linked_usec >= ret->made_usec && ret->linked_usec <= times->settled_usec;
}

static uint64_t between(uint64_t from, uint64_t to)
{
        return to > from ? to - from : 0;
}

static int set_phases(struct timeline_bar *bar, const struct volume_group *volume_group, int root_fd, uint64_t now)
{
        struct volume_group_times times = volume_group_first_times(volume_group);
        uint64_t complete = times.complete_usec, asked = times.activating_usec, settled = times.settled_usec;
        uint64_t *phases = bar->phases_usec;
        struct arrival arrival;
        int r;

        bar->first_usec = times.first_seen_usec;
        bar->complete = complete != 0 && complete >= times.first_seen_usec;
        phases[TIMELINE_PVS] = between(times.first_seen_usec, bar->complete ? complete : now);
        if (!bar->complete)
                return 0;
        if (asked < complete) {
                phases[TIMELINE_QUEUE] = between(complete, settled >= complete ? settled : now);
                return 0;
        }
        bar->asked_usec = asked;
        phases[TIMELINE_QUEUE] = between(complete, asked);
        phases[TIMELINE_LVM2] = between(asked, settled >= asked ? settled : now);
        if (settled < asked || volume_group->state != VOLUME_GROUP_ACTIVE)
                return 0;
        r = read_arrival(volume_group, &times, root_fd, &arrival);
        if (r <= 0)
                return r;
        phases[TIMELINE_LVM2] = between(asked, arrival.made_usec);
        phases[TIMELINE_UDEV] = between(MAX(asked, arrival.made_usec), arrival.linked_usec);
        bar->linked_usec = arrival.linked_usec;
        return 0;
}

static char *describe(const struct volume_group *volume_group)
{
        size_t n_missing = volume_group->n_pvs - volume_group_count_seen(volume_group);

        if (volume_group->state == VOLUME_GROUP_WAITING ||
                (volume_group->state == VOLUME_GROUP_DEGRADED && n_missing > 0))
                return string_format("%zu PV%s missing.", n_missing, plural(n_missing));
        return volume_group->reason ? string_printable(volume_group->reason) : strdup("");
}

static int add_volume_group(
        struct timeline *timeline, const struct volume_group *volume_group, int root_fd, uint64_t now)
{
        /* Any other state is an end as it should be. */
        static const enum timeline_end ends[_VOLUME_GROUP_STATE_MAX] = {
                [VOLUME_GROUP_WAITING] = TIMELINE_UNFINISHED,
                [VOLUME_GROUP_COMPLETE] = TIMELINE_UNFINISHED,
                [VOLUME_GROUP_ACTIVATING] = TIMELINE_UNFINISHED,
                [VOLUME_GROUP_SKIPPED] = TIMELINE_SKIPPED,
                [VOLUME_GROUP_FAILED] = TIMELINE_FAILED,
        };
        struct timeline_bar *bar;
        int r;

        r = timeline_add(timeline, &bar);
        if (r < 0)
                return r;
        bar->name = string_printable(volume_group->name);
        bar->reason = describe(volume_group);
        bar->state = volume_group_state_to_string(volume_group->state);
        bar->end = volume_group->first.settled_usec != 0 ? TIMELINE_DONE : ends[volume_group->state];
        bar->n_pvs = volume_group->n_pvs;
        bar->n_lvs = volume_group_count_autoactivated(volume_group);
        return bar->name && bar->reason ? set_phases(bar, volume_group, root_fd, now) : -ENOMEM;
}

/* Gives the time in which lvm2 was busy with another VG of the same vgchange to the queue. */
static void take_turns(struct timeline *timeline)
{
        uint64_t batch = 0, turn = 0;

        timeline_sort_by_batch(timeline);
        for (size_t i = 0; i < timeline->n; i++) {
                struct timeline_bar *bar = &timeline->bars[i];
                uint64_t waited;

                if (bar->linked_usec == 0)
                        continue;
                if (bar->asked_usec != batch)
                        turn = batch = bar->asked_usec;
                waited = MIN(turn - batch, bar->phases_usec[TIMELINE_LVM2]);
                bar->phases_usec[TIMELINE_QUEUE] += waited;
                bar->phases_usec[TIMELINE_LVM2] -= waited;
                turn = MAX(turn, bar->linked_usec);
        }
}

int timeline_read_boot(struct timeline *timeline, struct volume_group *const *volume_groups, size_t n, int root_fd)
{
        uint64_t now = now_usec();

        timeline->kind = TIMELINE_BOOT;
        timeline_describe_machine(timeline, 0);
        for (size_t i = 0; i < n; i++) {
                int r = add_volume_group(timeline, volume_groups[i], root_fd, now);

                if (r < 0)
                        return r;
        }
        take_turns(timeline);
        return 0;
}
