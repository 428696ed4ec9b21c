/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Timelines that are kept: what is written is what is read, and there are never too many of them. */

#include "timeline/archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"
#include "shared/util.h"

static const sd_id128_t this_boot = SD_ID128_MAKE(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ff);

static sd_id128_t boot_number(unsigned int number)
{
        sd_id128_t boot = {};

        boot.bytes[15] = (uint8_t) number;
        return boot;
}

static char *path_of(unsigned int number, const char *suffix)
{
        return string_format("%030x%02x%s", 0, number, suffix);
}

/* As it was written `number` seconds after 1970. */
static void make_old(unsigned int number, const char *suffix)
{
        const struct timespec times[2] = {{.tv_sec = number}, {.tv_sec = number}};
        char *path = path_of(number, suffix);

        ck_assert_int_eq(utimensat(run_fd, path, times, 0), 0);
        free(path);
}

static bool exists(unsigned int number, const char *suffix)
{
        char *path = path_of(number, suffix);
        bool found = faccessat(run_fd, path, F_OK, 0) == 0;

        free(path);
        return found;
}

static struct timeline_bar *add(struct timeline *timeline, const char *name)
{
        struct timeline_bar *bar = timeline_add(timeline);

        ck_assert_ptr_nonnull(bar);
        bar->name = strdup(name);
        bar->state = timeline->kind == TIMELINE_BOOT ? "active" : "gone";
        if (timeline->kind == TIMELINE_SHUTDOWN) {
                bar->tree = strdup("tree");
                bar->kind = strdup("linear");
        }
        return bar;
}

static void write_one(unsigned int number, enum archive_part part, const char *name)
{
        _cleanup_timeline_ struct timeline timeline = {
                .kind = part == ARCHIVE_BOOT ? TIMELINE_BOOT : TIMELINE_SHUTDOWN};

        add(&timeline, name);
        ck_assert_int_eq(archive_write(run_fd, part, boot_number(number), &timeline), 0);
}

START_TEST(what_is_written_is_read)
{
        _cleanup_timeline_ struct timeline written = {.kind = TIMELINE_BOOT}, read = {.kind = TIMELINE_BOOT};
        struct timeline_bar *bar = add(&written, "a\"b\\x07{}#=");

        bar->reason = strdup("lvm2 says: \"no\" \\ # {");
        bar->state = "failed";
        bar->end = TIMELINE_FAILED;
        bar->first_usec = UINT64_C(1) << 52;
        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; i++)
                bar->phases_usec[i] = i + 1;
        bar->asked_usec = 7;
        bar->linked_usec = 8;
        bar->complete = true;
        bar->n_pvs = 9;
        bar->n_lvs = 10;
        bar->n_tries = 11;
        add(&written, "second");
        written.host = strdup("host");
        written.kernel = strdup("6.1.0");
        written.realtime_usec = 12;

        ck_assert_int_eq(archive_write(run_fd, ARCHIVE_BOOT, this_boot, &written), 0);
        ck_assert_int_eq(archive_read(run_fd, this_boot, &read), 0);
        ck_assert_uint_eq(read.n, 2);
        ck_assert_str_eq(read.host, "host");
        ck_assert_str_eq(read.kernel, "6.1.0");
        ck_assert_uint_eq(read.realtime_usec, 12);
        ck_assert_uint_eq(read.n_left_out, 0);
        for (size_t i = 0; i < 2; i++) {
                const struct timeline_bar *a = &written.bars[i], *b = &read.bars[i];

                ck_assert_str_eq(a->name, b->name);
                ck_assert_ptr_null(b->tree);
                ck_assert_str_eq(a->reason ?: "none", b->reason ?: "none");
                ck_assert_str_eq(a->state, b->state);
                ck_assert_int_eq(a->end, b->end);
                ck_assert_uint_eq(a->first_usec, b->first_usec);
                ck_assert_mem_eq(a->phases_usec, b->phases_usec, sizeof(a->phases_usec));
                ck_assert_uint_eq(a->asked_usec, b->asked_usec);
                ck_assert_uint_eq(a->linked_usec, b->linked_usec);
                ck_assert_int_eq(a->complete, b->complete);
                ck_assert_uint_eq(a->n_pvs, b->n_pvs);
                ck_assert_uint_eq(a->n_lvs, b->n_lvs);
                ck_assert_uint_eq(a->n_tries, b->n_tries);
        }
        ck_assert_str_eq(written.bars[0].name, "a\"b\\x07{}#=");
}
END_TEST

START_TEST(an_empty_one_is_none_the_less_one)
{
        _cleanup_timeline_ struct timeline timeline = {.kind = TIMELINE_BOOT};

        ck_assert_int_eq(archive_write(run_fd, ARCHIVE_BOOT, this_boot, &timeline), 0);
        ck_assert_int_eq(archive_read(run_fd, this_boot, &timeline), 0);
        ck_assert_uint_eq(timeline.n, 0);
        ck_assert_int_eq(archive_read(run_fd, boot_number(1), &timeline), -ENOENT);
}
END_TEST

START_TEST(a_shutdown_has_two_parts)
{
        _cleanup_timeline_ struct timeline timeline = {.kind = TIMELINE_SHUTDOWN};
        _cleanup_timeline_ struct timeline boot = {.kind = TIMELINE_BOOT};

        write_one(1, ARCHIVE_SHUTDOWN_LOCAL, "local");
        write_one(1, ARCHIVE_SHUTDOWN_NETWORK, "network");
        ck_assert_int_eq(archive_read(run_fd, boot_number(1), &timeline), 0);
        ck_assert_uint_eq(timeline.n, 2);
        ck_assert_str_eq(timeline.bars[0].name, "local");
        ck_assert_str_eq(timeline.bars[1].name, "network");
        ck_assert_int_eq(archive_read(run_fd, boot_number(1), &boot), -ENOENT);
}
END_TEST

/* Whatever is cut off, and wherever a byte has changed, is either what it was but for that byte, or nothing at all. */
START_TEST(what_is_damaged_is_left_out)
{
        _cleanup_timeline_ struct timeline timeline = {.kind = TIMELINE_SHUTDOWN};
        _cleanup_free_ char *text = NULL;
        size_t n_taken = 0, length;

        for (unsigned int i = 0; i < 3; i++)
                add(&timeline, "some-device")->n_tries = i + 1;
        text = archive_format(&timeline);
        ck_assert_ptr_nonnull(text);
        timeline_truncate(&timeline, 0);
        length = strlen(text);
        ck_assert_int_eq(archive_parse(text, &timeline), 0);
        timeline_truncate(&timeline, 0);

        for (size_t i = 0; i < length; i++) {
                char old = text[i];

                text[i] = '\0';
                /* The last newline is no loss. */
                ck_assert_int_eq(archive_parse(text, &timeline), i < length - 1 ? -EBADMSG : 0);
                ck_assert_uint_eq(timeline.n, i < length - 1 ? 0 : 3);
                timeline_truncate(&timeline, 0);
                for (const char *c = "}{\"\\#=7\n\xff"; *c; c++) {
                        text[i] = *c;
                        if (archive_parse(text, &timeline) == 0) {
                                n_taken++;
                                ck_assert_uint_eq(timeline.n, 3);
                        } else {
                                ck_assert_uint_eq(timeline.n, 0);
                        }
                        timeline_truncate(&timeline, 0);
                }
                text[i] = old;
        }
        ck_assert_uint_gt(n_taken, 0);
}
END_TEST

START_TEST(of_many_the_slowest_are_kept)
{
        _cleanup_timeline_ struct timeline written = {.kind = TIMELINE_BOOT}, read = {.kind = TIMELINE_BOOT};
        struct stat status;

        for (unsigned int i = 0; i < 20000; i++) {
                _cleanup_free_ char *name = string_format("vg%u", i);

                add(&written, name)->phases_usec[TIMELINE_PVS] = i * 100;
        }
        ck_assert_int_eq(archive_write(run_fd, ARCHIVE_BOOT, boot_number(1), &written), 0);
        ck_assert_int_eq(archive_read(run_fd, boot_number(1), &read), 0);
        ck_assert_uint_gt(read.n, 1000);
        ck_assert_uint_eq(read.n + read.n_left_out, 20000);
        ck_assert_str_eq(read.bars[0].name, "vg19999");
        ck_assert_uint_eq(read.bars[read.n - 1].phases_usec[TIMELINE_PVS], (20000 - read.n) * 100);
        ck_assert_int_eq(fstatat(run_fd, "00000000000000000000000000000001.boot", &status, 0), 0);
        ck_assert_uint_le(status.st_size, ARCHIVE_FILE_SIZE_MAX);
        ck_assert_uint_gt(status.st_size, ARCHIVE_FILE_SIZE_MAX / 2);
}
END_TEST

START_TEST(ten_of_a_part_are_kept)
{
        for (unsigned int i = 1; i <= 15; i++) {
                write_one(i, ARCHIVE_BOOT, "vg");
                make_old(i, ".boot");
        }
        write_one(3, ARCHIVE_SHUTDOWN_LOCAL, "vg-lv");
        make_old(3, ".shutdown");
        write_file_and_directories(".0.boot.new", "half");
        write_file_and_directories("notes", "of the administrator's");
        ck_assert(exists(6, ".boot") && !exists(5, ".boot"));

        /* The clock has been set back since. */
        write_one(2, ARCHIVE_BOOT, "vg");
        make_old(2, ".boot");
        ck_assert(exists(2, ".boot") && exists(7, ".boot") && !exists(6, ".boot"));
        ck_assert(exists(3, ".shutdown"));
        ck_assert_int_lt(faccessat(run_fd, ".0.boot.new", F_OK, 0), 0);
        ck_assert_int_eq(faccessat(run_fd, "notes", F_OK, 0), 0);
}
END_TEST

START_TEST(several_may_write)
{
        _cleanup_timeline_ struct timeline timeline = {.kind = TIMELINE_BOOT};

        for (unsigned int i = 0; i < 8; i++)
                if (fork() == 0) {
                        for (unsigned int j = 0; j < 20; j++)
                                write_one(1, ARCHIVE_BOOT, "vg");
                        _exit(EXIT_SUCCESS);
                }
        for (unsigned int i = 0; i < 8; i++) {
                int status;

                ck_assert_int_gt(wait(&status), 0);
                ck_assert_int_eq(status, 0);
        }
        ck_assert_int_eq(archive_read(run_fd, boot_number(1), &timeline), 0);
        ck_assert_uint_eq(timeline.n, 1);
}
END_TEST

START_TEST(the_directory_is_not_made)
{
        _cleanup_close_ int fd = -EBADF, fd_at_shutdown = -EBADF;

        ck_assert_int_eq(archive_open(run_fd), -ENOENT);
        ck_assert_int_eq(archive_open_at_shutdown(run_fd), -ENOENT);
        write_file_and_directories(ARCHIVE_DIRECTORY "/file", "");
        fd = archive_open(run_fd);
        ck_assert_int_ge(fd, 0);
        fd_at_shutdown = archive_open_at_shutdown(run_fd);
        ck_assert_int_ge(fd_at_shutdown, 0);
        ck_assert_int_eq(faccessat(fd_at_shutdown, "file", F_OK, 0), 0);

        /* A link may lead to another file system. */
        ck_assert_int_eq(renameat(run_fd, "var/lib", run_fd, "elsewhere"), 0);
        ck_assert_int_eq(symlinkat("../elsewhere", run_fd, "var/lib"), 0);
        ck_assert_int_eq(archive_open_at_shutdown(run_fd), -ENOTDIR);
}
END_TEST

/* ------ names of boots ------ */

#define ID_1 "00000000000000000000000000000001"
#define ID_3 "00000000000000000000000000000003"

static void assert_boot(const struct boots *boots, const char *name, unsigned int number)
{
        sd_id128_t id;

        ck_assert_msg(boots_find(boots, name, &id) == 0 && sd_id128_equal(id, boot_number(number)), "%s", name);
}

START_TEST(boots_are_named_as_by_journalctl)
{
        static const char *const not_there[] = {"-3", "4", "-99", "4294967295", ID_1 "-1", ID_3 "+1",
                "000000000000000000000000000000aa", "000000000000000000000000000000aa-1"};
        static const char *const no_names[] = {"", "-", "+", "x", "1x", "--1", "+-1", " 1", "1.5", "4294967296",
                ID_1 "1", ID_1 "-", ID_1 " ", "0000000000000000000000000000000g", "all"};
        _cleanup_boots_ struct boots boots = {};
        struct known_boot *boot;
        sd_id128_t id;

        ck_assert_ptr_nonnull(boots_note(&boots, boot_number(3), 1));
        ck_assert_ptr_nonnull(boots_note(&boots, boot_number(2), 300));
        ck_assert_ptr_nonnull(boots_note(&boots, boot_number(1), 200));
        boot = boots_note(&boots, boot_number(1), 100);
        ck_assert_ptr_nonnull(boot);
        ck_assert_uint_eq(boot->realtime_usec, 100);
        /* This one, of which the clock says that it was the first. */
        boots_sort(&boots, boot_number(3));
        ck_assert_uint_eq(boots.n, 3);

        assert_boot(&boots, "0", 3);
        assert_boot(&boots, "-0", 3);
        assert_boot(&boots, "-1", 2);
        assert_boot(&boots, "-2", 1);
        assert_boot(&boots, "1", 1);
        assert_boot(&boots, "+2", 2);
        assert_boot(&boots, "3", 3);
        assert_boot(&boots, ID_1, 1);
        assert_boot(&boots, ID_1 "+1", 2);
        assert_boot(&boots, ID_3 "-2", 1);
        assert_boot(&boots, ID_3 "+0", 3);
        for (size_t i = 0; i < ELEMENTSOF(not_there); i++)
                ck_assert_msg(boots_find(&boots, not_there[i], &id) == -ENOENT, "%s", not_there[i]);
        for (size_t i = 0; i < ELEMENTSOF(no_names); i++)
                ck_assert_msg(boots_find(&boots, no_names[i], &id) == -EINVAL, "%s", no_names[i]);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("archive");
        TCase *files = tcase_create("files"), *names = tcase_create("names");

        tcase_add_checked_fixture(files, run_directory_set_up, run_directory_tear_down);
        tcase_add_test(files, what_is_written_is_read);
        tcase_add_test(files, an_empty_one_is_none_the_less_one);
        tcase_add_test(files, a_shutdown_has_two_parts);
        tcase_add_test(files, what_is_damaged_is_left_out);
        tcase_add_test(files, of_many_the_slowest_are_kept);
        tcase_add_test(files, ten_of_a_part_are_kept);
        tcase_add_test(files, several_may_write);
        tcase_add_test(files, the_directory_is_not_made);
        suite_add_tcase(suite, files);
        tcase_add_test(names, boots_are_named_as_by_journalctl);
        suite_add_tcase(suite, names);
        return run_suite(suite);
}
