/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How long devices are gathered, how many vgchanges are at work at a time, and what puts deadlines off. */

#include "inventory/batches.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "shared/util.h"

/* A shelf of disks comes with a few milliseconds between them; 20 ms more are not felt by who plugs in a single one. While all
 * disks of the machine come, on processors that have much else to do, there is more time between two of them. */
#define QUIET_USEC (20 * USEC_PER_MSEC)
#define BOOT_QUIET_USEC (100 * USEC_PER_MSEC)
#define WAIT_MAX_USEC (240 * USEC_PER_MSEC)

/* Each change writes all metadata of a VG, and has it read as a whole. A hundred LVs that are made one after another are read a
 * few times, and the first one at once: changes that follow each other within the first time are read together, every so often. */
#define CHANGES_INTERVAL_USEC USEC_PER_SEC
#define CHANGES_MAX_USEC (5 * USEC_PER_SEC)

/* Below this many VGs, a second process costs more than it gains. */
#define VGS_PER_JOB_MIN 8U

/* At a time, if all of them wait. Each takes up some 10 MiB of memory. */
#define JOBS_MAX 32U

/* VGs that may take long wait for disks and not for processors, as far as is known before. Each check wants memory. */
#define SLOW_JOBS_MAX 8U

/* A vgchange of so many takes little longer than one of a single VG. */
#define SMALL_BATCH 4U

#define LOOK_INTERVAL_USEC (100 * USEC_PER_MSEC)

/* For how long an answer of systemd or udev holds. Many VGs may be due within a moment. */
#define ANSWER_VALID_USEC (1 * USEC_PER_SEC)

/* How often systemd is asked while a disk is being unlocked: what is inside comes a moment after that, and not later than its
 * deadline. */
#define UNLOCKING_INTERVAL_USEC (2 * USEC_PER_SEC)

/* How often to look whether udev still announces devices. */
#define PUT_OFF_INTERVAL_USEC (1 * USEC_PER_SEC)

/* For how long is waited for devices that are being read, of which there may always be some. */
#define READING_MAX_USEC (30 * USEC_PER_SEC)

void gather_note_change(struct gather *gather, uint64_t now)
{
        if (gather->first_usec == 0)
                gather->first_usec = now;
        gather->last_usec = now;
}

void gather_note(struct gather *gather, uint64_t now)
{
        /* A change that was put off does not shorten the time for those that come with this one. */
        if (!gather->urgent)
                gather->first_usec = 0;
        gather->urgent = true;
        gather_note_change(gather, now);
}

uint64_t gather_until(const struct gather *gather, bool booting, uint64_t now)
{
        uint64_t until;

        if (gather->first_usec == 0)
                return USEC_INFINITY;
        until = MIN(
                gather->last_usec + (booting ? BOOT_QUIET_USEC : QUIET_USEC), gather->first_usec + WAIT_MAX_USEC);
        if (!booting && !gather->urgent && gather->first_usec < gather->read_usec + CHANGES_INTERVAL_USEC)
                until = MIN(gather->last_usec + CHANGES_INTERVAL_USEC, gather->first_usec + CHANGES_MAX_USEC);
        return until <= now ? 0 : until;
}

static bool is_on_slow_device(const struct inventory *inventory, const struct vg *vg)
{
        const struct device *device;

        return ANY(FOREACH_PV(pv, vg), (device = inventory_find_device(inventory, pv->device)) && device->slow);
}

enum slot_kind slot_of(const struct inventory *inventory, const struct managed_group *group)
{
        if (group->vg->checked)
                return SLOT_CHECKED;
        if (group->vg->slow || is_on_slow_device(inventory, group->vg))
                return SLOT_SLOW;
        return group->awaited ? SLOT_AWAITED : SLOT_PLAIN;
}

size_t slots_count_free(const struct slots *slots, enum slot_kind kind)
{
        const size_t *at_work = slots->at_work;
        size_t n = at_work[SLOT_PLAIN] + at_work[SLOT_AWAITED] + at_work[SLOT_SLOW], most = JOBS_MAX;

        if (kind == SLOT_CHECKED) {
                most = SLOW_JOBS_MAX;
                n = at_work[SLOT_CHECKED];
        } else if (kind == SLOT_SLOW && !slots->idle) {
                most = SLOW_JOBS_MAX;
                n = at_work[SLOT_SLOW];
        } else if (kind == SLOT_PLAIN && !slots->idle) {
                n -= at_work[SLOT_SLOW];
                most = MIN(slots->n_processors, (size_t) JOBS_MAX);
                if (slots->pausing || (slots->expected && n > 0))
                        most = 0;
        }
        return most - MIN(n, most);
}

size_t slots_count_shares(const struct slots *slots, enum slot_kind kind, size_t n, uint64_t waiting_usec)
{
        size_t at_work = slots->at_work[SLOT_PLAIN] + slots->at_work[SLOT_AWAITED];
        /* Each that waits makes room for another one. */
        size_t wanted = MAX(slots->idle ? at_work : n / VGS_PER_JOB_MIN, (size_t) 1);

        if (at_work > 0 && !slots->idle && kind == SLOT_PLAIN && n < VGS_PER_JOB_MIN &&
                waiting_usec < SLOTS_COMPANY_USEC)
                return 0;
        return MIN(MIN(wanted, n), slots_count_free(slots, kind));
}

size_t slots_count_others(const struct slots *slots)
{
        return slots->expected ? SMALL_BATCH : SIZE_MAX;
}

/* Without and with a disk that is waited for, as proc_stat(5) has it. 0 if that cannot be told. */
static uint64_t read_idle_usec(void)
{
        _cleanup_free_ char *text = NULL;
        unsigned long long idle, waiting;

        if (read_file_at(AT_FDCWD, "/proc/stat", &text, NULL) < 0 ||
                sscanf(text, "cpu %*u %*u %*u %llu %llu", &idle, &waiting) != 2)
                return 0;
        return (idle + waiting) * (USEC_PER_SEC / sysconf(_SC_CLK_TCK));
}

void load_look(struct load *load, uint64_t now)
{
        uint64_t idle;

        if (now < load->look_usec)
                return;
        idle = read_idle_usec();
        load->idle =
                load->look_usec != 0 && idle >= load->idle_usec + (now - load->look_usec + LOOK_INTERVAL_USEC) / 2;
        load->look_usec = now + LOOK_INTERVAL_USEC;
        load->idle_usec = idle;
}

enum deadline_action deadline_next(const struct deadline_facts *facts, uint64_t *ret_wake_usec)
{
        uint64_t now = facts->now_usec, earliest = facts->earliest_usec;
        uint64_t ask = MAX(earliest, facts->asked_usec + ANSWER_VALID_USEC);

        *ret_wake_usec = USEC_INFINITY;
        if (facts->announcing) {
                *ret_wake_usec = now + PUT_OFF_INTERVAL_USEC;
                return DEADLINE_PUT_OFF;
        }
        if (earliest == USEC_INFINITY || facts->asking)
                return DEADLINE_WAIT;
        /* systemd is asked once as soon as there is a deadline, so as not to learn only at its end of a disk that was being
         * unlocked before, then when it is over. */
        if (facts->unlocking)
                ask = MIN(ask, facts->asked_usec + UNLOCKING_INTERVAL_USEC);
        if (facts->asked_usec == 0 || ask <= now)
                return DEADLINE_ASK;
        if (earliest > now) {
                *ret_wake_usec = MIN(earliest, ask);
                return DEADLINE_WAIT;
        }
        if (facts->due_usec == 0 && now >= facts->looked_usec + ANSWER_VALID_USEC)
                return DEADLINE_LOOK;
        *ret_wake_usec = (facts->due_usec ?: now) + READING_MAX_USEC;
        return facts->reading && now < *ret_wake_usec ? DEADLINE_READ : DEADLINE_TAKE;
}
