/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Decisions about time and load: gathering, slots for vgchanges, and deadlines. */

#include "inventory/batches.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "shared/util.h"

/* The disks of a shelf appear some milliseconds apart; for a single disk, 20 ms more do not matter. During boot,
 * busy processors make the gaps longer. */
#define QUIET_USEC (20 * USEC_PER_MSEC)
#define BOOT_QUIET_USEC (100 * USEC_PER_MSEC)
#define WAIT_MAX_USEC (240 * USEC_PER_MSEC)

/* Each change writes the metadata of all PVs of a VG, which takes udev a while to handle. Of a hundred LVs that are
 * created in a row, the first is read once udev is idle, and the others a few times, together. Events that udev has
 * sent are received a moment later, see GATHER_CHANGES_USEC. */
#define CHANGES_QUIET_USEC (GATHER_CHANGES_USEC + 50 * USEC_PER_MSEC)
#define CHANGES_INTERVAL_USEC USEC_PER_SEC
#define CHANGES_MAX_USEC (5 * USEC_PER_SEC)

/* Below this many VGs, a second process costs more than it gains. */
#define VGS_PER_JOB_MIN 8U

/* Limit of waiting processes. Each uses some 10 MiB of memory. */
#define JOBS_MAX 32U

/* Slow VGs are assumed to wait for disks rather than processors. Each check of a pool needs memory. */
#define SLOW_JOBS_MAX 8U

/* A vgchange of this many VGs takes little longer than one of a single VG. */
#define SMALL_BATCH 4U

#define LOOK_INTERVAL_USEC (100 * USEC_PER_MSEC)

/* How long a reply of systemd or udev is valid: many VGs may become due at once. */
#define ANSWER_VALID_USEC (1 * USEC_PER_SEC)

/* How often to ask systemd while a disk is being unlocked. A PV inside appears a moment after that, and before its
 * deadline. */
#define UNLOCKING_INTERVAL_USEC (2 * USEC_PER_SEC)

/* How often to check whether udev still announces devices. */
#define PUT_OFF_INTERVAL_USEC (1 * USEC_PER_SEC)

/* How long deadlines wait for devices that are being read, of which there may always be some. */
#define READING_MAX_USEC (30 * USEC_PER_SEC)

void gather_note(struct gather *gather, bool urgent, uint64_t now)
{
        /* A deferred change must not shorten the gathering of devices that appear with this one. */
        if (gather->first_usec == 0 || (urgent && !gather->urgent))
                gather->first_usec = now;
        gather->last_usec = now;
        gather->urgent |= urgent;
}

uint64_t gather_until(const struct gather *gather, bool booting, bool udev_is_busy, uint64_t now)
{
        bool changes = !booting && !gather->urgent;
        uint64_t quiet = booting ? BOOT_QUIET_USEC : changes ? CHANGES_QUIET_USEC : QUIET_USEC, until;

        if (gather->first_usec == 0)
                return USEC_INFINITY;
        if (changes && (udev_is_busy || gather->first_usec < gather->read_usec + CHANGES_INTERVAL_USEC))
                quiet = CHANGES_INTERVAL_USEC;
        until = MIN(gather->last_usec + quiet, gather->first_usec + (changes ? CHANGES_MAX_USEC : WAIT_MAX_USEC));
        return until <= now ? 0 : until;
}

static bool is_on_slow_device(const struct inventory *inventory, const struct vg *vg)
{
        const struct device *device;

        return ANY(FOREACH_PV(pv, vg), (device = inventory_find_device(inventory, pv->device)) && device->slow);
}

enum slot_kind slot_of(const struct inventory *inventory, const struct vg_entry *group)
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
        /* Each waiting process frees a slot for another one. */
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

/* Sum of idle and iowait in proc_stat(5). 0 on error. */
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
        /* Ask systemd once when a deadline starts, to notice a disk that is being unlocked before that; then when
         * it passes. */
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
