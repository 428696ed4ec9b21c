/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/stat.h>

#include "shared/util.h"

/* Overrides the installed udev rules of device-mapper and lvm2 by patched copies in /run/udev/rules.d, until the next boot; below
 * $HEADGATE_ROOT, if that is set. Existing copies are updated. Also makes FLAGS_DM_NAMES, the directory for names that the worker
 * writes.
 *
 * A file is not overridden if another one replaces it in /etc or /run, or if it calls dmsetup in an unknown way; the log says so.
 * Returns 0, also if no file was overridden; or a negative errno, after logging why and removing all copies. */
int install_rule_overrides(void) _must_check_;

/* A file of these rules. */
struct override {
        const char *name;
        char *wanted;  /* the copy to install, NULL for none */
        char *present; /* the installed copy, likewise */
        bool stale;    /* they differ */
};

#define OVERRIDES_N 5

/* The state of udev's rules. Starts empty: all zeros. */
struct rules {
        struct override overrides[OVERRIDES_N];
        struct strv
                obstacles;  /* why files are not overridden, or the worker does not complete cookies; sentences */
        bool late;          /* a later file may run a program for an LV, see fast-rules/late.h */
        struct strv files;  /* the directories and files that decide, */
        struct stat *known; /* and the status of each when it was read */
};

/* Reads all of it again. Returns 0 or a negative errno; to be freed in any case. */
int rules_read(struct rules *rules, int root_fd) _nonnull_all_ _must_check_;
void rules_done(struct rules *rules) _nonnull_all_;
#define _cleanup_rules_ _cleanup_(rules_done)

/* To be called before each vgchange. If a file has changed, by device, inode, size or time, updates the copies, removes those
 * without an original, and logs that. Returns 1 if the worker may complete cookies; 0 if a program might run late; or a negative
 * errno. */
int rules_refresh(struct rules *rules, int root_fd) _nonnull_all_ _must_check_;
