/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lvm/pv.h"

#include <check.h>
#include <endian.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "fixture.h"
#include "images.h"

#define SECTOR_SIZE 512
#define LABEL_OFFSET 512 /* of the usual label, in sector 1 */
#define SCAN_SIZE 4096

/* Offsets in the label, from lvm2's layout. */
#define SECTOR_FIELD 8
#define CRC_FIELD 16
#define PV_OFFSET_FIELD 20
#define TYPE_FIELD 24
#define PV_FIELD 32
#define PLACES_FIELD 72

struct copy {
        int fd;
        uint8_t label[SECTOR_SIZE];
};

static struct copy copy_open(const char *name)
{
        struct copy copy = {.fd = image_copy(name, 2 * SCAN_SIZE)};

        ck_assert_int_eq(pread(copy.fd, copy.label, SECTOR_SIZE, LABEL_OFFSET), SECTOR_SIZE);
        return copy;
}

static void copy_write(const struct copy *copy, const uint8_t *label, off_t offset)
{
        ck_assert_int_eq(pwrite(copy->fd, label, SECTOR_SIZE, offset), SECTOR_SIZE);
}

static void put_u32(uint8_t *bytes, uint32_t value)
{
        value = htole32(value);
        memcpy(bytes, &value, sizeof(value));
}

static void put_u64(uint8_t *bytes, uint64_t value)
{
        value = htole64(value);
        memcpy(bytes, &value, sizeof(value));
}

static void put_place(uint8_t *label, size_t index, uint64_t offset, uint64_t size)
{
        put_u64(label + PLACES_FIELD + 16 * index, offset);
        put_u64(label + PLACES_FIELD + 16 * index + 8, size);
}

static void fix_crc(uint8_t *label)
{
        put_u32(label + CRC_FIELD,
                lvm_crc(LVM_CRC_INITIAL, label + PV_OFFSET_FIELD, SECTOR_SIZE - PV_OFFSET_FIELD));
}

/* Reads, and makes sure that nothing is set that should not be. */
static int read_label(int fd, struct label *ret)
{
        static const struct label untouched = {.pvid = "untouched", .n_metadata_areas = 77};
        const char *reason = "unset";
        struct label label;
        int r;

        memcpy(&label, &untouched, sizeof(label));
        r = label_read(fd, &label, &reason);
        if (r == LABEL_FOUND) {
                ck_assert(lvm_id_is_valid(label.pvid));
                ck_assert_uint_le(label.n_metadata_areas, LABEL_METADATA_AREAS_MAX);
        } else
                ck_assert_mem_eq(&label, &untouched, sizeof(label));

        ck_assert(r == LABEL_FOUND || r == LABEL_NONE || r < 0);
        ck_assert_int_eq(r == -EBADMSG, reason != NULL);
        if (ret)
                *ret = label;
        return r;
}

/* Reads the label again after a change. */
static int read_changed(const struct copy *copy, const uint8_t *label, struct label *ret)
{
        copy_write(copy, label, LABEL_OFFSET);
        return read_label(copy->fd, ret);
}

START_TEST(every_image_as_pvck_reads_it)
{
        _cleanup_images_ struct image_list list = images_list();

        ck_assert_uint_gt(list.n, 350);
        for (size_t i = 0; i < list.n; i++) {
                _cleanup_close_ int fd = image_open(list.names[i]);
                _cleanup_free_ char *headers = image_read(list.names[i], "headers");
                _cleanup_free_ char *pvid = headers_find(headers, "pv_header.pv_uuid");
                struct metadata_area areas[LABEL_METADATA_AREAS_MAX];
                struct label label;

                ck_assert_msg(read_label(fd, &label) == LABEL_FOUND, "%s has no label", list.names[i]);
                ck_assert_str_eq(label.pvid, pvid);
                /* All are of version 2. */
                ck_assert_uint_eq(label.unused, headers_find_number(headers, "pv_header_extension.flags") == 0);
                ck_assert_uint_eq(label.n_metadata_areas, headers_find_areas(headers, areas));
                for (size_t j = 0; j < label.n_metadata_areas; j++) {
                        ck_assert_uint_eq(label.metadata_areas[j].offset, areas[j].offset);
                        ck_assert_uint_eq(label.metadata_areas[j].size, areas[j].size);
                }
        }
}
END_TEST

START_TEST(number_of_metadata_areas)
{
        static const char *const names[] = {"copies-1", "copies-2", "copies-3"};

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_close_ int fd = image_open(names[i]);
                struct label label;

                ck_assert_int_eq(read_label(fd, &label), LABEL_FOUND);
                ck_assert_uint_eq(label.n_metadata_areas, i);
        }
}
END_TEST

START_TEST(any_of_four_sectors)
{
        struct copy copy = copy_open("orphan-1");
        static const uint8_t zeroes[SCAN_SIZE];

        for (unsigned int i = 0; i < 8; i++) {
                uint8_t label[SECTOR_SIZE];

                memcpy(label, copy.label, sizeof(label));
                put_u64(label + SECTOR_FIELD, i);
                ck_assert_int_eq(pwrite(copy.fd, zeroes, sizeof(zeroes), 0), sizeof(zeroes));
                copy_write(&copy, label, i * SECTOR_SIZE);
                ck_assert_int_eq(read_label(copy.fd, NULL), i < 4 ? LABEL_FOUND : LABEL_NONE);
        }
        close(copy.fd);
}
END_TEST

START_TEST(first_good_label_wins)
{
        struct copy copy = copy_open("orphan-1");
        uint8_t other[SECTOR_SIZE];
        struct label label;

        memcpy(other, copy.label, sizeof(other));
        put_u64(other + SECTOR_FIELD, 3);
        memcpy(other + PV_FIELD, "other0", 6);
        fix_crc(other);
        copy_write(&copy, other, 3 * SECTOR_SIZE);
        ck_assert_int_eq(read_label(copy.fd, &label), LABEL_FOUND);
        ck_assert_mem_ne(label.pvid, "other0", 6);

        /* The first one is damaged, and does not hide the other. */
        copy.label[100] ^= 1;
        ck_assert_int_eq(read_changed(&copy, copy.label, &label), LABEL_FOUND);
        ck_assert_mem_eq(label.pvid, "other0", 6);
        close(copy.fd);
}
END_TEST

START_TEST(no_label)
{
        int fd = memfd_create("empty", MFD_CLOEXEC);

        ck_assert_int_eq(read_label(fd, NULL), LABEL_NONE);
        ck_assert_int_eq(ftruncate(fd, 1 << 20), 0);
        ck_assert_int_eq(read_label(fd, NULL), LABEL_NONE);
        close(fd);
}
END_TEST

START_TEST(short_device)
{
        struct copy copy = copy_open("orphan-1");

        for (off_t size = SCAN_SIZE; size >= 0; size--) {
                ck_assert_int_eq(ftruncate(copy.fd, size), 0);
                ck_assert_int_eq(read_label(copy.fd, NULL), size == SCAN_SIZE ? LABEL_FOUND : LABEL_NONE);
        }
        close(copy.fd);
}
END_TEST

START_TEST(errors_of_the_device)
{
        int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        ck_assert_int_eq(read_label(-1, NULL), -EBADF);
        ck_assert_int_eq(read_label(fd, NULL), -EISDIR);
        close(fd);
}
END_TEST

START_TEST(wiped)
{
        struct copy copy = copy_open("orphan-1");

        memset(copy.label + TYPE_FIELD, 0, 8);
        ck_assert_int_eq(read_changed(&copy, copy.label, NULL), LABEL_NONE);
        close(copy.fd);
}
END_TEST

/* Every bit, and every byte as a whole. The checksum guards all but magic and sector. */
START_TEST(damaged_bytes)
{
        struct copy copy = copy_open("copies-3");

        for (size_t i = 0; i < SECTOR_SIZE; i++) {
                for (unsigned int bit = 0; bit <= 8; bit++) {
                        uint8_t mask = bit < 8 ? (uint8_t) (1U << bit) : 0xff;

                        copy.label[i] ^= mask;
                        ck_assert_int_eq(
                                read_changed(&copy, copy.label, NULL), i < SECTOR_FIELD ? LABEL_NONE : -EBADMSG);
                        copy.label[i] ^= mask;
                }
        }
        ck_assert_int_eq(read_changed(&copy, copy.label, NULL), LABEL_FOUND);
        close(copy.fd);
}
END_TEST

/* The same with the checksum set right: whatever comes of it, it is in bounds. read_label() checks. */
START_TEST(forged_bytes)
{
        struct copy copy = copy_open("copies-3");
        size_t n_found = 0, n_refused = 0;

        for (size_t i = PV_OFFSET_FIELD; i < SECTOR_SIZE; i++) {
                for (unsigned int value = 0; value < 256; value++) {
                        uint8_t label[SECTOR_SIZE];
                        int r;

                        memcpy(label, copy.label, sizeof(label));
                        label[i] = (uint8_t) value;
                        fix_crc(label);
                        r = read_changed(&copy, label, NULL);
                        ck_assert(r == LABEL_FOUND || r == -EBADMSG);
                        n_found += r == LABEL_FOUND;
                        n_refused += r == -EBADMSG;
                }
        }
        ck_assert_uint_gt(n_found, 0);
        ck_assert_uint_gt(n_refused, 0);
        close(copy.fd);
}
END_TEST

START_TEST(forged_type)
{
        struct copy copy = copy_open("orphan-1");

        memcpy(copy.label + TYPE_FIELD, "LVM2 002", 8);
        fix_crc(copy.label);
        ck_assert_int_eq(read_changed(&copy, copy.label, NULL), -EBADMSG);
        close(copy.fd);
}
END_TEST

START_TEST(forged_pv_offset)
{
        static const uint32_t refused[] = {
                0, 20, 31, 473, 511, 512, 513, 4096, INT32_MAX, UINT32_MAX - 39, UINT32_MAX};
        struct copy copy = copy_open("orphan-1");

        for (size_t i = 0; i < ELEMENTSOF(refused); i++) {
                put_u32(copy.label + PV_OFFSET_FIELD, refused[i]);
                fix_crc(copy.label);
                ck_assert_int_eq(read_changed(&copy, copy.label, NULL), -EBADMSG);
        }

        /* At the very end there is room for an identifier and a size, but not for the lists. */
        put_u32(copy.label + PV_OFFSET_FIELD, 472);
        memset(copy.label + 472, 'a', 40);
        fix_crc(copy.label);
        ck_assert_int_eq(read_changed(&copy, copy.label, NULL), -EBADMSG);

        /* Here for the first list only; behind it, in the next sector, there are zeroes. */
        put_u32(copy.label + PV_OFFSET_FIELD, 456);
        memset(copy.label + 456, 'a', 40);
        memset(copy.label + 496, 0, 16);
        fix_crc(copy.label);
        ck_assert_int_eq(read_changed(&copy, copy.label, NULL), -EBADMSG);

        /* Two empty lists just fit here. */
        put_u32(copy.label + PV_OFFSET_FIELD, 440);
        memset(copy.label + 440, 'a', 40);
        memset(copy.label + 480, 0, 32);
        fix_crc(copy.label);
        ck_assert_int_eq(read_changed(&copy, copy.label, NULL), LABEL_FOUND);
        close(copy.fd);
}
END_TEST

START_TEST(forged_identifier)
{
        static const char characters[] = {'\0', '/', '.', '-', ' ', '\n', '"', (char) 0x80, (char) 0xff};
        struct copy copy = copy_open("orphan-1");

        for (size_t i = 0; i < 32; i++) {
                uint8_t before = copy.label[PV_FIELD + i];

                for (size_t j = 0; j < ELEMENTSOF(characters); j++) {
                        copy.label[PV_FIELD + i] = (uint8_t) characters[j];
                        fix_crc(copy.label);
                        ck_assert_int_eq(read_changed(&copy, copy.label, NULL), -EBADMSG);
                }
                copy.label[PV_FIELD + i] = before;
        }
        close(copy.fd);
}
END_TEST

/* Lists of any lengths: 27 places fit into the sector, and both lists need an end. */
START_TEST(forged_lists)
{
        struct copy copy = copy_open("orphan-1");

        for (size_t n_data = 0; n_data <= 27; n_data++) {
                for (size_t n_metadata = 0; n_data + n_metadata <= 27; n_metadata++) {
                        bool fits = n_data + n_metadata + 2 <= 27;
                        size_t position = 0;
                        struct label label;
                        int r;

                        memset(copy.label + PLACES_FIELD, 0xff, SECTOR_SIZE - PLACES_FIELD);
                        for (size_t i = 0; i < n_data; i++)
                                put_place(copy.label, position++, UINT64_MAX, UINT64_MAX);
                        if (position < 27)
                                put_place(copy.label, position++, 0, UINT64_MAX);
                        for (size_t i = 0; i < n_metadata && position < 27; i++)
                                put_place(copy.label, position++, UINT64_MAX - i, UINT64_MAX);
                        if (position < 27)
                                put_place(copy.label, position++, 0, 0);
                        fix_crc(copy.label);

                        r = read_changed(&copy, copy.label, &label);
                        if (!fits || n_metadata > LABEL_METADATA_AREAS_MAX) {
                                ck_assert_int_eq(r, -EBADMSG);
                                continue;
                        }
                        ck_assert_int_eq(r, LABEL_FOUND);
                        ck_assert_uint_eq(label.n_metadata_areas, n_metadata);
                        for (size_t i = 0; i < n_metadata; i++)
                                ck_assert_uint_eq(label.metadata_areas[i].offset, UINT64_MAX - i);
                }
        }
        close(copy.fd);
}
END_TEST

START_TEST(identifiers)
{
        char id[LVM_ID_SIZE], formatted[LVM_ID_FORMATTED_SIZE];

        ck_assert_int_eq(lvm_id_parse("abcdef-ghij-klmn-opqr-stuv-wxyz-012!#Z", id), 0);
        ck_assert_str_eq(id, "abcdefghijklmnopqrstuvwxyz012!#Z");
        lvm_id_format(id, formatted);
        ck_assert_str_eq(formatted, "abcdef-ghij-klmn-opqr-stuv-wxyz-012!#Z");

        ck_assert_int_eq(lvm_id_parse("", id), -EBADMSG);
        ck_assert_int_eq(lvm_id_parse("abcdef-ghij-klmn-opqr-stuv-wxyz-012!#", id), -EBADMSG);
        ck_assert_int_eq(lvm_id_parse("abcdef-ghij-klmn-opqr-stuv-wxyz-012!#ZZ", id), -EBADMSG);
        ck_assert_int_eq(lvm_id_parse("abcdef-ghij-klmn-opqr-stuv-wxyz-012!#/", id), -EBADMSG);
        ck_assert_int_eq(
                lvm_id_parse("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm", id), -EBADMSG);
        ck_assert_str_eq(id, "abcdefghijklmnopqrstuvwxyz012!#Z");
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("label");
        TCase *tests = tcase_create("label");

        tcase_set_timeout(tests, 120);
        tcase_add_test(tests, every_image_as_pvck_reads_it);
        tcase_add_test(tests, number_of_metadata_areas);
        tcase_add_test(tests, any_of_four_sectors);
        tcase_add_test(tests, first_good_label_wins);
        tcase_add_test(tests, no_label);
        tcase_add_test(tests, short_device);
        tcase_add_test(tests, errors_of_the_device);
        tcase_add_test(tests, wiped);
        tcase_add_test(tests, damaged_bytes);
        tcase_add_test(tests, forged_bytes);
        tcase_add_test(tests, forged_type);
        tcase_add_test(tests, forged_pv_offset);
        tcase_add_test(tests, forged_identifier);
        tcase_add_test(tests, forged_lists);
        tcase_add_test(tests, identifiers);
        suite_add_tcase(suite, tests);
        return run_suite(suite);
}
