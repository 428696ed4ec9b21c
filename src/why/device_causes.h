/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "why/device_facts.h"
#include "why/explanation.h"

/* What keeps lvm2 away from a device, whatever is on it: the layers below and above, a partition table, its
 * size. */
void causes_of_device(const struct sources *sources, const struct device_facts *facts,
        struct explanation *explanation) _nonnull_(1, 2, 3);

/* What udev says of it, which may keep headgate from looking at it. */
void explain_udev(const struct device_facts *facts, struct explanation *explanation) _nonnull_(1, 2);
