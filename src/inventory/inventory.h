/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdint.h>

#include "inventory/vg-record.h"
#include "lvm/pv.h"
#include "shared/kernel.h"
#include "shared/udev.h"

/* The inventory: the worker's devices and VGs. Each device and each VG is in exactly one list, that of its stage or
 * state; the next one to handle is the first of a list, without a search.
 *
 * State that must outlive the worker is in the records (inventory/record-file.h): one for each VG, and one for each
 * device that was a PV. A worker starts with the records of the one before it. */

enum device_stage {
        DEVICE_UNREAD,     /* to be read */
        DEVICE_READING,    /* a reader has it */
        DEVICE_UNRECORDED, /* read; waits for pvscan */
        DEVICE_RECORDING,  /* pvscan has it */
        DEVICE_SETTLING,   /* done, but its request stays until its VG is settled */
        DEVICE_HELD,       /* not read yet: may become a path of multipathd, see inventory_hold() */
        DEVICE_KNOWN,      /* nothing to do */
        _DEVICE_STAGE_MAX,
};

struct device {
        struct dm_list list; /* inventory.devices[stage]; first, as dm_list wants it */
        enum device_stage stage;
        dev_t number;
        char *name;                    /* "/dev/sda"; NULL until it is read */
        char *announced_name;          /* the name in udev's event, or NULL */
        uint64_t announced_diskseq;    /* of the disk at that time; 0 if unknown */
        char pvid[LVM_ID_SIZE];        /* "" if it is not a PV, or was not read */
        struct record_device recorded; /* the last PV on it, read by this or an earlier worker; "" for none */
        struct vg_entry *group;        /* its VG, or NULL */
        struct storage_path path;      /* when it was last queued for reading, if multipathd ran; else empty */
        uint64_t held_until_usec;      /* end of the hold, counted from the first request for this disk */
        struct job *recording;         /* its pvscan, or NULL; not owned */
        uint64_t seqno;                /* of its newest metadata of `group`; 0: none, UINT64_MAX: unknown */
        uint64_t diskseq;              /* of the disk that was read, see diskseq_read(); 0 if unknown */
        uint64_t retry_usec;           /* when to read it again after an error; 0 for never */
        unsigned int n_failed;         /* errors in a row */
        bool slow;                     /* reading it took long: nothing else must wait for it */
        bool retry_ready;              /* it was ready when reading failed */
        bool removed;                  /* it was removed; pvscan has to forget it */
        bool ready;                    /* announced as ready; else only written to */
        bool appeared;                 /* it has just appeared, and was not only found by an enumeration */
        bool has_entry;                /* has an entry in working.d, to be unlinked */
        bool has_change_entry;         /* likewise, "change:MAJOR:MINOR" */
        bool again;                    /* requested again since it was read */
        bool reread;                   /* written to since it was read: read again, with low priority */
};

/* The worker's VG; variables of this type are called `group`, those of struct vg `vg`. */
struct vg_entry {
        struct dm_list list; /* inventory.groups[vg->status] */
        struct vg *vg;
        enum vg_state state;       /* vg->status follows from it, see vg_state_enter() */
        struct job *job;           /* the job that is activating it, or NULL; not owned */
        bool awaited;              /* expected, see expectations.h: activated before others */
        bool changed;              /* newer than its record; see inventory_note_change() */
        struct text_id text;       /* of its metadata, until it loses a PV */
        struct vg *older;          /* the newest metadata that is older than the current one; or NULL */
        struct text_id older_text; /* likewise */
        bool unchecked;            /* as an earlier worker left it; see inventory_check() */
        bool has_entry;            /* has an entry "vg:NAME" in working.d, to be unlinked */
        bool activated;            /* became active, not saved yet */
        bool lost_pv;              /* lost a PV when it was complete, not reported yet */
        bool may_be_gone;          /* a PV was removed, perhaps after vgremove; see vg_report_lost() */
        bool activate_again; /* since vgchange started, a disk appeared or was removed, or the VG was requested */
        bool fresh;          /* lvm2 had no record of one of its PVs, which is new */
        bool last_is_bare;   /* the PV that appeared last has no metadata */
        uint64_t retry_usec; /* when to retry it after a failure; 0 for never */
        unsigned int n_retries; /* timed retries since it was settled or requested */
        bool retried;           /* retried for an event of a PV, likewise */
        char *refusal;          /* why lvm2 refused a PV, as a sentence, or NULL */
        dev_t refused;          /* the device of that PV */
        bool unjudged;          /* pvscan failed, so that PV was not refused */

        /* Changes to handle once all devices were read, see intake_recheck(). */
        bool needs_recheck; /* its metadata changed */
        bool left;          /* a PV has left the VG */
        char *former_name;  /* before it was renamed, or NULL */

        struct vg_entry *next_same_name; /* another VG of the same name, or NULL */
};

/* The inventory frees those that it contains. */
void vg_entry_free(struct vg_entry *group);
void device_free(struct device *device);

/* lvm2 has refused the PV on the device `number`. Takes ownership of the sentence `refusal`. It is valid until the
 * PV is removed or lvm2 accepts it. Returns 0, or -ENOMEM if `refusal` is NULL. */
int vg_entry_note_refusal(struct vg_entry *group, dev_t number, char *refusal);

/* Forgets the refusal, if it is about that device. */
void vg_entry_forget_refusal(struct vg_entry *group, dev_t number);

/* Notes metadata that is older than the current one, and its text. Takes ownership. */
void vg_entry_note_older(struct vg_entry *group, struct vg *metadata, const struct text_id *text) _nonnull_all_;

struct inventory {
        int lvm_run_fd; /* not owned */
        struct record_writer *writer;

        struct dm_list devices[_DEVICE_STAGE_MAX];
        struct dm_list groups[_VG_STATUS_MAX];

        bool changed;        /* a group or device is */
        bool needs_recheck;  /* likewise */
        bool activated;      /* likewise */
        bool lost_pvs;       /* one of the groups has `lost_pv` or `may_be_gone`, see vg_report_lost() */
        bool records_lost;   /* records of an earlier worker are missing or damaged */
        uint64_t lost_usec;  /* when that was found */
        uint64_t retry_usec; /* when to read the next failed device again, by inventory_end_holds() */

        uint64_t now_usec;   /* time of the last inventory_ping(), which is called often */
        uint64_t clock_usec; /* time of day minus `now_usec`, a second old at most */
        uint64_t last_ping_usec;

        struct dm_hash_table *devices_by_number;
        struct dm_hash_table *groups_by_vgid;
        struct dm_hash_table *groups_by_name; /* the last added of those with one name */
        struct dm_hash_table *groups_by_pvid;
};

/* Creates an inventory from the records below `run_fd`; logs one line if they are unusable. The caller owns
 * `run_fd` and `lvm_run_fd`, which must outlive the inventory. Returns 0 or a negative errno. */
int inventory_new(int run_fd, int lvm_run_fd, struct inventory **ret) _must_check_;
struct inventory *inventory_free(struct inventory *inventory);
DEFINE_CLEANUP(struct inventory *, inventory_free)
#define _cleanup_inventory_ _cleanup_(inventory_freep)

/* Reads the clock, and pings systemd's watchdog if the last ping is a while ago (sd_notify(3): WATCHDOG=1, and
 * EXTEND_TIMEOUT_USEC= before the worker is ready). The event loop pings, too, but not while it handles thousands
 * of disks at once on a busy machine. */
void inventory_ping(struct inventory *inventory);

/* Finds the device with that number, or creates it in stage UNREAD. Returns 0, with `*ret` owned by the inventory,
 * or -ENOMEM. */
int inventory_get_device(struct inventory *inventory, dev_t number, struct device **ret);
struct device *inventory_find_device(const struct inventory *inventory, dev_t number);

/* Returns a present device on which this worker has read that PV, or NULL. Walks over all devices, at most once for each PV: 5 ms
 * of CPU with 1000 VGs, 80 ms with 4000. */
struct device *inventory_find_device_of_pv(const struct inventory *inventory, const char *pvid);

/* Sets the PV on the device with its `diskseq`, "" for none, also in the records for the next worker. Returns 0 or
 * -ENOMEM. */
int inventory_set_pvid(struct inventory *inventory, struct device *device, const char *pvid) _nonnull_all_;

/* Whether the device `number` still is that PV, without reading it. This or an earlier worker has read the PV
 * there, it was not removed since, and no other disk has its number. */
bool inventory_is_still(const struct inventory *inventory, dev_t number, const char *pvid);

/* Walk over all devices, all VGs, the VGs of a vgchange, and the devices of a pvscan. The current one may be moved
 * to another list meanwhile. */
#define FOREACH_DEVICE(element, inventory)                                                                        \
        for (size_t stage_ = 0; stage_ < _DEVICE_STAGE_MAX; stage_++)                                             \
                FOREACH_LISTED(struct device, element, &(inventory)->devices[stage_])
#define FOREACH_GROUP(group, inventory)                                                                           \
        for (size_t state_ = 0; state_ < _VG_STATUS_MAX; state_++)                                                \
                FOREACH_LISTED(struct vg_entry, group, &(inventory)->groups[state_])
#define FOREACH_GROUP_OF_JOB(group, inventory, at_work)                                                           \
        FOREACH_LISTED(struct vg_entry, group, &(inventory)->groups[VG_STATUS_ACTIVATING])                        \
                if (group->job == (at_work))
#define FOREACH_DEVICE_OF_JOB(element, inventory, at_work)                                                        \
        FOREACH_LISTED(struct device, element, &(inventory)->devices[DEVICE_RECORDING])                           \
                if (element->recording == (at_work))

/* The number of VGs of a vgchange. */
size_t inventory_count_groups_of_job(const struct inventory *inventory, const struct job *job);

/* Whether a device has not reached that stage. */
bool inventory_has_device_before(const struct inventory *inventory, enum device_stage stage);

/* Whether all PVs of the VG have reached that stage. A PV that only an earlier worker has read counts as done. */
bool inventory_pvs_have_reached(const struct inventory *inventory, const struct vg *vg, enum device_stage stage);

/* Whether the VG of the device waits for no other PV, so that vgchange can follow pvscan. */
bool device_vg_is_complete(const struct device *device);

/* Whether pvscan must not wait for more devices. */
bool device_is_urgent(const struct device *device);

void inventory_move_device(struct inventory *inventory, struct device *device, enum device_stage stage);

/* Queues the device for reading, or for reading again if it is being processed. The caller schedules a step. */
void inventory_read_again(struct inventory *inventory, struct device *device);

/* Whether multipathd, if it runs, may still combine the device with another one. This is false for a known PV, and
 * after a write: these have been there before. */
bool inventory_is_undecided(const struct inventory *inventory, const struct device *device);

/* Notes the disk of udev's event. A disk other than before may be held as long as a new one. */
void inventory_note_disk(const struct inventory *inventory, struct device *device, uint64_t diskseq);

/* Holds undecided devices of stage UNREAD, and settles those that have become paths. */
void inventory_hold(struct inventory *inventory, bool booting);

/* Queues devices whose hold or delay after an error is over. Returns when to call it next; USEC_INFINITY for never. */
uint64_t inventory_end_holds(struct inventory *inventory);

/* Schedules reading a failed device again: after a second, then after twice as long each time, for two minutes.
 * Returns whether this is the first time. */
bool inventory_retry(struct inventory *inventory, struct device *device);

/* Frees the device, and forgets its PV. */
void inventory_drop_device(struct inventory *inventory, struct device *device);

/* Returns a VG of that name, or NULL; others of that name are linked by `next_same_name`. */
struct vg_entry *inventory_find_named(const struct inventory *inventory, const char *name);

/* Updates a VG from the records: PVs that were removed since are lost. `group` may be NULL. Returns the VG, which
 * may be in another list now. */
struct vg_entry *inventory_check(struct inventory *inventory, struct vg_entry *group);

/* Return the VG with that identifier, or the one of that PV; NULL if there is none. The VG is checked first. */
struct vg_entry *inventory_find_group(struct inventory *inventory, const char *vgid);
struct vg_entry *inventory_find_group_of_pv(struct inventory *inventory, const char *pvid);

/* For internal use. Takes ownership of the VG if it returns 0; else -ENOMEM. */
int inventory_add_group(struct inventory *inventory, struct vg *vg, struct vg_entry **ret);

/* For internal use. Carries out an event that depends on no facts. */
void inventory_take(struct inventory *inventory, struct vg_entry *group, enum vg_event event);

/* The PV on the device `number` was removed: the VG waits for it, whatever its state. */
void inventory_lose_pv(struct inventory *inventory, struct vg_entry *group, dev_t number);

/* Likewise for each PV whose device was removed or replaced, even without an event. */
void inventory_lose_absent_pvs(struct inventory *inventory, struct vg_entry *group);

/* The PV, which is on the device `number` or lost, has left the VG. The other PVs are read again, as only they know
 * whether the VG still exists. Returns 0 or -ENOMEM. */
int inventory_leave_group(struct inventory *inventory, struct vg_entry *group, dev_t number, const char *pvid);

/* For internal use: the PV is found by its identifier as one of this VG. Returns 0 or -ENOMEM. */
int inventory_claim_pv(struct inventory *inventory, struct vg_entry *group, const char *pvid);
/* Whether at least one PV of the VG is not listed by newer metadata of another VG. Otherwise the VG was merged, or
 * its UUID was changed. */
bool inventory_has_claim(const struct inventory *inventory, const struct vg_entry *group) _nonnull_all_;

/* The PV on the device belongs to `group`, or to no VG if that is NULL. It leaves `former`, the VG of the device
 * before, and `owner`, the VG of the PV before; both may be NULL. It does not join `group` yet. Returns 0 or
 * -ENOMEM. */
int inventory_move_pv(struct inventory *inventory, struct device *device, struct vg_entry *former,
        struct vg_entry *owner, struct vg_entry *group) _nonnull_(1, 2) _must_check_;

/* Adds metadata: creates the VG, which takes ownership and sets `*metadata` to NULL, or updates the VG if the
 * metadata is newer. PVs of a new VG that headgate or lvm2 already knows count as seen. PVs that belong to another
 * VG are read again. Returns 0 and `*ret`, or a negative errno. */
int inventory_add_metadata(struct inventory *inventory, struct vg **metadata, struct vg_entry **ret);

/* Switches to the older metadata if no present device has newer metadata: the storage was rolled back, or
 * vgcfgrestore(8) wrote an older text. PVs that only an earlier worker has read are read again first. Returns 1 if
 * it has switched, 0 if not, or a negative errno. */
int inventory_roll_back(struct inventory *inventory, struct vg_entry *group) _nonnull_(1, 2) _must_check_;

/* Returns the VG whose current or older metadata has that text, which need not be read again, or NULL. `*ret_seqno`
 * is that of the metadata. Walks over all VGs for each copy: 4 ms of CPU with 1000 VGs, 0.1 s with 4000. */
struct vg_entry *inventory_find_text(
        const struct inventory *inventory, const struct text_id *text, uint64_t *ret_seqno) _nonnull_all_;

/* Frees a VG that no longer exists, and removes its record. No process may be working on it. Returns 0 or a
 * negative errno. */
int inventory_drop_group(struct inventory *inventory, struct vg_entry *group);

/* Marks the VG for intake_recheck(). */
void inventory_recheck(struct inventory *inventory, struct vg_entry *group);

/* Marks the VG for inventory_save(). */
void inventory_note_change(struct inventory *inventory, struct vg_entry *group);

/* Moves the VG to the state of vg_next(); inventory_save() writes it to the record. */
void inventory_enter(struct inventory *inventory, struct vg_entry *group, const struct vg_step *step);

/* If records were lost, the latest time until which nothing is written, else 0. If this worker is killed before the
 * earlier activations are known, the next one has to notice the loss, too. */
uint64_t inventory_finding_out_until(const struct inventory *inventory);

/* Saves all changes to the records. On a negative errno, call it again later. Returns 0 otherwise. */
int inventory_save(struct inventory *inventory);

/* ------ names.c ------ */

/* VGs by name. Several VGs may have the same name, for example from disks of other machines. */

/* Returns a VG of that name, owned by the inventory, or NULL; others of that name are linked by `next_same_name`.
 * All are checked, see inventory_check(). */
struct vg_entry *names_find(struct inventory *inventory, const char *name);

/* Whether another VG has claimed the name. Of several VGs with one name, lvm2 autoactivates only the one that is
 * complete first, for which it writes `vgs_online` (online.h). Returns 1, 0, or a negative errno after logging it. */
int names_is_taken(struct inventory *inventory, const struct vg_entry *group);

/* Whether lvm2 has recorded PVs of another VG of that name which is known since before `before_usec`. Such a VG
 * needs a vgchange of its own, as in lvm2's rule, which can tell the two apart by the list of PVs (`pvs_lookup`,
 * see online.h). */
bool names_is_shared(const struct inventory *inventory, const struct vg_entry *group, uint64_t before_usec);

/* Writes that list by `write`, online_write_lookup() or online_update_lookup(), unless lvm2 recorded PVs of another
 * VG first, which has the list then. Returns 0, or a negative errno after logging it. */
int names_write_lookup(const struct inventory *inventory, const struct vg_entry *group,
        int (*write)(int lvm_run_fd, const struct vg *vg));

/* The number of its PVs that lvm2 has recorded. With all of them, lvm2 would have claimed the name for it. */
size_t names_count_recorded(const struct inventory *inventory, const struct vg *vg);
