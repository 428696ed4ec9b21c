/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "shared/macro.h"

/* LVM's checksum of labels, headers and texts: CRC-32, reflected, polynomial 0xEDB88320, but with an initial
 * value of its own and without the final inversion. Source: lvm2, lib/misc/crc.c. */

#define LVM_CRC_INITIAL 0xf597a6cfU

/* Goes on from `crc`: LVM_CRC_INITIAL at first, then what the previous call returned. */
uint32_t lvm_crc(uint32_t crc, const void *data, size_t size) _nonnull_(2) _must_check_;
