/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/inventory.h"

/* Decisions about time and load, without side effects. They say how long devices are gathered into a batch, how
 * many vgchanges run at a time, and when deadlines pass. */

/* Gathers requests before their devices are read. Batches form while lvm2 is busy, so this only has to collect
 * devices that appear almost at once. Times are those of now_usec(). */
struct gather {
        uint64_t first_usec; /* the oldest waiting request; 0 if there is none */
        uint64_t last_usec;  /* the newest one */
        uint64_t read_usec;  /* when devices were last read; 0 if never */
        bool urgent;         /* a request is not only a change of an active VG */
};

/* Notes a request. A change of an active VG is not urgent: lvm2 has activated new LVs itself, and only the record has
 * to follow. */
void gather_note(struct gather *gather, bool urgent, uint64_t now);

/* While only changes are gathered, how often to receive events, also of new devices. A change of a VG of a hundred PVs
 * has a hundred events, and each wake-up costs more than the event. */
#define GATHER_CHANGES_USEC (50 * USEC_PER_MSEC)

/* Returns when to read the devices: 0 for now, USEC_INFINITY if none waits, else when to ask again unless a request
 * arrives or udev becomes idle earlier. After boot, changes within a second of the last reading, or while udev is
 * busy, wait until none has arrived for a second, for 5 s at most. */
uint64_t gather_until(const struct gather *gather, bool booting, bool udev_is_busy, uint64_t now);

/* Slots: how many vgchanges run at a time. One that uses a processor counts as one processor. One that waits for a
 * disk, udev or a lock only uses memory, but delays its other VGs. So more may run while a processor is idle. */

/* Kinds of VGs, and of vgchanges. */
enum slot_kind {
        SLOT_PLAIN,
        SLOT_AWAITED, /* boot or a unit waits for it */
        SLOT_SLOW,    /* may take long, has its own process */
        SLOT_CHECKED, /* likewise, with programs that need much memory: thin pools, caches, VDO */
        _SLOT_KIND_MAX,
};

/* Returns the kind of a vgchange of the VG. */
enum slot_kind slot_of(const struct inventory *inventory, const struct vg_entry *group);

struct slots {
        size_t n_processors;
        bool idle;                      /* a processor is idle although vgchanges run */
        bool expected;                  /* VGs that boot waits for may appear at any moment */
        bool pausing;                   /* see SLOTS_PAUSE_USEC */
        size_t at_work[_SLOT_KIND_MAX]; /* busy vgchanges, which others may have to wait for */
        size_t n_waiting;               /* vgchanges that wait for a lock or an unresponsive disk */
        size_t n_alone;                 /* vgchanges of one VG */
};

/* Most vgchanges for locked VGs. Each uses some 10 MiB of memory. */
#define SLOTS_WAITING_MAX 32U

/* How many vgchanges of that kind may start now. */
size_t slots_count_free(const struct slots *slots, enum slot_kind kind);

/* Over how many vgchanges to spread `n` VGs, PLAIN or AWAITED; 0 if they have to wait. The first of them has been
 * complete for `waiting_usec`. */
size_t slots_count_shares(const struct slots *slots, enum slot_kind kind, size_t n, uint64_t waiting_usec);

/* How many PLAIN VGs may be activated now: few while awaited ones are expected, which would have to wait for them. */
size_t slots_count_others(const struct slots *slots);

/* The pause between PLAIN vgchanges while awaited VGs are expected, unless a processor is idle. udev and systemd
 * use it for disks, links and mounts. */
#define SLOTS_PAUSE_USEC (250 * USEC_PER_MSEC)

/* While vgchanges run, how long complete VGs wait for others to share a process. */
#define SLOTS_COMPANY_USEC (100 * USEC_PER_MSEC)

/* Whether a processor is idle. Initialize with zeros, again when no vgchange runs. */
struct load {
        uint64_t look_usec; /* when to measure next */
        uint64_t idle_usec; /* of all processors, at the last measurement */
        bool idle;          /* one was idle between the last two */
};

/* Measures, every 100 ms at most. `now` is now_usec(). */
void load_look(struct load *load, uint64_t now);

/* Facts for deadline_next(). Times are those of now_usec(), 0 for never. */
struct deadline_facts {
        uint64_t now_usec;
        uint64_t earliest_usec; /* when the first VG or PV is overdue; USEC_INFINITY for none */
        uint64_t asked_usec;    /* when systemd last replied */
        uint64_t looked_usec;   /* when udev's database was last searched for unreported PVs */
        uint64_t due_usec;      /* since when an overdue VG waits for readers, so that the result is READ */
        bool announcing;        /* booting, and udev has more devices to announce */
        bool asking;            /* systemctl list-jobs is running */
        bool unlocking;         /* by its last reply, a disk is being unlocked */
        bool reading;           /* devices are queued or being read */
};

enum deadline_action {
        DEADLINE_WAIT,
        DEADLINE_PUT_OFF, /* missing devices may just be late: all deadlines restart */
        DEADLINE_ASK,     /* ask systemd whether a disk is being unlocked */
        DEADLINE_LOOK,    /* search udev's database for unreported PVs */
        DEADLINE_READ,    /* wait for devices that are being read: a missing PV may be on one */
        DEADLINE_TAKE,    /* handle overdue VGs */
};

/* Decides what to do about deadlines. Called after each step, and at once after ASK and LOOK. `*ret_wake_usec` is
 * when to call it at the latest; USEC_INFINITY for no limit. */
enum deadline_action deadline_next(const struct deadline_facts *facts, uint64_t *ret_wake_usec) _nonnull_all_;
