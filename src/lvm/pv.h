/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "shared/macro.h"
#include "shared/names.h"

/* LVM's checksum of labels, headers and texts: CRC-32, reflected, polynomial 0xEDB88320, but with an initial
 * value of its own and without the final inversion. Source: lvm2, lib/misc/crc.c. */

#define LVM_CRC_INITIAL 0xf597a6cfU

/* Goes on from `crc`: LVM_CRC_INITIAL at first, then what the previous call returned. */
uint32_t lvm_crc(uint32_t crc, const void *data, size_t size) _nonnull_all_ _must_check_;

#define DISK_SECTOR_SIZE 512

/* For what a disk says and is not believed. Returns -EBADMSG, with the reason in a few words, a static string. */
static inline int damaged(const char **reterr_reason, const char *reason)
{
        *reterr_reason = reason;
        return -EBADMSG;
}

/* The label of an LVM physical volume (PV): who the PV is, and where on it metadata is kept.
 *
 * Source of the format: lvm2, lib/label/label.h, lib/format_text/layout.h; see vgcfgbackup(8), pvck(8). All
 * integers are little-endian. Everything here comes from a disk and is taken as hostile: each offset and size
 * is checked before it is used.
 */

/* lvm2 writes at most two metadata areas on a PV. */
#define LABEL_METADATA_AREAS_MAX 2

/* As the label tells: metadata_area_read_location() is the one to check it. */
struct metadata_area {
        uint64_t offset; /* bytes from the start of the device */
        uint64_t size;   /* bytes, its 512-byte header included */
};

struct label {
        char pvid[LVM_ID_SIZE];
        bool unused; /* it says that no VG has it; false where it does not tell */
        size_t n_metadata_areas;
        struct metadata_area metadata_areas[LABEL_METADATA_AREAS_MAX];
};

enum {
        LABEL_FOUND = 0,
        LABEL_NONE = 1, /* no LVM label in the first four sectors: not a PV */
};

/* Reads the label from the first four sectors of `fd`, a block device or an image, by reading its first 4 KiB
 * at once; what is smaller has no label. The file offset is not used. Returns LABEL_FOUND and fills `ret`,
 * LABEL_NONE, or a negative errno: -EBADMSG for a label that is damaged, and then `*reterr_reason` is a static
 * string that says how in a few words; errors of the device are passed on as they are, with `*reterr_reason`
 * NULL. `ret` is untouched unless LABEL_FOUND is returned. */
int label_read(int fd, struct label *ret, const char **reterr_reason) _nonnull_all_ _must_check_;

/* One metadata area of a PV: a 512-byte header that says where in the area, a ring, the committed text lies.
 *
 * Source of the format: lvm2, lib/format_text/layout.h (mda_header, raw_locn) and format-text.c.
 */

/* Where the committed text is, and what it must sum up to. Two areas with the same size and checksum hold the
 * same text. */
struct metadata_location {
        uint64_t offset;   /* bytes from the start of the area */
        uint64_t size;     /* bytes, the text's terminating NUL included */
        uint32_t checksum; /* of the text, see lvm_crc() */
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
        const char **reterr_reason) _nonnull_all_ _must_check_;

/* Reads the text at `location`, unwrapped, and checks its sum; `location` must come from
 * metadata_area_read_location() of the same area. A text that changes while it is read is the caller's to read
 * again, location and all. On success `*ret_text` is the text, to be freed by the caller, with a NUL at its end
 * whatever the disk holds. Returns 0 or a negative errno: -EBADMSG and `*reterr_reason` for a wrong checksum or
 * a device that ends too early, and then too `*ret_text` is what was read, since its first word may still tell
 * the VG's name; with any other error it is NULL. */
int metadata_area_read_text(int fd, const struct metadata_area *area, const struct metadata_location *location,
        char **ret_text, const char **reterr_reason) _nonnull_all_ _must_check_;
