/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/inventory.h"

/* Batches: for how long devices are gathered, and over how many vgchanges VGs are spread. And deadlines: for how long is waited for
 * what does not come. Decisions alone. */

/* How long requests are gathered before their devices are read. It is what comes while lvm2 is at work that makes a batch, so
 * this is only for devices that come within a moment. Times are those of now_usec(). */
struct gather {
        uint64_t first_usec; /* the oldest request that is waiting; 0 if none is */
        uint64_t last_usec;  /* the newest one */
        uint64_t read_usec;  /* when devices were last read; 0 if never */
        bool urgent;         /* one of the requests is more than a change of an active VG */
};

void gather_note(struct gather *gather, uint64_t now);

/* Notes a change of an active VG: lvm2 has activated what it made, and only the record is to follow. */
void gather_note_change(struct gather *gather, uint64_t now);

/* When to go ahead, `booting` or not: 0 for at once, USEC_INFINITY if nothing waits, else a time to look again, unless a request
 * comes before. Changes alone that come within a second of the last reading are put off until none has come for a second, for 5 s at
 * most, but not while booting. */
uint64_t gather_until(const struct gather *gather, bool booting, uint64_t now);

/* How many vgchanges are at work at a time. One that uses a processor is worth a processor. One that waits, for a disk, for what
 * udev does, or for a lock, is worth memory alone, and keeps the VGs waiting that it was asked for as well: while a processor has
 * nothing to do, others may be at work beside it. */

/* What a vgchange, or the VG that it is asked for, is to the others. */
enum slot_kind {
        SLOT_PLAIN,
        SLOT_AWAITED, /* somebody waits for it */
        SLOT_SLOW,    /* it may take long, and has a process of its own */
        SLOT_CHECKED, /* likewise, and programs that want memory check it: those of thin pools, caches and VDO */
        _SLOT_KIND_MAX,
};

/* What a vgchange of the VG is. */
enum slot_kind slot_of(const struct inventory *inventory, const struct managed_group *group);

struct slots {
        size_t n_processors;
        bool idle;                      /* a processor has nothing to do though vgchanges are at work */
        bool expected;                  /* VGs that boot waits for may come at any moment */
        bool pausing;                   /* see SLOTS_PAUSE_USEC */
        size_t at_work[_SLOT_KIND_MAX]; /* vgchanges that others may have to wait for */
        size_t n_waiting;               /* vgchanges that wait for a lock or an unresponsive disk */
        size_t n_alone;                 /* vgchanges of one VG */
};

/* How many there may be for VGs that are locked. Each takes up some 10 MiB of memory. */
#define SLOTS_WAITING_MAX 32U

/* How many vgchanges of that kind may be started now. */
size_t slots_count_free(const struct slots *slots, enum slot_kind kind);

/* Over how many vgchanges `n` VGs, PLAIN or AWAITED, are spread now; 0 if they have to wait. The first of them has been complete
 * for `waiting_usec`. */
size_t slots_count_shares(const struct slots *slots, enum slot_kind kind, size_t n, uint64_t waiting_usec);

/* How many VGs, PLAIN, may be activated now: few while others are expected, one of which may have to wait for them. */
size_t slots_count_others(const struct slots *slots);

/* For how long after a vgchange none that is PLAIN follows while VGs are expected, unless a processor is idle: udev and systemd want
 * it for disks, links and mounts. */
#define SLOTS_PAUSE_USEC (250 * USEC_PER_MSEC)

/* While vgchanges are at work, how long complete VGs wait for more to share a process with. */
#define SLOTS_COMPANY_USEC (100 * USEC_PER_MSEC)

/* Whether a processor has had nothing to do. Zero at first, and when no vgchange is at work. */
struct load {
        uint64_t look_usec; /* when to look next */
        uint64_t idle_usec; /* of all processors together, up to the last look */
        bool idle;          /* one of them was, from one look to the next */
};

/* Looks, at most every 100 ms. `now` is now_usec(). */
void load_look(struct load *load, uint64_t now);

/* What is known of deadlines. Times are those of now_usec(), 0 for never. */
struct deadline_facts {
        uint64_t now_usec;
        uint64_t earliest_usec; /* when the first of what is waited for is overdue; USEC_INFINITY if nothing is */
        uint64_t asked_usec;    /* when systemd last told whether a disk is being unlocked */
        uint64_t looked_usec;   /* when udev was last asked for PVs of which it had not been heard */
        uint64_t due_usec;      /* since when READ has been the answer */
        bool announcing;        /* it is boot, and udev has devices to announce */
        bool asking;            /* systemd has been asked, and has not answered */
        bool unlocking;         /* its last answer was that a disk is being unlocked */
        bool reading;           /* devices are to be read, or are */
};

enum deadline_action {
        DEADLINE_WAIT,
        DEADLINE_PUT_OFF, /* what is missing may just be late: all deadlines begin anew */
        DEADLINE_ASK,     /* systemd, whether a disk is being unlocked */
        DEADLINE_LOOK,    /* whether udev knows of PVs that it has not announced */
        DEADLINE_READ,    /* wait: what is missing may be among the devices that are being read */
        DEADLINE_TAKE,    /* what is overdue */
};

/* What is to be done about deadlines. It is asked again after each step; after ASK and LOOK, at once. `*ret_wake_usec` is when that
 * is to be besides; USEC_INFINITY if it need not. */
enum deadline_action deadline_next(const struct deadline_facts *facts, uint64_t *ret_wake_usec) _nonnull_all_;
