/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A disk: its label, the headers of the metadata areas that this names, and the texts to which these lead. The input is
 * how the disk begins. Its first byte says whether the sums are put right, which no fuzzer would guess: a disk is
 * forged as easily as damaged. */

#include <endian.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "lvm/metadata.h"
#include "lvm/pv.h"
#include "shared/util.h"

#define DISK_SIZE (2 * 1024 * 1024)
#define LABEL_MAGIC "LABELONE"
#define AREA_MAGIC " LVM2 x[5A%r0N*>"

static void put_u32(uint8_t *position, uint32_t value)
{
        for (int i = 0; i < 4; i++)
                position[i] = (uint8_t) (value >> (8 * i));
}

static uint64_t get_u64(const uint8_t *bytes)
{
        uint64_t value;

        memcpy(&value, bytes, sizeof(value));
        return le64toh(value);
}

static void put_label_sum(uint8_t *sector)
{
        put_u32(sector + 16, lvm_crc(LVM_CRC_INITIAL, sector + 20, DISK_SECTOR_SIZE - 20));
}

/* Of the header, and of the text where all of it is there. */
static void put_area_sums(uint8_t *disk, size_t size, size_t offset)
{
        uint8_t *header = disk + offset;
        uint64_t text_offset = get_u64(header + 40), text_size = get_u64(header + 48);

        if (text_offset < size - offset && text_size <= size - offset - text_offset)
                put_u32(header + 56, lvm_crc(LVM_CRC_INITIAL, header + text_offset, text_size));
        put_u32(header, lvm_crc(LVM_CRC_INITIAL, header + 4, DISK_SECTOR_SIZE - 4));
}

static void put_sums(uint8_t *disk, size_t size)
{
        for (size_t offset = 0; offset + DISK_SECTOR_SIZE <= size; offset += DISK_SECTOR_SIZE) {
                if (memcmp(disk + offset, LABEL_MAGIC, strlen(LABEL_MAGIC)) == 0)
                        put_label_sum(disk + offset);
                if (memcmp(disk + offset + 4, AREA_MAGIC, strlen(AREA_MAGIC)) == 0)
                        put_area_sums(disk, size, offset);
        }
}

static void read_area(int fd, const struct metadata_area *area)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        _cleanup_free_ char *text = NULL;
        struct metadata_location location;
        const char *reason;
        int r;

        r = metadata_area_read_location(fd, area, &location, &reason);
        fuzz_check(r >= 0 || r == -EBADMSG);
        fuzz_check((r == -EBADMSG) == (reason != NULL));
        if (r != METADATA_AREA_FOUND)
                return;
        fuzz_check(location.offset < area->size && location.size <= area->size);

        r = metadata_area_read_text(fd, area, &location, &text, &reason);
        fuzz_check(r == 0 || r == -EBADMSG || r == -ENOMEM);
        fuzz_check(r == -ENOMEM || strlen(text) <= location.size);
        if (r == 0)
                fuzz_check(metadata_parse(text, &metadata, &reason) == 0 || reason);
}

int fuzz_one(const uint8_t *data, size_t size)
{
        static int fd = -EBADF;
        _cleanup_free_ uint8_t *disk = NULL;
        struct label label;
        const char *reason;
        int r;

        if (size == 0 || size > DISK_SIZE)
                return 0;
        disk = (uint8_t *) fuzz_text(data + 1, --size);
        if (data[0] & 1)
                put_sums(disk, size);

        if (fd < 0)
                fd = memfd_create("disk", MFD_CLOEXEC);
        fuzz_check(fd >= 0 && ftruncate(fd, 0) == 0 && ftruncate(fd, DISK_SIZE) == 0);
        fuzz_check(lseek(fd, 0, SEEK_SET) == 0 && write_all(fd, disk, size) == 0);

        r = label_read(fd, &label, &reason);
        fuzz_check(r == LABEL_FOUND || r == LABEL_NONE || r == -EBADMSG);
        fuzz_check((r == -EBADMSG) == (reason != NULL));
        if (r != LABEL_FOUND)
                return 0;
        fuzz_check(strlen(label.pvid) == LVM_ID_LENGTH && lvm_id_is_valid(label.pvid));
        fuzz_check(label.n_metadata_areas <= LABEL_METADATA_AREAS_MAX);
        for (size_t i = 0; i < label.n_metadata_areas; i++)
                read_area(fd, &label.metadata_areas[i]);
        return 0;
}
