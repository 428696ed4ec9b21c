/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/names.h"
#include "view/vg_view.h"
#include "why/explanation.h"

enum {
        LOGICAL_VOLUME_NONE = 0, /* the VG has no such LV */
        LOGICAL_VOLUME_FOUND = 1,
};

/* Fills an explanation of an LV of a VG that is on record. Returns one of the above or a negative errno. */
int logical_volume_explain(const struct sources *sources, const struct vg_view *view, const char *name,
        struct explanation *explanation) _nonnull_(1, 2, 3, 4) _must_check_;

/* Considers the names of the VG's LVs. */
void logical_volume_suggest(const struct vg_view *view, struct suggestion *suggestion) _nonnull_(1, 2);
