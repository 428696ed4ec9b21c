/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What goes when somebody names something, on captured trees. */

#include "teardown/scope.h"

#include "fixture.h"
#include "shapes.h"
#include "shared/util.h"

#define NAMES_MAX 12

struct expectation {
        const char *shape;
        const char *name;                /* of a node; NULL for all that is not in use */
        const char *vg;                  /* instead of a node */
        const char *selected[NAMES_MAX]; /* of what can be removed, all that is selected */
};

static const struct expectation expectations[] = {
        /* What only others lie on stays. */
        {"linear", "data-two", NULL, {"data-two"}},
        {"linear", NULL, "data", {"data-one", "data-two", "data-dash--ed"}},
        {"linear", NULL, NULL, {"data-two", "data-dash--ed"}},
        {"linear", "sdb", NULL, {"data-two"}},
        /* The legs of a raid LV are there for it; a leg cannot go without it. */
        {"raid1", "data-twice", NULL,
                {"data-twice", "data-twice_rimage_0", "data-twice_rimage_1", "data-twice_rmeta_0",
                        "data-twice_rmeta_1"}},
        {"raid1", "sda", NULL,
                {"data-twice", "data-twice_rimage_0", "data-twice_rimage_1", "data-twice_rmeta_0",
                        "data-twice_rmeta_1"}},
        {"raid1", NULL, NULL, {NULL}},
        {"mirror", "data-twice", NULL,
                {"data-twice", "data-twice_mimage_0", "data-twice_mimage_1", "data-twice_mlog"}},
        {"cache", "data-slow", NULL,
                {"data-slow", "data-slow_corig", "data-fast_cpool_cdata", "data-fast_cpool_cmeta"}},
        {"writecache", "data-slow", NULL, {"data-slow", "data-slow_wcorig", "data-fast_cvol"}},
        /* An origin goes with its snapshots, and a snapshot with its origin. */
        {"snapshot", "data-origin", NULL,
                {"data-origin", "data-origin-real", "data-snap", "data-snap-cow", "data-other", "data-other-cow"}},
        {"snapshot", "data-other", NULL,
                {"data-origin", "data-origin-real", "data-snap", "data-snap-cow", "data-other", "data-other-cow"}},
        {"snapshot", NULL, NULL, {NULL}},
        /* Others need the pool. */
        {"thin", "data-two", NULL, {"data-two"}},
        /* Not what lies below, nor what is another VG's. */
        {"luks_on_lv", "data-secret", NULL, {"opened", "data-secret"}},
        {"luks_on_lv", "opened", NULL, {"opened"}},
        {"lv_on_luks", NULL, "data", {"data-one"}},
        {"md_on_lvs", "md127", NULL, {"md127"}},
        {"md_on_lvs", NULL, "left", {"md127", "left-half"}},
        {"lvm_on_md", "md127", NULL, {"data-one", "md127"}},
        {"nested", NULL, "inner", {"inner-one"}},
        {"nested", NULL, "outer", {"inner-one", "outer-pv"}},
        {"multipath", "mpatha", NULL, {"data-one", "mpatha-part1", "mpatha"}},
        /* What lies on a mount is in use as long as that is there. */
        {"loop", NULL, "outer", {"outer-files"}},
        {"loop", "loop3", NULL, {"inner-one", "loop3"}},
        {"loop", NULL, NULL, {NULL}},
        {"swap", NULL, NULL, {NULL}},
        {"swap", "data-swap", NULL, {"data-swap"}},
        {"nested", NULL, NULL, {NULL}},
        {"strange", NULL, NULL, {"notable", "loaded", "suspended"}},
};

static void select_expected(const struct expectation *expectation, struct tree *tree)
{
        if (expectation->vg)
                ck_assert_int_eq(selection_add(tree, NULL, expectation->vg), true);
        else if (expectation->name)
                ck_assert_int_eq(selection_add(tree, shape_node(tree, expectation->name), NULL), true);
        else
                selection_add_unused(tree);
        selection_finish(tree);
}

static bool is_expected(const struct expectation *expectation, const struct tree_node *node)
{
        for (size_t i = 0; i < NAMES_MAX && expectation->selected[i]; i++)
                if (streq(expectation->selected[i], node->name))
                        return true;
        return false;
}

START_TEST(what_goes)
{
        const struct expectation *expectation = &expectations[_i];
        _cleanup_tree_ struct tree *tree = shape_read_captured(expectation->shape);
        size_t n_selected = 0;

        select_expected(expectation, tree);
        for (size_t i = 0; i < tree->nodes.n; i++) {
                const struct tree_node *node = tree->nodes.nodes[i];

                if (!tree_kind_is_removable(node->kind))
                        continue;
                ck_assert_msg(node->selected == is_expected(expectation, node), "%s, %s: %s %s",
                        expectation->shape, expectation->name ?: expectation->vg ?: "all", node->name,
                        node->selected ? "goes" : "stays");
                ck_assert(tree_node_is_ours(node) == node->selected);
                n_selected += node->selected;
        }
        for (size_t i = 0; i < NAMES_MAX && expectation->selected[i]; i++)
                n_selected--;
        ck_assert_uint_eq(n_selected, 0);
}
END_TEST

/* What is left alone already stays, and is known to have been asked for. */
START_TEST(root_is_not_taken)
{
        _cleanup_tree_ struct tree *tree = shape_read_captured("debian");
        const struct tree_node *root = shape_node(tree, "debian--vg-root");

        ck_assert(selection_add(tree, NULL, "debian-vg"));
        selection_finish(tree);
        ck_assert(root->selected);
        ck_assert_str_eq(root->skip_reason, "/ stays mounted");
        ck_assert(tree_node_is_ours(shape_node(tree, "debian--vg-home")));
}
END_TEST

START_TEST(a_vg_that_is_not_there)
{
        _cleanup_tree_ struct tree *tree = shape_read_captured("linear");

        ck_assert(!selection_add(tree, NULL, "other"));
        selection_finish(tree);
        ck_assert(!tree_node_is_ours(shape_node(tree, "data-two")));
}
END_TEST

/* With what is refused stays what lies on it, and what is only there for it. */
START_TEST(what_is_refused)
{
        _cleanup_tree_ struct tree *nested = shape_read_captured("nested"), *raid = shape_read_captured("raid1");

        ck_assert(selection_add(nested, shape_node(nested, "sda"), NULL));
        selection_refuse(shape_node(nested, "outer-pv"), "because");
        selection_finish(nested);
        ck_assert_str_eq(shape_node(nested, "outer-pv")->skip_reason, "because");
        ck_assert_str_eq(shape_node(nested, "inner-one")->skip_reason, "because");

        ck_assert(selection_add(raid, shape_node(raid, "data-twice"), NULL));
        selection_refuse(shape_node(raid, "data-twice"), "because");
        selection_finish(raid);
        ck_assert(!tree_node_is_ours(shape_node(raid, "data-twice_rimage_0")));
}
END_TEST

/* Two snapshots of one origin. */
static void make_snapshots(void)
{
#define UUID "LVM-ZmCeQpJwOfVQ0JFyKkbqDVGiHdpnfaJ2"
        shape_device("sda", 8, 0);
        shape_dm(0, "data-origin-real", UUID "oooooooooooooooooooooooooooooooo-real", "linear");
        shape_dm(1, "data-origin", UUID "oooooooooooooooooooooooooooooooo", "snapshot-origin");
        shape_dm(2, "data-snap-cow", UUID "ssssssssssssssssssssssssssssssss-cow", "linear");
        shape_dm(3, "data-snap", UUID "ssssssssssssssssssssssssssssssss", "snapshot");
        shape_dm(4, "data-other-cow", UUID "tttttttttttttttttttttttttttttttt-cow", "linear");
        shape_dm(5, "data-other", UUID "tttttttttttttttttttttttttttttttt", "snapshot");
#undef UUID
        shape_hold("sda", "dm-0");
        shape_hold("sda", "dm-2");
        shape_hold("sda", "dm-4");
        shape_hold("dm-0", "dm-1");
        shape_hold("dm-0", "dm-3");
        shape_hold("dm-2", "dm-3");
        shape_hold("dm-0", "dm-5");
        shape_hold("dm-4", "dm-5");
}

static struct tree *make_mounted_snapshot(void)
{
        make_snapshots();
        shape_mount(20, 1, 0, 2, "/");
        shape_mount(21, 20, 253, 3, "/mnt");
        return shape_read();
}

START_TEST(an_origin_of_a_snapshot_in_use)
{
        static const char *const names[] = {"data-origin", "data-other", "data-other-cow", "data-origin-real"};
        _cleanup_tree_ struct tree *tree = make_mounted_snapshot();

        ck_assert(selection_add(tree, NULL, "data"));
        selection_finish(tree);
        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                ck_assert_str_eq(shape_node(tree, names[i])->skip_reason,
                        "snapshots go with their origin, and data-snap is in use");
        /* Who uses it is to be told. */
        ck_assert(tree_node_is_ours(shape_node(tree, "data-snap")));
}
END_TEST

/* So it is if something on the snapshot has to stay. */
START_TEST(an_origin_of_a_snapshot_that_stays)
{
        _cleanup_tree_ struct tree *tree = NULL;

        make_snapshots();
        shape_dm(9, "opened", "CRYPT-LUKS2-oooooooooooooooooooooooooooooooo-opened", "crypt");
        shape_hold("dm-5", "dm-9");
        tree = shape_read();
        ck_assert(selection_add(tree, NULL, "data"));
        selection_refuse(shape_node(tree, "opened"), "because");
        selection_finish(tree);
        ck_assert_str_eq(shape_node(tree, "data-origin")->skip_reason,
                "snapshots go with their origin, and data-other is in use");
}
END_TEST

START_TEST(an_origin_of_a_snapshot_in_use_is_in_use)
{
        _cleanup_tree_ struct tree *tree = make_mounted_snapshot();

        selection_add_unused(tree);
        selection_finish(tree);
        for (size_t i = 0; i < tree->nodes.n; i++) {
                ck_assert(!tree_node_is_ours(tree->nodes.nodes[i]));
                /* Nor is it reported as one that was asked for. */
                ck_assert(!tree->nodes.nodes[i]->selected);
        }
}
END_TEST

/* lvm2 can activate parts of LVs by themselves, to be looked at. */
START_TEST(a_part_that_is_there_by_itself)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "data-twice_rimage_0", "LVM-ZmCeQpJwOfVQ0JFyKkbqDVGiHdpnfaJ2oooooooooooooooooooooooooooooooo",
                "linear");
        shape_dm(1, "opened", "CRYPT-LUKS2-oooooooooooooooooooooooooooooooo-opened", "crypt");
        shape_hold("dm-0", "dm-1");
        tree = shape_read();
        ck_assert(selection_add(tree, shape_node(tree, "opened"), NULL));
        selection_finish(tree);
        ck_assert(!tree_node_is_ours(shape_node(tree, "data-twice_rimage_0")));
}
END_TEST

/* Loop devices that are idle: of a file, of a file with a PV in it, and of an LV. */
START_TEST(loop_devices_without_lvm)
{
#define UUID "LVM-ZmCeQpJwOfVQ0JFyKkbqDVGiHdpnfaJ2"
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device("sda", 8, 0);
        shape_device("loop0", 7, 0);
        shape_write("sys/devices/block/loop0/loop/backing_file", "/srv/a\n");
        shape_device("loop1", 7, 1);
        shape_write("sys/devices/block/loop1/loop/backing_file", "/srv/b\n");
        shape_device("loop2", 7, 2);
        shape_write("sys/devices/block/loop2/loop/backing_file", "/dev/dm-1\n");
        shape_dm(0, "inner-one", UUID "oooooooooooooooooooooooooooooooo", "linear");
        shape_dm(1, "data-one", UUID "tttttttttttttttttttttttttttttttt", "linear");
#undef UUID
        shape_hold("loop1", "dm-0");
        shape_hold("sda", "dm-1");
        shape_mount(20, 1, 0, 2, "/");
        tree = shape_read();
        selection_add_unused(tree);
        selection_finish(tree);
        ck_assert(!tree_node_is_ours(shape_node(tree, "loop0")));
        ck_assert(tree_node_is_ours(shape_node(tree, "loop1")));
        ck_assert(tree_node_is_ours(shape_node(tree, "inner-one")));
        ck_assert(tree_node_is_ours(shape_node(tree, "loop2")));
        ck_assert(tree_node_is_ours(shape_node(tree, "data-one")));
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("selection");
        TCase *tcase = tcase_create("selection");

        tcase_add_loop_test(tcase, what_goes, 0, ELEMENTSOF(expectations));
        tcase_add_test(tcase, root_is_not_taken);
        tcase_add_test(tcase, a_vg_that_is_not_there);
        tcase_add_test(tcase, what_is_refused);
        suite_add_tcase(suite, tcase);

        tcase = tcase_create("made here");
        tcase_add_checked_fixture(tcase, shape_set_up, shape_tear_down);
        tcase_add_test(tcase, an_origin_of_a_snapshot_in_use);
        tcase_add_test(tcase, an_origin_of_a_snapshot_that_stays);
        tcase_add_test(tcase, an_origin_of_a_snapshot_in_use_is_in_use);
        tcase_add_test(tcase, a_part_that_is_there_by_itself);
        tcase_add_test(tcase, loop_devices_without_lvm);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
