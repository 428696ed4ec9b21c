/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/vg_view.h"
#include "why/explanation.h"

/* Fills an explanation of a VG. */
void volume_group_explain(const struct sources *sources, const struct vg_view *view,
        struct explanation *explanation) _nonnull_(1, 2, 3);

/* Fills an explanation of an LV of it. Returns whether the VG has such an LV. */
bool logical_volume_explain(const struct sources *sources, const struct vg_view *view, const char *name,
        struct explanation *explanation) _nonnull_(1, 2, 3, 4);
