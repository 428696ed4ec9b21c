/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What headgate why says of devices, by what sysfs and udev would tell of them, and by images of what lvm2
 * writes. */

#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "images.h"
#include "records.h"
#include "shapes.h"
#include "shared/util.h"
#include "why/why.h"

#define MEBIBYTE (1024U * 1024)

/* /dev/sda, or an image. Strings are copied from `given`; without an image there is nothing on it. */
static struct why ask_device(const char *image, const struct device_facts *given)
{
        _cleanup_sources_ struct sources sources = {.root_fd = -EBADF, .run_fd = -EBADF, .lvm_run_fd = -EBADF};
        _cleanup_free_ char *path = image ? records_image_path(image) : NULL;
        _cleanup_device_facts_ struct device_facts facts = *given;
        struct why explanation = {.sources = &sources, .device = &facts};

        facts.number = makedev(8, 0);
        facts.path = path ?: "/dev/sda";
        facts.kernel_name = strdup("sda");
        facts.upper_map = given->upper_map ? strdup(given->upper_map) : NULL;
        facts.fs_type = given->fs_type ? strdup(given->fs_type) : NULL;
        facts.partition_table = given->partition_table ? strdup(given->partition_table) : NULL;
        if (image)
                ck_assert_int_eq(pv_read(-EBADF, 0, facts.path, &facts.pv), 0);

        ck_assert_int_eq(sources_read(&sources), 0);
        device_explain(&explanation);
        ck_assert_int_eq(explanation.error, 0);
        ck_assert_ptr_nonnull(explanation.answer);
        records_print(&explanation);
        return explanation;
}

static const struct {
        struct device_facts facts;
        const char *condition, *answer, *advice;
} no_pvs[] = {
        {{.in_udev = true}, "no-pv", "/dev/sda is not a PV: it has no LVM label.", NULL},
        {{.in_udev = true, .upper_map = (char *) "md0"}, "md-component",
                "/dev/sda is not a PV: it is a member of md array md0.", "/dev/md0"},
        {{.in_udev = true, .fs_type = (char *) "linux_raid_member"}, "md-component",
                "/dev/sda is not a PV: it is a member of an md array that is not assembled.", "mdadm --assemble"},
        {{.in_udev = true, .upper_map = (char *) "dm-3"}, "multipath-component",
                "/dev/sda is not a PV: it is a path of a multipath device, dm-3.", "multipath -ll"},
        {{.in_udev = true, .multipath_path = true}, "multipath-component",
                "/dev/sda is not a PV: it is a path of a multipath device.", "multipath -ll"},
        {{.in_udev = true, .fs_type = (char *) "crypto_LUKS"}, "luks",
                "/dev/sda is not a PV: it is encrypted (LUKS); its contents are on another device.",
                "cryptsetup open /dev/sda"},
        {{.in_udev = true, .partition_table = (char *) "gpt"}, "partition-table",
                "/dev/sda is not a PV: it has a partition table (gpt).", "for each of its partitions"},
        {{.in_udev = true, .pv.suspended = true}, "suspended",
                "/dev/sda is not a PV: it is suspended: I/O to it waits.", "dmsetup resume"},
        {{.in_udev = true, .size = MEBIBYTE}, "too-small",
                "/dev/sda is not a PV: it has 1048576 bytes, less than devices/pv_min_size.", NULL},
        {{.in_udev = true, .not_ready = true}, "not-ready", "/dev/sda is not a PV: it has no LVM label.", NULL},
        {{.in_udev = true, .rules_disabled = true}, "rules-disabled", "/dev/sda is not a PV: it has no LVM label.",
                NULL},
        {{.in_udev = false}, "not-in-udev", "/dev/sda is not a PV: it has no LVM label.", "udevadm settle"},
};

START_TEST(devices_that_are_no_pvs)
{
        _cleanup_why_ struct why explanation = ask_device(NULL, &no_pvs[_i].facts);

        expect_answer(&explanation, VERDICT_DOWN, "no-pv", no_pvs[_i].answer);
        expect_condition(&explanation, no_pvs[_i].condition);
        if (no_pvs[_i].advice)
                expect_advice(&explanation, no_pvs[_i].advice);
}
END_TEST

START_TEST(locked_device)
{
        const struct device_facts facts = {.in_udev = true, .fs_type = (char *) "crypto_LUKS"};
        _cleanup_why_ struct why locked = {}, opened = {};

        shape_write("etc/crypttab", "#old UUID=6\nother UUID=5\nsecret UUID=6 /key luks\n");
        shape_link("dev/disk/by-uuid/6", "../../sda");
        shape_write("dev/sda", "");
        locked = ask_device(NULL, &facts);
        expect_fact(
                &locked, "Line 3 of /etc/crypttab unlocks secret from UUID=6 (/dev/sda), which is still locked.");
        expect_advice(&locked, "systemctl start systemd-cryptsetup@$(systemd-escape secret)");

        shape_write("dev/mapper/secret", "");
        opened = ask_device(NULL, &facts);
        expect_fact(&opened, "Line 3 of /etc/crypttab unlocks secret from UUID=6 (/dev/sda).");
        ck_assert_uint_eq(opened.advice.n, 0);
}
END_TEST

START_TEST(unreadable_device)
{
        _cleanup_why_ struct why explanation =
                ask_device(NULL, &(struct device_facts){.in_udev = true, .pv.error = -EIO});

        expect_answer(&explanation, VERDICT_UNKNOWN, "unknown", "/dev/sda cannot be read: Input/output error.");
        expect_condition(&explanation, "unreadable");
        expect_fact(&explanation, "; headgate retries after 1, 2, 4, ... 64 seconds.");
}
END_TEST

START_TEST(reserved_device)
{
        _cleanup_why_ struct why explanation =
                ask_device(NULL, &(struct device_facts){.in_udev = true, .pv.error = -EBADE});

        expect_answer(&explanation, VERDICT_UNKNOWN, "unknown",
                "/dev/sda cannot be read: reserved by another host (persistent reservation).");
        expect_condition(&explanation, "unreadable");
        expect_condition(&explanation, "reserved");
        expect_advice(&explanation, "\"sg_persist --read-full-status /dev/sda\"");
        ck_assert(!has_fact(&explanation, "Besides"));
}
END_TEST

START_TEST(pv_without_vg)
{
        _cleanup_why_ struct why explanation = ask_device("orphan-1", &(struct device_facts){.in_udev = true});

        ck_assert_int_eq(explanation.verdict, VERDICT_DOWN);
        ck_assert_str_eq(explanation.state, "no-vg");
        ck_assert_ptr_nonnull(strstr(explanation.answer, " is a PV that belongs to no VG."));
        expect_fact(&explanation, "Its PV UUID is ");
}
END_TEST

static void record_online(const char *pvid)
{
        _cleanup_free_ char *path = string_format("lvm/pvs_online/%s", pvid);

        ck_assert(mkdirat(run_fd, "lvm", 0700) == 0 || errno == EEXIST);
        ck_assert(mkdirat(run_fd, "lvm/pvs_online", 0700) == 0 || errno == EEXIST);
        _cleanup_close_ int fd = openat(run_fd, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        ck_assert_int_eq(write_all(fd, "8:0\n", 4), 0);
}

START_TEST(pv_of_a_vg)
{
        _cleanup_vg_ struct vg *vg = records_read_image("plain-1");
        _cleanup_why_ struct why active = {}, waiting = {};

        record_online(vg->pvs[0].pvid);
        records_save_settled("plain-1", VG_STATUS_ACTIVE, NULL);
        records_activate("plain-1", "linear", 0);
        records_activate("plain-1", "striped", 1);
        records_activate("plain-1", "tagged", 2);
        active = ask_device("plain-1", &(struct device_facts){.in_udev = true});
        ck_assert_int_eq(active.verdict, VERDICT_UP);
        ck_assert_ptr_nonnull(strstr(active.answer, " is a PV of VG plain, which is active."));
        expect_fact(&active, "VG plain is active: 3 of 3 LVs.");
        ck_assert(!strv_has(&active.conditions, "refused"));

        records_see_pv(vg, 0, "plain-1");
        records_save(vg);
        waiting = ask_device("plain-1", &(struct device_facts){.in_udev = true});
        ck_assert_int_eq(waiting.verdict, VERDICT_DOWN);
        ck_assert_ptr_nonnull(strstr(waiting.answer, " is a PV of VG plain, which is waiting."));
        expect_condition(&waiting, "missing-pv");
}
END_TEST

/* It has no metadata, but its VG's other PVs have told of it. */
START_TEST(pv_without_metadata)
{
        _cleanup_vg_ struct vg *vg = records_read_image("copies-2");
        _cleanup_why_ struct why without = {}, with = {};

        without = ask_device("copies-1", &(struct device_facts){.in_udev = true});
        ck_assert_str_eq(without.state, "no-vg");
        ck_assert_ptr_nonnull(strstr(without.answer, "or its VG is unknown: it holds no metadata."));

        records_save(vg);
        with = ask_device("copies-1", &(struct device_facts){.in_udev = true});
        ck_assert_ptr_nonnull(strstr(with.answer, " is a PV of VG copies, which is waiting."));
}
END_TEST

/* Only an area that is in use and empty tells that the PV belongs to no VG. */
START_TEST(unused_pv)
{
        static const struct {
                const char *image;
                bool unused;
        } rows[] = {{"orphan-1", true}, {"ignored-2", false}, {"copies-1", false}, {"plain-1", false}};
        _cleanup_free_ char *path = records_image_path(rows[_i].image);
        _cleanup_pv_ struct pv pv = {};

        ck_assert_int_eq(pv_read(-EBADF, 0, path, &pv), 0);
        ck_assert(pv.found);
        ck_assert(pv.unused == rows[_i].unused);
}
END_TEST

/* A superblock as in the kernel's md_p.h, of which a role says which member it is. */
START_TEST(md_member)
{
        static const struct {
                uint32_t magic, number, disks, role;
        } rows[] = {{0xa92b4efc, 1, 3, 2}, {0xa92b4efc, 1920, 0, 0}, {0xa92b4efd, 1, 0, 0}};
        uint32_t disk[4096] = {};
        uint32_t *super = disk + 1024;
        _cleanup_free_ char *path = string_format("%s/member", run_directory());
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        _cleanup_pv_ struct pv pv = {};

        super[0] = htole32(rows[_i].magic);
        super[92 / 4] = htole32(3);
        super[160 / 4] = htole32(rows[_i].number);
        super[256 / 4] = htole32(2 << 16);
        ck_assert_int_eq(write_all(fd, disk, sizeof(disk)), 0);
        ck_assert_int_eq(pv_read(-EBADF, 0, path, &pv), 0);
        ck_assert(!pv.found && pv.error == 0);
        ck_assert_uint_eq(pv.md_disks, rows[_i].disks);
        ck_assert_uint_eq(pv.md_role, rows[_i].role);
}
END_TEST

/* That a device does not answer is for the guests. */
START_TEST(unreadable_devices)
{
        static const struct {
                int error;
                const char *words;
        } rows[] = {{-ETIMEDOUT, "unresponsive"}, {-EFAULT, "reader crashed"},
                {-EBADE, "reserved by another host (persistent reservation)"}};
        _cleanup_pv_ struct pv pv = {};

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                ck_assert_str_eq(reader_describe_error(rows[i].error), rows[i].words);
        ck_assert_str_eq(reader_describe_error(-EIO), strerror(EIO));
        ck_assert_int_eq(pv_read(-EBADF, 0, "/nonexistent", &pv), 0);
        ck_assert_int_eq(pv.error, -ENOENT);
        ck_assert(!pv.found);
}
END_TEST

START_TEST(pv_that_lvm2_has_not_recorded)
{
        _cleanup_why_ struct why explanation = {};

        shape_write("etc/lvm/lvm.conf", "devices { global_filter = [ \"r|.*|\" ] }\n");
        shape_write("etc/lvm/devices/system.devices", "VERSION=1.1.1\n");
        records_save_settled("plain-1", VG_STATUS_SKIPPED, "lvm2 does not accept its PV /dev/sda.");
        explanation = ask_device("plain-1", &(struct device_facts){.in_udev = true});
        expect_condition(&explanation, "refused");
        expect_condition(&explanation, "filter");
        expect_fact(&explanation, "lvm2 has not recorded this PV");
        expect_fact(&explanation, "devices/global_filter in lvm.conf is [ \"r|.*|\" ].");
        expect_fact(&explanation, "/etc/lvm/devices/system.devices does not list this PV.");
}
END_TEST

START_TEST(pv_on_something_that_lvm2_ignores)
{
        _cleanup_why_ struct why explanation = {};

        records_save_settled("plain-1", VG_STATUS_ACTIVE, NULL);
        explanation = ask_device("plain-1", &(struct device_facts){.in_udev = true, .multipath_path = true});
        expect_condition(&explanation, "multipath-component");
        expect_fact(&explanation, "lvm2 ignores the device: it is a path of a multipath device.");
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("why-device");
        TCase *tcase = tcase_create("why-device");

        tcase_add_checked_fixture(tcase, records_set_up, records_tear_down);
        tcase_add_loop_test(tcase, devices_that_are_no_pvs, 0, ELEMENTSOF(no_pvs));
        tcase_add_test(tcase, locked_device);
        tcase_add_test(tcase, unreadable_device);
        tcase_add_test(tcase, reserved_device);
        tcase_add_test(tcase, pv_without_vg);
        tcase_add_test(tcase, pv_of_a_vg);
        tcase_add_test(tcase, pv_without_metadata);
        tcase_add_loop_test(tcase, unused_pv, 0, 4);
        tcase_add_loop_test(tcase, md_member, 0, 3);
        tcase_add_test(tcase, unreadable_devices);
        tcase_add_test(tcase, pv_that_lvm2_has_not_recorded);
        tcase_add_test(tcase, pv_on_something_that_lvm2_ignores);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
