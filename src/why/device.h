/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "why/device_facts.h"
#include "why/explanation.h"

/* Fills an explanation of a block device that is no LV: what it is, which VG it is a PV of, and why lvm2 would
 * leave it alone. */
void device_explain(const struct sources *sources, const struct device_facts *facts,
        struct explanation *explanation) _nonnull_(1, 2, 3);
