/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/vg_view.h"
#include "why/explanation.h"

/* That the VG is DEGRADED: since when, what came late, and what to do. Says which PVs are missing, too. Returns 0 or a
 * negative errno. */
int explain_degraded(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
        _nonnull_(1, 2, 3) _must_check_;
