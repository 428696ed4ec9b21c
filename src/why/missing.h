/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/vg_view.h"
#include "why/explanation.h"

/* Of an incomplete VG: the cause, which PVs these are, what is known of them, since when and how long they
 * are waited for. Returns 0 or -ENOMEM. */
int explain_missing_pvs(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
        _nonnull_(1, 2, 3) _must_check_;
