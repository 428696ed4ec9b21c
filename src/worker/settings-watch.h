/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* What the worker takes from lvm.conf and headgate.conf. An administrator may change these while a worker is there, and the
 * next disk is to be judged by what they say then, as lvm2 itself does. */

/* Reads the files, at first or anew if one of them, their profiles or lvm2's devices file is another one than before: by
 * device, inode, size and time. For before each batch. What is wrong in them is logged, and no reason not to activate.
 * What is read when headgate takes over, and not again, is scan_lvs (headgate-takeover(8)). Returns 0 or a negative errno,
 * having logged why. */
int settings_refresh(struct worker *worker) _nonnull_(1) _must_check_;
