/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/vg_view.h"
#include "why/explanation.h"

/* Fills an explanation of a VG. Returns 0 or a negative errno. */
int volume_group_explain(const struct sources *sources, const struct vg_view *view,
        struct explanation *explanation) _nonnull_(1, 2, 3) _must_check_;

/* The same without the answer, for what belongs to the VG: the causes, all other facts of the VG that matter, and
 * what to do. */
int volume_group_explain_facts(const struct sources *sources, const struct vg_view *view,
        struct explanation *explanation) _nonnull_(1, 2, 3) _must_check_;

/* Where the VG is, in one word: that of headgate status, or "absent" for one of which nothing was seen. */
const char *volume_group_describe_place(const struct sources *sources, const struct vg_view *view) _nonnull_(1, 2);
