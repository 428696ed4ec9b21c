/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/sources.h"
#include "why/explanation.h"

/* What holds devices, and so what shutdown waits for before it takes them down: facts. Only what lies on these
 * devices is looked at. */

/* Of the active LVs of a VG, or of one of them if `lvid` is not NULL. */
void explain_holders_of_lvs(const struct sources *sources, const char *vgid, const char *lvid,
        struct explanation *explanation) _nonnull_(1, 2, 4);

/* Of any block device. */
void explain_holders_of_device(const struct sources *sources, dev_t number, const char *kernel_name,
        struct explanation *explanation) _nonnull_(1, 3, 4);
