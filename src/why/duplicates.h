/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/vg_view.h"
#include "why/explanation.h"

/* PVs that several devices hold, a disk and a copy of it for instance, by what the worker has seen. */

/* Tells of those of a VG. Returns 0 or -ENOMEM. */
int explain_duplicate_pvs(const struct sources *sources, const struct vg_view *view,
        struct explanation *explanation) _nonnull_(1, 2, 3) _must_check_;

/* The kernel's name of another device than `number` that holds the PV. Returns 1 and `*ret`, to be freed by the
 * caller; 0 without one; or -ENOMEM. */
int find_duplicate_of_pv(const struct sources *sources, const char *pvid, dev_t number, char **ret)
        _nonnull_(1, 2, 4) _must_check_;
