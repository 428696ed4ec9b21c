/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lvm/label.h"

#include "lvm/crc.h"
#include "lvm/disk.h"

#define LABEL_SCAN_SIZE 4096
#define LABEL_SCAN_SECTORS 4

/* The label's header, at the start of its sector. The CRC is that of everything behind it in the sector. */
#define HEADER_MAGIC "LABELONE"
#define HEADER_TYPE "LVM2 001"
#define HEADER_STRING_SIZE 8
#define HEADER_SECTOR_OFFSET 8
#define HEADER_CRC_OFFSET 16
#define HEADER_CRC_START 20
#define HEADER_PV_OFFSET 20
#define HEADER_TYPE_OFFSET 24
#define HEADER_SIZE 32

/* The PV's header, in the same sector: identifier, size of the device, and two lists of places, data areas and
 * metadata areas. A place is an offset and a size; an offset of 0 ends a list. An extension follows them, with a
 * version and flags; one flag, from version 2 on, says whether some VG uses the PV. */
#define PV_DEVICE_SIZE_OFFSET LVM_ID_LENGTH
#define PV_LISTS_OFFSET (LVM_ID_LENGTH + 8)
#define PLACE_SIZE 16
#define EXTENSION_FLAGS_OFFSET 4
#define EXTENSION_SIZE 8
#define EXTENSION_VERSION_WITH_FLAGS 2
#define EXTENSION_FLAG_USED 1

/* Returns the place at `*position` and moves on, or false if the sector ends before it. */
static bool next_place(const uint8_t *sector, size_t *position, struct metadata_area *ret)
{
        if (*position > DISK_SECTOR_SIZE - PLACE_SIZE)
                return false;

        *ret = (struct metadata_area){
                .offset = disk_get_u64(sector + *position),
                .size = disk_get_u64(sector + *position + 8),
        };
        *position += PLACE_SIZE;
        return true;
}

/* The lists may end with the sector, as those of lvm2 before 2.02.99 can. */
static bool says_unused(const uint8_t *sector, size_t position)
{
        return position <= DISK_SECTOR_SIZE - EXTENSION_SIZE &&
               disk_get_u32(sector + position) >= EXTENSION_VERSION_WITH_FLAGS &&
               !(disk_get_u32(sector + position + EXTENSION_FLAGS_OFFSET) & EXTENSION_FLAG_USED);
}

static int parse_places(const uint8_t *sector, size_t position, struct label *label, const char **reterr_reason)
{
        struct metadata_area place;

        do {
                if (!next_place(sector, &position, &place)) {
                        *reterr_reason = "the list of data areas has no end";
                        return -EBADMSG;
                }
        } while (place.offset != 0);

        for (;;) {
                if (!next_place(sector, &position, &place)) {
                        *reterr_reason = "the list of metadata areas has no end";
                        return -EBADMSG;
                }
                if (place.offset == 0) {
                        label->unused = says_unused(sector, position);
                        return 0;
                }
                if (label->n_metadata_areas >= LABEL_METADATA_AREAS_MAX) {
                        *reterr_reason = "too many metadata areas";
                        return -EBADMSG;
                }

                label->metadata_areas[label->n_metadata_areas++] = place;
        }
}

static int parse_pv(const uint8_t *sector, struct label *ret, const char **reterr_reason)
{
        struct label label = {};
        uint32_t offset = disk_get_u32(sector + HEADER_PV_OFFSET);
        int r;

        if (offset < HEADER_SIZE || offset > DISK_SECTOR_SIZE - PV_LISTS_OFFSET) {
                *reterr_reason = "the PV header is outside of the label";
                return -EBADMSG;
        }

        memcpy(label.pvid, sector + offset, LVM_ID_LENGTH);
        if (!lvm_id_is_valid(label.pvid)) {
                *reterr_reason = "the PV identifier has unexpected characters";
                return -EBADMSG;
        }
        label.device_size = disk_get_u64(sector + offset + PV_DEVICE_SIZE_OFFSET);

        r = parse_places(sector, offset + PV_LISTS_OFFSET, &label, reterr_reason);
        if (r < 0)
                return r;

        *ret = label;
        return LABEL_FOUND;
}

/* Whether wipefs(8) was here, which clears the type and nothing else. */
static bool is_wiped(const uint8_t *sector)
{
        static const uint8_t zeroes[HEADER_STRING_SIZE];

        return memcmp(sector + HEADER_TYPE_OFFSET, zeroes, sizeof(zeroes)) == 0;
}

static int parse_sector(const uint8_t *sector, uint64_t index, struct label *ret, const char **reterr_reason)
{
        uint32_t crc;

        if (memcmp(sector, HEADER_MAGIC, HEADER_STRING_SIZE) != 0 || is_wiped(sector))
                return LABEL_NONE;

        crc = lvm_crc(LVM_CRC_INITIAL, sector + HEADER_CRC_START, DISK_SECTOR_SIZE - HEADER_CRC_START);
        if (disk_get_u32(sector + HEADER_CRC_OFFSET) != crc) {
                *reterr_reason = "the label has a wrong checksum";
                return -EBADMSG;
        }
        if (disk_get_u64(sector + HEADER_SECTOR_OFFSET) != index) {
                *reterr_reason = "the label belongs to another sector";
                return -EBADMSG;
        }
        if (memcmp(sector + HEADER_TYPE_OFFSET, HEADER_TYPE, HEADER_STRING_SIZE) != 0) {
                *reterr_reason = "the label is of an unknown type";
                return -EBADMSG;
        }

        return parse_pv(sector, ret, reterr_reason);
}

int label_read(int fd, struct label *ret, const char **reterr_reason)
{
        uint8_t buffer[LABEL_SCAN_SIZE];
        const char *first_reason = NULL;
        ssize_t n;

        *reterr_reason = NULL;

        n = disk_read(fd, buffer, sizeof(buffer), 0);
        if (n < 0)
                return (int) n;
        if ((size_t) n < sizeof(buffer))
                return LABEL_NONE;

        /* A damaged label does not hide a good one behind it: lvm2 goes on, too. */
        for (size_t i = 0; i < LABEL_SCAN_SECTORS; i++) {
                const char *reason = NULL;
                int r = parse_sector(buffer + i * DISK_SECTOR_SIZE, i, ret, &reason);

                if (r == LABEL_FOUND)
                        return LABEL_FOUND;
                if (r < 0 && !first_reason)
                        first_reason = reason;
        }

        if (!first_reason)
                return LABEL_NONE;

        *reterr_reason = first_reason;
        return -EBADMSG;
}
