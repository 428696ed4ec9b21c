/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"
#include "initrd/needed.h"
#include "small-root.h"

/* What is needed, as "VG/LV: by, by; VG/LV: by", or "!" and the obstacle. To be freed by the caller. */
static char *needed_of(int root_fd, char *const devices[], size_t n_devices)
{
        _cleanup_needed_ struct needed needed = {};
        char *text = NULL;
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        int r;

        ck_assert_ptr_nonnull(stream);
        r = needed_find(root_fd, devices, n_devices, &needed);
        if (r == -ENXIO)
                fprintf(stream, "!%s", needed.obstacle);
        else
                ck_assert_int_eq(r, 0);
        for (size_t i = 0; r == 0 && i < needed.n; i++) {
                fprintf(stream, "%s%s:", i > 0 ? "; " : "", needed.lvs[i].name);
                for (size_t j = 0; j < needed.lvs[i].by.n; j++)
                        fprintf(stream, "%s %s", j > 0 ? "," : "", needed.lvs[i].by.strings[j]);
        }
        fclose(stream);
        return text;
}

/* A tree with some lines added, and what it needs. */
static void check_tree(const char *name, const char *const lines[], const char *expected)
{
        _cleanup_free_ char *seen = NULL;
        int root_fd = small_root_set_up(name);

        for (size_t i = 0; lines && lines[i]; i++)
                small_root_add(lines[i]);
        seen = needed_of(root_fd, NULL, 0);
        ck_assert_str_eq(seen, expected);
        small_root_tear_down();
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(shapes)
{
        check_tree("partition", NULL, "");
        check_tree("lv", NULL, "debian-vg/root: /; debian-vg/swap_1: resume");
        check_tree("luks-on-lv", NULL, "vg/crypt: /");
        check_tree("lv-on-luks", NULL, "inner/root: /; outer/crypt: /");
        check_tree("usr-elsewhere", NULL, "left/leg: /; programs/usr: /usr; right/leg: /; sleep/swap: resume");
        check_tree("btrfs", NULL, "one/lv: /; two/lv: /");
}
END_TEST

/* Each source counts, not only what is mounted. */
START_TEST(sources)
{
        check_tree("lv", LINES("etc/fstab = /dev/mapper/data-srv /usr ext4 defaults 0 2"),
                "data/srv: /usr; debian-vg/root: /; debian-vg/swap_1: resume");
        check_tree("lv",
                LINES("etc/fstab = /dev/mapper/data-srv /srv ext4 noatime,x-initrd.mount 0 2",
                        "etc/fstab = nas:/srv /nas nfs4 x-initrd.mount 0 2"),
                "data/srv: other; debian-vg/root: /; debian-vg/swap_1: resume");
        check_tree("lv", LINES("proc/cmdline = \"a=b resume=/dev/dm-1\" resume='/dev/mapper/data-srv'"),
                "data/srv: resume; debian-vg/root: /; debian-vg/swap_1: resume");
        check_tree("lv", LINES("proc/cmdline = root=\"/dev/mapper/data-srv\""),
                "data/srv: /; debian-vg/root: /; debian-vg/swap_1: resume");
        check_tree("lv",
                LINES("dev/link -> /dev/mapper/data-srv", "etc/initramfs-tools/initramfs.conf = ROOT=/dev/link"),
                "data/srv: /; debian-vg/root: /; debian-vg/swap_1: resume");
        check_tree("lv", LINES("etc/initramfs-tools/conf.d/resume = RESUME=/dev/mapper/data-srv"),
                "data/srv: resume; debian-vg/root: /; debian-vg/swap_1: resume");
        check_tree("lv",
                LINES("etc/initramfs-tools/initramfs.conf = RESUME=/dev/dm-2",
                        "usr/share/initramfs-tools/conf.d/a = RESUME=/dev/nothing",
                        "etc/initramfs-tools/conf.d/b = # RESUME=none",
                        "etc/initramfs-tools/conf.d/d.dpkg-old = RESUME=none",
                        "etc/initramfs-tools/conf.d/c = RESUME='254:2' # quoted"),
                "data/srv: resume; debian-vg/root: /; debian-vg/swap_1: resume");
        check_tree("lv", LINES("etc/initramfs-tools/conf.d/resume = RESUME=auto"),
                "debian-vg/root: /; debian-vg/swap_1: resume");
        check_tree("lv",
                LINES("etc/initramfs-tools/initramfs.conf = RESUME=/dev/dm-2",
                        "etc/initramfs-tools/conf.d/resume = RESUME=none"),
                "debian-vg/root: /");
}
END_TEST

/* Those of dracut resume from what the command line names, and from no other swap. Where initramfs-tools is run for a new kernel,
 * it counts, and an update-initramfs of dracut's does not. */
START_TEST(maker_counts)
{
        check_tree("lv", LINES("usr/bin/dracut", "usr/sbin/update-initramfs", "etc/kernel/postinst.d/dracut"),
                "debian-vg/root: /");
        check_tree("lv", LINES("usr/bin/dracut", "proc/cmdline = resume=/dev/dm-2"),
                "data/srv: resume; debian-vg/root: /");
        check_tree("lv",
                LINES("usr/bin/dracut", "etc/kernel/postinst.d/dracut", "usr/sbin/mkinitramfs",
                        "etc/kernel/postinst.d/initramfs-tools"),
                "debian-vg/root: /; debian-vg/swap_1: resume");
        check_tree("lv", LINES("usr/bin/dracut", "usr/sbin/mkinitramfs", "etc/kernel/postinst.d/dracut"),
                "debian-vg/root: /");
        check_tree("lv", LINES("usr/sbin/mkinitramfs"), "debian-vg/root: /; debian-vg/swap_1: resume");
}
END_TEST

/* An initrd does not wait for ever for what it resumes from. */
START_TEST(what_resume_lacks_is_left_out)
{
        check_tree("partition",
                LINES("proc/swaps = /swapfile  file  1048572  0  -2",
                        "proc/swaps = /dev/zram0  partition  1  0  1",
                        "etc/initramfs-tools/conf.d/resume = RESUME=UUID=not-there"),
                "");
}
END_TEST

START_TEST(what_root_lacks_is_an_obstacle)
{
        check_tree("lv", LINES("etc/fstab = UUID=not-there /usr ext4 defaults 0 2"),
                "!/usr needs UUID=not-there, which does not exist");
        check_tree("lv", LINES("etc/fstab = nas:/usr /usr nfs4 defaults 0 0"),
                "!/usr needs nas:/usr, which is not a block device");
        check_tree("lv", LINES("etc/initramfs-tools/initramfs.conf = ROOT=/dev/nfs"),
                "!/ needs /dev/nfs, which does not exist");
        check_tree("lv", LINES("proc/self/mountinfo = 90 1 0:40 / / rw - overlay overlay rw,lowerdir=/l"),
                "!/ is of type overlay, without a block device");
        check_tree("lv", LINES("proc/self/mountinfo = 90 1 0:40 / /usr rw - zfs pool/usr rw"),
                "!/usr is of type zfs, without a block device");
        check_tree("lv", LINES("proc/self/mountinfo = 90 1 8:99 / / rw - ext4 /dev/sdq3 rw"),
                "!/ needs 8:99, and its lower devices are not visible");
        check_tree("lv",
                LINES("sys/dev/block/7:0 -> ../../devices/virtual/block/loop0",
                        "sys/devices/virtual/block/loop0/loop/backing_file = /srv/root.img",
                        "proc/self/mountinfo = 90 1 7:0 / / rw - ext4 /dev/loop0 rw"),
                "!/ needs 7:0, and its lower devices are not visible");
        check_tree("lv",
                LINES("sys/dev/block/259:9 -> ../../devices/virtual/block/md_d9/md_d9p1",
                        "sys/devices/virtual/block/md_d9/md_d9p1/partition = 1",
                        "proc/self/mountinfo = 90 1 259:9 / / rw - ext4 /dev/md_d9p1 rw"),
                "!/ needs 259:9, and its lower devices are not visible");
}
END_TEST

START_TEST(no_mount_point_is_an_obstacle)
{
        _cleanup_free_ char *seen = NULL;
        int root_fd = small_root_set_up("lv");

        small_root_empty("proc/self/mountinfo");
        small_root_add("proc/self/mountinfo = 22 1 0:21 / /proc rw - proc proc rw");
        seen = needed_of(root_fd, NULL, 0);
        ck_assert_str_eq(seen, "!/ is not a mount point");
        small_root_tear_down();
}
END_TEST

/* Device-mapper takes any name, and scripts will take it for that of a VG. */
START_TEST(name_that_no_vg_can_have_is_an_obstacle)
{
        static const char *const names[] = {
                "$(reboot)-root", "--all-root", "a\"b-root", "a b-root", "..-root", "*-root"};

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_free_ char *line = NULL, *seen = NULL;
                int root_fd = small_root_set_up("lv");

                line = string_format("sys/devices/virtual/block/dm-0/dm/name = %s", names[i]);
                small_root_empty("sys/devices/virtual/block/dm-0/dm/name");
                small_root_add(line);
                seen = needed_of(root_fd, NULL, 0);
                ck_assert_str_eq(seen, "!/ needs 254:0, and its lower devices are not visible");
                small_root_tear_down();
        }
}
END_TEST

START_TEST(further_devices)
{
        char *there[] = {(char[]){"/dev/mapper/data-srv"}, (char[]){"/dev/sda1"}};
        char *not_there[] = {(char[]){"PARTLABEL=gone"}};
        _cleanup_free_ char *with = NULL, *without = NULL;
        int root_fd = small_root_set_up("lv");

        with = needed_of(root_fd, there, ELEMENTSOF(there));
        ck_assert_str_eq(with, "data/srv: other; debian-vg/root: /; debian-vg/swap_1: resume");
        without = needed_of(root_fd, not_there, ELEMENTSOF(not_there));
        ck_assert_str_eq(without, "!other needs PARTLABEL=gone, which does not exist");
        small_root_tear_down();
}
END_TEST

/* What is renamed may be anywhere on the machine. */
static void *rename_for_ever(void *userdata)
{
        const atomic_bool *over = userdata;
        char one[] = "/tmp/headgate-test-XXXXXX", other[] = "/tmp/headgate-test-XXXXXX";

        ck_assert_ptr_nonnull(mkdtemp(one));
        ck_assert_ptr_nonnull(mkdtemp(other));
        while (!atomic_load(over))
                (void) renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
        rmdir(one);
        rmdir(other);
        return NULL;
}

START_TEST(while_others_rename)
{
        int root_fd = small_root_set_up("lv");
        char *devices[] = {(char[]){"/dev/link"}};
        atomic_bool over = false;
        pthread_t thread;

        small_root_add("dev/link -> ../dev/../dev/../dev/mapper/data-srv");
        ck_assert_int_eq(pthread_create(&thread, NULL, rename_for_ever, &over), 0);
        for (unsigned int i = 0; i < 500; i++) {
                _cleanup_free_ char *needed = needed_of(root_fd, devices, ELEMENTSOF(devices));

                ck_assert_str_eq(needed, "data/srv: other; debian-vg/root: /; debian-vg/swap_1: resume");
        }
        atomic_store(&over, true);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        small_root_tear_down();
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("needed");
        TCase *test_case = tcase_create("needed");

        tcase_add_test(test_case, shapes);
        tcase_add_test(test_case, sources);
        tcase_add_test(test_case, maker_counts);
        tcase_add_test(test_case, what_resume_lacks_is_left_out);
        tcase_add_test(test_case, what_root_lacks_is_an_obstacle);
        tcase_add_test(test_case, no_mount_point_is_an_obstacle);
        tcase_add_test(test_case, name_that_no_vg_can_have_is_an_obstacle);
        tcase_add_test(test_case, further_devices);
        tcase_add_test(test_case, while_others_rename);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
