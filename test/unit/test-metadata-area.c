/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lvm/pv.h"

#include <check.h>
#include <endian.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "fixture.h"
#include "images.h"
#include "lvm/metadata.h"
#include "shared/util.h"

#define HEADER_SIZE 512

/* Offsets in the header, from lvm2's layout. */
#define MAGIC_FIELD 4
#define VERSION_FIELD 20
#define START_FIELD 24
#define SIZE_FIELD 32
#define TEXT_OFFSET_FIELD 40
#define TEXT_SIZE_FIELD 48
#define TEXT_CHECKSUM_FIELD 56
#define FLAGS_FIELD 60

/* A PV with one area, to be damaged. */
struct copy {
        int fd;
        struct metadata_area area;
        uint8_t header[HEADER_SIZE];
};

static struct copy copy_open(const char *name)
{
        struct copy copy = {.fd = image_copy(name, 1 << 20)};
        struct label label;
        const char *reason;

        ck_assert_int_eq(label_read(copy.fd, &label, &reason), LABEL_FOUND);
        copy.area = label.metadata_areas[0];
        ck_assert_int_eq(pread(copy.fd, copy.header, HEADER_SIZE, (off_t) copy.area.offset), HEADER_SIZE);
        return copy;
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

static void write_header(const struct copy *copy, const uint8_t *header)
{
        ck_assert_int_eq(pwrite(copy->fd, header, HEADER_SIZE, (off_t) copy->area.offset), HEADER_SIZE);
}

static void write_forged(const struct copy *copy, uint8_t *header)
{
        put_u32(header, lvm_crc(LVM_CRC_INITIAL, header + MAGIC_FIELD, HEADER_SIZE - MAGIC_FIELD));
        write_header(copy, header);
}

/* Reads, and makes sure that what is found is in bounds and that nothing is set that should not be. */
static int read_location(int fd, const struct metadata_area *area, struct metadata_location *ret)
{
        struct metadata_location location = {.offset = 1, .size = 2, .checksum = 3};
        const char *reason = "unset";
        int r = metadata_area_read_location(fd, area, &location, &reason);

        ck_assert_int_eq(r == -EBADMSG, reason != NULL);
        if (r == METADATA_AREA_FOUND) {
                ck_assert_uint_ge(location.offset, HEADER_SIZE);
                ck_assert_uint_lt(location.offset, area->size);
                ck_assert_uint_ge(location.size, 1);
                ck_assert_uint_le(location.size, area->size - HEADER_SIZE);
                ck_assert_uint_le(location.size, METADATA_TEXT_SIZE_MAX);
        } else {
                ck_assert_uint_eq(location.offset, 1);
                ck_assert_uint_eq(location.size, 2);
                ck_assert_uint_eq(location.checksum, 3);
        }

        if (ret)
                *ret = location;
        return r;
}

static int read_text(
        int fd, const struct metadata_area *area, const struct metadata_location *location, char **ret)
{
        const char *reason = "unset";
        int r;

        *ret = (char *) "unset";
        r = metadata_area_read_text(fd, area, location, ret, &reason);
        ck_assert(r <= 0);
        ck_assert_int_eq(r == -EBADMSG, reason != NULL);
        ck_assert_int_eq(r == 0 || r == -EBADMSG, *ret != NULL);
        return r;
}

/* One area of an image against pvck's words for it. Returns whether there is a text, which then is like `text`. */
static unsigned int compare_area(
        int fd, const struct metadata_area *area, const char *headers, size_t number, const char *text)
{
        _cleanup_free_ char *key_offset = NULL, *key_size = NULL, *key_sum = NULL, *key_flags = NULL, *read = NULL;
        struct metadata_location location;
        int r;

        ck_assert_int_gt(asprintf(&key_offset, "mda_header_%zu.raw_locn[0].offset", number), 0);
        ck_assert_int_gt(asprintf(&key_size, "mda_header_%zu.raw_locn[0].size", number), 0);
        ck_assert_int_gt(asprintf(&key_sum, "mda_header_%zu.raw_locn[0].checksum", number), 0);
        ck_assert_int_gt(asprintf(&key_flags, "mda_header_%zu.raw_locn[0].flags", number), 0);

        r = read_location(fd, area, &location);
        if (strstr(headers, "RAW_LOCN_IGNORED") && headers_find_number(headers, key_flags) == 1) {
                ck_assert_int_eq(r, METADATA_AREA_IGNORED);
                return 0;
        }
        /* Of an area that was never used pvck lists no first location. */
        _cleanup_free_ char *offset = headers_find(headers, key_offset);
        if (!offset || streq(offset, "0")) {
                ck_assert_int_eq(r, METADATA_AREA_EMPTY);
                return 0;
        }

        ck_assert_int_eq(r, METADATA_AREA_FOUND);
        ck_assert_uint_eq(location.offset, headers_find_number(headers, key_offset));
        ck_assert_uint_eq(location.size, headers_find_number(headers, key_size));
        ck_assert_uint_eq(location.checksum, headers_find_number(headers, key_sum));

        ck_assert_int_eq(read_text(fd, area, &location, &read), 0);
        ck_assert_uint_eq(strlen(read) + 1, location.size);
        if (text)
                ck_assert_str_eq(read, text);
        return 1;
}

START_TEST(every_image_as_pvck_reads_it)
{
        _cleanup_images_ struct image_list list = images_list();
        unsigned int n_texts = 0, n_compared = 0;

        for (size_t i = 0; i < list.n; i++) {
                _cleanup_close_ int fd = image_open(list.names[i]);
                _cleanup_free_ char *headers = image_read(list.names[i], "headers");
                _cleanup_free_ char *text = image_read(list.names[i], "metadata");
                struct metadata_area areas[LABEL_METADATA_AREAS_MAX];
                size_t n = headers_find_areas(headers, areas);

                for (size_t j = 0; j < n; j++) {
                        unsigned int found = compare_area(fd, &areas[j], headers, j + 1, text);

                        n_texts += found;
                        n_compared += found && text;
                }
        }
        ck_assert_uint_gt(n_texts, 350);
        ck_assert_uint_gt(n_compared, 20);
}
END_TEST

static int first_state(const char *name, size_t index)
{
        _cleanup_close_ int fd = image_open(name);
        struct label label;
        const char *reason;

        ck_assert_int_eq(label_read(fd, &label, &reason), LABEL_FOUND);
        ck_assert_uint_lt(index, label.n_metadata_areas);
        return read_location(fd, &label.metadata_areas[index], NULL);
}

START_TEST(states)
{
        ck_assert_int_eq(first_state("copies-3", 0), METADATA_AREA_FOUND);
        ck_assert_int_eq(first_state("copies-3", 1), METADATA_AREA_FOUND);
        ck_assert_int_eq(first_state("ignored-2", 0), METADATA_AREA_IGNORED);
        ck_assert_int_eq(first_state("ignored-2", 1), METADATA_AREA_IGNORED);
        ck_assert_int_eq(first_state("orphan-1", 0), METADATA_AREA_EMPTY);
        ck_assert_int_eq(first_state("removed-1", 0), METADATA_AREA_EMPTY);
}
END_TEST

START_TEST(wrapped_by_lvm2)
{
        struct copy copy = copy_open("wrapped-1");
        _cleanup_free_ char *expected = image_read_text("wrapped-1"), *text = NULL;
        struct metadata_location location;

        ck_assert_int_eq(read_location(copy.fd, &copy.area, &location), METADATA_AREA_FOUND);
        ck_assert_uint_gt(location.offset + location.size, copy.area.size);
        ck_assert_int_eq(read_text(copy.fd, &copy.area, &location, &text), 0);
        ck_assert_str_eq(text, expected);
        close(copy.fd);
}
END_TEST

/* Each PV is there, and all of them agree. */
START_TEST(many_copies)
{
        struct metadata_location first = {};

        for (unsigned int i = 1; i <= 350; i++) {
                _cleanup_free_ char *name = NULL;
                _cleanup_close_ int fd = -EBADF;
                struct metadata_location location;
                struct label label;
                const char *reason;

                ck_assert_int_gt(asprintf(&name, "many-%u", i), 0);
                fd = image_open(name);
                ck_assert_int_eq(label_read(fd, &label, &reason), LABEL_FOUND);
                ck_assert_uint_eq(label.n_metadata_areas, 1);
                ck_assert_int_eq(read_location(fd, &label.metadata_areas[0], &location), METADATA_AREA_FOUND);
                if (i == 1)
                        first = location;
                ck_assert_uint_eq(location.size, first.size);
                ck_assert_uint_eq(location.checksum, first.checksum);
        }
}
END_TEST

START_TEST(damaged_bytes)
{
        struct copy copy = copy_open("plain-1");

        for (size_t i = 0; i < HEADER_SIZE; i++) {
                for (unsigned int bit = 0; bit <= 8; bit++) {
                        uint8_t mask = bit < 8 ? (uint8_t) (1U << bit) : 0xff;

                        copy.header[i] ^= mask;
                        write_header(&copy, copy.header);
                        ck_assert_int_eq(read_location(copy.fd, &copy.area, NULL), -EBADMSG);
                        copy.header[i] ^= mask;
                }
        }
        write_header(&copy, copy.header);
        ck_assert_int_eq(read_location(copy.fd, &copy.area, NULL), METADATA_AREA_FOUND);
        close(copy.fd);
}
END_TEST

/* The same with the checksum set right; what is found then is in bounds, and can be read. */
START_TEST(forged_bytes)
{
        struct copy copy = copy_open("plain-1");
        size_t n_found = 0, n_good = 0;

        for (size_t i = MAGIC_FIELD; i < HEADER_SIZE; i++) {
                for (unsigned int bit = 0; bit <= 8; bit++) {
                        uint8_t mask = bit < 8 ? (uint8_t) (1U << bit) : 0xff;
                        _cleanup_free_ char *text = NULL;
                        struct metadata_location location;
                        int r;

                        copy.header[i] ^= mask;
                        write_forged(&copy, copy.header);
                        copy.header[i] ^= mask;

                        r = read_location(copy.fd, &copy.area, &location);
                        if (i < TEXT_OFFSET_FIELD)
                                ck_assert_int_eq(r, -EBADMSG);
                        else
                                ck_assert(r == -EBADMSG || r == METADATA_AREA_FOUND || r == METADATA_AREA_IGNORED);
                        if (r != METADATA_AREA_FOUND)
                                continue;

                        n_found++;
                        r = read_text(copy.fd, &copy.area, &location, &text);
                        ck_assert(r == 0 || r == -EBADMSG);
                        n_good += r == 0;
                        /* Only what is no part of the location may be changed with impunity. */
                        if (i < FLAGS_FIELD)
                                ck_assert_int_eq(r, -EBADMSG);
                }
        }
        ck_assert_uint_gt(n_found, n_good);
        ck_assert_uint_gt(n_good, 0);
        close(copy.fd);
}
END_TEST

START_TEST(forged_kind)
{
        struct copy copy = copy_open("plain-1");

        put_u32(copy.header + VERSION_FIELD, 2);
        write_forged(&copy, copy.header);
        ck_assert_int_eq(read_location(copy.fd, &copy.area, NULL), -EBADMSG);
        put_u32(copy.header + VERSION_FIELD, 1);
        write_forged(&copy, copy.header);
        ck_assert_int_eq(read_location(copy.fd, &copy.area, NULL), METADATA_AREA_FOUND);
        copy.header[MAGIC_FIELD + 15] = ' ';
        write_forged(&copy, copy.header);
        ck_assert_int_eq(read_location(copy.fd, &copy.area, NULL), -EBADMSG);
        close(copy.fd);
}
END_TEST

/* Every pair of the numbers at which a sum or a comparison may go wrong. */
START_TEST(forged_locations)
{
        struct copy copy = copy_open("plain-1");
        uint64_t end = copy.area.size;
        const uint64_t numbers[] = {0, 1, 511, 512, 513, 4096, end - 513, end - 512, end - 511, end - 1, end,
                end + 1, INT32_MAX, UINT32_MAX, UINT32_MAX + 1ULL, INT64_MAX, INT64_MAX + 1ULL, UINT64_MAX - end,
                UINT64_MAX - end + 1, UINT64_MAX - 4096, UINT64_MAX - 512, UINT64_MAX - 511, UINT64_MAX - 1,
                UINT64_MAX};

        for (size_t i = 0; i < ELEMENTSOF(numbers); i++) {
                for (size_t j = 0; j < ELEMENTSOF(numbers); j++) {
                        unsigned __int128 offset = numbers[i], size = numbers[j];
                        bool good = offset >= 512 && offset < end && size >= 1 && size + 512 <= end;
                        int expected = offset == 0 ? METADATA_AREA_EMPTY : good ? METADATA_AREA_FOUND : -EBADMSG;
                        _cleanup_free_ char *text = NULL;
                        struct metadata_location location = {.offset = numbers[i], .size = numbers[j]};

                        put_u64(copy.header + TEXT_OFFSET_FIELD, location.offset);
                        put_u64(copy.header + TEXT_SIZE_FIELD, location.size);
                        write_forged(&copy, copy.header);
                        ck_assert_int_eq(read_location(copy.fd, &copy.area, NULL), expected);

                        /* What was not checked is refused here, too. */
                        ck_assert_int_eq(
                                read_text(copy.fd, &copy.area, &location, &text), good ? -EBADMSG : -EINVAL);
                }
        }
        close(copy.fd);
}
END_TEST

/* As the label may tell, with a header that agrees where there can be one. */
START_TEST(forged_areas)
{
        static const uint64_t numbers[] = {0, 1, 511, 512, 513, 4095, 4096, 1 << 20, INT32_MAX, UINT32_MAX,
                INT64_MAX - 4096, INT64_MAX - 511, INT64_MAX, INT64_MAX + 1ULL, UINT64_MAX - 4096,
                UINT64_MAX - 511, UINT64_MAX};
        struct copy copy = copy_open("plain-1");

        for (size_t i = 0; i < ELEMENTSOF(numbers); i++) {
                for (size_t j = 0; j < ELEMENTSOF(numbers); j++) {
                        struct metadata_area area = {.offset = numbers[i], .size = numbers[j]};
                        _cleanup_free_ char *text = NULL;
                        struct metadata_location location = {.offset = 512, .size = UINT64_MAX};
                        int r;

                        put_u64(copy.header + START_FIELD, area.offset);
                        put_u64(copy.header + SIZE_FIELD, area.size);
                        write_forged(&copy, copy.header);
                        r = read_location(copy.fd, &area, &location);
                        if (area.offset != copy.area.offset || area.size <= 512 ||
                                area.size > INT64_MAX - area.offset)
                                ck_assert_int_eq(r, -EBADMSG);
                        if (r != METADATA_AREA_FOUND)
                                continue;
                        r = read_text(copy.fd, &area, &location, &text);
                        ck_assert(r == 0 || r == -EBADMSG);
                }
        }
        close(copy.fd);
}
END_TEST

/* An area that is all header has no place for a text, though none may have been wanted yet. */
START_TEST(forged_empty_area)
{
        struct copy copy = copy_open("orphan-1");

        for (copy.area.size = 513; copy.area.size >= 511; copy.area.size--) {
                put_u64(copy.header + SIZE_FIELD, copy.area.size);
                write_forged(&copy, copy.header);
                ck_assert_int_eq(read_location(copy.fd, &copy.area, NULL),
                        copy.area.size > 512 ? METADATA_AREA_EMPTY : -EBADMSG);
        }
        close(copy.fd);
}
END_TEST

START_TEST(beyond_any_device)
{
        static const uint64_t offsets[] = {1 << 20, INT64_MAX - 1, INT64_MAX, INT64_MAX + 1ULL, UINT64_MAX};
        struct copy copy = copy_open("orphan-1");
        uint8_t byte;

        ck_assert_int_eq(read_at(copy.fd, &byte, 1, (1 << 20) - 1), 1);
        for (size_t i = 0; i < ELEMENTSOF(offsets); i++)
                ck_assert_int_eq(read_at(copy.fd, &byte, 1, offsets[i]), 0);
        close(copy.fd);
}
END_TEST

/* A ring with a text at every offset near its ends, and the longest text there can be. */
START_TEST(any_wrap)
{
        enum { SIZE = 4096 };
        static const uint64_t offsets[] = {512, 513, 1000, 2048, SIZE - 512, SIZE - 2, SIZE - 1};
        static const uint64_t sizes[] = {1, 2, 511, 512, 2000, SIZE - 513, SIZE - 512};
        struct copy copy = copy_open("plain-1");
        uint8_t ring[SIZE];

        copy.area.size = SIZE;
        put_u64(copy.header + SIZE_FIELD, SIZE);
        for (size_t i = 0; i < SIZE; i++)
                ring[i] = (uint8_t) ('a' + i % 23);
        ck_assert_int_eq(pwrite(copy.fd, ring, SIZE, (off_t) copy.area.offset), SIZE);

        for (size_t i = 0; i < ELEMENTSOF(offsets); i++) {
                for (size_t j = 0; j < ELEMENTSOF(sizes); j++) {
                        _cleanup_free_ char *text = NULL;
                        char expected[SIZE] = "";
                        struct metadata_location location;

                        for (size_t k = 0; k < sizes[j]; k++)
                                expected[k] = (char) ring[512 + (offsets[i] - 512 + k) % (SIZE - 512)];
                        put_u64(copy.header + TEXT_OFFSET_FIELD, offsets[i]);
                        put_u64(copy.header + TEXT_SIZE_FIELD, sizes[j]);
                        put_u32(copy.header + TEXT_CHECKSUM_FIELD, lvm_crc(LVM_CRC_INITIAL, expected, sizes[j]));
                        write_forged(&copy, copy.header);

                        ck_assert_int_eq(read_location(copy.fd, &copy.area, &location), METADATA_AREA_FOUND);
                        ck_assert_int_eq(read_text(copy.fd, &copy.area, &location, &text), 0);
                        ck_assert_str_eq(text, expected);
                }
        }
        close(copy.fd);
}
END_TEST

/* No more is read, and no more memory taken, than a text can need. */
START_TEST(too_long)
{
        struct copy copy = copy_open("plain-1");
        _cleanup_free_ char *text = NULL;
        struct metadata_location location;

        copy.area.size = 1ULL << 40;
        put_u64(copy.header + SIZE_FIELD, copy.area.size);
        put_u64(copy.header + TEXT_SIZE_FIELD, METADATA_TEXT_SIZE_MAX + 1ULL);
        write_forged(&copy, copy.header);
        ck_assert_int_eq(read_location(copy.fd, &copy.area, NULL), -EBADMSG);

        put_u64(copy.header + TEXT_SIZE_FIELD, METADATA_TEXT_SIZE_MAX);
        write_forged(&copy, copy.header);
        ck_assert_int_eq(read_location(copy.fd, &copy.area, &location), METADATA_AREA_FOUND);
        ck_assert_int_eq(read_text(copy.fd, &copy.area, &location, &text), -EBADMSG);
        close(copy.fd);
}
END_TEST

/* Cyclic: an area that starts in the label, and one that is its own text, are only bytes like any others. */
START_TEST(overlaps)
{
        struct copy copy = copy_open("plain-1");
        struct metadata_area area = {.offset = 512, .size = 1 << 20};

        ck_assert_int_eq(read_location(copy.fd, &area, NULL), -EBADMSG);
        area = (struct metadata_area){.offset = copy.area.offset - 512, .size = copy.area.size};
        ck_assert_int_eq(read_location(copy.fd, &area, NULL), -EBADMSG);
        area = (struct metadata_area){.offset = copy.area.offset, .size = copy.area.size + 512};
        ck_assert_int_eq(read_location(copy.fd, &area, NULL), -EBADMSG);
        close(copy.fd);
}
END_TEST

START_TEST(damaged_text)
{
        struct copy copy = copy_open("plain-1");
        struct metadata_location location;

        ck_assert_int_eq(read_location(copy.fd, &copy.area, &location), METADATA_AREA_FOUND);
        for (size_t i = 0; i < location.size; i++) {
                _cleanup_free_ char *text = NULL, *name = NULL;
                off_t offset = (off_t) (copy.area.offset + location.offset + i);
                uint8_t byte, damaged;

                ck_assert_int_eq(pread(copy.fd, &byte, 1, offset), 1);
                damaged = byte ^ 0x80;
                ck_assert_int_eq(pwrite(copy.fd, &damaged, 1, offset), 1);
                ck_assert_int_eq(read_text(copy.fd, &copy.area, &location, &text), -EBADMSG);
                ck_assert_int_eq(pwrite(copy.fd, &byte, 1, offset), 1);

                /* The name can still be told, unless it is what is damaged, or the space behind it. */
                ck_assert_int_eq(metadata_guess_name(text, &name), i < strlen("plain ") ? -ENOENT : 0);
                if (name)
                        ck_assert_str_eq(name, "plain");
        }
        close(copy.fd);
}
END_TEST

START_TEST(truncated_image)
{
        struct copy copy = copy_open("plain-1");
        _cleanup_free_ char *whole = image_read_text("plain-1");
        struct metadata_location location;
        off_t start, end;

        ck_assert_int_eq(read_location(copy.fd, &copy.area, &location), METADATA_AREA_FOUND);
        start = (off_t) (copy.area.offset + location.offset);
        end = start + (off_t) location.size;

        for (off_t size = end; size > start; size--) {
                _cleanup_free_ char *text = NULL;

                ck_assert_int_eq(ftruncate(copy.fd, size), 0);
                ck_assert_int_eq(read_location(copy.fd, &copy.area, NULL), METADATA_AREA_FOUND);
                ck_assert_int_eq(read_text(copy.fd, &copy.area, &location, &text), size == end ? 0 : -EBADMSG);
                ck_assert_uint_eq(strlen(text), MIN((size_t) (size - start), strlen(whole)));
                ck_assert_mem_eq(text, whole, strlen(text));
        }
        for (off_t size = (off_t) copy.area.offset + HEADER_SIZE - 1; size >= 0; size -= 7) {
                ck_assert_int_eq(ftruncate(copy.fd, size), 0);
                ck_assert_int_eq(read_location(copy.fd, &copy.area, NULL), -EBADMSG);
        }
        close(copy.fd);
}
END_TEST

START_TEST(errors_of_the_device)
{
        static const struct metadata_area area = {.offset = 4096, .size = 4096};
        static const struct metadata_location location = {.offset = 512, .size = 100};
        char *text;

        ck_assert_int_eq(read_location(-1, &area, NULL), -EBADF);
        ck_assert_int_eq(read_text(-1, &area, &location, &text), -EBADF);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("metadata-area");
        TCase *tests = tcase_create("metadata-area");

        tcase_set_timeout(tests, 120);
        tcase_add_test(tests, every_image_as_pvck_reads_it);
        tcase_add_test(tests, states);
        tcase_add_test(tests, wrapped_by_lvm2);
        tcase_add_test(tests, many_copies);
        tcase_add_test(tests, damaged_bytes);
        tcase_add_test(tests, forged_bytes);
        tcase_add_test(tests, forged_kind);
        tcase_add_test(tests, forged_locations);
        tcase_add_test(tests, forged_areas);
        tcase_add_test(tests, forged_empty_area);
        tcase_add_test(tests, beyond_any_device);
        tcase_add_test(tests, any_wrap);
        tcase_add_test(tests, too_long);
        tcase_add_test(tests, overlaps);
        tcase_add_test(tests, damaged_text);
        tcase_add_test(tests, truncated_image);
        tcase_add_test(tests, errors_of_the_device);
        suite_add_tcase(suite, tests);
        return run_suite(suite);
}
