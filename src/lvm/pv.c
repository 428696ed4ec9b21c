/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* LVM's on-disk format of a PV: a label in one of the first sectors, and metadata areas, each with a header and a
 * ring of texts.
 *
 * Source of the format: lvm2, lib/label/label.h, lib/format_text/layout.h and format-text.c; see vgcfgbackup(8),
 * pvck(8). All integers are little-endian. */

#include "lvm/pv.h"

#include <endian.h>

#include "shared/util.h"

#define LABEL_SCAN_SIZE 4096
#define LABEL_SCAN_SECTORS 4
#define LABEL_MAGIC "LABELONE"
#define LABEL_TYPE "LVM2 001"

/* At the start of the sector. The CRC covers the rest of the sector. */
struct label_header {
        char magic[8];
        uint64_t sector;
        uint32_t crc;
        uint32_t pv_offset;
        char type[8];
} __attribute__((packed));

/* In the same sector, followed by two lists of locations: data areas and metadata areas. An offset of 0 ends a
 * list. */
struct pv_header {
        char pvid[LVM_ID_LENGTH];
        uint64_t device_size;
} __attribute__((packed));

struct place {
        uint64_t offset;
        uint64_t size;
} __attribute__((packed));

/* Behind the lists. From version 2 on, a flag says whether a VG uses the PV. */
struct extension_header {
        uint32_t version;
        uint32_t flags;
} __attribute__((packed));
#define EXTENSION_VERSION_WITH_FLAGS 2
#define EXTENSION_FLAG_USED 1U

/* The first 512 bytes of a metadata area; the rest is the ring of texts. The CRC covers everything behind it. The
 * first location is the committed text; the second belongs to a pending change, and is never read. */
struct area_header {
        uint32_t crc;
        char magic[16];
        uint32_t version;
        uint64_t start;
        uint64_t size;
        struct {
                uint64_t offset;
                uint64_t size;
                uint32_t checksum;
                uint32_t flags;
        } __attribute__((packed)) committed;
        uint8_t rest[512 - 64];
} __attribute__((packed));
_Static_assert(sizeof(struct area_header) == 512, "the header of a metadata area has 512 bytes");
#define AREA_MAGIC " LVM2 x[5A%r0N*>"
#define AREA_VERSION 1
#define LOCATION_IGNORED 1U

uint32_t lvm_crc(uint32_t crc, const void *data, size_t size)
{
        /* One entry for each value of four bits. A larger table would be faster, but a device has only a few KiB to
         * check. */
        static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4,
                0xa00ae278, 0xbdbdf21c};
        const uint8_t *bytes = data;

        for (size_t i = 0; i < size; i++) {
                crc ^= bytes[i];
                crc = (crc >> 4) ^ table[crc & 15];
                crc = (crc >> 4) ^ table[crc & 15];
        }
        return crc;
}

/* ------ label ------ */

/* Copies `size` bytes at `*position` of the sector and moves on; returns false if the sector ends before. */
static bool take(const uint8_t *sector, size_t *position, void *ret, size_t size)
{
        if (*position > DISK_SECTOR_SIZE - size)
                return false;
        memcpy(ret, sector + *position, size);
        *position += size;
        return true;
}

static int parse_places(const uint8_t *sector, size_t position, struct label *label, const char **reterr_reason)
{
        struct extension_header extension;
        struct place place;

        do
                if (!take(sector, &position, &place, sizeof(place)))
                        return damaged(reterr_reason, "unterminated list of data areas");
        while (place.offset != 0);

        for (;;) {
                if (!take(sector, &position, &place, sizeof(place)))
                        return damaged(reterr_reason, "unterminated list of metadata areas");
                if (place.offset == 0)
                        break;
                if (label->n_metadata_areas >= LABEL_METADATA_AREAS_MAX)
                        return damaged(reterr_reason, "too many metadata areas");
                label->metadata_areas[label->n_metadata_areas++] =
                        (struct metadata_area){.offset = le64toh(place.offset), .size = le64toh(place.size)};
        }

        /* The lists may end with the sector, as in lvm2 before 2.02.99. */
        label->unused = take(sector, &position, &extension, sizeof(extension)) &&
                        le32toh(extension.version) >= EXTENSION_VERSION_WITH_FLAGS &&
                        !(le32toh(extension.flags) & EXTENSION_FLAG_USED);
        return 0;
}

static int parse_sector(const uint8_t *sector, uint64_t index, struct label *ret, const char **reterr_reason)
{
        static const char wiped[sizeof(((struct label_header *) NULL)->type)];
        const size_t crc_end = offsetof(struct label_header, pv_offset);
        struct label_header header;
        struct label label = {};
        struct pv_header pv;
        size_t position;
        int r;

        memcpy(&header, sector, sizeof(header));
        /* wipefs(8) clears only the type. */
        if (memcmp(header.magic, LABEL_MAGIC, sizeof(header.magic)) != 0 ||
                memcmp(header.type, wiped, sizeof(wiped)) == 0)
                return LABEL_NONE;
        if (le32toh(header.crc) != lvm_crc(LVM_CRC_INITIAL, sector + crc_end, DISK_SECTOR_SIZE - crc_end))
                return damaged(reterr_reason, "wrong checksum of the label");
        if (le64toh(header.sector) != index)
                return damaged(reterr_reason, "the label belongs to another sector");
        if (memcmp(header.type, LABEL_TYPE, sizeof(header.type)) != 0)
                return damaged(reterr_reason, "unknown type of label");

        position = le32toh(header.pv_offset);
        if (position < sizeof(header) || !take(sector, &position, &pv, sizeof(pv)))
                return damaged(reterr_reason, "PV header outside of the label");
        memcpy(label.pvid, pv.pvid, LVM_ID_LENGTH);
        if (!lvm_id_is_valid(label.pvid))
                return damaged(reterr_reason, "invalid PV identifier");

        r = parse_places(sector, position, &label, reterr_reason);
        if (r < 0)
                return r;
        *ret = label;
        return LABEL_FOUND;
}

int label_read(int fd, struct label *ret, const char **reterr_reason)
{
        uint8_t buffer[LABEL_SCAN_SIZE];
        ssize_t n;

        *reterr_reason = NULL;

        n = read_at(fd, buffer, sizeof(buffer), 0);
        if (n < 0)
                return (int) n;
        if ((size_t) n < sizeof(buffer))
                return LABEL_NONE;

        /* A good label may follow a damaged one: lvm2 continues, too. */
        for (size_t i = 0; i < LABEL_SCAN_SECTORS; i++) {
                const char *reason = NULL;

                if (parse_sector(buffer + i * DISK_SECTOR_SIZE, i, ret, &reason) == LABEL_FOUND) {
                        *reterr_reason = NULL;
                        return LABEL_FOUND;
                }
                *reterr_reason = *reterr_reason ?: reason;
        }
        return *reterr_reason ? -EBADMSG : LABEL_NONE;
}

/* ------ metadata areas ------ */

static bool is_possible(const struct metadata_area *area)
{
        return area->size > sizeof(struct area_header) && area->size <= INT64_MAX &&
               area->offset <= INT64_MAX - area->size;
}

/* This cannot overflow: the area was checked, and its size limits the text. */
static int check_location(
        const struct metadata_area *area, const struct metadata_location *location, const char **reterr_reason)
{
        if (location->offset < sizeof(struct area_header) || location->offset >= area->size ||
                location->size == 0 || location->size > area->size - sizeof(struct area_header))
                return damaged(reterr_reason, "metadata text outside of its area");
        if (location->size > METADATA_TEXT_SIZE_MAX)
                return damaged(reterr_reason, "metadata text too long");
        return 0;
}

int metadata_area_read_location(
        int fd, const struct metadata_area *area, struct metadata_location *ret, const char **reterr_reason)
{
        const size_t crc_end = sizeof(((struct area_header *) NULL)->crc);
        struct metadata_location location;
        struct area_header header;
        ssize_t n;
        int r;

        *reterr_reason = NULL;

        if (!is_possible(area))
                return damaged(reterr_reason, "invalid location of the metadata area");
        n = read_at(fd, &header, sizeof(header), area->offset);
        if (n < 0)
                return (int) n;
        if ((size_t) n < sizeof(header))
                return damaged(reterr_reason, "metadata area behind the end of the device");

        if (le32toh(header.crc) !=
                lvm_crc(LVM_CRC_INITIAL, (uint8_t *) &header + crc_end, sizeof(header) - crc_end))
                return damaged(reterr_reason, "wrong checksum of the metadata area's header");
        if (memcmp(header.magic, AREA_MAGIC, sizeof(header.magic)) != 0 || le32toh(header.version) != AREA_VERSION)
                return damaged(reterr_reason, "unknown kind of metadata area");
        /* lvm2 uses the size from here, and the offset from both. It writes the same numbers to both; if they
         * differ, the end of the ring is unknown. */
        if (le64toh(header.start) != area->offset || le64toh(header.size) != area->size)
                return damaged(reterr_reason, "label and metadata area disagree on its location");

        location = (struct metadata_location){
                .offset = le64toh(header.committed.offset),
                .size = le64toh(header.committed.size),
                .checksum = le32toh(header.committed.checksum),
        };
        if (le32toh(header.committed.flags) & LOCATION_IGNORED)
                return METADATA_AREA_IGNORED;
        if (location.offset == 0)
                return METADATA_AREA_EMPTY;
        r = check_location(area, &location, reterr_reason);
        if (r < 0)
                return r;

        *ret = location;
        return METADATA_AREA_FOUND;
}

int metadata_area_read_text(int fd, const struct metadata_area *area, const struct metadata_location *location,
        char **ret_text, const char **reterr_reason)
{
        _cleanup_free_ char *text = NULL;
        size_t size, size_to_end;
        ssize_t n, n_wrapped = 0;

        *ret_text = NULL;

        /* metadata_area_read_location() has checked this, but memory safety depends on it. */
        if (!is_possible(area) || check_location(area, location, reterr_reason) < 0) {
                *reterr_reason = NULL;
                return -EINVAL;
        }
        *reterr_reason = NULL;

        size = (size_t) location->size;
        size_to_end = (size_t) MIN(location->size, area->size - location->offset);
        text = calloc(1, size + 1);
        if (!text)
                return -ENOMEM;

        n = read_at(fd, text, size_to_end, area->offset + location->offset);
        if (n < 0)
                return (int) n;
        /* A text that wraps continues at the start of the ring. */
        if ((size_t) n == size_to_end && size_to_end < size) {
                n_wrapped = read_at(
                        fd, text + size_to_end, size - size_to_end, area->offset + sizeof(struct area_header));
                if (n_wrapped < 0)
                        return (int) n_wrapped;
        }

        if ((size_t) n + (size_t) n_wrapped < size)
                *reterr_reason = "metadata text behind the end of the device";
        else if (lvm_crc(LVM_CRC_INITIAL, text, size) != location->checksum)
                *reterr_reason = "wrong checksum of the metadata text";
        *ret_text = TAKE_PTR(text);
        return *reterr_reason ? -EBADMSG : 0;
}
