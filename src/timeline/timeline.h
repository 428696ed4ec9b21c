/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-id128.h>

#include "lvm/vg.h"
#include "shared/macro.h"

/* A timeline: one bar for each VG of a boot, or each device of a shutdown. "headgate blame" prints it as a table,
 * "headgate plot" draws it. Times are in microseconds of that boot's monotonic clock, which starts with the kernel. */

/* The phases of a bar, without gaps. */
enum timeline_phase {
        /* boot */
        TIMELINE_PVS,   /* from the first PV to the last one */
        TIMELINE_QUEUE, /* complete and queued, or vgchange busy with its other VGs */
        TIMELINE_LVM2,  /* until the kernel created the device of the last LV, or vgchange ended */
        TIMELINE_UDEV,  /* until udev created the link of the last LV */
        /* shutdown */
        TIMELINE_STOPPING, /* from the request until services stopped; 0 if unknown */
        TIMELINE_HELD,     /* in use, or waiting for other devices */
        TIMELINE_REMOVAL,  /* from the first attempt until it was removed, or attempts ended */
        _TIMELINE_PHASE_MAX,
};

enum timeline_end {
        TIMELINE_DONE,       /* successful */
        TIMELINE_SKIPPED,    /* must not be activated */
        TIMELINE_UNFINISHED, /* not ended */
        TIMELINE_FAILED,     /* not activated by lvm2, or not removed */
        _TIMELINE_END_MAX,
};

struct timeline_bar {
        char *uuid;        /* of the VG; NULL at a shutdown */
        char *name;        /* of the VG, or device-mapper's or the kernel's name of the device */
        char *tree;        /* the storage tree; NULL at boot */
        char *kind;        /* of device, see tree_kind_to_string(); NULL at boot */
        char *reason;      /* why it is not active, or who uses it; or NULL */
        const char *state; /* in one word */
        enum timeline_end end;
        uint64_t first_usec;
        uint64_t phases_usec[_TIMELINE_PHASE_MAX];
        uint64_t asked_usec;    /* when its vgchange or headgate-teardown was started, one for a batch; or 0 */
        uint64_t linked_usec;   /* when udev was done; 0 if unknown, then lvm2's phase includes it */
        uint64_t complete_usec; /* when all PVs were seen; or 0 */
        uint64_t n_pvs, n_lvs;  /* LVs with autoactivation enabled */
        uint64_t n_tries;
        /* The time before, of this boot only, see view/disk-times.h; 0 if unknown. */
        uint64_t driver_usec;    /* until the kernel had the disk of the last PV */
        uint64_t disk_udev_usec; /* then udev, with that disk */
        uint64_t initrd_usec;    /* the initrd, of the time until the first PV */
};

enum timeline_kind {
        TIMELINE_BOOT,
        TIMELINE_SHUTDOWN,
};

/* A systemd target, and when it was reached, or 0. */
struct timeline_target {
        const char *unit;
        uint64_t usec;
};

#define TIMELINE_TARGETS 3

/* Initialize with zeros, except the kind. */
struct timeline {
        enum timeline_kind kind;
        struct timeline_bar *bars;
        size_t n;
        char *host;             /* NULL if unknown, like the next ones */
        char *kernel;           /* its release */
        uint64_t realtime_usec; /* since 1970, when the boot or the shutdown began, or 0 */
        size_t n_skipped;       /* invalid bars in the journal, from another version */
        struct timeline_target targets[TIMELINE_TARGETS]; /* milestones of this boot, in the order of time */
};

/* Adds an empty bar. The pointer is valid until the next one is added. NULL without memory. */
struct timeline_bar *timeline_add(struct timeline *timeline) _nonnull_all_ _must_check_;
void timeline_bar_done(struct timeline_bar *bar) _nonnull_all_;
/* Sets names of the machine, and the time of day of `began_usec` of this boot. Without memory names stay unknown. */
void timeline_describe_machine(struct timeline *timeline, uint64_t began_usec) _nonnull_all_;
void timeline_done(struct timeline *timeline) _nonnull_all_;
#define _cleanup_timeline_ _cleanup_(timeline_done)

uint64_t timeline_total_usec(const struct timeline_bar *bar) _nonnull_all_;
/* Returns the total time without the queue. */
uint64_t timeline_own_usec(const struct timeline_bar *bar) _nonnull_all_;
static inline uint64_t timeline_end_usec(const struct timeline_bar *bar)
{
        return bar->first_usec + timeline_total_usec(bar);
}

/* Order slowest first: for a boot by own time; for a shutdown first devices that are left, then by time of removal.
 * Or in order of their ends, for a shutdown tree by tree. Equal ones are ordered by name. */
int timeline_by_blame(const void *a, const void *b);
int timeline_by_end(const void *a, const void *b);

/* Finds the end of the picture: at boot the first long pause, after which only hot-plugged or late disks follow. A
 * pause is long if it takes more than a minute, and more than three times as long as everything before. Returns 0
 * or -ENOMEM. */
int timeline_find_pause(const struct timeline *timeline, uint64_t *ret_usec) _nonnull_all_;

/* Selects the bars with one of these names, for a shutdown also those of a storage tree with the name. Returns 0,
 * or -ENOENT with the first unknown name in `*ret_unknown` and the timeline unchanged. */
int timeline_select(struct timeline *timeline, char *const names[], size_t n, const char **ret_unknown)
        _nonnull_(1, 4) _must_check_;

/* Adds the bar of a VG to the timeline of this boot, with the phases of its first activation. A VG that was
 * activated without headgate has no phases, and its activator as reason. Returns 0 or -ENOMEM. */
int timeline_add_vg(struct timeline *timeline, const struct vg *vg) _nonnull_all_ _must_check_;

/* Called after the last one. Of VGs of one vgchange, which lvm2 activates one after another, each is queued until
 * the one before is active. */
void timeline_finish_boot(struct timeline *timeline) _nonnull_all_;
