/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdint.h>

#include "inventory/vg-record.h"
#include "lvm/pv.h"
#include "shared/kernel.h"
#include "shared/udev.h"

/* What the worker knows: the devices that were asked for, and the VGs that their metadata tells of. A device and a
 * VG are each in exactly one list, the one of their stage or state; what is to be done next is the first of a
 * list, never a search.
 *
 * What must outlive the worker is in the records, see inventory/record-file.h: one for each VG, and one for each device that was
 * seen to be a PV. A worker begins with those of the one before it. */

enum device_stage {
        DEVICE_UNREAD,     /* to be read */
        DEVICE_READING,    /* a reader has it */
        DEVICE_UNRECORDED, /* read; lvm2's pvscan has to see it */
        DEVICE_RECORDING,  /* pvscan has it */
        DEVICE_SETTLING,   /* done with, but the request for it stays until its VG is settled */
        DEVICE_HELD,       /* not read yet: multipathd may make a path of it, see inventory_hold() */
        DEVICE_KNOWN,      /* nothing to do */
        _DEVICE_STAGE_MAX,
};

struct device {
        struct dm_list list; /* inventory.devices[stage]; first, as dm_list wants it */
        enum device_stage stage;
        dev_t number;
        char *name;                    /* "/dev/sda"; NULL as long as it was not read */
        char *announced_name;          /* what udev has called it, or NULL */
        uint64_t announced_diskseq;    /* of the disk that it was then; 0 if that is not known */
        char pvid[LVM_ID_SIZE];        /* "" if it is no PV, or was not read */
        struct record_device recorded; /* which PV was seen there, by this worker or an earlier one; "" for none */
        struct managed_group *group;   /* the VG that it belongs to, or NULL */
        struct storage_path path;      /* as it was when it was last to be read, if multipathd ran; else empty */
        uint64_t held_until_usec;      /* at most, counted from the first request for this disk */
        struct job *recording;         /* the pvscan that has it, or NULL; not owned */
        uint64_t seqno;        /* the newest of its metadata of `group`, as it was read; 0 if it has none */
        uint64_t diskseq;      /* of the disk that was read, see diskseq_read(); 0 if it is not known */
        uint64_t retry_usec;   /* when it is read again, since it could not be read; 0 if it is not */
        unsigned int n_failed; /* how often in a row it could not be read */
        bool slow;             /* it took long to be read: nothing else is to wait for the same */
        bool retry_ready;      /* it was ready when it could not be read */
        bool removed;          /* it was taken away; pvscan has to forget it */
        bool ready;            /* it was announced as ready; else somebody has merely written to it */
        bool appeared;         /* it has just come, and was not only found by an enumeration of all */
        bool has_entry;        /* there is an entry in working.d to be unlinked */
        bool has_change_entry; /* likewise, one "change:MAJOR:MINOR" */
        bool again;            /* asked for again since it was read */
        bool reread;           /* written to since it was read: to be read again when all else is done */
};

struct managed_group {
        struct dm_list list; /* inventory.groups[vg->state] */
        struct vg *vg;
        enum vg_state state;
        struct job *job;     /* the job that is activating it, or NULL; not owned */
        bool awaited;        /* it is expected, see expectations.h: it goes before others */
        bool changed;        /* memory is newer than its record; see inventory_note_change() */
        struct text_id text; /* its metadata, by which it is found in groups_by_text */
        struct vg *older;    /* the newest that was read of those that are older than what is known; or NULL */
        struct text_id older_text; /* likewise */
        bool unchecked;            /* it is as an earlier worker left it; see inventory_check() */
        bool has_entry;            /* there is an entry "vg:NAME" in working.d to be unlinked */
        bool activated;            /* it has become active, which is still to be written down */
        bool lost_pv;              /* it was complete and a PV was removed, which is still to be reported */
        bool may_be_gone;  /* a PV was removed: lvm2 may have removed the VG before, see vg_report_lost() */
        bool ask_again;    /* since lvm2 was asked, a disk appeared or was removed, or it was requested by name */
        bool fresh;        /* lvm2 had no record of one of its PVs, which so has not been there before */
        bool last_is_bare; /* the PV that came last has no metadata */
        uint64_t retry_usec;    /* when it is tried again, since it has failed; 0 if it is not */
        unsigned int n_retries; /* how often it was, by the clock, since it was settled or requested otherwise */
        bool retried;           /* likewise, because of an event of one of its devices */
        char *refusal;          /* what lvm2 said when it did not record one of the PVs, or NULL */
        dev_t refused;          /* the device that this PV is, if there is a refusal */
        bool unjudged;          /* that is no verdict: pvscan has failed */

        /* What is to be put in order when all has been read, see intake_recheck(). */
        bool needs_recheck; /* it was changed while the machine runs */
        bool left;          /* a PV says that it belongs to this VG no longer */
        char *former_name;  /* what it was called before it was renamed, or NULL */

        struct managed_group *next_same_name; /* another VG of the same name, or NULL */
};

/* The inventory frees those that are in it. */
void managed_group_free(struct managed_group *group);
void device_free(struct device *device);

/* lvm2 has not recorded the PV that is the device `number`: takes over the sentence that tells of it. It counts until
 * the PV goes from there or lvm2 accepts it. Returns 0, or -ENOMEM if there is no sentence. */
int managed_group_note_refusal(struct managed_group *group, dev_t number, char *refusal);

/* Forgets it, if the one that was refused last is that device. */
void managed_group_forget_refusal(struct managed_group *group, dev_t number);

struct inventory {
        int run_fd;     /* not owned */
        int lvm_run_fd; /* not owned */
        struct record_writer *writer;

        struct dm_list devices[_DEVICE_STAGE_MAX];
        struct dm_list groups[_VG_STATUS_MAX];

        bool changed;        /* so is one of the groups, or of the devices */
        bool needs_recheck;  /* likewise */
        bool activated;      /* likewise */
        bool lost_pvs;       /* one of the groups has `lost_pv` or `may_be_gone`, see vg_report_lost() */
        bool records_lost;   /* there were records of an earlier worker, which are missing or cannot be used */
        uint64_t lost_usec;  /* when that was noticed */
        uint64_t retry_usec; /* when a device is read again that could not be read; USEC_INFINITY if none is */

        uint64_t now_usec;   /* when inventory_ping() was called last: never long ago while something is done */
        uint64_t clock_usec; /* the time of day minus `now_usec`, as it was within the second before that */
        uint64_t last_ping_usec;

        struct dm_hash_table *devices_by_number;
        struct dm_hash_table *devices_by_pvid; /* of several with one identifier, the first */
        struct dm_hash_table *groups_by_vgid;
        struct dm_hash_table *groups_by_name; /* of several with one name, the one that was added last */
        struct dm_hash_table *groups_by_pvid;
        struct dm_hash_table *groups_by_text; /* which VG's metadata has this size and checksum */
};

/* `run_fd` and `lvm_run_fd` stay the caller's and must outlive the inventory. Takes what the records below `run_fd` have; one
 * line tells if they cannot be used. Returns 0 or a negative errno. */
int inventory_new(int run_fd, int lvm_run_fd, struct inventory **ret) _must_check_;
struct inventory *inventory_free(struct inventory *inventory);
DEFINE_CLEANUP(struct inventory *, inventory_free)
#define _cleanup_inventory_ _cleanup_(inventory_freep)

/* Looks at the clock, and tells systemd that one more device or VG is dealt with, unless it was told a moment ago: the worker is
 * alive and needs more time (sd_notify(3): WATCHDOG=1, and EXTEND_TIMEOUT_USEC= before it is ready). The event loop pings by
 * itself, but not while it deals with thousands of disks at once, on a machine that is so busy with these that the worker hardly
 * gets a processor. */
void inventory_ping(struct inventory *inventory);

/* The device with that number, made in stage UNREAD if it is new. Returns 0, with `*ret` owned by the inventory,
 * or -ENOMEM. */
int inventory_get_device(struct inventory *inventory, dev_t number, struct device **ret);
struct device *inventory_find_device(const struct inventory *inventory, dev_t number);
struct device *inventory_find_device_of_pv(const struct inventory *inventory, const char *pvid);

/* Says which PV the device, with its `diskseq`, holds, "" for none, and leaves word of it to the next worker.
 * Returns 0 or -ENOMEM. */
int inventory_set_pvid(struct inventory *inventory, struct device *device, const char *pvid) _nonnull_all_;

/* Whether the device `number` still is that PV, as far as can be told without reading it: the PV was seen there, by
 * this worker or an earlier one, it was not removed since, and no other disk has taken its number. */
bool inventory_is_still(const struct inventory *inventory, dev_t number, const char *pvid);

/* Of several devices with this PV, `device` is the one that counts. Returns 0 or -ENOMEM. */
int inventory_prefer_device(struct inventory *inventory, struct device *device);

/* Walk over all devices and all VGs, over the VGs that the job is activating, and over the devices that it is recording. The
 * one at hand may be moved to another list meanwhile. */
#define FOREACH_DEVICE(element, inventory)                                                                        \
        for (size_t stage_ = 0; stage_ < _DEVICE_STAGE_MAX; stage_++)                                             \
                FOREACH_LISTED(struct device, element, &(inventory)->devices[stage_])
#define FOREACH_GROUP(group, inventory)                                                                           \
        for (size_t state_ = 0; state_ < _VG_STATUS_MAX; state_++)                                                \
                FOREACH_LISTED(struct managed_group, group, &(inventory)->groups[state_])
#define FOREACH_GROUP_OF_JOB(group, inventory, at_work)                                                           \
        FOREACH_LISTED(struct managed_group, group, &(inventory)->groups[VG_STATUS_ACTIVATING])                   \
                if (group->job == (at_work))
#define FOREACH_DEVICE_OF_JOB(element, inventory, at_work)                                                        \
        FOREACH_LISTED(struct device, element, &(inventory)->devices[DEVICE_RECORDING])                           \
                if (element->recording == (at_work))

/* How many VGs the job is activating. */
size_t inventory_count_groups_of_job(const struct inventory *inventory, const struct job *job);

/* Whether there is a device that has not come to that stage. */
bool inventory_has_device_before(const struct inventory *inventory, enum device_stage stage);

/* Whether all devices that are PVs of the VG have come to that stage. With those that only an earlier worker has seen
 * that one was done. */
bool inventory_pvs_have_reached(const struct inventory *inventory, const struct vg *vg, enum device_stage stage);

/* Whether something follows once lvm2 has recorded the device: its VG waits for no other PV. */
bool device_is_of_complete(const struct device *device);

/* Whether it is worth a pvscan that records nothing else. */
bool device_is_urgent(const struct device *device);

void inventory_move_device(struct inventory *inventory, struct device *device, enum device_stage stage);

/* Has the device read, or read once more if it is at work already. The caller sees to it that the worker does. */
void inventory_read_again(struct inventory *inventory, struct device *device);

/* Whether multipathd, if it runs, may still make a multipath device of the device and another one. What is known as a PV, or was
 * merely written to, has been there before. */
bool inventory_is_undecided(const struct inventory *inventory, const struct device *device);

/* Notes which disk udev has announced the device as. Another one than before may be held as long as a new one. */
void inventory_note_disk(const struct inventory *inventory, struct device *device, uint64_t diskseq);

/* Of the devices of stage UNREAD, holds those that are undecided, and settles those that are paths by now. */
void inventory_hold(struct inventory *inventory, bool booting);

/* Has those read that were held for long enough, or could not be read. Returns when to call it next; USEC_INFINITY if there are
 * none. */
uint64_t inventory_end_holds(struct inventory *inventory);

/* Has a device read again that could not be read: after a second, then after twice as long each time, for two minutes. Returns
 * whether that begins now. */
bool inventory_retry(struct inventory *inventory, struct device *device);

/* Frees the device, and forgets which PV it held. */
void inventory_drop_device(struct inventory *inventory, struct device *device);

/* A VG with that name, or NULL; the others are its `next_same_name`, and so on. */
struct managed_group *inventory_find_named(const struct inventory *inventory, const char *name);

/* Has a VG that an earlier worker has left lose the PVs that were removed since; `group` may be NULL. Returns the VG, which
 * may be in another list then. */
struct managed_group *inventory_check(struct inventory *inventory, struct managed_group *group);

/* The VG with that identifier, and the one that has or waits for that PV; NULL if there is none. It is checked first. */
struct managed_group *inventory_find_group(struct inventory *inventory, const char *vgid);
struct managed_group *inventory_find_group_of_pv(struct inventory *inventory, const char *pvid);

/* For the inventory's own use. Takes over the VG if it returns 0; else -ENOMEM. */
int inventory_add_group(struct inventory *inventory, struct vg *vg, struct managed_group **ret);

/* Likewise. What follows from an event that depends on no facts. */
void inventory_take(struct inventory *inventory, struct managed_group *group, enum vg_event event);

/* The PV that is the device `number` was removed: the VG waits for it, whatever it was before. */
void inventory_lose_pv(struct inventory *inventory, struct managed_group *group, dev_t number);

/* The same for each of its PVs whose device is not there any more, or another disk by now, whether udev has told of it
 * or not. */
void inventory_lose_absent_pvs(struct inventory *inventory, struct managed_group *group);

/* The PV, which is the device `number` or was lost, is not this VG's any more. What that means for the VG is told by its other
 * PVs, which are read again. Returns 0 or -ENOMEM. */
int inventory_leave_group(
        struct inventory *inventory, struct managed_group *group, dev_t number, const char *pvid);

/* For the inventory's own use: the PV is found to be of this VG. Returns 0 or -ENOMEM. */
int inventory_claim_pv(struct inventory *inventory, struct managed_group *group, const char *pvid);
/* Whether the metadata of no other VG, which is newer, names all of its PVs: else it was merged, or got another UUID. A PV that was
 * removed before that was read leaves it by this alone. */
bool inventory_has_claim(const struct inventory *inventory, const struct managed_group *group) _nonnull_all_;

/* The PV on the device belongs to `group`, or to no VG if that is NULL: not any more to `former`, of which the device was, nor to
 * `owner`, which had the PV; both before its metadata was judged, and perhaps NULL. It joins no VG by that. Returns 0 or -ENOMEM. */
int inventory_move_pv(struct inventory *inventory, struct device *device, struct managed_group *former,
        struct managed_group *owner, struct managed_group *group) _nonnull_(1, 2) _must_check_;

/* Takes over metadata: makes it the VG, and `*metadata` NULL, or updates the VG if the metadata is newer. The PVs of a new VG
 * that are known from before, to us or to lvm2, count as seen; those that another VG has are read again, to say themselves
 * whose they are. Returns 0 and `*ret`, or a negative errno. */
int inventory_add_metadata(struct inventory *inventory, struct vg **metadata, struct managed_group **ret);

/* Notes metadata, which it takes over in any case, that is older than what is known of the VG, with size and checksum of its
 * text. Returns 0 or -ENOMEM. */
int inventory_note_older(struct inventory *inventory, struct managed_group *group, struct vg *metadata,
        uint64_t size, uint32_t checksum) _nonnull_(1, 2, 3) _must_check_;

/* Takes over the older metadata, if no device that is there carries newer metadata: storage was rolled back, or
 * vgcfgrestore(8) has written an older text. A PV that an earlier worker saw may carry it, and is read again. Returns 1,
 * 0 if it did not, or a negative errno. */
int inventory_roll_back(struct inventory *inventory, struct managed_group *group) _nonnull_(1, 2) _must_check_;

/* The VG whose metadata, or older metadata that was noted, has that size and checksum, so that it need not be read again; or
 * NULL. `*ret_seqno` is that of the metadata. Forgotten when the VG loses a PV. */
struct managed_group *inventory_find_text(
        const struct inventory *inventory, uint64_t size, uint32_t checksum, uint64_t *ret_seqno);
int inventory_add_text(struct inventory *inventory, uint64_t size, uint32_t checksum, struct managed_group *group);

/* Forgets a VG that is no more, which is freed, and what was written of it. No process may be at work on it.
 * Returns 0 or a negative errno. */
int inventory_drop_group(struct inventory *inventory, struct managed_group *group);

/* Marks the VG to be put in order, see intake_recheck(). */
void inventory_recheck(struct inventory *inventory, struct managed_group *group);

/* Marks the VG for inventory_save(). */
void inventory_note_change(struct inventory *inventory, struct managed_group *group);

/* Has the VG in the state that vg_next() has yielded, in memory and with the next inventory_save() in its record. */
void inventory_enter(struct inventory *inventory, struct managed_group *group, const struct vg_step *step);

/* Until when nothing is to be written at most, since records were lost and it is not known of all VGs yet what an earlier
 * worker did: should this worker be killed, the next one is to learn of the loss, too. 0 if that is over. */
uint64_t inventory_finding_out_until(const struct inventory *inventory);

/* Writes what has changed. Returns 0 or a negative errno, and then it is to be called again. */
int inventory_save(struct inventory *inventory);

/* ------ names.c ------ */

/* VGs by name, of which several may have the same, from the disks of other machines. */

/* A VG of that name, owned by the inventory, or NULL; the others are its `next_same_name`, and so on. All are checked, see
 * inventory_check(). */
struct managed_group *names_find(struct inventory *inventory, const char *name);

/* Whether another VG of that name goes before it: lvm2 activates by events, of those with one name, only the one that is
 * complete first, for which it claims the name (`vgs_online`, see online.h). Returns 1, 0, or a negative errno, which is
 * logged. */
int names_is_taken(struct inventory *inventory, const struct managed_group *group);

/* Whether lvm2 has seen PVs of another VG of that name, which is known since before then. It is to be asked for such a VG in a
 * process of its own,
 * as by its own rule: that may tell the two apart by the list of PVs (`pvs_lookup`, see online.h). */
bool names_is_shared(const struct inventory *inventory, const struct managed_group *group, uint64_t before_usec);

/* Writes that list, by online_write_lookup() or online_update_lookup(), unless lvm2 has seen PVs of the other VG first: it is
 * that VG's then. Returns 0 or a negative errno, which is logged. */
int names_write_lookup(const struct inventory *inventory, const struct managed_group *group,
        int (*write)(int lvm_run_fd, const struct vg *vg));

/* Of how many of its PVs lvm2 has a record. With one of each it would have claimed the VG's name for it. */
size_t names_count_recorded(const struct inventory *inventory, const struct vg *vg);
