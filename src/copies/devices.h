/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

/* The devices that udev takes for PVs, and that lvm2 would use, as far as udev knows: no paths of multipath
 * devices, and LVs only if lvm2 is to look for PVs on LVs. Appends their names in /dev. Returns 0 or a negative
 * errno. */
int copies_find_devices(struct string_vector *names) _nonnull_(1) _must_check_;
