/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-id128.h>

#include "lvm/vg.h"
#include "shared/macro.h"

/* What took how long: one bar for each VG of a boot, or for each device of a shutdown. "headgate blame" prints it as
 * a table, "headgate plot" draws it. Times are in microseconds, of the monotonic clock of the boot that it is about,
 * which counts from the start of the kernel. */

/* What a bar is made of, one after another without a gap. */
enum timeline_phase {
        /* boot */
        TIMELINE_PVS,   /* from the first PV to the last one */
        TIMELINE_QUEUE, /* complete, and lvm2 was not asked yet, or was busy with others of the same vgchange */
        TIMELINE_LVM2,  /* until the kernel had the device of the last LV, or until vgchange ended */
        TIMELINE_UDEV,  /* until udev had made the link of the last LV */
        /* shutdown */
        TIMELINE_STOPPING, /* from the request until services had stopped; 0 if the request is not known */
        TIMELINE_HELD,     /* something else had to go first */
        TIMELINE_REMOVAL,  /* from the first try until it was gone, or was given up */
        _TIMELINE_PHASE_MAX,
};

enum timeline_end {
        TIMELINE_DONE,       /* as it should be */
        TIMELINE_SKIPPED,    /* not to be activated */
        TIMELINE_UNFINISHED, /* goes on */
        TIMELINE_FAILED,     /* lvm2 has not activated it, or it could not be removed */
        _TIMELINE_END_MAX,
};

struct timeline_bar {
        char *uuid;        /* of the VG; NULL at a shutdown */
        char *name;        /* of the VG, or of the device as device-mapper or the kernel names it */
        char *tree;        /* the storage tree; NULL at boot */
        char *kind;        /* of device, see tree_kind_to_string(); NULL at boot */
        char *reason;      /* why it is not active, or what holds it; NULL if there is nothing to explain */
        const char *state; /* in one word */
        enum timeline_end end;
        uint64_t first_usec;
        uint64_t phases_usec[_TIMELINE_PHASE_MAX];
        uint64_t asked_usec;    /* when its vgchange or headgate-teardown was started, one for a batch; or 0 */
        uint64_t linked_usec;   /* when udev was done; 0 if that is not known, and then lvm2's phase has it all */
        uint64_t complete_usec; /* when all PVs had been seen; 0 if they have not */
        uint64_t n_pvs, n_lvs;  /* the LVs that are to be activated */
        uint64_t n_tries;
};

enum timeline_kind {
        TIMELINE_BOOT,
        TIMELINE_SHUTDOWN,
};

/* A target of systemd, and when it was reached, or 0. */
struct timeline_target {
        const char *unit;
        uint64_t usec;
};

#define TIMELINE_TARGETS 3

/* Starts empty: all zeros, but for the kind. */
struct timeline {
        enum timeline_kind kind;
        struct timeline_bar *bars;
        size_t n;
        char *host;             /* NULL if it is not known, like what follows */
        char *kernel;           /* its release */
        uint64_t realtime_usec; /* since 1970, when the boot or the shutdown began, or 0 */
        size_t n_skipped;       /* bars in the journal that cannot be read: another version wrote them */
        struct timeline_target targets[TIMELINE_TARGETS]; /* milestones of this boot, in the order of time */
};

/* Adds an empty bar. It stays where it is until the next one is added. NULL without memory. */
struct timeline_bar *timeline_add(struct timeline *timeline) _nonnull_all_ _must_check_;
void timeline_bar_done(struct timeline_bar *bar) _nonnull_all_;
/* Sets what is known of the machine, for what began at `began_usec` of this boot. Without memory for them names
 * are not known. */
void timeline_describe_machine(struct timeline *timeline, uint64_t began_usec) _nonnull_all_;
void timeline_done(struct timeline *timeline) _nonnull_all_;
#define _cleanup_timeline_ _cleanup_(timeline_done)

uint64_t timeline_total_usec(const struct timeline_bar *bar) _nonnull_all_;
/* Without the queue, where a VG only waits for others. */
uint64_t timeline_own_usec(const struct timeline_bar *bar) _nonnull_all_;
static inline uint64_t timeline_end_usec(const struct timeline_bar *bar)
{
        return bar->first_usec + timeline_total_usec(bar);
}

/* Slowest first: of a boot by its own time, of a shutdown what is left and then by the time that the removal took. Or in the
 * order in which they ended, of a shutdown tree by tree. What is equal goes by name. */
int timeline_by_blame(const void *a, const void *b);
int timeline_by_end(const void *a, const void *b);

/* Until when there is anything to draw: at boot before the first long pause, after which a disk was plugged in, a missing one
 * has come, or the machine merely went on. A pause is long if it is more than a minute, and more than three times as
 * long as all before it. Returns 0 or -ENOMEM. */
int timeline_find_pause(const struct timeline *timeline, uint64_t *ret_usec) _nonnull_all_;

/* Selects what has one of these names, of a shutdown also what is of a storage tree of that name. Returns 0, or
 * -ENOENT, with the first name that nothing has in `*ret_unknown`, and then everything is as it was. */
int timeline_select(struct timeline *timeline, char *const names[], size_t n, const char **ret_unknown)
        _nonnull_(1, 4) _must_check_;

/* Adds the bar of a VG to the timeline of this boot: the phases of its first activation. One that lvm2 was not asked for has none,
 * and as reason who has activated it. Returns 0 or -ENOMEM. */
int timeline_add_vg(struct timeline *timeline, const struct vg *vg) _nonnull_all_ _must_check_;

/* To be called after the last one: of VGs of one vgchange, which come one after another, a VG is in the queue until the one
 * before it is done. */
void timeline_finish_boot(struct timeline *timeline) _nonnull_all_;
