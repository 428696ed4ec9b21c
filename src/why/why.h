/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "reader/pv.h"
#include "view/vg-view.h"

/* A question of "headgate why", and its explanation in sentences. Every text is made printable. A text without memory is omitted,
 * and `error` is set, so that callers need not check each one. Other errors are set, too; then it must not be shown. */

enum verdict {
        VERDICT_UP,
        VERDICT_DOWN,
        VERDICT_UNKNOWN, /* the name is unknown, or headgate cannot tell */
};

/* Why something is not active, as the end of a sentence: "it is exported". */
struct cause {
        size_t rank; /* of its condition; the lowest is the answer */
        char *text;
};

/* Starts with sources and name, otherwise empty. */
struct why {
        /* Used while it is explained. */
        struct sources *sources;           /* which have been read */
        const struct plan *expected;       /* what expected_find() finds, or NULL */
        const struct vg_view *view;        /* of the VG, also for an LV of it */
        const struct vg *vg;               /* the view's */
        const struct device_facts *device; /* for a device that is not an LV */

        const char *name; /* as it was asked for */
        const char *kind; /* "vg", "lv" or "device" */
        enum verdict verdict;
        const char *state;      /* in one word */
        char *answer;           /* a sentence */
        struct strv conditions; /* why it is not active, in the words of headgate-why(8) for programs */
        struct cause *causes;   /* sorted: the first one is the answer */
        size_t n_causes;
        struct strv facts;  /* sentences */
        struct strv advice; /* likewise */
        int error;          /* 0 or a negative errno */
};

/* `state` is kept, not copied. */
void why_answer(struct why *why, enum verdict verdict, const char *state, const char *format, ...)
        _nonnull_(1, 3, 4) _printf_(4, 5);
/* Adds a text to one of the lists, unless it is there already. */
void why_say(struct why *why, struct strv *texts, const char *format, ...) _nonnull_(1, 2, 3) _printf_(3, 4);
#define why_condition(why, condition) why_say(why, &(why)->conditions, "%s", condition)
#define why_fact(why, ...) why_say(why, &(why)->facts, __VA_ARGS__)
#define why_advise(why, ...) why_say(why, &(why)->advice, __VA_ARGS__)
/* A condition, and a sentence about it. */
#define why_state(why, condition, ...) (why_condition(why, condition), why_fact(why, __VA_ARGS__))
/* Adds a condition, and a cause, the end of a sentence that begins with "because", at the rank of the condition. */
void why_cause(struct why *why, const char *condition, const char *format, ...) _nonnull_all_ _printf_(3, 4);
/* The same with advice; the cause is a constant. */
#define why_remedy(why, condition, cause, ...) (why_cause(why, condition, cause), why_advise(why, __VA_ARGS__))
/* Sets the error if `error` is negative. */
void why_fail(struct why *why, int error) _nonnull_all_;

/* Returns the cause that is the answer. */
const char *why_first_cause(const struct why *why) _nonnull_all_;
/* Adds the other causes as facts. */
void why_add_other_causes(struct why *why) _nonnull_all_;
/* Adds conditions, facts and advice of another explanation, such as that of a device. Causes stay those of their own subject. */
void why_merge(struct why *why, const struct why *other) _nonnull_all_;

void why_done(struct why *why) _nonnull_all_;
#define _cleanup_why_ _cleanup_(why_done)

/* Formats a time of the VG on now_usec()'s clock: "2026-01-31 12:00:00, 3min 2s ago". Writes into `ret` and returns it; the macro
 * uses a string that lives until the end of the block. */
const char *describe_time(const struct vg *vg, uint64_t usec, char ret[static 2 * TIME_SIZE]) _nonnull_all_;
#define TIME_TO_STRING(vg, usec) describe_time(vg, usec, (char[2 * TIME_SIZE]){})

/* ------ VGs and LVs ------ */

/* Explain a VG, or one of its LVs. The latter returns whether the LV exists. */
void vg_explain(struct why *why, const struct vg_view *view) _nonnull_all_;
bool logical_volume_explain(struct why *why, const struct vg_view *view, const char *name) _nonnull_all_;

/* Of further PVs or inactive LVs, only the number is shown. */
#define TOLD_MAX 8

/* causes.c: causes that prevent activation, each with advice. */

/* Adds causes in the VG's metadata. */
void causes_of_metadata(struct why *why) _nonnull_all_;
/* Adds causes in lvm.conf, for a VG that lvm2 was asked for. */
void causes_of_config(struct why *why) _nonnull_all_;
/* Adds the causes that lvm2's message about a rejected PV names, and the settings behind them. */
void causes_of_refusal(struct why *why, const char *pvid, const char *words) _nonnull_all_;
/* Adds the causes of an inactive LV of an active VG. */
void causes_of_lv(struct why *why, const struct vg_lv *lv) _nonnull_all_;
/* Reports other devices with the same PV, such as a copy of a disk, by the worker's records. */
void explain_duplicates(struct why *why, const char *pvid, dev_t number, const char *path) _nonnull_all_;

/* Reports the line of crypttab that unlocks the device with that name, or from the device with that kernel name; NULL for any.
 * Returns whether there is one. */
bool explain_crypttab(struct why *why, const char *name, const char *kernel_name) _nonnull_(1);

/* waiting.c: why a VG waits. */

/* Reports the LUKS device, or the members of the md array, that a missing PV is in, by crypttab and udev's database. `path` is
 * its last device, "" if unknown. If neither is found, reports devices that may contain the PV. */
void explain_layers_below(struct why *why, const char *path) _nonnull_all_;
/* Explains missing PVs: the cause, each PV and its last device, how long the VG has been waiting, and its deadline. */
void explain_missing_pvs(struct why *why) _nonnull_all_;
/* Reports PVs that lvm2 counts as missing although they are there, with advice: lvm2 refuses LVs on them. */
void advise_on_flags(struct why *why) _nonnull_all_;
/* Explains a degraded VG: since when, missing and late PVs, and advice. */
void explain_degraded(struct why *why) _nonnull_all_;
/* Adds facts about a queued or activating VG, from /run/headgate. */
void explain_queue(struct why *why) _nonnull_all_;

/* ------ devices ------ */

/* Facts about a block device, from sysfs, udev's database and its label. */
#define WHY_ADVICE_SUSPENDED "Find out which command suspended it; \"dmsetup resume\" resumes it."

struct device_facts {
        dev_t number;
        const char *path;  /* as it was asked for; kept, not copied */
        char *kernel_name; /* "sda"; NULL if sysfs does not know it */
        uint64_t size;     /* in bytes */
        char *upper_map;   /* the multipath device or md array on it; NULL for none */

        bool in_udev;          /* udev has processed it */
        char *fs_type;         /* ID_FS_TYPE, "LVM2_member"; NULL for none, and so for the rest */
        char *partition_table; /* ID_PART_TABLE_TYPE */
        bool multipath_path;   /* DM_MULTIPATH_DEVICE_PATH=1 */
        bool pvscan_on_lvs;    /* LVM_PVSCAN_ON_LVS=1 */
        bool rules_disabled;   /* DM_UDEV_DISABLE_OTHER_RULES_FLAG=1 */
        bool not_ready;        /* SYSTEMD_READY=0 */

        struct pv pv;
};

/* Reads the facts; `path` is kept. Returns 0 or a negative errno. The caller empties `*ret` in any case. */
int device_facts_read(const struct sources *sources, const char *path, dev_t number,
        struct device_facts *ret) _nonnull_all_ _must_check_;
void device_facts_done(struct device_facts *facts) _nonnull_all_;
#define _cleanup_device_facts_ _cleanup_(device_facts_done)

/* Whether blkid has found this signature on it. */
static inline bool device_holds(const struct device_facts *device, const char *fs_type)
{
        return device->fs_type && streq(device->fs_type, fs_type);
}

/* Explains a device that is not an LV: its contents, its VG, and why lvm2 would ignore it. */
void device_explain(struct why *why) _nonnull_all_;
/* Reports that the device is read-only, if it is. */
void explain_read_only(struct why *why, const char *path, dev_t number) _nonnull_all_;
/* Reports that the device of a PV cannot be read, and when headgate retries. */
void explain_unreadable(struct why *why, const char *path, int error) _nonnull_all_;

/* Adds causes that prevent lvm2 from using the device: layers below and above it, a partition table, its size. */
void causes_of_device(struct why *why) _nonnull_all_;
/* Adds udev's properties that prevent headgate from using the device. */
void explain_udev(struct why *why, const struct device_facts *device) _nonnull_all_;

/* ------ users of devices, which shutdown waits for. Only nodes above these devices are read ------ */

/* For the active LVs of the VG, or for one of them if `lvid` is not NULL. */
void explain_holders_of_lvs(struct why *why, const char *lvid) _nonnull_(1);
/* For the device. */
void explain_holders_of_device(struct why *why) _nonnull_all_;
