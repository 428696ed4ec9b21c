/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which devices may become paths of multipath devices, and whether multipathd makes these. */

#include <check.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "shared/kernel.h"
#include "shared/udev.h"
#include "shared/util.h"

#define PCI "/sys/devices/pci0000:00/0000:00:05.0/"

static const struct row {
        const char *title, *mark, *bus, *location;
        enum path_kind kind;
} rows[] = {
        {"Fibre Channel", "0", "scsi", PCI "host2/rport-2:0-1/target2:0:0/2:0:0:1/block/sdb", PATH_OF_FABRIC},
        {"iSCSI", "0", "scsi", "/sys/devices/platform/host2/session1/target2:0:0/2:0:0:1/block/sdb",
                PATH_OF_FABRIC},
        {"NVMe over fabrics", "0", NULL, "/sys/devices/virtual/nvme-fabrics/ctl/nvme0/nvme0n1", PATH_OF_FABRIC},
        {"local NVMe", "0", NULL, PCI "nvme/nvme0/nvme0n1", PATH_NEVER},
        {"SAS", "0", "scsi", PCI "host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0/block/sda", PATH_OF_TWINS},
        {"ATA", "0", "ata", PCI "ata1/host0/target0:0:0/0:0:0:0/block/sda", PATH_NEVER},
        {"USB", "0", "usb", PCI "usb1/1-1/1-1:1.0/host6/target6:0:0/6:0:0:0/block/sda", PATH_NEVER},
        {"virtio", "0", "scsi", PCI "virtio1/host0/target0:0:0/0:0:0:1/block/sda", PATH_NEVER},
        {"multipath(8) was not asked", NULL, "scsi", PCI "host2/rport-2:0-1/2:0:0:1/block/sdb", PATH_NEVER},
        {"path on a fabric", "1", "scsi", PCI "host2/rport-2:0-1/2:0:0:1/block/sdb", PATH_MARKED},
        {"path on something else", "1", "ata", PCI "ata1/host0/target0:0:0/0:0:0:0/block/sda", PATH_MARKED},
};

START_TEST(kinds)
{
        const struct row *row = &rows[_i];

        ck_assert_msg(path_get_kind(row->mark, row->bus, row->location) == row->kind, "%s", row->title);
}
END_TEST

/* The run directory of the fixture serves as root. */
START_TEST(multipathd_runs)
{
        write_file_and_directories("etc/multipath.conf", "defaults {\n find_multipaths yes\n}\n");
        ck_assert(!multipath_finds_new(run_fd, true));
        write_file_and_directories("etc/systemd/system/sysinit.target.wants/multipathd.service", "");
        /* It was stopped, or is still to be started. */
        ck_assert(!multipath_finds_new(run_fd, false));
        ck_assert(multipath_finds_new(run_fd, true));
        write_file_and_directories("run/multipathd.pid", "229");
        ck_assert(multipath_finds_new(run_fd, false));
        ck_assert(!multipath_finds_new(-EBADF, true));
}
END_TEST

static const struct setting {
        const char *text;
        bool finds;
} settings[] = {
        {"", false},
        {"defaults {\n\tfind_multipaths yes\n}\n", true},
        {"defaults {\n find_multipaths \"on\"\r\n}\n", true},
        {"defaults {\n find_multipaths 1 # two\n}\n", true},
        {"defaults {\n find_multipaths\t\"yes\"", true},
        {"defaults {\n find_multipaths yesterday\n}\n", false},
        {"defaults {\n find_multipaths strict\n}\n", false},
        {"defaults {\n find_multipaths greedy\n}\n", false},
        {"defaults {\n find_multipaths smart\n}\n", false},
        {"defaults {\n find_multipaths no\n}\n", false},
        {"defaults {\n find_multipaths off\n}\n", false},
        {"defaults {\n find_multipaths 0\n}\n", false},
        {"defaults {\n find_multipaths_timeout 1\n}\n", false},
        {"defaults {\n#find_multipaths yes\n!find_multipaths yes\n}\n", false},
        {"find_multipaths yes\nfind_multipaths", true},
        {"find_multipaths yes\nfind_multipaths no", false},
        {"find_multipaths no\nfind_multipaths yes", true},
};

START_TEST(multipath_conf)
{
        const struct setting *setting = &settings[_i];

        write_file_and_directories("run/multipathd.pid", "229");
        write_file_and_directories("etc/multipath.conf", setting->text);
        ck_assert_int_eq(multipath_finds_new(run_fd, false), setting->finds);

        /* These are read after it, in their order; others are none of multipathd's. */
        write_file_and_directories("etc/multipath/conf.d/a.conf", "find_multipaths no\n");
        write_file_and_directories("etc/multipath/conf.d/b.conf", "find_multipaths yes\n");
        write_file_and_directories("etc/multipath/conf.d/c.conf.old", "find_multipaths no\n");
        write_file_and_directories("etc/multipath/conf.d/yes", "find_multipaths no\n");
        ck_assert(multipath_finds_new(run_fd, false));
}
END_TEST

START_TEST(absent_device_is_no_path)
{
        struct storage_path path = {.kind = PATH_MARKED, .wwid = strdup("3600a")};

        storage_path_read(run_fd, makedev(4095, 1), &path);
        ck_assert_ptr_null(path.wwid);
        ck_assert_int_eq(path.kind, PATH_NEVER);
}
END_TEST

START_TEST(upper_map)
{
        _cleanup_free_ char *map = NULL;

        ck_assert_int_eq(sysfs_read_upper_map(run_fd, makedev(8, 16), &map), 0);
        write_file_and_directories("sys/dev/block/8:16/dm/uuid", "mpath-3600a\n");
        write_file_and_directories("sys/dev/block/8:16/holders/dm-0/dm/uuid", "LVM-abc\n");
        ck_assert_int_eq(sysfs_read_upper_map(run_fd, makedev(8, 16), &map), 0);
        write_file_and_directories("sys/dev/block/8:16/holders/dm-1/dm/uuid", "mpath-3600a\n");
        ck_assert_int_eq(sysfs_read_upper_map(run_fd, makedev(8, 16), &map), 1);
        ck_assert_str_eq(map, "dm-1");
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("multipath");
        TCase *tcase = tcase_create("multipath");

        tcase_add_checked_fixture(tcase, run_directory_set_up, run_directory_tear_down);
        tcase_add_loop_test(tcase, kinds, 0, ELEMENTSOF(rows));
        tcase_add_test(tcase, multipathd_runs);
        tcase_add_loop_test(tcase, multipath_conf, 0, ELEMENTSOF(settings));
        tcase_add_test(tcase, absent_device_is_no_path);
        tcase_add_test(tcase, upper_map);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
