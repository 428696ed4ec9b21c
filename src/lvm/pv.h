/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "shared/macro.h"
#include "shared/names.h"

/* LVM's checksum of labels, headers and texts: CRC-32, reflected, polynomial 0xEDB88320, with its own initial value
 * and no final inversion. Source: lvm2, lib/misc/crc.c. */

#define LVM_CRC_INITIAL 0xf597a6cfU

/* Continues from `crc`: LVM_CRC_INITIAL at first, later the previous result. */
uint32_t lvm_crc(uint32_t crc, const void *data, size_t size) _nonnull_all_ _must_check_;

#define DISK_SECTOR_SIZE 512

/* Rejects invalid data of a disk. Returns -EBADMSG, with a short reason, a static string. */
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

/* As in the label; metadata_area_read_location() checks it. */
struct metadata_area {
        uint64_t offset; /* bytes from the start of the device */
        uint64_t size;   /* bytes, including the 512-byte header */
};

struct label {
        char pvid[LVM_ID_SIZE];
        bool unused; /* flagged as used by no VG; false if there is no such flag */
        size_t n_metadata_areas;
        struct metadata_area metadata_areas[LABEL_METADATA_AREAS_MAX];
};

enum {
        LABEL_FOUND = 0,
        LABEL_NONE = 1, /* no LVM label in the first four sectors: not a PV */
};

/* Reads the label from the first four sectors of `fd`, a block device or an image, by reading its first 4 KiB; a
 * smaller device has no label. The file offset is not used. Returns LABEL_FOUND and fills `ret`, LABEL_NONE, or a
 * negative errno. -EBADMSG: the label is damaged, and `*reterr_reason` is a short reason, a static string. For
 * errors of the device `*reterr_reason` is NULL. `ret` is only set with LABEL_FOUND. */
int label_read(int fd, struct label *ret, const char **reterr_reason) _nonnull_all_ _must_check_;

/* One metadata area of a PV: a 512-byte header with the location of the committed text in the area, a ring.
 *
 * Source of the format: lvm2, lib/format_text/layout.h (mda_header, raw_locn) and format-text.c. */

/* Location and checksum of the committed text. Two areas with the same size and checksum hold the same text. */
struct metadata_location {
        uint64_t offset;   /* bytes from the start of the area */
        uint64_t size;     /* bytes, including the terminating NUL */
        uint32_t checksum; /* of the text, see lvm_crc() */
};

/* Identifies a text; `size` is 0 for none. No padding, so that it can be a key. */
struct text_id {
        uint64_t size;
        uint64_t checksum;
};

/* Larger texts are refused. lvm2's limit is the size of the area; 32768 LVs need about 30 MiB. */
#define METADATA_TEXT_SIZE_MAX (56U * 1024 * 1024)

enum {
        METADATA_AREA_FOUND = 0,
        METADATA_AREA_EMPTY = 1,   /* no text was ever committed: a PV that belongs to no VG */
        METADATA_AREA_IGNORED = 2, /* lvm2 does not use this area (vgchange --metadatacopies) */
};

/* Reads the 512-byte header of `area`. Returns a value of the enum above, or a negative errno as label_read() does:
 * -EBADMSG with `*reterr_reason` if the header is damaged or points outside of its area. `ret` is only set with
 * METADATA_AREA_FOUND. */
int metadata_area_read_location(int fd, const struct metadata_area *area, struct metadata_location *ret,
        const char **reterr_reason) _nonnull_all_ _must_check_;

/* Reads the text at `location`, unwrapped, and verifies its checksum; `location` must come from
 * metadata_area_read_location() of the same area. If the text changes meanwhile, the caller reads both again. On
 * success `*ret_text` is the text, to be freed by the caller, terminated by NUL. Returns 0 or a negative errno.
 * -EBADMSG with `*reterr_reason`: wrong checksum, or the device ends too early; `*ret_text` is set then, too, as
 * its first word may be the VG's name. On other errors it is NULL. */
int metadata_area_read_text(int fd, const struct metadata_area *area, const struct metadata_location *location,
        char **ret_text, const char **reterr_reason) _nonnull_all_ _must_check_;
