/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What of a storage tree is drawn where, for shapes that no tool makes. What tools make, test/tree/run-tree looks
 * at. */

#include "table/tree-view.h"

#include "fixture.h"
#include "shapes.h"
#include "shared/util.h"

/* What is drawn below the first row of a node, or at the left margin, by name, each behind a space. */
static void check_below(const struct tree_view *view, const struct tree_node *node, enum tree_direction direction,
        const char *expected)
{
        _cleanup_tree_rows_ struct tree_rows rows = {};
        _cleanup_free_ char *names = strdup("");
        size_t parent = TREE_ROW_NONE;

        ck_assert_int_eq(tree_view_draw(view, direction, &rows), 0);
        for (size_t i = rows.n; node && i > 0; i--)
                if (rows.rows[i - 1].node == node && !rows.rows[i - 1].again)
                        parent = i - 1;
        ck_assert(!node || parent != TREE_ROW_NONE);
        ck_assert(!node || rows.rows[parent].has_children == (*expected != '\0'));
        for (size_t i = 0; i < rows.n; i++)
                if (rows.rows[i].parent == parent)
                        ck_assert_int_eq(
                                string_replace(&names, string_format("%s %s", names, rows.rows[i].node->name)), 0);
        ck_assert_str_eq(names, expected);
}

static void check_roots(const struct tree_view *view, enum tree_direction direction, const char *expected)
{
        check_below(view, NULL, direction, expected);
}

static void check_children(
        const struct tree_view *view, const char *node, enum tree_direction direction, const char *expected)
{
        check_below(view, shape_node(view->tree, node), direction, expected);
}

/* Disks by their numbers, LVs by their names, and mounts before both. */
START_TEST(in_order)
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_tree_view_ struct tree_view view = {};

        shape_device("sdb", 8, 16);
        shape_device("sdaa", 65, 160);
        shape_device("sda", 8, 0);
        shape_dm(0, "z10", "-", "linear");
        shape_dm(1, "z9", "-", "linear");
        shape_dm(2, "a", "-", "linear");
        for (unsigned int i = 0; i < 3; i++) {
                _cleanup_free_ char *upper = string_format("dm-%u", i);

                shape_hold("sda", upper);
        }
        shape_mount(30, 1, 8, 0, "/mnt");
        shape_mount(31, 30, 0, 22, "/mnt/proc");
        tree = shape_read();
        ck_assert_int_eq(tree_view_init(&view, tree), 0);
        check_roots(&view, TREE_UPWARDS, " sda sdb sdaa");
        check_roots(&view, TREE_DOWNWARDS, " /mnt sdb sdaa a z9 z10");
        check_children(&view, "sda", TREE_UPWARDS, " /mnt a z9 z10");
        check_children(&view, "/mnt", TREE_UPWARDS, "");
        check_children(&view, "/mnt", TREE_DOWNWARDS, " sda");
}
END_TEST

START_TEST(circles)
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_tree_view_ struct tree_view view = {};

        shape_device("sda", 8, 0);
        for (unsigned int i = 0; i < 4; i++) {
                _cleanup_free_ char *name = string_format("d%u", i);

                shape_dm(i, name, "-", "linear");
        }
        shape_hold("dm-0", "dm-1");
        shape_hold("dm-1", "dm-0");
        shape_hold("dm-1", "dm-2");
        shape_hold("dm-2", "dm-3");
        tree = shape_read();
        ck_assert_int_eq(tree_view_init(&view, tree), 0);
        check_roots(&view, TREE_UPWARDS, " sda d0");
        check_roots(&view, TREE_DOWNWARDS, " sda d3");
        check_children(&view, "d1", TREE_UPWARDS, " d0 d2");
}
END_TEST

START_TEST(empty_disks)
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_tree_view_ struct tree_view view = {};

        shape_device("sda", 8, 0);
        shape_device("sdb", 8, 16);
        shape_device("sdc", 8, 32);
        shape_device("ram0", 1, 0);
        shape_device("ram1", 1, 1);
        shape_dm(0, "d0", "-", "linear");
        shape_hold("sdc", "dm-0");
        shape_mount(30, 1, 1, 1, "/mnt");
        shape_write("proc/partitions",
                "major minor  #blocks  name\n\n   8        0      98304 sda\n   1        0       4096 ram0\n"
                "   1        1       4096 ram1\n 253        0 18014398509481983 dm-0\n   9 nonsense\n 8 99 1 sdz\n");
        tree = shape_read();
        ck_assert_int_eq(tree_view_init(&view, tree), 0);
        ck_assert_uint_eq(shape_node(tree, "sda")->size, 98304 * 1024);
        ck_assert_uint_eq(shape_node(tree, "sdb")->size, 0);
        ck_assert_uint_eq(shape_node(tree, "/mnt")->size, TREE_SIZE_UNKNOWN);
        check_roots(&view, TREE_UPWARDS, " ram0 ram1 sda sdb sdc");
        tree_view_leave_out_empty(&view);
        check_roots(&view, TREE_UPWARDS, " ram1 sda sdc");
}
END_TEST

/* An LV on two disks, of which one is asked for: the other one is not shown. */
START_TEST(restricted)
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_tree_view_ struct tree_view view = {};
        struct tree_node *wanted[1];

        shape_device("sda", 8, 0);
        shape_device("sdb", 8, 16);
        shape_dm(0, "both", "-", "linear");
        shape_dm(1, "other", "-", "linear");
        shape_hold("sda", "dm-0");
        shape_hold("sdb", "dm-0");
        shape_hold("sdb", "dm-1");
        tree = shape_read();
        ck_assert_int_eq(tree_view_init(&view, tree), 0);
        wanted[0] = shape_node(tree, "both");
        ck_assert_int_eq(tree_view_restrict(&view, &(struct tree_nodes){.nodes = wanted, .n = 1}), 0);
        check_roots(&view, TREE_UPWARDS, " sda sdb");
        check_children(&view, "sdb", TREE_UPWARDS, " both");
        wanted[0] = shape_node(tree, "sda");
        ck_assert_int_eq(tree_view_restrict(&view, &(struct tree_nodes){.nodes = wanted, .n = 1}), 0);
        check_roots(&view, TREE_UPWARDS, " sda");
        check_children(&view, "sda", TREE_UPWARDS, " both");
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("tree-view");
        TCase *test = tcase_create("tree-view");

        tcase_add_checked_fixture(test, shape_set_up, shape_tear_down);
        tcase_add_test(test, in_order);
        tcase_add_test(test, circles);
        tcase_add_test(test, empty_disks);
        tcase_add_test(test, restricted);
        suite_add_tcase(suite, test);
        return run_suite(suite);
}
