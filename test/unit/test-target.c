/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a name on the command line of headgate deactivate stands for. */

#include "deactivate/target.h"

#include <sys/sysmacros.h>

#include "fixture.h"
#include "shapes.h"
#include "shared/util.h"

#define LV_UUID "LVM-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define POOL_UUID "LVM-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaacccccccccccccccccccccccccccccccc"

static struct target parse(const char *name)
{
        struct target target;

        ck_assert_msg(target_parse(name, &target) == 0, "%s", name);
        ck_assert_str_eq(target.name, name);
        return target;
}

static const struct {
        const char *name, *vg, *lv;
} lvs[] = {
        {"data", "data", NULL},
        {"data/one", "data", "one"},
        {"/dev/no-such-vg/one", "no-such-vg", "one"},
        {"/dev/mapper/no--such--vg-one", "no-such-vg", "one"},
        {"/dev/disk/by-id/dm-name-no--such--vg-one", "no-such-vg", "one"},
};

START_TEST(names_of_lvs)
{
        struct target target = parse(lvs[_i].name);

        ck_assert_str_eq(target.vg, lvs[_i].vg);
        ck_assert_pstr_eq(target.lv, lvs[_i].lv);
        ck_assert_uint_eq(target.number, 0);
        target_done(&target);
}
END_TEST

static const struct {
        const char *name;
        int error;
} bad_names[] = {
        {"", -EINVAL},
        {"-x", -EINVAL},
        {"a b", -EINVAL},
        {"data/", -EINVAL},
        {"data/one/two", -EINVAL},
        {"data/../one", -EINVAL},
        {"/dev/no-such-device", -ENOENT},
        {"/dev/no-such-vg/", -ENOENT},
        {"/dev/a/b/c", -ENOENT},
        {"/dev/mapper/nothing", -ENOENT},
        {"/nowhere/one", -ENOENT},
        {"./one", -ENOENT},
        {"../one", -ENOENT},
        {"/dev/null/one", -ENOTDIR},
        {"/dev/null", -ENOTBLK},
        {"/", -ENOTBLK},
};

START_TEST(what_is_no_name)
{
        struct target target;

        ck_assert_int_eq(target_parse(bad_names[_i].name, &target), bad_names[_i].error);
}
END_TEST

START_TEST(names_in_a_tree)
{
        static const struct {
                const char *shape, *name, *node; /* that is selected; NULL if it is not found */
        } cases[] = {
                {"linear", "data", "data-one"},
                {"linear", "data/two", "data-two"},
                {"linear", "data/dash-ed", "data-dash--ed"},
                {"linear", "data/three", NULL},
                {"linear", "other", NULL},
                {"thin", "data/pool", "data-pool"},
                {"thin", "data/pool_tdata", NULL},
                {"raid1", "data/twice", "data-twice"},
                {"raid1", "data/twice_rimage_0", NULL},
                {"snapshot", "data/snap", "data-origin"},
                {"lv_on_luks", "opened", NULL},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_tree_ struct tree *tree = shape_read_captured(cases[i].shape);
                struct target target = parse(cases[i].name);

                target_select(&target, tree);
                ck_assert_msg(target.found == (cases[i].node != NULL), "%s", cases[i].name);
                if (cases[i].node)
                        ck_assert(shape_node(tree, cases[i].node)->selected);
                target_done(&target);
        }
}
END_TEST

/* A device by its number: with a disk goes what lies on it, if there is anything. */
START_TEST(devices_in_a_tree)
{
        _cleanup_tree_ struct tree *tree = shape_read_captured("linear");
        struct target target = {.name = "/dev/sda", .number = shape_node(tree, "sda")->number};

        target_select(&target, tree);
        ck_assert(target.found);
        ck_assert(shape_node(tree, "data-one")->selected);

        target.number = shape_node(tree, "sdc")->number;
        target_select(&target, tree);
        ck_assert(!target.found);
        target.number = makedev(1, 1);
        target_select(&target, tree);
        ck_assert(!target.found);
}
END_TEST

/* Whatever a path in /dev leads to, the device is the one that has the name in device-mapper. */
START_TEST(device_mapper_knows_its_paths)
{
        static const struct {
                const char *name, *dm_name;
                unsigned int minor_number;
        } cases[] = {
                {"/dev/data/one", "data-one", 1},
                {"/dev/mapper/data-one", "data-one", 1},
                {"/dev/data/dash-ed", "data-dash--ed", 2},
                {"/dev/mapper/opened", "opened", 3},
        };

        shape_dm(1, "data-one", LV_UUID, "linear");
        shape_dm(2, "data-dash--ed", LV_UUID, "linear");
        shape_dm(3, "opened", "CRYPT-LUKS2-x-opened", "crypt");
        ck_assert_int_eq(setenv("HEADGATE_ROOT", path_format("%s/root", run_directory()).text, true), 0);
        FOREACH_ELEMENT(each, cases) {
                _cleanup_tree_ struct tree *tree = shape_read();
                struct target target = parse(each->name);

                ck_assert_pstr_eq(target.dm_name, each->dm_name);
                ck_assert_uint_eq(target.number, makedev(253, each->minor_number));
                ck_assert_ptr_eq(target_find_node(&target, tree), shape_node(tree, each->dm_name));
                target_done(&target);
        }
        unsetenv("HEADGATE_ROOT");
}
END_TEST

static const char *const layers[] = {"tpool", "vpool"};

/* A pool that is not active itself is selected by its name only if no LV uses what is left of it. */
START_TEST(pools_that_are_only_layers)
{
        struct target target = parse("data/pool");
        struct path name = path_format("data-pool-%s", layers[_i]),
                    uuid = path_format(POOL_UUID "-%s", layers[_i]);

        shape_dm(1, name.text, uuid.text, "thin-pool");
        for (int has_lv = 0; has_lv <= 1; has_lv++) {
                if (has_lv) {
                        shape_dm(2, "data-one", LV_UUID, "thin");
                        shape_hold("dm-1", "dm-2");
                }
                _cleanup_tree_ struct tree *tree = shape_read();
                target_select(&target, tree);
                ck_assert_int_eq(target.found, !has_lv);
                ck_assert_int_eq(target_find_node(&target, tree)->selected, !has_lv);
                ck_assert(!has_lv || !shape_node(tree, "data-one")->selected);
        }
        target_done(&target);
}
END_TEST

/* Any of this machine. NULL without one. */
static char *find_block_device(void)
{
        _cleanup_closedir_ DIR *directory = opendir("/dev");

        for (struct dirent *entry; directory && (entry = readdir(directory));)
                if (entry->d_type == DT_BLK)
                        return string_format("/dev/%s", entry->d_name);
        return NULL;
}

/* A link that udev has no record of may lead to whatever has the number by now. */
START_TEST(stale_links)
{
        char folder[] = "/tmp/headgate-target-XXXXXX";
        struct path link;
        struct target target;
        _cleanup_free_ char *device = find_block_device();

        if (!device)
                return;
        ck_assert(mkdtemp(folder));
        link = path_format("%s/link", folder);
        ck_assert_int_eq(symlink(device, link.text), 0);
        ck_assert_int_eq(target_parse(link.text, &target), -ESTALE);
        ck_assert_int_eq(unlink(link.text), 0);
        ck_assert_int_eq(rmdir(folder), 0);

        ck_assert_int_eq(target_parse(device, &target), 0);
        ck_assert(target.number != 0);
        target_done(&target);
}
END_TEST

START_TEST(what_is_down_already)
{
        static const struct {
                const char *name;
                bool is_down;
        } cases[] = {
                {"data", true},
                {"data/one", true},
                {"data/snap.1", true},
                {"data/two", false},
                {"other", false},
                {"other/one", false},
                {"broken", false},
        };
        const struct config config = {.backup_dir = (char *) "/etc/lvm/backup"};

        shape_write("etc/lvm/backup/data",
                "data {\nid = \"x\"\nlogical_volumes {\none {\nid = \"y\"\n}\nsnap.1 {\nid = \"z\"\n}\n}\n}\n");
        shape_write("etc/lvm/backup/broken", "broken {\n");
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                struct target target = parse(cases[i].name);

                ck_assert_msg(
                        target_is_down(&target, shape_root(), &config) == cases[i].is_down, "%s", target.name);
                target_done(&target);
        }
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("target");
        TCase *tcase = tcase_create("target");

        tcase_add_loop_test(tcase, names_of_lvs, 0, ELEMENTSOF(lvs));
        tcase_add_loop_test(tcase, what_is_no_name, 0, ELEMENTSOF(bad_names));
        tcase_add_test(tcase, names_in_a_tree);
        tcase_add_test(tcase, devices_in_a_tree);
        tcase_add_test(tcase, stale_links);
        suite_add_tcase(suite, tcase);

        tcase = tcase_create("backups");
        tcase_add_checked_fixture(tcase, shape_set_up, shape_tear_down);
        tcase_add_test(tcase, what_is_down_already);
        tcase_add_test(tcase, device_mapper_knows_its_paths);
        tcase_add_loop_test(tcase, pools_that_are_only_layers, 0, ELEMENTSOF(layers));
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
