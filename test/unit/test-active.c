/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/dm-devices.h"

#include "fixture.h"
#include "shapes.h"
#include "shared/util.h"

#define VGID "0cS1M2lDXJBHtJUuWX49V028SUJ8WW34"
#define LVID "z79jWR6SSyUoz7qQm1X430yIou2opOFA"
#define OTHER "7rfrggA9q4vcstPbJe364DfbvXIQegg7"

/* Whether the LV counts as active when there is a device of that name and UUID, as "dmsetup info" shows it. */
static const struct {
        const char *name;
        const char *uuid;
        bool active;
} devices[] = {
        {"vg-lv", "LVM-" VGID LVID, true},
        /* A thin pool without LVs has one device; with LVs, -tpool is for these, and -pool for itself. */
        {"vg-lv", "LVM-" VGID LVID "-tpool", true},
        {"vg-lv-tpool", "LVM-" VGID LVID "-tpool", false},
        {"vg-lv", "LVM-" VGID LVID "-pool", true},
        {"vg-lv-vpool", "LVM-" VGID LVID "-vpool", true},
        {"vg-lv_tdata", "LVM-" VGID LVID "-tdata", false},
        {"vg-lv-cow", "LVM-" VGID LVID "-cow", false},
        {"vg-other", "LVM-" VGID OTHER, false},
        {"other-lv", "LVM-" OTHER LVID, false},
        {"luks", "CRYPT-LUKS2-" VGID LVID, false},
};

START_TEST(lvs_are_active)
{
        _cleanup_dm_devices_ struct dm_devices *active = NULL;
        _cleanup_free_ char *root = string_format("%s/root", run_directory());
        struct vg_lv lv = {.lvid = LVID};
        struct vg vg = {.vgid = VGID, .lvs = &lv, .n_lvs = 1};

        ck_assert_int_eq(setenv("HEADGATE_ROOT", root, true), 0);
        shape_dm(0, devices[_i].name, devices[_i].uuid, "linear");
        ck_assert_int_eq(dm_devices_get(&active), 0);
        dm_devices_mark_active(active, &vg);
        ck_assert_int_eq(lv.active, devices[_i].active);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("active");
        TCase *tcase = tcase_create("active");

        tcase_add_checked_fixture(tcase, shape_set_up, shape_tear_down);
        tcase_add_loop_test(tcase, lvs_are_active, 0, ELEMENTSOF(devices));
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
