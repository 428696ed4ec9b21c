/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/vg.h"

/* What the name of an LV's device is made of, where udev's rules find it without starting a program. In
 * FLAGS_DM_NAMES, a directory of the run directory that is there while headgate-fast-dm-rules.service is active, there
 * is a file for each LV that lvm2 has just been asked to activate, called as its device is, with what dmsetup splitname
 * prints of that name. What a name is made of never changes, so a file that is left over is never wrong; they are
 * removed to keep the memory free. */

/* Writes the files of all LVs that autoactivation is to activate and that have names as lvm2 gives them, if the
 * directory is there. Returns 0 or a negative errno, which is logged; udev does without what has not been written. */
int dm_names_write(int run_fd, const struct vg *vg) _nonnull_all_;

/* Removes them. */
void dm_names_remove(int run_fd, const struct vg *vg) _nonnull_all_;
