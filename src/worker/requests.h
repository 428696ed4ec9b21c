/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* What the worker is asked for, by entries of the protocol and by udev, from the question to its end. All
 * return 0, or a negative errno if the worker cannot go on. */

/* An entry that is now in working.d. */
int requests_take_entry(struct worker *worker, const char *entry);

/* A device that udev says is ready, or has gone, and the PV that it holds by udev's account, or "". */
int requests_take_event(struct worker *worker, dev_t number, const char *pvid);

/* A device that an enumeration has found: as above, but no reason to activate a VG that was dealt with before. */
int requests_take_found(struct worker *worker, dev_t number, const char *pvid);

/* Ends the requests whose devices and VGs are settled. Call after the inventory was saved. */
int requests_release(struct worker *worker);
