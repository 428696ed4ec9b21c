/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "lvm/label.h"
#include "shared/macro.h"

/* One metadata area of a PV: a 512-byte header that says where in the area, a ring, the committed text lies.
 *
 * Source of the format: lvm2, lib/format_text/layout.h (mda_header, raw_locn) and format-text.c.
 */

/* Where the committed text is, and what it must sum up to. Two areas with the same size and checksum hold the
 * same text. */
struct metadata_location {
        uint64_t offset;   /* bytes from the start of the area */
        uint64_t size;     /* bytes, the text's terminating NUL included */
        uint32_t checksum; /* of the text, see crc.h */
};

/* Which text that is; `size` is 0 for none. Without padding, so that it can be a key. */
struct text_id {
        uint64_t size;
        uint64_t checksum;
};

/* Larger texts are refused: lvm2's own limit is the size of the area, and 32768 LVs need about 30 MiB. */
#define METADATA_TEXT_SIZE_MAX (56U * 1024 * 1024)

enum {
        METADATA_AREA_FOUND = 0,
        METADATA_AREA_EMPTY = 1,   /* no text was ever committed: a PV that belongs to no VG */
        METADATA_AREA_IGNORED = 2, /* lvm2 was told not to use this area (vgchange --metadatacopies) */
};

/* Reads the 512-byte header of `area`. Returns one of the above, or a negative errno as label_read() does:
 * -EBADMSG with `*reterr_reason` set where the header is damaged or points outside of its area. `ret` is only
 * set with METADATA_AREA_FOUND. */
int metadata_area_read_location(int fd, const struct metadata_area *area, struct metadata_location *ret,
        const char **reterr_reason) _nonnull_(2, 3, 4) _must_check_;

/* Reads the text at `location`, unwrapped, and checks its sum; `location` must come from
 * metadata_area_read_location() of the same area. A text that changes while it is read is the caller's to read
 * again, location and all. On success `*ret_text` is the text, to be freed by the caller, with a NUL at its end
 * whatever the disk holds. Returns 0 or a negative errno: -EBADMSG and `*reterr_reason` for a wrong checksum or
 * a device that ends too early, and then too `*ret_text` is what was read, since its first word may still tell
 * the VG's name; with any other error it is NULL. */
int metadata_area_read_text(int fd, const struct metadata_area *area, const struct metadata_location *location,
        char **ret_text, const char **reterr_reason) _nonnull_(2, 3, 4, 5) _must_check_;
