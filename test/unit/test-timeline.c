/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Timelines as they are logged, and the times of /dev that they are made of. What is read of them is tested by test/cli/blame. */

#include "timeline/journal.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "fake-journald.h"
#include "fixture.h"
#include "lvm/vg.h"
#include "shared/log.h"
#include "shared/messages.h"
#include "shared/util.h"
#include "view/disk-times.h"

#define LINE_SIZE_MAX ((size_t) 48 * 1024)

static void add(struct timeline *timeline, size_t number, const char *reason)
{
        struct timeline_bar *bar = timeline_add(timeline);

        ck_assert_ptr_nonnull(bar);
        bar->state = "active";
        bar->end = TIMELINE_DONE;
        bar->name = string_format("vg%04zu", number);
        bar->uuid = strdup("3TqMqA-1B2C-3D4E-5F6G-7H8I-9J0K-LMNOPQ");
        bar->reason = strdup(reason);
        bar->first_usec = number;
        bar->n_lvs = 2;
        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; i++)
                bar->phases_usec[i] = UINT64_C(1234567890123);
}

/* Reads all lines that were logged; returns how many bars they have, which are to be in their order. */
static size_t read_lines(int fd, size_t *ret_n_lines)
{
        static char text[256 * 1024];
        size_t n_bars = 0;
        ssize_t length;

        for (*ret_n_lines = 0; (length = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT)) > 0; (*ret_n_lines)++) {
                const char *bars;

                ck_assert_uint_lt((size_t) length, LINE_SIZE_MAX);
                text[length] = '\0';
                ck_assert_ptr_nonnull(strstr(text, "MESSAGE_ID=" MESSAGE_TIMELINE "\n"));
                ck_assert_ptr_nonnull(strstr(text, "HEADGATE_TIMELINE=boot\n"));
                /* A field of several lines has its size before it, in eight bytes. */
                bars = memmem(text, (size_t) length, "HEADGATE_BARS\n", strlen("HEADGATE_BARS\n"));
                ck_assert_ptr_nonnull(bars);
                for (bars += strlen("HEADGATE_BARS\n") + 8; *bars == 'a'; bars = strchr(bars, '\n') + 1) {
                        char name[16];

                        (void) snprintf(name, sizeof(name), "\tvg%04zu\t", n_bars++);
                        ck_assert_ptr_nonnull(strstr(bars, name));
                        ck_assert(strstr(bars, name) < strchr(bars, '\n'));
                }
        }
        return n_bars;
}

START_TEST(lines_are_small_and_have_all)
{
        _cleanup_timeline_ struct timeline timeline = {.kind = TIMELINE_BOOT};
        int fd = fake_journald_new();
        size_t n_lines;

        log_open("test", LOG_TARGET_JOURNAL);
        timeline_log(&timeline);
        ck_assert_uint_eq(read_lines(fd, &n_lines), 0);
        ck_assert_uint_eq(n_lines, 0);

        for (size_t i = 0; i < 1000; i++)
                add(&timeline, i, "");
        timeline_log(&timeline);
        ck_assert_uint_eq(read_lines(fd, &n_lines), 1000);
        ck_assert_uint_ge(n_lines, 2);
        ck_assert_uint_le(n_lines, 8);
        close(fd);
}
END_TEST

START_TEST(one_bar_is_one_line)
{
        static const char expected[] =
                "active\tdone\t7\t1234567890123\t1234567890123\t1234567890123\t1234567890123\t1234567890123\t"
                "1234567890123\t0\t0\t0\t0\t2\t0\t3TqMqA-1B2C-3D4E-5F6G-7H8I-9J0K-LMNOPQ\tvg0007\t\t\t1 PV missing.\n";
        _cleanup_timeline_ struct timeline timeline = {.kind = TIMELINE_BOOT};
        int fd = fake_journald_new();
        static char text[4096];
        ssize_t length;

        log_open("test", LOG_TARGET_JOURNAL);
        add(&timeline, 7, "1 PV missing.");
        timeline_log(&timeline);
        length = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
        ck_assert_int_gt(length, 0);
        text[length] = '\0';
        ck_assert_ptr_nonnull(strstr(text, "MESSAGE=Timeline of 1 VG recorded.\n"));
        ck_assert_ptr_nonnull(memmem(text, (size_t) length, expected, sizeof(expected) - 1));
        close(fd);
}
END_TEST

/* ------ of one VG ------ */

static uint64_t birth_usec(const char *path, int flags)
{
        struct statx status = {};

        ck_assert_int_eq(statx(AT_FDCWD, path, flags, STATX_BTIME, &status), 0);
        return (uint64_t) status.stx_btime.tv_sec * USEC_PER_SEC + status.stx_btime.tv_nsec / 1000;
}

/* A VG of one LV, whose device is made before its link, and which was asked for a second before that. */
static const struct {
        int64_t settled_usec; /* by the time of the link */
        bool asked, known;
} endings[] = {
        {USEC_PER_SEC, true, true}, {-(int64_t) USEC_PER_SEC / 2, true, false}, /* The link was made anew since. */
        {USEC_PER_SEC, false, false}, /* somebody else has activated it */
};

START_TEST(links_of_the_first_activation)
{
        struct vg_lv lv = {.name = (char[]){"lv"}, .autoactivated = true, .active = true};
        struct vg vg = {
                .name = (char[]){"data"}, .status = VG_STATUS_ACTIVE, .n_lvs = 1, .lvs = &lv, .clock_usec = 1000};
        struct vg_times first;
        char root[] = "/tmp/headgate-test-XXXXXX";
        uint64_t made, linked;

        ck_assert_ptr_nonnull(mkdtemp(root));
        ck_assert_int_eq(chdir(root), 0);
        ck_assert_int_eq(setenv("HEADGATE_ROOT", root, true), 0);
        ck_assert_int_eq(mkdir("dev", 0700) | mkdir("dev/data", 0700), 0);
        close(open("dev/dm-0", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        usleep(30000);
        ck_assert_int_eq(symlink("../dm-0", "dev/data/lv"), 0);
        made = birth_usec("dev/dm-0", 0) - vg.clock_usec;
        linked = birth_usec("dev/data/lv", AT_SYMLINK_NOFOLLOW) - vg.clock_usec;
        ck_assert_uint_lt(made, linked);

        vg.first_seen_usec = vg.complete_usec = made - 2 * USEC_PER_SEC;
        vg.activating_usec = endings[_i].asked ? made - USEC_PER_SEC : 0;
        vg.settled_usec = linked + (uint64_t) endings[_i].settled_usec;
        vg_note_first(&vg);
        first = vg.first;
        ck_assert_uint_eq(first.settled_usec, vg.settled_usec);
        ck_assert_uint_eq(first.made_usec, endings[_i].known ? made : 0);
        ck_assert_uint_eq(first.linked_usec, endings[_i].known ? linked : 0);
        ck_assert(!vg_describe_activator(&vg) == endings[_i].asked);

        /* It stays so, whatever happens later. */
        vg.activating_usec = vg.settled_usec += USEC_PER_SEC;
        vg_note_first(&vg);
        ck_assert_mem_eq(&vg.first, &first, sizeof(first));
        ck_assert_int_eq(
                unlink("dev/data/lv") | unlink("dev/dm-0") | rmdir("dev/data") | rmdir("dev") | rmdir(root), 0);
}
END_TEST

static const struct {
        struct milestones milestones;
        struct disk_times disk;
        uint64_t udev_began_usec, initrd_took_usec;
} origins[] = {
        /* The kernel had it in the initrd, whose udev did not handle it. */
        {{100, 400, 500}, {200, 700}, 500, 300},
        {{0, 400, 500}, {200, 700}, 500, 0},
        {{100, 400, 500}, {600, 700}, 600, 300},
        /* The tick before. */
        {{100, 400, 500}, {705, 700}, 700, 300},
        /* By that of the initrd, or before a soft reboot. */
        {{100, 400, 500}, {200, 300}, 0, 0},
        {{100, 400, 0}, {200, 700}, 0, 300},
        {{100, 400, 500}, {0, 700}, 0, 300},
        {{0, 0, 0}, {0, 0}, 0, 0},
};

START_TEST(what_came_before)
{
        ck_assert_uint_eq(
                udev_began_usec(&origins[_i].milestones, &origins[_i].disk), origins[_i].udev_began_usec);
        ck_assert_uint_eq(initrd_took_usec(&origins[_i].milestones, origins[_i].disk.handled_usec),
                origins[_i].initrd_took_usec);
}
END_TEST

START_TEST(programs)
{
        static const struct {
                const char *name;
                uint64_t usec;
                const char *words;
        } rows[] = {
                {"thin_check", 47 * USEC_PER_SEC,
                        "lvm2 waited 47.0s for thin_check; global/thin_check_options in lvm.conf sets how much it checks."},
                {"cache_check", 2 * USEC_PER_SEC,
                        "lvm2 waited 2.0s for cache_check; global/cache_check_options in lvm.conf sets how much it checks."},
                {"my\tcheck", 3 * USEC_PER_SEC, "lvm2 waited 3.0s for my\\x09check."},
                {"thin_check", USEC_PER_SEC, NULL},
                {"", 0, NULL},
        };
        struct vg vg = {};
        _cleanup_free_ char *words = NULL, *later = NULL;

        vg_note_program(&vg, rows[_i].name, rows[_i].usec);
        words = vg_describe_program(&vg);
        ck_assert_pstr_eq(words, rows[_i].words);
        vg.first.settled_usec = 1;
        vg_note_program(&vg, "later", 9 * USEC_PER_SEC);
        later = vg_describe_program(&vg);
        ck_assert_pstr_eq(later, rows[_i].words);
        free(vg.program);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("timeline");
        TCase *test_case = tcase_create("log");

        tcase_add_test(test_case, lines_are_small_and_have_all);
        tcase_add_test(test_case, one_bar_is_one_line);
        tcase_add_loop_test(test_case, links_of_the_first_activation, 0, ELEMENTSOF(endings));
        tcase_add_loop_test(test_case, what_came_before, 0, ELEMENTSOF(origins));
        tcase_add_loop_test(test_case, programs, 0, 5);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
