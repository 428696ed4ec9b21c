/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/vg_view.h"
#include "why/explanation.h"

/* Where a VG that is not settled is in headgate's queue: facts, from /run/headgate. */
void explain_queue(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
        _nonnull_(1, 2, 3);
