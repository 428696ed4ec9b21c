/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Trees captured of machines, see tree/README. In all of them sda is the first disk in use, "data" the VG. */

#include "fixture.h"
#include "shapes.h"
#include "shared/util.h"

struct expected_node {
        const char *name;
        enum tree_kind kind;
        const char *held_by; /* NULL if by nothing */
};

static const struct shape {
        const char *name;
        const char *tree; /* the name of the storage tree that the first node is in */
        size_t n_to_go;
        struct expected_node nodes[10];
} shapes[] = {
        {"linear", "data", 3,
                {{"data-one", TREE_LV_LINEAR, "/mnt/shape"}, {"data-two", TREE_LV_LINEAR, NULL},
                        {"data-dash--ed", TREE_LV_LINEAR, NULL}, {"sda", TREE_DISK, "data-two"},
                        {"sdb", TREE_DISK, "data-two"}}},
        {"striped", "data", 1,
                {{"data-wide", TREE_LV_STRIPED, "/mnt/shape"}, {"sda", TREE_DISK, "data-wide"},
                        {"sdb", TREE_DISK, "data-wide"}, {"sdc", TREE_DISK, "data-wide"}}},
        {"snapshot", "data", 6,
                {{"data-origin", TREE_LV_ORIGIN, "/mnt/shape"}, {"data-snap", TREE_LV_SNAPSHOT, "/mnt/shape-snap"},
                        /* Else it would miss what is still written to the origin. */
                        {"data-snap", TREE_LV_SNAPSHOT, "data-origin"},
                        {"data-other", TREE_LV_SNAPSHOT, "data-origin"},
                        {"data-origin-real", TREE_LV_ORIGIN_DATA, "data-origin"},
                        {"data-origin-real", TREE_LV_ORIGIN_DATA, "data-snap"},
                        {"data-origin-real", TREE_LV_ORIGIN_DATA, "data-other"},
                        {"data-snap-cow", TREE_LV_COW, "data-snap"},
                        {"data-other-cow", TREE_LV_COW, "data-other"}}},
        {"thin", "data", 7,
                {{"data-one", TREE_LV_THIN, "/mnt/shape"}, {"data-two", TREE_LV_THIN, NULL},
                        {"data-snap", TREE_LV_THIN, NULL}, {"data-pool-tpool", TREE_LV_THIN_POOL, "data-one"},
                        {"data-pool-tpool", TREE_LV_THIN_POOL, "data-snap"},
                        {"data-pool", TREE_LV_THIN_POOL, NULL},
                        {"data-pool_tdata", TREE_LV_POOL_PART, "data-pool-tpool"},
                        {"data-pool_tmeta", TREE_LV_POOL_PART, "data-pool-tpool"}}},
        {"raid1", "data", 5,
                {{"data-twice", TREE_LV_RAID, "/mnt/shape"},
                        {"data-twice_rimage_0", TREE_LV_RAID_LEG, "data-twice"},
                        {"data-twice_rmeta_1", TREE_LV_RAID_LEG, "data-twice"},
                        {"sdb", TREE_DISK, "data-twice_rimage_1"}}},
        {"mirror", "data", 4,
                {{"data-twice", TREE_LV_MIRROR, "/mnt/shape"},
                        {"data-twice_mimage_1", TREE_LV_RAID_LEG, "data-twice"},
                        {"data-twice_mlog", TREE_LV_RAID_LEG, "data-twice"}}},
        {"cache", "data", 4,
                {{"data-slow", TREE_LV_CACHE, "/mnt/shape"}, {"data-slow_corig", TREE_LV_CACHE_PART, "data-slow"},
                        {"data-fast_cpool_cdata", TREE_LV_CACHE_PART, "data-slow"},
                        {"data-fast_cpool_cmeta", TREE_LV_CACHE_PART, "data-slow"}}},
        {"writecache", "data", 3,
                {{"data-slow", TREE_LV_WRITECACHE, "/mnt/shape"},
                        {"data-slow_wcorig", TREE_LV_CACHE_PART, "data-slow"},
                        {"data-fast_cvol", TREE_LV_CACHE_PART, "data-slow"}}},
        {"luks_on_lv", "data", 2,
                {{"opened", TREE_CRYPT, "/mnt/shape"}, {"data-secret", TREE_LV_LINEAR, "opened"},
                        {"sda", TREE_DISK, "data-secret"}}},
        {"lv_on_luks", "data", 2,
                {{"data-one", TREE_LV_LINEAR, "/mnt/shape"}, {"opened", TREE_CRYPT, "data-one"},
                        {"sda", TREE_DISK, "opened"}}},
        {"md_on_lvs", "left and 1 more", 3,
                {{"left-half", TREE_LV_LINEAR, "md127"}, {"right-half", TREE_LV_LINEAR, "md127"},
                        {"md127", TREE_MD, "/mnt/shape"}}},
        {"lvm_on_md", "data", 2,
                {{"data-one", TREE_LV_LINEAR, "/mnt/shape"}, {"md127", TREE_MD, "data-one"},
                        {"sda", TREE_DISK, "md127"}, {"sdb", TREE_DISK, "md127"}}},
        {"multipath", "data", 3,
                {{"data-one", TREE_LV_LINEAR, "/mnt/shape"}, {"mpatha-part1", TREE_DM_PARTITION, "data-one"},
                        {"mpatha", TREE_MULTIPATH, "mpatha-part1"}, {"sda", TREE_DISK, "mpatha"},
                        {"sdb", TREE_DISK, "mpatha"}}},
        {"loop", "inner and 1 more", 3,
                {{"inner-one", TREE_LV_LINEAR, "/mnt/shape-inner"}, {"loop3", TREE_LOOP, "inner-one"},
                        {"/mnt/shape", TREE_MOUNT, "loop3"}, {"outer-files", TREE_LV_LINEAR, "/mnt/shape"}}},
        {"loop_partitions", "loop5", 1,
                {{"loop5", TREE_LOOP, "loop5p1"}, {"loop5p1", TREE_PARTITION, NULL},
                        {"loop5p2", TREE_PARTITION, "/mnt/shape-second"}, {"/mnt/shape", TREE_MOUNT, "loop5"},
                        {"sda", TREE_DISK, "/mnt/shape"}}},
        {"swap", "data", 2,
                {{"data-files", TREE_LV_LINEAR, "/mnt/shape"}, {"data-swap", TREE_LV_LINEAR, "/dev/dm-0"},
                        {"/mnt/shape", TREE_MOUNT, "/mnt/shape/swap"}, {"/mnt/shape/swap", TREE_SWAP, NULL}}},
        {"nested", "inner and 1 more", 2,
                {{"inner-one", TREE_LV_LINEAR, "/mnt/shape"}, {"outer-pv", TREE_LV_LINEAR, "inner-one"},
                        {"sda", TREE_DISK, "outer-pv"}}},
        {"mounts", "data", 2,
                {{"data-one", TREE_LV_LINEAR, "/mnt/shape"}, {"data-two", TREE_LV_LINEAR, "/mnt/shape/deep"},
                        {"data-two", TREE_LV_LINEAR, "/mnt/shape-bind"},
                        {"/mnt/shape", TREE_MOUNT, "/mnt/shape/deep"},
                        {"/mnt/shape", TREE_MOUNT, "/mnt/shape/with space"}}},
        {"debian", "debian-vg", 3,
                {{"debian--vg-home", TREE_LV_LINEAR, "/home"}, {"debian--vg-var", TREE_LV_LINEAR, "/var"},
                        {"debian--vg-swap_1", TREE_LV_LINEAR, "/dev/dm-3"},
                        {"debian--vg-root", TREE_LV_LINEAR, "/"}, {"sda1", TREE_PARTITION, "/boot"},
                        {"sda2", TREE_PARTITION, "debian--vg-root"}, {"sda", TREE_DISK, "sda1"},
                        {"sda", TREE_DISK, "sda2"}, {"/", TREE_MOUNT, "/home"}}},
};

/* Each node is what it is and held by what it should be; all that is ours goes, and nothing before its holders. */
START_TEST(shape_is_understood)
{
        const struct shape *shape = &shapes[_i];
        _cleanup_tree_ struct tree *tree = shape_read_captured(shape->name);

        for (size_t i = 0; i < ELEMENTSOF(shape->nodes) && shape->nodes[i].name; i++) {
                const struct expected_node *expected = &shape->nodes[i];
                const struct tree_node *node = shape_node(tree, expected->name);

                ck_assert_msg(node->kind == expected->kind, "%s: %s is a %s, not a %s", shape->name, node->name,
                        tree_kind_to_string(node->kind), tree_kind_to_string(expected->kind));
                if (expected->held_by)
                        shape_is_held(tree, expected->name, expected->held_by);
                else
                        ck_assert_msg(node->uppers.n == 0, "%s: something holds %s", shape->name, node->name);
                ck_assert_ptr_null(node->cycle);
        }
        ck_assert_str_eq(tree->names[shape_node(tree, shape->nodes[0].name)->component], shape->tree);

        ck_assert_msg(shape_take_down(tree) == 0, "%s: %zu of %zu did not go", shape->name,
                tree->n_to_go - tree->n_gone, tree->n_to_go);
        ck_assert_uint_eq(tree->n_to_go, shape->n_to_go);
}
END_TEST

START_TEST(an_empty_machine)
{
        _cleanup_tree_ struct tree *tree = shape_read_captured("empty");

        ck_assert_int_eq(shape_node(tree, "sda")->kind, TREE_DISK);
        ck_assert_ptr_nonnull(shape_node(tree, "/")->skip_reason);
        ck_assert_uint_eq(shape_take_down(tree), 0);
        ck_assert_uint_eq(tree->n_to_go, 0);
}
END_TEST

/* Of the VG that Debian's installer makes, root's own chain stays, and only that. */
START_TEST(root_stays)
{
        static const char *const kept[] = {"/", "debian--vg-root", "sda2", "sda"};
        _cleanup_tree_ struct tree *tree = shape_read_captured("debian");
        size_t n_kept = 0;

        for (size_t i = 0; i < ELEMENTSOF(kept); i++)
                ck_assert_str_eq(shape_node(tree, kept[i])->skip_reason, "/ stays mounted");
        for (size_t i = 0; i < tree->nodes.n; i++)
                n_kept += tree->nodes.nodes[i]->skip_reason != NULL;
        ck_assert_uint_eq(n_kept, ELEMENTSOF(kept));
}
END_TEST

START_TEST(pvs_are_known)
{
        _cleanup_tree_ struct tree *nested = shape_read_captured("nested"), *raid = shape_read_captured("raid1");
        _cleanup_tree_ struct tree *crypt = shape_read_captured("luks_on_lv");

        ck_assert(shape_node(nested, "outer-pv")->is_pv);
        ck_assert(shape_node(nested, "sda")->is_pv);
        ck_assert(!shape_node(nested, "inner-one")->is_pv);
        ck_assert(!shape_node(raid, "data-twice_rimage_0")->is_pv);
        ck_assert(!shape_node(crypt, "data-secret")->is_pv);
}
END_TEST

/* The mount that was made last at a place is the one that has to go first. */
START_TEST(mounts_on_top_of_each_other)
{
        _cleanup_tree_ struct tree *tree = shape_read_captured("mounts");
        const struct tree_node *on_top = dm_hash_lookup(tree->mount_points, "/mnt/shape/with space");

        ck_assert_uint_eq(on_top->uppers.n, 0);
        ck_assert_uint_eq(on_top->lowers.n, 2);
        ck_assert(tree_nodes_have(&on_top->lowers, shape_node(tree, "data-two")));
        ck_assert_uint_eq(shape_node(tree, "data-two")->uppers.n, 3);
}
END_TEST

START_TEST(names_of_any_byte)
{
        _cleanup_tree_ struct tree *tree = shape_read_captured("names");
        char longest[128] = "";
        bool seen[256] = {};

        for (size_t i = 0; i < tree->nodes.n; i++)
                if (tree->nodes.nodes[i]->kind == TREE_DM)
                        for (const char *c = tree->nodes.nodes[i]->name; *c != '\0'; c++)
                                seen[(unsigned char) *c] = true;
        for (size_t i = 1; i < ELEMENTSOF(seen); i++)
                ck_assert_msg(seen[i] == (i != '/'), "byte %zu", i);
        memset(longest, 'l', sizeof(longest) - 1);
        ck_assert_int_eq(shape_node(tree, longest)->kind, TREE_DM);
        ck_assert_uint_eq(shape_take_down(tree), 0);
        ck_assert_uint_eq(tree->n_to_go, 10);
}
END_TEST

START_TEST(without_a_table_or_suspended)
{
        _cleanup_tree_ struct tree *tree = shape_read_captured("strange");

        ck_assert_int_eq(shape_node(tree, "notable")->kind, TREE_DM);
        ck_assert_int_eq(shape_node(tree, "loaded")->kind, TREE_DM);
        ck_assert(!shape_node(tree, "notable")->suspended);
        ck_assert(shape_node(tree, "suspended")->suspended);
        shape_is_held(tree, "sda", "suspended");
        ck_assert_uint_eq(shape_take_down(tree), 0);
        ck_assert_uint_eq(tree->n_to_go, 3);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("tree-captured");
        TCase *tcase = tcase_create("tree-captured");

        tcase_add_loop_test(tcase, shape_is_understood, 0, ELEMENTSOF(shapes));
        tcase_add_test(tcase, an_empty_machine);
        tcase_add_test(tcase, root_stays);
        tcase_add_test(tcase, pvs_are_known);
        tcase_add_test(tcase, mounts_on_top_of_each_other);
        tcase_add_test(tcase, names_of_any_byte);
        tcase_add_test(tcase, without_a_table_or_suspended);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
