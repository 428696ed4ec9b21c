/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lvm/metadata_area.h"

#include "lvm/crc.h"
#include "lvm/disk.h"

/* The area's header, its first 512 bytes; the ring of texts is the rest. The CRC is that of everything behind
 * it. */
#define HEADER_SIZE 512
#define HEADER_CRC_OFFSET 0
#define HEADER_CRC_START 4
#define HEADER_MAGIC_OFFSET 4
#define HEADER_MAGIC " LVM2 x[5A%r0N*>"
#define HEADER_MAGIC_SIZE 16
#define HEADER_VERSION_OFFSET 20
#define HEADER_VERSION 1
#define HEADER_START_OFFSET 24
#define HEADER_AREA_SIZE_OFFSET 32
#define HEADER_LOCATIONS_OFFSET 40

/* The first location is the committed text; the second belongs to a change that is under way, and is never
 * read. */
#define LOCATION_OFFSET_OFFSET 0
#define LOCATION_SIZE_OFFSET 8
#define LOCATION_CHECKSUM_OFFSET 16
#define LOCATION_FLAGS_OFFSET 20
#define LOCATION_IGNORED 1U

static int check_area(const struct metadata_area *area, const char **reterr_reason)
{
        if (area->size <= HEADER_SIZE || area->size > INT64_MAX || area->offset > INT64_MAX - area->size) {
                *reterr_reason = "the place of the metadata area is impossible";
                return -EBADMSG;
        }

        return 0;
}

/* Nothing of the sum can overflow once the area has been checked and its size bounds the text. */
static int check_location(
        const struct metadata_area *area, const struct metadata_location *location, const char **reterr_reason)
{
        if (location->offset < HEADER_SIZE || location->offset >= area->size || location->size == 0 ||
                location->size > area->size - HEADER_SIZE) {
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
        uint32_t crc = lvm_crc(LVM_CRC_INITIAL, header + HEADER_CRC_START, HEADER_SIZE - HEADER_CRC_START);

        if (disk_get_u32(header + HEADER_CRC_OFFSET) != crc) {
                *reterr_reason = "the metadata area's header has a wrong checksum";
                return -EBADMSG;
        }
        if (memcmp(header + HEADER_MAGIC_OFFSET, HEADER_MAGIC, HEADER_MAGIC_SIZE) != 0 ||
                disk_get_u32(header + HEADER_VERSION_OFFSET) != HEADER_VERSION) {
                *reterr_reason = "the metadata area is of an unknown kind";
                return -EBADMSG;
        }

        /* lvm2 has the size from here, and the offset from both. It writes the same numbers to both, and where
         * they differ nobody can say where the ring ends. */
        if (disk_get_u64(header + HEADER_START_OFFSET) != area->offset ||
                disk_get_u64(header + HEADER_AREA_SIZE_OFFSET) != area->size) {
                *reterr_reason = "label and metadata area disagree on the area's place";
                return -EBADMSG;
        }

        return 0;
}

int metadata_area_read_location(
        int fd, const struct metadata_area *area, struct metadata_location *ret, const char **reterr_reason)
{
        uint8_t header[HEADER_SIZE];
        const uint8_t *committed = header + HEADER_LOCATIONS_OFFSET;
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
                .offset = disk_get_u64(committed + LOCATION_OFFSET_OFFSET),
                .size = disk_get_u64(committed + LOCATION_SIZE_OFFSET),
                .checksum = disk_get_u32(committed + LOCATION_CHECKSUM_OFFSET),
        };

        if (disk_get_u32(committed + LOCATION_FLAGS_OFFSET) & LOCATION_IGNORED)
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
                n_wrapped = disk_read(fd, text + size_to_end, size - size_to_end, area->offset + HEADER_SIZE);
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
