/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* From requests to VGs: takes entries of the protocol and devices of udev, has the devices read, and enters what
 * they hold into the inventory. All return 0, or a negative errno if the worker cannot go on. */

/* An entry that is now in working.d. */
int intake_entry(struct worker *worker, const char *entry);

/* A device that udev says is ready, or has gone. */
int intake_event(struct worker *worker, dev_t number);

/* A device that an enumeration has found: as above, but no reason to activate a VG that was dealt with before. */
int intake_found(struct worker *worker, dev_t number);

/* Finds out what the devices of stage UNREAD are called, for the reader; those that have gone go on to be
 * forgotten. */
int intake_prepare(struct worker *worker);

/* What the reader has found on a device. */
int intake_result(struct worker *worker, const struct reader_result *result);

/* Ends the requests whose devices and VGs are settled. Call after the inventory was saved. */
int intake_release(struct worker *worker);
