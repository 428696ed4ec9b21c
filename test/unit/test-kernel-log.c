/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kernels' logs of shutdowns: real ones as mail programs have left them, and what else may be fed to a program. */

#include "kernel-log/log.h"

#include <fcntl.h>

#include "fixture.h"
#include "shared/util.h"

static void read_real(struct kernel_log *log, const char *name)
{
        _cleanup_free_ char *path = string_format("%s/%s", getenv("HEADGATE_TEST_KERNEL_LOGS"), name);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(kernel_log_read_file(log, fd), 0);
        ck_assert_int_eq(kernel_log_finish(log), KERNEL_LOG_COMPLETE);
}

/* What becomes of a text that is read in pieces of each size. */
static int verdict_of(const char *text, struct kernel_log *log)
{
        ck_assert_int_eq(kernel_log_add_text(log, text, strlen(text)), 0);
        return kernel_log_finish(log);
}

static void assert_verdict(const char *text, int verdict)
{
        _cleanup_kernel_log_ struct kernel_log log = {};

        ck_assert_int_eq(verdict_of(text, &log), verdict);
}

/* ------ real logs ------ */

START_TEST(in_parallel)
{
        _cleanup_kernel_log_ struct kernel_log log = {};
        const struct kernel_shutdown *shutdown = &log.shutdown;
        uint64_t usec;

        read_real(&log, "parallel.log");
        ck_assert_uint_eq(shutdown->n, 39);
        ck_assert_uint_eq(shutdown->begin_usec, 172609825);
        ck_assert_uint_eq(shutdown->total_usec, 172961360 - 172609825);
        ck_assert_uint_eq(kernel_shutdown_measure_driver(shutdown, "nvme", &usec), 2);
        ck_assert_uint_eq(usec, 146);

        for (size_t i = 0; i < shutdown->n; i++)
                ck_assert(kernel_device_is_parallel(&shutdown->devices[i]) == (i >= 3 && i < 6));
        ck_assert_str_eq(shutdown->devices[3].driver, "nvme");
        ck_assert_str_eq(shutdown->devices[3].name, "c2b7:00:00.0");
        ck_assert_str_eq(shutdown->devices[5].name, "1610:00:02.0");
        ck_assert_uint_eq(shutdown->devices[3].group_end, 6);
        ck_assert_uint_eq(shutdown->devices[3].took_usec, 172782768 - 172618116);
        ck_assert_uint_eq(shutdown->devices[4].took_usec, 172782768 - 172618262);

        /* A wrapped line, a name with spaces, and the last one. */
        ck_assert_str_eq(shutdown->devices[10].name, "242ff919-07db-4180-9c2e-b86cb68c8c55");
        ck_assert_uint_eq(shutdown->devices[10].step_usec, 172800432 - 172795974);
        ck_assert_str_eq(shutdown->devices[26].driver, "platform");
        ck_assert_str_eq(shutdown->devices[26].name, "Fixed MDIO bus.0");
        ck_assert_str_eq(shutdown->devices[38].name, "reg-dummy");
        ck_assert_uint_eq(shutdown->devices[38].step_usec, 172961360 - 172926707);
}
END_TEST

START_TEST(one_after_another)
{
        _cleanup_kernel_log_ struct kernel_log log = {};
        const struct kernel_shutdown *shutdown = &log.shutdown;
        uint64_t usec, sum = 0;

        read_real(&log, "serial.log");
        ck_assert_uint_eq(shutdown->n, 39);
        ck_assert_uint_eq(shutdown->total_usec, 320471);
        ck_assert_uint_eq(kernel_shutdown_measure_driver(shutdown, "nvme", &usec), 2);
        ck_assert_uint_eq(usec, 113231);
        for (size_t i = 0; i < shutdown->n; i++) {
                ck_assert(!kernel_device_is_parallel(&shutdown->devices[i]));
                ck_assert_uint_eq(shutdown->devices[i].took_usec, shutdown->devices[i].step_usec);
                sum += shutdown->devices[i].step_usec;
        }
        ck_assert_uint_eq(sum, shutdown->total_usec);
}
END_TEST

START_TEST(side_by_side)
{
        _cleanup_kernel_log_ struct kernel_log parallel = {}, serial = {};
        _cleanup_kernel_comparison_ struct kernel_comparison comparison = {};
        uint64_t sums[_SIDE_MAX] = {};
        size_t n_pairs = 0;

        read_real(&parallel, "parallel.log");
        read_real(&serial, "serial.log");
        ck_assert_int_eq(kernel_comparison_make(&comparison, &parallel.shutdown, &serial.shutdown), 0);
        ck_assert_uint_eq(comparison.n_pairs, 39);
        ck_assert_uint_eq(comparison.n_units, 37);
        for (size_t i = 0; i < comparison.n_units; i++) {
                n_pairs += comparison.units[i].n_pairs;
                for (size_t side = 0; side < _SIDE_MAX; side++) {
                        ck_assert_uint_ne(comparison.pairs[i].places[side], NOT_THERE);
                        sums[side] += comparison.units[i].usec[side];
                }
                ck_assert(i == 0 || llabs(kernel_unit_difference(&comparison.units[i - 1])) >=
                                            llabs(kernel_unit_difference(&comparison.units[i])));
        }
        ck_assert_uint_eq(n_pairs, 39);
        ck_assert_uint_eq(sums[FIRST], 351535);
        ck_assert_uint_eq(sums[SECOND], 320471);

        /* Both NVMe devices and the network card are one unit, which gains most; reg-dummy loses most. */
        ck_assert_uint_eq(comparison.units[0].n_pairs, 3);
        ck_assert_int_eq(kernel_unit_difference(&comparison.units[0]), 258573 - 164652);
        ck_assert_uint_eq(comparison.units[1].n_pairs, 1);
        ck_assert_int_eq(kernel_unit_difference(&comparison.units[1]), 1424 - 34653);
        ck_assert_str_eq(kernel_pair_device(&comparison, &comparison.pairs[comparison.units[1].first_pair])->name,
                "reg-dummy");
}
END_TEST

START_TEST(in_pieces)
{
        _cleanup_free_ char *path = string_format("%s/serial.log", getenv("HEADGATE_TEST_KERNEL_LOGS"));
        _cleanup_free_ char *text = NULL;
        size_t size;

        ck_assert_int_eq(read_file_at(AT_FDCWD, path, &text, &size), 0);
        /* Cut at each place, it is truncated, unrelated or empty, but never something else. */
        for (size_t cut = 0; cut < size; cut++) {
                _cleanup_kernel_log_ struct kernel_log log = {};
                int verdict;

                ck_assert_int_eq(kernel_log_add_text(&log, text, cut), 0);
                verdict = kernel_log_finish(&log);
                if (cut > 200 && cut < size - 100)
                        ck_assert_int_eq(verdict, KERNEL_LOG_TRUNCATED);
                if (verdict == KERNEL_LOG_COMPLETE)
                        ck_assert_uint_eq(log.shutdown.total_usec, 320471);
        }
}
END_TEST

/* ------ what is around lines ------ */

static void assert_line(const char *raw, uint64_t usec, const char *text)
{
        _cleanup_free_ char *line = strdup(raw);
        uint64_t found_usec = 0;
        char *found;

        ck_assert(kernel_line_parse(line, &found_usec, &found) == (usec > 0));
        ck_assert_uint_eq(usec > 0 ? found_usec : 0, usec);
        ck_assert_str_eq(found, text);
}

START_TEST(lines)
{
        const char *text = "nvme c2b7:00:00.0: shutdown";

        assert_line("172.618116 nvme c2b7:00:00.0: shutdown", 172618116, text);
        assert_line("> > 172.618116\u00a0\u00a0 nvme c2b7:00:00.0:\u2009shutdown \u00a0\r", 172618116, text);
        assert_line(">|172.618116\xa0\xa0nvme c2b7:00:00.0: shutdown\xa0", 172618116, text);
        assert_line("[  172.618116] nvme c2b7:00:00.0: shutdown", 172618116, text);
        assert_line("<6>[  172.618116] nvme c2b7:00:00.0: shutdown", 172618116, text);
        assert_line("[  172.618116][    T1] nvme c2b7:00:00.0: shutdown", 172618116, text);
        assert_line("[  172.618116][ C12] nvme c2b7:00:00.0: shutdown", 172618116, text);
        assert_line("[  172.618116 <    0.000146>] nvme c2b7:00:00.0: shutdown", 172618116, text);
        assert_line("[  172.618116] host kernel: nvme c2b7:00:00.0: shutdown", 172618116, text);
        assert_line("Nov 21 23:44:52 host kernel: [  172.618116] nvme c2b7:00:00.0: shutdown", 172618116, text);
        assert_line("Nov 21 23:44:52 host kernel: nvme c2b7:00:00.0: shutdown", 0, text);
        assert_line("\x1b[0;1;39m[  172.618116] nvme c2b7:00:00.0: shutdown\x1b[0m", 172618116, text);
        assert_line("172.6181 nvme c2b7:00:00.0: shutdown", 0, "172.6181 nvme c2b7:00:00.0: shutdown");
        assert_line("172.6181169 nvme: shutdown", 0, "172.6181169 nvme: shutdown");
        assert_line("99999999999.618116 nvme: shutdown", 0, "99999999999.618116 nvme: shutdown");
        assert_line("[  172.618116", 0, "[ 172.618116");
        assert_line("[ 172.618116][T", 172618116, "[T");
        assert_line("\x1b[", 0, "");
        assert_line("\x1b", 0, "");
        assert_line("> | \u00a0", 0, "");
        assert_line("", 0, "");
        /* A letter whose second byte is that of a non-breaking space in another code. */
        assert_line("1.000000 voil\u00e0 x", 1000000, "voil\u00e0 x");
}
END_TEST

static void assert_device(const char *text, const char *driver, const char *device)
{
        _cleanup_free_ char *copy = strdup(text);
        const char *found = kernel_line_split_device(copy);

        ck_assert_pstr_eq(found, device);
        ck_assert_str_eq(copy, driver ?: text);
}

START_TEST(devices)
{
        assert_device("nvme c2b7:00:00.0: shutdown", "nvme", "c2b7:00:00.0");
        assert_device("tpm_tis 00:05: shutdown_pre", "tpm_tis", "00:05");
        assert_device("platform Fixed MDIO bus.0: shutdown", "platform", "Fixed MDIO bus.0");
        assert_device("mlx5_core 1610:00:02.0: Shutdown was called", NULL, NULL);
        assert_device("systemd-shutdown[1]: storage: shutdown", NULL, NULL);
        assert_device("usb 1-1: as I said, nvme: shutdown", NULL, NULL);
        assert_device("nvme: shutdown", NULL, NULL);
        assert_device("nvme : shutdown", NULL, NULL);
        assert_device(" : shutdown", NULL, NULL);
        assert_device(": shutdown", NULL, NULL);
        assert_device("shutdown", NULL, NULL);
        assert_device("", NULL, NULL);
}
END_TEST

/* ------ whole logs ------ */

#define END "[    9.000000] reboot: Power down\n"

START_TEST(unrelated_between)
{
        static const char text[] = "Hello,\n"
                                   "[    1.000000] Linux version 6.1\n"
                                   "> 8.000000 hv_utils\n> 242ff919:\n> shutdown\n"
                                   "look at this: shutdown\n"
                                   "\n"
                                   "> 8.100000 nvme 1: shutdown\n"
                                   "That is long!\n"
                                   "> 8.200000 nvme 1: something\nelse\nabout: shutdown\n"
                                   "> 8.300000 tpm 0: shutdown_pre\n"
                                   "> 8.300100 tpm 0: shutdown\n"
                                   "> 9.000000 ACPI: PM: Preparing to enter system sleep\n> state S5\n"
                                   "> 9.500000 reboot: Power down\n";
        _cleanup_kernel_log_ struct kernel_log log = {};

        ck_assert_int_eq(verdict_of(text, &log), KERNEL_LOG_COMPLETE);
        ck_assert_uint_eq(log.shutdown.n, 3);
        ck_assert_str_eq(log.shutdown.devices[0].name, "242ff919");
        ck_assert_str_eq(log.shutdown.devices[2].name, "0");
        ck_assert_uint_eq(log.shutdown.devices[2].step_usec, 700000);
        ck_assert_uint_eq(log.shutdown.total_usec, 1000000);
}
END_TEST

START_TEST(last_of_several)
{
        static const char first[] = "[    8.000000] nvme 0: shutdown\n[    8.500000] nvme 1: shutdown\n" END;
        static const char second[] = "[    0.000000] Linux version 6.1\n[    5.000000] sd 0:0:0:0: shutdown\n";
        _cleanup_free_ char *both = string_format("%s%s[    6.000000] reboot: Restarting system\n", first, second);
        _cleanup_free_ char *cut = string_format("%s%s[    0.000000] Linux version 6.1\n" END, first, second);
        _cleanup_kernel_log_ struct kernel_log log = {};

        ck_assert_int_eq(verdict_of(both, &log), KERNEL_LOG_COMPLETE);
        ck_assert_uint_eq(log.shutdown.n, 1);
        ck_assert_str_eq(log.shutdown.devices[0].driver, "sd");
        ck_assert_uint_eq(log.shutdown.total_usec, 1000000);
        assert_verdict(cut, KERNEL_LOG_TRUNCATED);
}
END_TEST

START_TEST(out_of_order)
{
        _cleanup_kernel_log_ struct kernel_log log = {};

        ck_assert_int_eq(verdict_of("1.000200 a 1: shutdown\n1.000100 b 1: shutdown\n1.000100 c 1: shutdown\n"
                                    "1.000050 reboot: System halted\n",
                                 &log),
                KERNEL_LOG_COMPLETE);
        ck_assert_str_eq(log.shutdown.devices[0].driver, "b");
        ck_assert_str_eq(log.shutdown.devices[1].driver, "c");
        ck_assert_str_eq(log.shutdown.devices[2].driver, "a");
        ck_assert_uint_eq(log.shutdown.total_usec, 100);
}
END_TEST

START_TEST(nothing_to_show)
{
        _cleanup_kernel_log_ struct kernel_log zeros = {}, endless = {};
        _cleanup_free_ char *many = calloc(200000, sizeof(char));

        assert_verdict("", KERNEL_LOG_EMPTY);
        assert_verdict("\n \u00a0\r\n>\n", KERNEL_LOG_EMPTY);
        assert_verdict("Dear all,\nit is slow.\n", KERNEL_LOG_UNRELATED);
        assert_verdict("[    1.000000] Linux version 6.1\n" END, KERNEL_LOG_UNRELATED);
        assert_verdict("nvme 0: shutdown\nnvme 1: shutdown\n", KERNEL_LOG_UNSTAMPED);
        assert_verdict("he said: shutdown\n", KERNEL_LOG_UNRELATED);
        assert_verdict("[    1.000000] nvme 0: shutdown\n", KERNEL_LOG_TRUNCATED);
        assert_verdict("[    1.000000] nvme 0: shutdown", KERNEL_LOG_TRUNCATED);
        ck_assert_int_eq(kernel_log_add_text(&zeros, "\x7f\x45\x4c\x46\0\0\n\0", 8), 0);
        ck_assert_int_eq(kernel_log_finish(&zeros), KERNEL_LOG_BINARY);
        memset(many, 'x', 200000);
        ck_assert_int_eq(kernel_log_add_text(&endless, many, 200000), 0);
        ck_assert_uint_lt(endless.line_size, 200000);
        ck_assert_int_eq(kernel_log_finish(&endless), KERNEL_LOG_UNRELATED);
}
END_TEST

START_TEST(only_in_one)
{
        _cleanup_kernel_log_ struct kernel_log first = {}, second = {};
        _cleanup_kernel_comparison_ struct kernel_comparison comparison = {};

        ck_assert_int_eq(
                verdict_of(
                        "1.000000 a 1: shutdown\n1.100000 a 1x: shutdown\n1.200000 a 1: shutdown\n" END, &first),
                KERNEL_LOG_COMPLETE);
        ck_assert_int_eq(
                verdict_of("2.000000 a 1: shutdown\n2.500000 b 1: shutdown\n" END, &second), KERNEL_LOG_COMPLETE);
        ck_assert_int_eq(kernel_comparison_make(&comparison, &first.shutdown, &second.shutdown), 0);
        ck_assert_uint_eq(comparison.n_pairs, 4);
        ck_assert_uint_eq(comparison.n_units, 4);
        for (size_t i = 0; i < comparison.n_units; i++) {
                const struct kernel_unit *unit = &comparison.units[i];
                const struct kernel_pair *pair = &comparison.pairs[unit->first_pair];

                if (pair->places[FIRST] == 0)
                        ck_assert(unit->usec[FIRST] == 100000 && unit->usec[SECOND] == 500000);
                else
                        ck_assert((pair->places[FIRST] == NOT_THERE) != (pair->places[SECOND] == NOT_THERE));
        }
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("kernel-log");
        TCase *test_case = tcase_create("kernel-log");

        tcase_add_test(test_case, in_parallel);
        tcase_add_test(test_case, one_after_another);
        tcase_add_test(test_case, side_by_side);
        tcase_add_test(test_case, in_pieces);
        tcase_add_test(test_case, lines);
        tcase_add_test(test_case, devices);
        tcase_add_test(test_case, unrelated_between);
        tcase_add_test(test_case, last_of_several);
        tcase_add_test(test_case, out_of_order);
        tcase_add_test(test_case, nothing_to_show);
        tcase_add_test(test_case, only_in_one);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
