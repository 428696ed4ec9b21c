/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/vg_view.h"
#include "why/explanation.h"

/* Of an incomplete VG: the cause, which PVs these are, what is known of them, since when and how long they
 * are waited for. */
void explain_missing_pvs(const struct sources *sources, const struct vg_view *view,
        struct explanation *explanation) _nonnull_(1, 2, 3);

/* That the VG is DEGRADED: since when, what came late, and what to do. Says which PVs are missing, too. */
void explain_degraded(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
        _nonnull_(1, 2, 3);

/* Where a VG that is not settled is in headgate's queue: facts, from /run/headgate. */
void explain_queue(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
        _nonnull_(1, 2, 3);
