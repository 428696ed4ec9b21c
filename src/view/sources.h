/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boot/plan.h"
#include "inventory/vg-record.h"
#include "lvm/config.h"
#include "lvm/dm-devices.h"

/* The sources of what is known of VGs, for programs that only read: the worker's records, lvm2's own in /run/lvm,
 * device-mapper's list, configuration files, backups. Each is opened or read once, by the first who needs it. No process is
 * started for it, no disk is read, and nothing is waited for. */
struct sources {
        int root_fd;
        int run_fd;     /* /run/headgate; < 0 if it cannot be opened */
        int lvm_run_fd; /* /run/lvm; or a negative errno, -ENOENT where there is none */
        bool in_charge; /* headgate activates VGs, not lvm2's own udev rule */
        int run_error;  /* why the last one cannot be told, -ENOENT without /run/headgate; else 0 */

        struct record_file *records; /* of the worker; NULL if there are none */
        struct dm_devices *devices;  /* of device-mapper; NULL if they were not read, or cannot be listed */
        bool configured;             /* headgate.conf and lvm.conf were read */
        struct plan entries;         /* what the entries alone tell; nothing as long as they were not read */
        struct settings settings;
        struct config config;
        struct problems settings_problems;
        struct problems config_problems;
        struct dm_hash_table *names; /* see sources_read_names() */

        /* All VGs at one moment, by name: see snapshot_read() and unrecorded_add(). */
        struct vg **vgs;
        size_t n_vgs;
        int unrecorded_error; /* 0, or the negative errno with which one without a record could not be added */
};

#define SOURCES_NONE ((struct sources){.root_fd = -EBADF, .run_fd = -EBADF, .lvm_run_fd = -EBADF})

/* Opens the directories. `*ret` is to be emptied with sources_done(), also if it fails. Returns 0 or a negative errno. */
int sources_open(struct sources *ret) _nonnull_all_ _must_check_;

/* The same while headgate is in charge. Returns 0 or a negative errno, having logged the error; -ENOENT if it is not in
 * charge. */
int sources_open_in_charge(struct sources *ret) _nonnull_all_ _must_check_;

/* Logs why headgate activates nothing, if that is so. The configuration has to be read. */
void sources_log_not_activating(const struct sources *sources) _nonnull_all_;

/* Reads what has been added to the records since the last call. Missing is not an error. Returns 0 or a negative
 * errno; one that says what is wrong with the file has been logged. */
int sources_read_records(struct sources *sources) _nonnull_all_ _must_check_;

/* Lists the devices, once. It is not an error if they cannot be listed. Returns 0 or -ENOMEM. */
int sources_read_devices(struct sources *sources) _nonnull_all_ _must_check_;

/* Reads headgate.conf and lvm.conf, once. Returns 0 or -ENOMEM. */
int sources_read_config(struct sources *sources) _nonnull_all_ _must_check_;

/* Reads the entries of fstab, crypttab and the command line: for who shows what is wrong with a VG, once. Returns 0 or -ENOMEM. */
int sources_read_entries(struct sources *sources) _nonnull_all_ _must_check_;

/* Opens and reads all that. Records that cannot be used have been logged, and are none. Returns 0 or a negative errno, also
 * if /run/headgate is there and may not be looked into. */
int sources_read(struct sources *ret) _nonnull_all_ _must_check_;

/* Reads lvm2's backup of a VG; the configuration has to be read. Returns 0, -ENOENT if there is none that can be read, or
 * -ENOMEM. */
int sources_read_backup(
        const struct sources *sources, const char *name, struct vg **ret) _nonnull_all_ _must_check_;

void sources_forget_vgs(struct sources *sources) _nonnull_all_;

void sources_done(struct sources *sources) _nonnull_all_;
#define _cleanup_sources_ _cleanup_(sources_done)

/* ------ names that people have typed ------ */

/* Reads the names of all VGs that anything on this machine mentions, once: the worker's records, lvm2's backups of metadata
 * and its own records of what is online, and the LVs in device-mapper; each name once, in no order. A source that cannot be
 * read has none. Returns 0 or -ENOMEM. */
int sources_read_names(struct sources *sources) _nonnull_all_ _must_check_;

/* What follows is asked when they were read: whether the name is one of them, and whether lvm2 has a PV of the VG on its record
 * of what is online. */
bool sources_have_name(const struct sources *sources, const char *name) _nonnull_all_;
bool sources_have_online(const struct sources *sources, const char *name) _nonnull_all_;

/* One line on standard error: Unknown VG "dta"; did you mean "data"? */
void sources_log_unknown(const struct sources *sources, const char *wanted) _nonnull_all_;

/* The same for who has more to suggest. */
void sources_consider_names(const struct sources *sources, struct suggestion *suggestion) _nonnull_all_;

/* Refuses a name that several VGs of this machine have. Reads the names, too. Returns 0; -ENOTUNIQ, having named their UUIDs on
 * standard error; or -ENOMEM. */
int sources_refuse_duplicate(struct sources *sources, const char *name) _nonnull_all_ _must_check_;
