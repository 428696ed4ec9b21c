/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* From devices to VGs: has devices read, and enters what they hold into the inventory. Those that return a value
 * return 0, or a negative errno if the worker cannot go on. */

/* Finds out what the devices of stage AWAITED or UNREAD are called, moves them to READING and adds them to `reading`;
 * those that have gone go on to be forgotten. */
int intake_prepare(struct worker *worker, enum device_stage stage, struct reading *reading);

/* What the reader of the worker, which is `userdata`, has found on a device. */
int intake_result(const struct reader_result *result, void *userdata);
