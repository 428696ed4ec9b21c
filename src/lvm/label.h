/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/macro.h"
#include "shared/names.h"

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
        uint64_t device_size; /* bytes, as of when the PV was made or resized */
        bool unused;          /* it says that no VG has it; false where it does not tell */
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
int label_read(int fd, struct label *ret, const char **reterr_reason) _nonnull_(2, 3) _must_check_;
