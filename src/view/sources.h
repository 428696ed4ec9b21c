/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boot/plan.h"
#include "inventory/vg-record.h"
#include "lvm/config.h"
#include "lvm/dm-devices.h"
#include "tree/tree.h"

/* Sources of VGs, for programs that only read: the worker's records, lvm2's records in /run/lvm, device-mapper's list,
 * configuration files, backups. Each is opened or read once, when it is first needed. No process is started, no disk is read, and
 * nothing blocks. */
struct sources {
        int root_fd;
        int run_fd;     /* /run/headgate; < 0 if it cannot be opened */
        int lvm_run_fd; /* /run/lvm; or a negative errno, -ENOENT where there is none */
        bool in_charge; /* headgate activates VGs, not lvm2's own udev rule */
        int run_error;  /* why `in_charge` is unknown: /run/headgate exists and cannot be read; else 0 */

        struct record_file *records; /* of the worker; NULL if there are none */
        struct dm_devices *devices;  /* of device-mapper; NULL if not read, or not listable */
        bool configured;             /* headgate.conf and lvm.conf were read */
        struct plan entries;         /* VGs named by entries; empty until they are read */
        struct settings settings;
        struct config config;
        struct problems settings_problems;
        struct problems config_problems;
        struct dm_hash_table *names; /* see sources_read_names() */
        struct tree *tree;           /* without what is not removed at shutdown; NULL until why needs it */

        /* All VGs at one moment, by name: see snapshot_read() and unrecorded_add(). */
        struct vg **vgs;
        size_t n_vgs;
};

#define SOURCES_NONE ((struct sources){.root_fd = -EBADF, .run_fd = -EBADF, .lvm_run_fd = -EBADF})

/* Opens the directories. The caller empties `*ret` with sources_done(), also if it fails. Returns 0 or a negative errno. */
int sources_open(struct sources *ret) _nonnull_all_ _must_check_;

/* The same, but fails if headgate is not in charge, with -ENOENT. Logs errors. Returns 0 or a negative errno. */
int sources_open_in_charge(struct sources *ret) _nonnull_all_ _must_check_;

/* Logs why headgate activates nothing, if it does not. Call it after the configuration was read. */
void sources_log_not_activating(const struct sources *sources) _nonnull_all_;

/* Reads records that were added since the last call. A missing file is not an error. Logs errors of the file. Returns 0 or a
 * negative errno. */
int sources_read_records(struct sources *sources) _nonnull_all_ _must_check_;

/* Lists the devices, once. A list that cannot be read is not an error. Returns 0 or -ENOMEM. */
int sources_read_devices(struct sources *sources) _nonnull_all_ _must_check_;

/* Reads headgate.conf and lvm.conf, once. Returns 0 or -ENOMEM. */
int sources_read_config(struct sources *sources) _nonnull_all_ _must_check_;

/* Reads the entries of fstab, crypttab and the command line, once, to explain VGs. Returns 0 or -ENOMEM. */
int sources_read_entries(struct sources *sources) _nonnull_all_ _must_check_;

/* Opens and reads all of these. Logs unusable records and ignores them. Returns 0 or a negative errno, also if /run/headgate
 * exists and cannot be read. */
int sources_read(struct sources *ret) _nonnull_all_ _must_check_;

/* Reads lvm2's backup of a VG; the configuration has to be read. Returns 0, -ENOENT if there is none that can be read, or
 * -ENOMEM. */
int sources_read_backup(
        const struct sources *sources, const char *name, struct vg **ret) _nonnull_all_ _must_check_;

void sources_forget_vgs(struct sources *sources) _nonnull_all_;

void sources_done(struct sources *sources) _nonnull_all_;
#define _cleanup_sources_ _cleanup_(sources_done)

/* ------ names on the command line ------ */

/* Reads the names of all VGs known on this machine, once. They are in the worker's records, lvm2's backups and online records,
 * and device-mapper's list. Each name is there once, in no order. A source that cannot be read has none. Returns 0 or -ENOMEM. */
int sources_read_names(struct sources *sources) _nonnull_all_ _must_check_;

/* After sources_read_names(): whether the name is one of them, and whether lvm2's online records have a PV of the VG. */
bool sources_have_name(const struct sources *sources, const char *name) _nonnull_all_;
bool sources_have_online(const struct sources *sources, const char *name) _nonnull_all_;

/* Logs one line: Unknown VG "dta"; did you mean "data"? */
void sources_log_unknown(const struct sources *sources, const char *wanted) _nonnull_all_;

/* The same, for callers with further suggestions. */
void sources_consider_names(const struct sources *sources, struct suggestion *suggestion) _nonnull_all_;

/* Refuses a name that several VGs have. Reads the names, too. Returns 0; -ENOTUNIQ, after logging their UUIDs; or -ENOMEM. */
int sources_refuse_duplicate(struct sources *sources, const char *name) _nonnull_all_ _must_check_;
