/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kernels' logs of shutdowns: real ones as mail programs have left them, and what else may be fed to a program. */

#include "kernel-log/log.h"

#include <fcntl.h>

#include "fixture.h"
#include "shared/dm.h"
#include "shared/util.h"

static void read_real(struct kernel_shutdown *shutdown, const char *name)
{
        _cleanup_free_ char *path = string_format("%s/%s", getenv("HEADGATE_TEST_KERNEL_LOGS"), name);
        _cleanup_fclose_ FILE *file = fopen(path, "re");
        const char *reason;

        ck_assert_ptr_nonnull(file);
        ck_assert_int_eq(kernel_log_read_file(shutdown, file, &reason), 0);
        ck_assert_ptr_null(reason);
}

/* Returns the reason why there is no shutdown, or NULL if there is one. */
static const char *read_bytes(struct kernel_shutdown *shutdown, const char *text, size_t size)
{
        _cleanup_fclose_ FILE *file = fmemopen((char *) text, size, "r");
        const char *reason;
        int r = kernel_log_read_file(shutdown, file, &reason);

        ck_assert_int_eq(r, reason ? -EBADMSG : 0);
        return reason;
}

static const char *read_text(struct kernel_shutdown *shutdown, const char *text)
{
        return read_bytes(shutdown, text, strlen(text));
}

static void assert_reason(const char *text, const char *reason)
{
        _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};

        ck_assert_pstr_eq(read_text(&shutdown, text), reason);
}

/* ------ real logs ------ */

START_TEST(in_parallel)
{
        _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};
        const struct kernel_device *devices;

        read_real(&shutdown, "parallel.log");
        devices = shutdown.devices;
        ck_assert_uint_eq(shutdown.n, 39);
        ck_assert_uint_eq(shutdown.total_usec, 172961360 - 172609825);

        for (size_t i = 0; i < shutdown.n; i++)
                ck_assert(devices[i].parallel == (i >= 3 && i < 6));
        ck_assert_str_eq(devices[3].name, "nvme c2b7:00:00.0");
        ck_assert_uint_eq(devices[3].began_usec, 172618116 - 172609825);
        ck_assert_uint_eq(devices[3].gap_usec, 146);
        ck_assert_uint_eq(devices[3].took_usec, 172782768 - 172618116);
        ck_assert_str_eq(devices[4].name, "nvme 132e:00:00.0");
        ck_assert_uint_eq(devices[4].took_usec, 172782768 - 172618262);
        ck_assert_str_eq(devices[5].name, "mlx5_core 1610:00:02.0");
        ck_assert_uint_eq(devices[5].gap_usec, devices[5].took_usec);

        /* A wrapped line, a name with spaces, and the last one. */
        ck_assert_str_eq(devices[10].name, "hv_utils 242ff919-07db-4180-9c2e-b86cb68c8c55");
        ck_assert_uint_eq(devices[10].gap_usec, 172800432 - 172795974);
        ck_assert_str_eq(devices[26].name, "platform Fixed MDIO bus.0");
        ck_assert_str_eq(devices[38].name, "reg-dummy reg-dummy");
        ck_assert_uint_eq(devices[38].gap_usec, 172961360 - 172926707);
}
END_TEST

START_TEST(one_after_another)
{
        _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};
        uint64_t sum = 0;

        read_real(&shutdown, "serial.log");
        ck_assert_uint_eq(shutdown.n, 39);
        ck_assert_uint_eq(shutdown.total_usec, 320471);
        ck_assert_uint_eq(shutdown.devices[4].gap_usec, 113231);
        FOREACH_ARRAY(device, shutdown.devices, shutdown.n) {
                ck_assert(!device->parallel);
                ck_assert_uint_eq(device->took_usec, device->gap_usec);
                sum += device->gap_usec;
        }
        ck_assert_uint_eq(sum, shutdown.total_usec);
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
                _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};
                const char *reason = read_bytes(&shutdown, text, cut);

                if (cut > 200 && cut < size - 100)
                        ck_assert_pstr_eq(reason, KERNEL_LOG_TRUNCATED);
                if (!reason)
                        ck_assert_uint_eq(shutdown.total_usec, 320471);
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
        assert_line("1.000000 voil\u00e0 x", 1000000, "voil x");
}
END_TEST

/* The same line as various programs write it; the time is the kernel's and not theirs. */
START_TEST(lines_of_programs)
{
        static const char *const written[] = {
                "[Thu Nov 26 23:52:51 2026] [  172.618116] nvme c2b7:00:00.0: shutdown", /* conserver; dmesg -T, twice */
                "[2026-11-26 23:52:51.123] [  172.618116] nvme c2b7:00:00.0: shutdown", /* minicom */
                "Nov 26 23:52:51 [  172.618116] nvme c2b7:00:00.0: shutdown",           /* ts */
                "1732665171.123456 [  172.618116] nvme c2b7:00:00.0: shutdown",         /* ts %.s */
                "[4.123456 0.001234] [  172.618116] nvme c2b7:00:00.0: shutdown",       /* grabserial */
                "kern  :info  : [  172.618116] nvme c2b7:00:00.0: shutdown",            /* dmesg -x */
                "\\x1b[0m[  172.618116] nvme c2b7:00:00.0: shutdown",
                "login: [  172.618116] nvme c2b7:00:00.0: shutdown",
                "6,1001,172618116,-;nvme c2b7:00:00.0: shutdown",                          /* /dev/kmsg */
                "6.1.0-25-amd64,6,1001,172618116,-,caller=T1;nvme c2b7:00:00.0: shutdown", /* extended netconsole */
                "Nov 26 23:52:51 6,1001,172618116,-;nvme c2b7:00:00.0: shutdown",
                "{\"PRIORITY\":\"6\",\"_SOURCE_MONOTONIC_TIMESTAMP\":\"172618116\",\"MESSAGE\":\"nvme c2b7:00:00.0: shutdown\"}",
                "{ \"MESSAGE\" : \"nvme c2b7:00:00.0: shutdown\", \"_SOURCE_MONOTONIC_TIMESTAMP\" : \"172618116\" }",
                "{\n   \"dmesg\": [\n      {\n         \"pri\": 6,\n         \"time\":   172.618116,\n"
                "         \"caller\": \"T1\",\n         \"msg\": \"nvme c2b7:00:00.0: shutdown\"\n      },{",
        };

        FOREACH_ELEMENT(line, written) {
                _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};
                _cleanup_free_ char *text = string_format("%s\n[  172.700000] reboot: Power down\n", *line);

                ck_assert_msg(!read_text(&shutdown, text), "%s", *line);
                ck_assert_uint_eq(shutdown.n, 1);
                ck_assert_str_eq(shutdown.devices[0].name, "nvme c2b7:00:00.0");
                ck_assert_msg(shutdown.total_usec == 172700000 - 172618116, "%s", *line);
        }
        assert_line(
                "[Thu Nov 26 23:52:51 2026] nvme 1: shutdown", 0, "[Thu Nov 26 23:52:51 2026] nvme 1: shutdown");
}
END_TEST

/* Two CPUs, or the kernel and a program, write to a console at once. */
START_TEST(broken_lines)
{
        static const struct {
                const char *text;
                size_t n, n_incomplete;
        } cases[] = {
                {"[ 1.000000] nvme 1: shut[ 1.000050] random: crng\ndown\n[ 2.000000] nvme 2: shutdown\n", 1, 1},
                {"[ 1.000000] nvme[ 1.000050] random: crng\n1: shutdown\n[ 2.000000] nvme 2: shutdown\n", 1, 1},
                {"[ 1.000000] random: cr[ 1.000050] nvme 1: shutdown\nng\n", 1, 0},
                {"[ 1.000000] nvme 1: shutdown[ 1.000050] random: crng\n", 1, 0},
                {"[ 1.000000] nvme 1: shutdown [ 2.000000] nvme 2: shutdown\r[ 3.000000] nvme 3: shutdown\r", 3,
                        0},
        };

        FOREACH_ELEMENT(each, cases) {
                _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};
                _cleanup_free_ char *text = string_format("%s[ 9.000000] reboot: Power down\n", each->text);

                ck_assert_msg(!read_text(&shutdown, text), "%s", each->text);
                ck_assert_msg(shutdown.n == each->n && shutdown.n_incomplete == each->n_incomplete, "%s: %zu, %zu",
                        each->text, shutdown.n, shutdown.n_incomplete);
        }
}
END_TEST

static void assert_device(const char *text, const char *device)
{
        _cleanup_free_ char *copy = strdup(text);

        ck_assert(kernel_line_cut_device(copy) == (device != NULL));
        ck_assert_str_eq(copy, device ?: text);
}

START_TEST(devices)
{
        assert_device("nvme c2b7:00:00.0: shutdown", "nvme c2b7:00:00.0");
        assert_device("tpm_tis 00:05: shutdown_pre", "tpm_tis 00:05");
        assert_device("platform Fixed MDIO bus.0: shutdown", "platform Fixed MDIO bus.0");
        assert_device("mlx5_core 1610:00:02.0: Shutdown was called", NULL);
        assert_device("systemd-shutdown[1]: storage: shutdown", NULL);
        assert_device("usb 1-1: as I said, nvme: shutdown", NULL);
        assert_device("nvme: shutdown", NULL);
        assert_device("nvme : shutdown", NULL);
        assert_device(" : shutdown", NULL);
        assert_device(": shutdown", NULL);
        assert_device("shutdown", NULL);
        assert_device("", NULL);
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
        _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};

        ck_assert_ptr_null(read_text(&shutdown, text));
        ck_assert_uint_eq(shutdown.n, 3);
        ck_assert_str_eq(shutdown.devices[0].name, "hv_utils 242ff919");
        ck_assert_str_eq(shutdown.devices[2].name, "tpm 0");
        ck_assert_uint_eq(shutdown.devices[2].gap_usec, 700000);
        ck_assert_uint_eq(shutdown.total_usec, 1000000);
}
END_TEST

START_TEST(last_of_several)
{
        static const char first[] = "[    8.000000] nvme 0: shutdown\n[    8.500000] nvme 1: shutdown\n" END;
        static const char second[] = "[    0.000000] Linux version 6.1\n[    5.000000] sd 0:0:0:0: shutdown\n";
        _cleanup_free_ char *both = string_format("%s%s[    6.000000] reboot: Restarting system\n", first, second);
        _cleanup_free_ char *cut = string_format("%s%s[    0.000000] Linux version 6.1\n" END, first, second);
        _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};

        ck_assert_ptr_null(read_text(&shutdown, both));
        ck_assert_uint_eq(shutdown.n, 1);
        ck_assert_str_eq(shutdown.devices[0].name, "sd 0:0:0:0");
        ck_assert_uint_eq(shutdown.total_usec, 1000000);
        assert_reason(cut, KERNEL_LOG_TRUNCATED);
}
END_TEST

START_TEST(out_of_order)
{
        _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};

        ck_assert_ptr_null(
                read_text(&shutdown, "1.000200 a 1: shutdown\n1.000100 b 1: shutdown\n1.000100 c 1: shutdown\n"
                                     "1.000050 reboot: System halted\n"));
        ck_assert_str_eq(shutdown.devices[0].name, "b 1");
        ck_assert_str_eq(shutdown.devices[1].name, "c 1");
        ck_assert_str_eq(shutdown.devices[2].name, "a 1");
        ck_assert_uint_eq(shutdown.total_usec, 100);
}
END_TEST

START_TEST(in_parallel_at_once)
{
        _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};

        ck_assert_ptr_null(read_text(&shutdown, "1.000000 a 1: shutdown\n1.000010 b 1: shutdown\n"
                                                "2.000000 c 1: shutdown\n5.000000 d 1: shutdown\n" END));
        for (size_t i = 0; i < shutdown.n; i++)
                ck_assert(shutdown.devices[i].parallel == (i < 2));
        ck_assert_uint_eq(shutdown.devices[0].took_usec, 1000000);
        ck_assert_uint_eq(shutdown.devices[1].took_usec, 999990);
}
END_TEST

START_TEST(nothing_to_show)
{
        _cleanup_kernel_shutdown_ struct kernel_shutdown zeros = {}, endless = {}, many = {};
        _cleanup_memstream_ struct memstream stream = {};
        _cleanup_free_ char *line = calloc(200000, sizeof(char)), *text = NULL;
        const char *reason;
        FILE *file;

        assert_reason("\n \u00a0\r\n>\n", KERNEL_LOG_EMPTY);
        assert_reason("Dear all,\nit is slow.\n", KERNEL_LOG_UNRELATED);
        assert_reason("[    1.000000] Linux version 6.1\n" END, KERNEL_LOG_UNRELATED);
        assert_reason("[    1.000000]\n", KERNEL_LOG_UNRELATED);
        assert_reason("nvme 0: shutdown\nnvme 1: shutdown\n", KERNEL_LOG_UNSTAMPED);
        assert_reason("he said: shutdown\n", KERNEL_LOG_UNRELATED);
        assert_reason("[    1.000000] nvme 0: shutdown\n", KERNEL_LOG_TRUNCATED);
        assert_reason("[    1.000000] nvme 0: shutdown", KERNEL_LOG_TRUNCATED);
        ck_assert_pstr_eq(read_bytes(&zeros, "\x7f\x45\x4c\x46\0\0\n\0", 8), KERNEL_LOG_BINARY);

        /* What follows in a line that is too long is not taken for a line of its own. */
        memset(line, 'x', 200000);
        memcpy(line + 70000, "1.0 nvme 0: shutdown", strlen("1.0 nvme 0: shutdown"));
        ck_assert_pstr_eq(read_bytes(&endless, line, 200000), KERNEL_LOG_UNRELATED);

        file = memstream_open(&stream);
        for (size_t i = 0; i < 16385; i++)
                fprintf(file, "1.%06zu sd %zu: shutdown\n", i, i);
        text = memstream_finish(&stream);
        ck_assert_ptr_nonnull(text);
        file = fmemopen(text, stream.size, "r");
        ck_assert_int_eq(kernel_log_read_file(&many, file, &reason), -E2BIG);
        fclose(file);
}
END_TEST

/* ------ reservations ------ */

#define CONFLICT                                                                                                  \
        "[   61.1] sd 6:0:0:1: reservation conflict\n"                                                            \
        "[   61.1] sd 6:0:0:1: [sdb] tag#30 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=0s\n"     \
        "[   61.1] sd 6:0:0:1: [sdb] tag#30 CDB: Read(10) 28 00 00 00 00 00 00 01 00 00\n"                        \
        "[   61.1] reservation conflict error, dev sdb, sector 0 op 0x0:(READ) flags 0x0 phys_seg 32 prio class 2\n"
#define NVME_CONFLICT(path)                                                                                       \
        "<3>[   61.114412] " path ": Read(0x2) @ LBA 0, 8 blocks, Reservation Conflict (sct 0x0 / sc 0x83) DNR\n" \
        "<3>[   61.114420] reservation conflict error, dev " path                                                 \
        ", sector 0 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2\n"
#define NVME_ERROR(path)                                                                                          \
        "<3>[  163.159802] I/O error, dev " path                                                                  \
        ", sector 16 op 0x0:(READ) flags 0x4080700 phys_seg 4 prio class 2\n"
#define OTHER_ERROR "[   62.1] I/O error, dev sdb, sector 0 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0\n"

static const struct {
        const char *log, *disk;
        bool conflict;
} conflicts[] = {
        {CONFLICT, "sdb", true},
        {CONFLICT "[   62.0] Buffer I/O error on dev sdb, logical block 0, async page read\n", "sdb", true},
        {"<3>[ 7.5] critical nexus error, dev sda, sector 2 op 0x0:(READ) flags 0x1000 phys_seg 1 prio class 0\n",
                "sda", true},
        {"blk_update_request: critical nexus error, dev sdc, sector 2097024\n", "sdc", true},
        {"<3>[    2.151617][  T123] critical nexus error, dev sdd, sector 2 op 0x0:(READ) flags 0x1000 phys_seg 1\n",
                "sdd", true},
        {"<3>critical nexus error, dev sdd, sector 2 op 0x0:(READ) flags 0x1000 phys_seg 1 prio class 0\n", "sdd",
                true},
        /* A multipath device, and a path of an NVMe namespace. */
        {"<3>[ 9.114425] reservation conflict error, dev dm-1, sector 0 op 0x1:(WRITE) flags 0x800 phys_seg 0\n",
                "dm-1", true},
        {NVME_CONFLICT("nvme0n1"), "nvme0n1", true},
        {NVME_CONFLICT("nvme1c12n3"), "nvme1n3", true},
        {NVME_CONFLICT("nvme1c12n3"), "nvme12n3", false},
        {NVME_CONFLICT("nvme0c0n1") NVME_ERROR("nvme0c1n1"), "nvme0n1", false},
        {NVME_ERROR("nvme0c0n1") NVME_CONFLICT("nvme0c1n1"), "nvme0n1", true},
        {"<3>[ 7.5] blk_update_request: critical nexus error, dev nvme0c0n1, sector 0 op 0x0:(READ) flags 0x0\n",
                "nvme0n1", true},
        /* Of another disk, or not any more. */
        {CONFLICT, "sd", false},
        {CONFLICT, "sdbc", false},
        {CONFLICT OTHER_ERROR, "sdb", false},
        {OTHER_ERROR CONFLICT, "sdb", true},
        /* Who asks for reservations has such a line without an error. */
        {"sd 6:0:0:1: reservation conflict\n", "sdb", false},
        {" error, dev sdb, sector 0\n", "sdb", false},
        /* Names that a device has chosen. */
        {"<6>[    2.151617] usb 1-1: Product: reservation conflict error, dev sda, sector 0\n", "sda", false},
        {"<6>[    2.151617] usb 1-1: Product: [ 2.1] critical nexus error, dev sda, sector 0\n", "sda", false},
        {"<6>usb 1-1: Product: kernel: reservation conflict error, dev sda, sector 0\n", "sda", false},
        {"<3>[ 7.5] critical nexus error, dev an-unreasonably-long-name-of-a-disk, sector 0\n",
                "an-unreasonably-long-name-of-a-d", false},
        {"", "sdb", false},
};

START_TEST(reservation)
{
        _cleanup_dm_hash_ struct dm_hash_table *reserved = NULL;

        run_directory_set_up();
        ck_assert_int_eq(setenv("HEADGATE_ROOT", run_directory(), true), 0);
        ck_assert_int_eq(reserved_disks_read(run_fd, &reserved), -ENOENT);
        write_file_and_directories("kernel-log", conflicts[_i].log);
        ck_assert_int_eq(reserved_disks_read(run_fd, &reserved), 0);
        ck_assert((dm_hash_lookup(reserved, conflicts[_i].disk) != NULL) == conflicts[_i].conflict);
        unsetenv("HEADGATE_ROOT");
        run_directory_tear_down();
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("kernel-log");
        TCase *test_case = tcase_create("kernel-log");

        tcase_add_test(test_case, in_parallel);
        tcase_add_test(test_case, one_after_another);
        tcase_add_test(test_case, in_pieces);
        tcase_add_test(test_case, lines);
        tcase_add_test(test_case, lines_of_programs);
        tcase_add_test(test_case, broken_lines);
        tcase_add_test(test_case, devices);
        tcase_add_test(test_case, unrelated_between);
        tcase_add_test(test_case, last_of_several);
        tcase_add_test(test_case, out_of_order);
        tcase_add_test(test_case, in_parallel_at_once);
        tcase_add_test(test_case, nothing_to_show);
        tcase_add_loop_test(test_case, reservation, 0, ELEMENTSOF(conflicts));
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
