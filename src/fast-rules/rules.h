/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/stat.h>

#include "shared/util.h"

/* Overrides the installed udev rules of device-mapper and lvm2 by patched copies in /run/udev/rules.d, which are gone
 * with the next boot. Below $HEADGATE_ROOT, if that is set. Also makes the directory in which the worker writes names,
 * FLAGS_DM_NAMES. Where there are some, makes them anew of the rules that there are now.
 *
 * A file is not overridden, and the log says so, if it has been replaced in /etc or /run by somebody else, or if it
 * calls dmsetup in a way that is not known. Returns 0, also if none was overridden, or a negative errno, and then it has
 * logged why and removed what it had installed. */
int install_rule_overrides(void) _must_check_;

/* A file of these rules. */
struct override {
        const char *name;
        char *wanted;  /* the copy that is to be in its place, NULL for none */
        char *present; /* the one that headgate has put there, likewise */
        bool stale;    /* that is another one */
};

#define OVERRIDES_N 5

/* What was read of udev's rules. Starts empty: all zeros. */
struct rules {
        struct override overrides[OVERRIDES_N];
        struct strv
                obstacles;  /* why files are not overridden, or the worker does not complete cookies; sentences */
        bool late;          /* a later file may run a program for an LV, see fast-rules/late.h */
        struct strv files;  /* the directories and files that decide, */
        struct stat *known; /* and what each was like when it was read */
};

/* Reads them anew. Returns 0 or a negative errno; to be freed in any case. */
int rules_read(struct rules *rules, int root_fd) _nonnull_all_ _must_check_;
void rules_done(struct rules *rules) _nonnull_all_;
#define _cleanup_rules_ _cleanup_(rules_done)

/* Before each vgchange: if a file is another one than before, by device, inode, size and time, makes the overrides anew,
 * or removes them where their originals are gone, and logs that. Returns 1 if the worker may complete cookies; 0 if not, since a
 * program might run late; or a negative errno. */
int rules_refresh(struct rules *rules, int root_fd) _nonnull_all_ _must_check_;
