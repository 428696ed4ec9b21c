/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "shared/macro.h"

/* What the readers of LVM's structures share: bytes of a device, and integers in them. */

#define DISK_SECTOR_SIZE 512

/* Reads `size` bytes (at most SSIZE_MAX) at `offset`, which may be any number. Returns how many there were
 * before the end of the device, or a negative errno. */
ssize_t disk_read(int fd, void *buffer, size_t size, uint64_t offset) _nonnull_(2) _must_check_;

static inline uint32_t disk_get_u32(const uint8_t *bytes)
{
        uint32_t value;

        memcpy(&value, bytes, sizeof(value));
        return le32toh(value);
}

static inline uint64_t disk_get_u64(const uint8_t *bytes)
{
        uint64_t value;

        memcpy(&value, bytes, sizeof(value));
        return le64toh(value);
}
