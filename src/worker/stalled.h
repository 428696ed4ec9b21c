/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* A vgchange that uses no processor time waits for something: an unresponsive disk, a VG that another command has locked, or
 * udev. Nothing else is to wait for the same. */

/* Probes the PVs of VGs whose vgchange makes no progress, and retries the VGs that it need not wait for. Returns 0, or a
 * negative errno if the worker cannot go on. */
int stalled_handle(struct worker *worker);

/* Has the worker take a step when that is to be called next. */
void stalled_watch(struct worker *worker);

/* The name of an unresponsive PV of the VG, owned by the VG, or NULL. */
const char *stalled_find_pv(const struct worker *worker, const struct volume_group *volume_group);
