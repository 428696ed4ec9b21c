/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What LVM writes on a PV: a label in its first sectors, and metadata areas, each a header and a ring of texts. */

#include "lvm/pv.h"

/* One entry for each value of four bits. A table for eight would be twice as fast, which does not show here: a
 * device has a few KiB to sum up, and takes far longer to deliver them. */
static const uint32_t crc_table[16] = {
        0x00000000,
        0x1db71064,
        0x3b6e20c8,
        0x26d930ac,
        0x76dc4190,
        0x6b6b51f4,
        0x4db26158,
        0x5005713c,
        0xedb88320,
        0xf00f9344,
        0xd6d6a3e8,
        0xcb61b38c,
        0x9b64c2b0,
        0x86d3d2d4,
        0xa00ae278,
        0xbdbdf21c,
};

uint32_t lvm_crc(uint32_t crc, const void *data, size_t size)
{
        const uint8_t *bytes = data;

        for (size_t i = 0; i < size; i++) {
                crc ^= bytes[i];
                crc = (crc >> 4) ^ crc_table[crc & 15];
                crc = (crc >> 4) ^ crc_table[crc & 15];
        }

        return crc;
}

_Static_assert(sizeof(off_t) == 8, "build with -D_FILE_OFFSET_BITS=64");

ssize_t disk_read(int fd, void *buffer, size_t size, uint64_t offset)
{
        char *bytes = buffer;
        size_t done = 0;

        /* No device reaches that far, and pread() would call it EINVAL. */
        if (offset > (uint64_t) INT64_MAX - size)
                return 0;

        while (done < size) {
                ssize_t n = pread(fd, bytes + done, size - done, (off_t) (offset + done));

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;

                done += (size_t) n;
        }

        return (ssize_t) done;
}

#define LABEL_SCAN_SIZE 4096
#define LABEL_SCAN_SECTORS 4

/* The label's header, at the start of its sector. The CRC is that of everything behind it in the sector. */
#define LABEL_MAGIC "LABELONE"
#define LABEL_TYPE "LVM2 001"
#define LABEL_STRING_SIZE 8
#define LABEL_SECTOR_OFFSET 8
#define LABEL_CRC_OFFSET 16
#define LABEL_CRC_START 20
#define LABEL_PV_OFFSET 20
#define LABEL_TYPE_OFFSET 24
#define LABEL_SIZE 32

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
        uint32_t offset = disk_get_u32(sector + LABEL_PV_OFFSET);
        int r;

        if (offset < LABEL_SIZE || offset > DISK_SECTOR_SIZE - PV_LISTS_OFFSET) {
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
        static const uint8_t zeroes[LABEL_STRING_SIZE];

        return memcmp(sector + LABEL_TYPE_OFFSET, zeroes, sizeof(zeroes)) == 0;
}

static int parse_sector(const uint8_t *sector, uint64_t index, struct label *ret, const char **reterr_reason)
{
        uint32_t crc;

        if (memcmp(sector, LABEL_MAGIC, LABEL_STRING_SIZE) != 0 || is_wiped(sector))
                return LABEL_NONE;

        crc = lvm_crc(LVM_CRC_INITIAL, sector + LABEL_CRC_START, DISK_SECTOR_SIZE - LABEL_CRC_START);
        if (disk_get_u32(sector + LABEL_CRC_OFFSET) != crc) {
                *reterr_reason = "the label has a wrong checksum";
                return -EBADMSG;
        }
        if (disk_get_u64(sector + LABEL_SECTOR_OFFSET) != index) {
                *reterr_reason = "the label belongs to another sector";
                return -EBADMSG;
        }
        if (memcmp(sector + LABEL_TYPE_OFFSET, LABEL_TYPE, LABEL_STRING_SIZE) != 0) {
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

/* The area's header, its first 512 bytes; the ring of texts is the rest. The CRC is that of everything behind
 * it. */
#define AREA_HEADER_SIZE 512
#define AREA_HEADER_CRC_OFFSET 0
#define AREA_HEADER_CRC_START 4
#define AREA_HEADER_MAGIC_OFFSET 4
#define AREA_HEADER_MAGIC " LVM2 x[5A%r0N*>"
#define AREA_HEADER_MAGIC_SIZE 16
#define AREA_HEADER_VERSION_OFFSET 20
#define AREA_HEADER_VERSION 1
#define AREA_HEADER_START_OFFSET 24
#define AREA_HEADER_AREA_SIZE_OFFSET 32
#define AREA_HEADER_LOCATIONS_OFFSET 40

/* The first location is the committed text; the second belongs to a change that is under way, and is never
 * read. */
#define AREA_LOCATION_OFFSET_OFFSET 0
#define AREA_LOCATION_SIZE_OFFSET 8
#define AREA_LOCATION_CHECKSUM_OFFSET 16
#define AREA_LOCATION_FLAGS_OFFSET 20
#define AREA_LOCATION_IGNORED 1U

static int check_area(const struct metadata_area *area, const char **reterr_reason)
{
        if (area->size <= AREA_HEADER_SIZE || area->size > INT64_MAX || area->offset > INT64_MAX - area->size) {
                *reterr_reason = "the place of the metadata area is impossible";
                return -EBADMSG;
        }

        return 0;
}

/* Nothing of the sum can overflow once the area has been checked and its size bounds the text. */
static int check_location(
        const struct metadata_area *area, const struct metadata_location *location, const char **reterr_reason)
{
        if (location->offset < AREA_HEADER_SIZE || location->offset >= area->size || location->size == 0 ||
                location->size > area->size - AREA_HEADER_SIZE) {
                *reterr_reason = "the metadata text is outside of its area";
                return -EBADMSG;
        }
        if (location->size > METADATA_TEXT_SIZE_MAX) {
                *reterr_reason = "the metadata text is too long";
                return -EBADMSG;
        }

        return 0;
}

static int check_header(const uint8_t *header, const struct metadata_area *area, const char **reterr_reason)
{
        uint32_t crc =
                lvm_crc(LVM_CRC_INITIAL, header + AREA_HEADER_CRC_START, AREA_HEADER_SIZE - AREA_HEADER_CRC_START);

        if (disk_get_u32(header + AREA_HEADER_CRC_OFFSET) != crc) {
                *reterr_reason = "the metadata area's header has a wrong checksum";
                return -EBADMSG;
        }
        if (memcmp(header + AREA_HEADER_MAGIC_OFFSET, AREA_HEADER_MAGIC, AREA_HEADER_MAGIC_SIZE) != 0 ||
                disk_get_u32(header + AREA_HEADER_VERSION_OFFSET) != AREA_HEADER_VERSION) {
                *reterr_reason = "the metadata area is of an unknown kind";
                return -EBADMSG;
        }

        /* lvm2 has the size from here, and the offset from both. It writes the same numbers to both, and where
         * they differ nobody can say where the ring ends. */
        if (disk_get_u64(header + AREA_HEADER_START_OFFSET) != area->offset ||
                disk_get_u64(header + AREA_HEADER_AREA_SIZE_OFFSET) != area->size) {
                *reterr_reason = "label and metadata area disagree on the area's place";
                return -EBADMSG;
        }

        return 0;
}

int metadata_area_read_location(
        int fd, const struct metadata_area *area, struct metadata_location *ret, const char **reterr_reason)
{
        uint8_t header[AREA_HEADER_SIZE];
        const uint8_t *committed = header + AREA_HEADER_LOCATIONS_OFFSET;
        struct metadata_location location;
        ssize_t n;
        int r;

        *reterr_reason = NULL;

        r = check_area(area, reterr_reason);
        if (r < 0)
                return r;

        n = disk_read(fd, header, sizeof(header), area->offset);
        if (n < 0)
                return (int) n;
        if ((size_t) n < sizeof(header)) {
                *reterr_reason = "the metadata area is behind the end of the device";
                return -EBADMSG;
        }

        r = check_header(header, area, reterr_reason);
        if (r < 0)
                return r;

        location = (struct metadata_location){
                .offset = disk_get_u64(committed + AREA_LOCATION_OFFSET_OFFSET),
                .size = disk_get_u64(committed + AREA_LOCATION_SIZE_OFFSET),
                .checksum = disk_get_u32(committed + AREA_LOCATION_CHECKSUM_OFFSET),
        };

        if (disk_get_u32(committed + AREA_LOCATION_FLAGS_OFFSET) & AREA_LOCATION_IGNORED)
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
        const char *unused;

        *ret_text = NULL;
        *reterr_reason = NULL;

        /* Checked before, by metadata_area_read_location(); but memory hangs on it. */
        if (check_area(area, &unused) < 0 || check_location(area, location, &unused) < 0)
                return -EINVAL;

        size = (size_t) location->size;
        size_to_end = (size_t) MIN(location->size, area->size - location->offset);

        text = calloc(1, size + 1);
        if (!text)
                return -ENOMEM;

        n = disk_read(fd, text, size_to_end, area->offset + location->offset);
        if (n < 0)
                return (int) n;

        /* What does not fit before the end of the ring goes on at its start. */
        if ((size_t) n == size_to_end && size_to_end < size) {
                n_wrapped = disk_read(fd, text + size_to_end, size - size_to_end, area->offset + AREA_HEADER_SIZE);
                if (n_wrapped < 0)
                        return (int) n_wrapped;
        }

        if ((size_t) n + (size_t) n_wrapped < size)
                *reterr_reason = "the metadata text is behind the end of the device";
        else if (lvm_crc(LVM_CRC_INITIAL, text, size) != location->checksum)
                *reterr_reason = "the metadata text has a wrong checksum";

        *ret_text = TAKE_PTR(text);
        return *reterr_reason ? -EBADMSG : 0;
}
