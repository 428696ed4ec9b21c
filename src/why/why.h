/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "reader/pv.h"
#include "view/vg-view.h"

/* A question of "headgate why", and what there is to say to it, in sentences. Every text is made printable. Without memory
 * for one it is left out, and `error` is set, so that nobody has to look after each sentence. So is what else goes wrong, and
 * then it is not to be shown. */

enum verdict {
        VERDICT_UP,
        VERDICT_DOWN,
        VERDICT_UNKNOWN, /* what was asked for is not known, or nobody can tell */
};

/* Why something is not up, as the end of a sentence: "it is exported". */
struct cause {
        size_t rank; /* of its condition; the lower one counts more */
        char *text;
};

/* Starts with what it is about, and else empty. */
struct why {
        /* While it is being answered. */
        struct sources *sources;           /* which have been read */
        const struct plan *expected;       /* what expected_find() finds, or NULL */
        const struct vg_view *view;        /* of the VG, also for an LV of it */
        const struct vg *vg;               /* the view's */
        const struct device_facts *device; /* for a device that is no LV */

        const char *name; /* as it was asked for */
        const char *kind; /* "vg", "lv" or "device" */
        enum verdict verdict;
        const char *state;      /* in one word */
        char *answer;           /* a sentence */
        struct strv conditions; /* why it is not up, in the words of headgate-why(8) for programs */
        struct cause *causes;   /* the same, sorted: the first one answers */
        size_t n_causes;
        struct strv facts;  /* sentences */
        struct strv advice; /* likewise */
        int error;          /* 0 or a negative errno */
};

/* `state` is kept, not copied. */
void why_answer(struct why *why, enum verdict verdict, const char *state, const char *format, ...)
        _nonnull_(1, 3, 4) _printf_(4, 5);
/* Adds a text to one of its lists, unless it was said before. */
void why_say(struct why *why, struct strv *texts, const char *format, ...) _nonnull_(1, 2, 3) _printf_(3, 4);
#define why_condition(why, condition) why_say(why, &(why)->conditions, "%s", condition)
#define why_fact(why, ...) why_say(why, &(why)->facts, __VA_ARGS__)
#define why_advise(why, ...) why_say(why, &(why)->advice, __VA_ARGS__)
/* A condition, and a sentence about it. */
#define why_state(why, condition, ...) (why_condition(why, condition), why_fact(why, __VA_ARGS__))
/* A condition and the end of a sentence that begins with "because", among the causes at the place of its condition. */
void why_cause(struct why *why, const char *condition, const char *format, ...) _nonnull_all_ _printf_(3, 4);
/* The same, and what to do about it; the cause is a constant. */
#define why_remedy(why, condition, cause, ...) (why_cause(why, condition, cause), why_advise(why, __VA_ARGS__))
/* Sets the error if `error` is one. */
void why_fail(struct why *why, int error) _nonnull_all_;

/* What answers. */
const char *why_first_cause(const struct why *why) _nonnull_all_;
/* The other causes, as facts. */
void why_add_other_causes(struct why *why) _nonnull_all_;
/* Before the causes of something else. */
void why_forget_causes(struct why *why) _nonnull_all_;
/* Conditions, facts and advice of another one, such as that of a part. */
void why_take_over(struct why *why, const struct why *other) _nonnull_all_;

void why_done(struct why *why) _nonnull_all_;
#define _cleanup_why_ _cleanup_(why_done)

/* A time of the VG on now_usec()'s clock, "2026-01-31 12:00:00, 3min 2s ago". Written into `ret`, which is returned; or into a string
 * that is there until the end of the block. */
const char *describe_time(const struct vg *vg, uint64_t usec, char ret[static 2 * TIME_SIZE]) _nonnull_all_;
#define TIME_TO_STRING(vg, usec) describe_time(vg, usec, (char[2 * TIME_SIZE]){})

/* ------ VGs and LVs ------ */

/* Explains a VG, or one of its LVs; the latter returns whether there is such an LV. */
void vg_explain(struct why *why, const struct vg_view *view) _nonnull_all_;
bool logical_volume_explain(struct why *why, const struct vg_view *view, const char *name) _nonnull_all_;

/* Of more PVs, or LVs that are not active, than that the number has to do. */
#define TOLD_MAX 8

/* causes.c: what keeps lvm2 from activating something, each with what to do about it. */

/* What the VG's metadata says. */
void causes_of_metadata(struct why *why) _nonnull_all_;
/* What lvm.conf says of a VG that lvm2 was asked for. */
void causes_of_config(struct why *why) _nonnull_all_;
/* Of a PV: the words with which lvm2 has left it alone, and the settings that can lead to that. */
void causes_of_refusal(struct why *why, const char *pvid, const char *words) _nonnull_all_;
/* Of an LV that is not active while its VG is. */
void causes_of_lv(struct why *why, const struct vg_lv *lv) _nonnull_all_;
/* That other devices hold the PV that is on a device, too, a disk and a copy of it for instance, by what the worker has seen. */
void explain_duplicates(struct why *why, const char *pvid, dev_t number, const char *path) _nonnull_all_;

/* Which line of crypttab unlocks the device with that name, or with that kernel name below it, NULL for any. Returns whether one does. */
bool explain_crypttab(struct why *why, const char *name, const char *kernel_name) _nonnull_(1);

/* waiting.c: what a VG waits for. */

/* Of a PV that was at `path`, "" for nobody knows where, and is not there: the LUKS device, or the members of the md array, that it is
 * in, by crypttab and by udev's database; or else which devices it may be in. */
void explain_layers_below(struct why *why, const char *path) _nonnull_all_;
/* Of an incomplete VG: the cause, which PVs these are, what is known of them, since when and how long they are waited for. */
void explain_missing_pvs(struct why *why) _nonnull_all_;
/* Which PVs lvm2 takes for missing though they are there, and what to do: it refuses LVs on them. */
void advise_on_flags(struct why *why) _nonnull_all_;
/* That the VG is DEGRADED: since when, what came late, and what to do. Says which PVs are missing, too. */
void explain_degraded(struct why *why) _nonnull_all_;
/* Where a VG that is not settled is in headgate's queue: facts, from /run/headgate. */
void explain_queue(struct why *why) _nonnull_all_;

/* ------ devices ------ */

/* What is known of a block device: by sysfs, by udev's database (what its rules and blkid have found), and by what is on it. */
struct device_facts {
        dev_t number;
        char *path;        /* as it was asked for */
        char *kernel_name; /* "sda"; NULL if sysfs does not know it */
        uint64_t size;     /* in bytes */
        bool suspended;    /* I/O to it waits, and so it was not read */
        char *upper_map;   /* the multipath device, or the md array, that is made of it; NULL for none */

        bool in_udev;          /* udev has dealt with it */
        char *fs_type;         /* ID_FS_TYPE, "LVM2_member"; NULL for none, and so for the rest */
        char *partition_table; /* ID_PART_TABLE_TYPE */
        bool multipath_path;   /* DM_MULTIPATH_DEVICE_PATH=1 */
        bool pvscan_on_lvs;    /* LVM_PVSCAN_ON_LVS=1 */
        bool rules_disabled;   /* DM_UDEV_DISABLE_OTHER_RULES_FLAG=1 */
        bool not_ready;        /* SYSTEMD_READY=0 */

        struct pv pv;
};

/* Reads all of it. Returns 0 or a negative errno; `*ret` is to be emptied in any case. */
int device_facts_read(const struct sources *sources, const char *path, dev_t number,
        struct device_facts *ret) _nonnull_all_ _must_check_;
void device_facts_done(struct device_facts *facts) _nonnull_all_;
#define _cleanup_device_facts_ _cleanup_(device_facts_done)

/* Whether blkid has found that on it. */
static inline bool device_holds(const struct device_facts *device, const char *fs_type)
{
        return device->fs_type && streq(device->fs_type, fs_type);
}

/* Explains a device that is no LV: what it is, which VG it is a PV of, and why lvm2 would leave it alone. */
void device_explain(struct why *why) _nonnull_all_;
/* That the kernel refuses to write to the device, if it does. */
void explain_read_only(struct why *why, const char *path, dev_t number) _nonnull_all_;
/* That the device, which is where a PV is or was, cannot be read, and what headgate does about it. */
void explain_unreadable(struct why *why, const char *path, int error) _nonnull_all_;

/* What keeps lvm2 away from the device, whatever is on it: the layers below and above, a partition table, its size. */
void causes_of_device(struct why *why) _nonnull_all_;
/* What udev says of it, which may keep headgate from looking at it. */
void explain_udev(struct why *why, const struct device_facts *device) _nonnull_all_;

/* ------ what holds them, and so what shutdown waits for. Only what lies on these devices is looked at ------ */

/* Of the active LVs of the VG, or of one of them if `lvid` is not NULL. */
void explain_holders_of_lvs(struct why *why, const char *lvid) _nonnull_(1);
/* Of the device. */
void explain_holders_of_device(struct why *why) _nonnull_all_;
