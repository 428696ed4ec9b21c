/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/vg_view.h"
#include "why/device_facts.h"
#include "why/explanation.h"

/* What keeps lvm2 from activating something, each with what to do about it. */

/* Of a VG: what its metadata says of it. */
void causes_of_metadata(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
        _nonnull_(1, 2, 3);

/* Of a VG that lvm2 was asked for: what lvm.conf says. */
void causes_of_configuration(const struct sources *sources, const struct vg_view *view,
        struct explanation *explanation) _nonnull_(1, 2, 3);

/* Of a PV: the words with which lvm2 has left it alone, and the settings that can lead to that. */
void causes_of_refusal(const struct sources *sources, const char *pvid, const char *words,
        struct explanation *explanation) _nonnull_(1, 2, 3, 4);

/* Of an LV that is not active while its VG is. */
void causes_of_lv(const struct sources *sources, const struct vg_view *view, const struct volume_group_lv *lv,
        struct explanation *explanation) _nonnull_(1, 2, 3, 4);

/* What keeps lvm2 away from a device, whatever is on it: the layers below and above, a partition table, its
 * size. */
void causes_of_device(const struct sources *sources, const struct device_facts *facts,
        struct explanation *explanation) _nonnull_(1, 2, 3);

/* What udev says of it, which may keep headgate from looking at it. */
void explain_udev(const struct device_facts *facts, struct explanation *explanation) _nonnull_(1, 2);

/* That other devices hold PVs of a VG, too, a disk and a copy of it for instance, by what the worker has seen. */
void explain_duplicate_pvs(const struct sources *sources, const struct vg_view *view,
        struct explanation *explanation) _nonnull_(1, 2, 3);

/* The same of one device that is a PV. */
void explain_duplicate_of_device(const struct sources *sources, const struct device_facts *facts,
        struct explanation *explanation) _nonnull_(1, 2, 3);
