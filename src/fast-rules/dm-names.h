/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/vg.h"

/* The VG and LV in the name of an LV's device, in files that udev's rules import without starting a program. The directory
 * FLAGS_DM_NAMES exists while headgate-fast-dm-rules.service is active. It has a file for each LV that lvm2 was just asked to activate,
 * with the name of the device and the output of dmsetup splitname for it. The parts of a name never change, so a leftover file is
 * never wrong; files are removed to free memory. */

/* Writes the files of all LVs with autoactivation enabled and valid names, if the directory exists. Returns 0 or a negative
 * errno, which is logged; without a file, udev runs a program. */
int dm_names_write(int run_fd, const struct vg *vg) _nonnull_all_;

/* Removes them. */
void dm_names_remove(int run_fd, const struct vg *vg) _nonnull_all_;
