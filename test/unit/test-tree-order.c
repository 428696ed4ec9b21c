/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The order among nodes, and the schedule made of it, on trees put together here. */

#include "tree/order.h"

#include <sys/sysmacros.h>

#include "fixture.h"
#include "shared/util.h"
#include "tree/walk.h"

static struct tree *tree;

static void set_up(void)
{
        ck_assert_int_eq(tree_new(-EBADF, &tree), 0);
}

static void tear_down(void)
{
        tree = tree_free(tree);
}

static struct tree_node *add(enum tree_kind kind, const char *name)
{
        struct tree_node *node = tree_add_node(tree, kind, name);

        ck_assert_ptr_nonnull(node);
        return node;
}

/* "vg-lv". The VG's name is in the place of its identifier. */
static struct tree_node *add_lv(const char *name)
{
        _cleanup_free_ char *kernel_name = string_format("dm-%zu", tree->nodes.n);
        _cleanup_free_ char *uuid =
                string_format("LVM-%-32.*s%032zu", (int) strcspn(name, "-"), name, tree->nodes.n);
        struct tree_node *node =
                tree_add_device(tree, TREE_DM, kernel_name, makedev(253, (unsigned int) tree->nodes.n));

        ck_assert_ptr_nonnull(node);
        tree_set_dm(tree, node, name, uuid, "linear");
        ck_assert_int_eq(tree->error, 0);
        return node;
}

static void hold(struct tree_node *lower, struct tree_node *upper)
{
        tree_add_edge(tree, lower, upper);
        ck_assert_int_eq(tree->error, 0);
}

static void order_and_schedule(void)
{
        ck_assert_int_eq(tree_order(tree), 0);
        tree_schedule(tree);
}

static void next_is(struct tree_node *expected)
{
        struct tree_node *node = tree_next_ready(tree);

        ck_assert_ptr_eq(node, expected);
        if (node)
                ck_assert_int_eq(node->state, TREE_TAKEN);
}

static void next_goes(struct tree_node *expected)
{
        next_is(expected);
        tree_node_gone(tree, expected);
}

START_TEST(nothing)
{
        order_and_schedule();
        ck_assert_uint_eq(tree->n_components, 0);
        ck_assert_uint_eq(tree->n_to_go, 0);
        next_is(NULL);
}
END_TEST

START_TEST(a_node_waits_for_all_its_holders)
{
        struct tree_node *disk = add(TREE_DISK, "sda"), *pool = add_lv("vg-pool"), *one = add_lv("vg-one");
        struct tree_node *two = add_lv("vg-two"), *mount = add(TREE_MOUNT, "/srv");

        hold(disk, pool);
        hold(pool, one);
        hold(pool, two);
        hold(one, mount);
        order_and_schedule();
        ck_assert_uint_eq(mount->step, 0);
        ck_assert_uint_eq(one->step, 1);
        ck_assert_uint_eq(two->step, 0);
        ck_assert_uint_eq(pool->step, 2);
        ck_assert_uint_eq(disk->step, 3);
        ck_assert_uint_eq(tree->n_to_go, 3);

        next_goes(two);
        next_is(NULL);
        tree_node_gone(tree, mount);
        next_goes(one);
        next_goes(pool);
        next_is(NULL);
        ck_assert_uint_eq(tree->n_gone, 3);
}
END_TEST

/* Told twice, a node that holds two things holds each of them once; and nothing holds itself. */
START_TEST(edges_count_once)
{
        struct tree_node *lower = add_lv("vg-lower"), *other = add_lv("vg-other"), *upper = add_lv("vg-upper");

        hold(lower, upper);
        hold(other, upper);
        hold(lower, upper);
        hold(lower, lower);
        order_and_schedule();
        ck_assert_uint_eq(lower->uppers.n, 1);
        ck_assert_ptr_null(lower->cycle);
        tree_node_gone(tree, upper);
        tree_node_gone(tree, upper);
        ck_assert_uint_eq(tree->n_gone, 1);
        next_is(lower);
        next_is(other);
}
END_TEST

START_TEST(a_failure_keeps_what_is_below_and_nothing_else)
{
        struct tree_node *lower = add_lv("vg-lower"), *upper = add_lv("vg-upper"), *other = add_lv("vg-other");

        hold(lower, upper);
        order_and_schedule();
        next_is(upper);
        tree_node_failed(tree, upper);
        next_goes(other);
        next_is(NULL);
        ck_assert_uint_eq(tree->n_failed, 1);
        ck_assert_int_eq(lower->state, TREE_HELD);

        /* Somebody else has removed it after all. */
        tree_node_gone(tree, upper);
        ck_assert_uint_eq(tree->n_failed, 0);
        next_goes(lower);
        ck_assert_uint_eq(tree->n_gone, 3);
}
END_TEST

START_TEST(partitions_go_by_themselves)
{
        struct tree_node *loop = add(TREE_LOOP, "loop0"), *partition = add(TREE_PARTITION, "loop0p1");
        struct tree_node *mount = add(TREE_MOUNT, "/mnt");

        hold(loop, partition);
        hold(partition, mount);
        order_and_schedule();
        next_is(NULL);
        tree_node_gone(tree, mount);
        ck_assert_int_eq(partition->state, TREE_GONE);
        next_goes(loop);
}
END_TEST

START_TEST(a_mount_that_comes_holds_a_ready_node)
{
        struct tree_node *lv = add_lv("vg-lv"), *mount;

        order_and_schedule();
        mount = add(TREE_MOUNT, "/mnt");
        hold(lv, mount);
        next_is(NULL);
        tree_node_gone(tree, mount);
        next_is(lv);

        /* Too late for one that is taken. */
        hold(lv, add(TREE_MOUNT, "/srv"));
        tree_node_gone(tree, lv);
        ck_assert_uint_eq(tree->n_gone, 1);
        next_is(NULL);
}
END_TEST

START_TEST(what_is_left_alone_keeps_all_below)
{
        struct tree_node *disk = add(TREE_DISK, "sda"), *lv = add_lv("vg-lv"), *upper = add_lv("vg-upper");
        struct tree_node *other = add_lv("vg-other");

        hold(disk, lv);
        hold(disk, other);
        hold(lv, upper);
        tree_skip(lv, "because");
        tree_skip(disk, "another reason");
        order_and_schedule();
        ck_assert_str_eq(lv->skip_reason, "because");
        ck_assert_str_eq(disk->skip_reason, "because");
        ck_assert_ptr_null(upper->skip_reason);
        ck_assert_uint_eq(tree->n_to_go, 2);
        next_goes(upper);
        next_goes(other);
        next_is(NULL);
}
END_TEST

/* a holds b, b holds c, c holds a; above and below there is one more. */
static void make_circle(struct tree_node *nodes[5])
{
        static const char *const names[] = {"vg-below", "vg-a", "vg-b", "vg-c", "vg-above"};

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                nodes[i] = add_lv(names[i]);
        hold(nodes[0], nodes[1]);
        hold(nodes[1], nodes[2]);
        hold(nodes[2], nodes[3]);
        hold(nodes[3], nodes[1]);
        hold(nodes[2], nodes[4]);
        order_and_schedule();
}

START_TEST(a_circle_goes_one_by_one)
{
        struct tree_node *nodes[5];

        make_circle(nodes);
        ck_assert_ptr_nonnull(nodes[1]->cycle);
        ck_assert_ptr_eq(nodes[1]->cycle, nodes[2]->cycle);
        ck_assert_ptr_eq(nodes[1]->cycle, nodes[3]->cycle);
        ck_assert_ptr_null(nodes[0]->cycle);
        ck_assert_ptr_null(nodes[4]->cycle);
        ck_assert_uint_eq(nodes[4]->step, 0);
        ck_assert_uint_eq(nodes[1]->step, 1);
        ck_assert_uint_eq(nodes[0]->step, 2);

        next_goes(nodes[4]);
        next_is(nodes[3]);
        next_is(NULL);
        tree_node_failed(tree, nodes[3]);
        next_goes(nodes[2]);
        /* One went, so that the others get another chance. */
        next_is(nodes[3]);
        next_is(NULL);
        tree_node_failed(tree, nodes[3]);
        next_is(nodes[1]);
        tree_node_failed(tree, nodes[1]);
        ck_assert_uint_eq(tree->n_failed, 2);
        /* Somebody else removes one that has failed. */
        tree_node_gone(tree, nodes[3]);
        ck_assert_uint_eq(tree->n_failed, 0);
        next_goes(nodes[1]);
        next_goes(nodes[0]);
        ck_assert_uint_eq(tree->n_gone, tree->n_to_go);
}
END_TEST

START_TEST(a_circle_has_one_in_work)
{
        struct tree_node *nodes[5];

        make_circle(nodes);
        next_goes(nodes[4]);
        next_is(nodes[3]);
        /* By somebody else, meanwhile. */
        tree_node_gone(tree, nodes[2]);
        next_is(NULL);
        tree_node_gone(tree, nodes[3]);
        next_goes(nodes[1]);
        next_goes(nodes[0]);
}
END_TEST

START_TEST(a_circle_fails_when_none_of_it_can_be_removed)
{
        struct tree_node *nodes[5];

        make_circle(nodes);
        next_goes(nodes[4]);
        for (size_t i = 3; i > 0; i--) {
                ck_assert_uint_eq(tree->n_failed, 3 - i);
                next_is(nodes[i]);
                tree_node_failed(tree, nodes[i]);
        }
        next_is(NULL);
        ck_assert_uint_eq(tree->n_failed, 3);
        ck_assert_int_eq(nodes[0]->state, TREE_HELD);
}
END_TEST

/* A loop device whose file lies on what is mounted from it. */
START_TEST(a_circle_waits_for_its_mounts)
{
        struct tree_node *loop = add(TREE_LOOP, "loop0"), *mount = add(TREE_MOUNT, "/mnt");

        hold(loop, mount);
        hold(mount, loop);
        order_and_schedule();
        ck_assert_ptr_nonnull(loop->cycle);
        next_is(NULL);
        tree_node_gone(tree, mount);
        next_goes(loop);
        ck_assert_uint_eq(tree->n_gone, 1);
}
END_TEST

/* As high as no real one, for the sake of the stack. */
START_TEST(a_high_tower)
{
        struct tree_node *lower = add(TREE_DISK, "sda"), *first = lower;
        const size_t height = 100000;

        for (size_t i = 0; i < height; i++) {
                struct tree_node *upper = add(TREE_MD, "md");

                hold(lower, upper);
                lower = upper;
        }
        order_and_schedule();
        ck_assert_uint_eq(first->step, height);
        ck_assert_ptr_null(first->cycle);
        for (size_t i = 0; i < height; i++)
                next_goes(tree->nodes.nodes[height - i]);
        ck_assert_uint_eq(tree->n_gone, height);
}
END_TEST

static void name_is(const struct tree_node *node, const char *expected)
{
        ck_assert_str_eq(tree->names[node->component], expected);
}

START_TEST(trees_are_named_by_what_people_know)
{
        struct tree_node *loop = add(TREE_LOOP, "loop0"), *disk = add(TREE_DISK, "sdb"), *md = add(TREE_MD, "md0"),
                         *swap = add(TREE_SWAP, "/swap");
        struct tree_node *other = add(TREE_DISK, "sdc"), *zebra = add_lv("zebra-lv"), *ant = add_lv("ant-lv");
        struct tree_node *second = add_lv("ant-other");

        hold(disk, md);
        hold(loop, md);
        hold(other, zebra);
        hold(other, ant);
        hold(other, second);
        hold(add(TREE_DISK, "sdd"), add_lv("ant-far"));
        order_and_schedule();
        ck_assert_uint_eq(tree->n_components, 3);
        name_is(md, "sdb");
        name_is(swap, "/swap");
        name_is(zebra, "ant and 1 more");
}
END_TEST

/* Everything is mounted below /, and that alone does not make one tree of it. */
START_TEST(trees_are_apart)
{
        struct tree_node *disk = add(TREE_DISK, "sda"), *root = add(TREE_MOUNT, "/");
        struct tree_node *a = add_lv("a-lv"), *b = add_lv("b-lv"), *c = add_lv("c-lv");
        struct tree_node *srv = add(TREE_MOUNT, "/srv"), *home = add(TREE_MOUNT, "/home");
        struct tree_node *below = add(TREE_MOUNT, "/srv/below");

        hold(disk, root);
        hold(a, srv);
        hold(root, srv);
        hold(b, home);
        hold(root, home);
        hold(c, below);
        hold(srv, below);
        tree_skip(root, "it stays");
        order_and_schedule();
        ck_assert_uint_eq(tree->n_components, 3);
        ck_assert_uint_eq(root->component, disk->component);
        ck_assert_uint_eq(a->component, srv->component);
        ck_assert_uint_eq(c->component, srv->component);
        ck_assert_uint_ne(b->component, srv->component);
        /* In order all the same. */
        ck_assert_uint_gt(root->step, srv->step);
}
END_TEST

/* Two at once, one within the other. */
START_TEST(walks)
{
        struct tree_node *lower = add(TREE_DISK, "lower"), *middle = add(TREE_DM, "middle");
        struct tree_node *upper = add(TREE_DM, "upper"), *other = add(TREE_DISK, "other");
        _cleanup_tree_walk_ struct tree_walk outer = tree_walk_new(tree);
        size_t n = 0;

        hold(lower, middle);
        hold(middle, upper);
        tree_walk_add(&outer, lower);
        FOREACH_VISITED(node, &outer) {
                _cleanup_tree_walk_ struct tree_walk inner = tree_walk_new(tree);

                n++;
                tree_walk_add(&inner, node);
                tree_walk_up(&inner);
                ck_assert(tree_walk_has(&inner, upper));
                ck_assert(tree_walk_has(&inner, lower) == (node == lower));
                for (size_t i = 0; i < node->uppers.n; i++)
                        tree_walk_add(&outer, node->uppers.nodes[i]);
                /* It was added before. */
                tree_walk_add(&outer, node);
        }
        ck_assert_uint_eq(n, 3);
        ck_assert(tree_walk_has(&outer, upper));
        ck_assert(!tree_walk_has(&outer, other));
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("tree-order");
        TCase *tcase = tcase_create("tree-order");

        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_add_test(tcase, walks);
        tcase_add_test(tcase, nothing);
        tcase_add_test(tcase, a_node_waits_for_all_its_holders);
        tcase_add_test(tcase, edges_count_once);
        tcase_add_test(tcase, a_failure_keeps_what_is_below_and_nothing_else);
        tcase_add_test(tcase, partitions_go_by_themselves);
        tcase_add_test(tcase, a_mount_that_comes_holds_a_ready_node);
        tcase_add_test(tcase, what_is_left_alone_keeps_all_below);
        tcase_add_test(tcase, a_circle_goes_one_by_one);
        tcase_add_test(tcase, a_circle_has_one_in_work);
        tcase_add_test(tcase, a_circle_fails_when_none_of_it_can_be_removed);
        tcase_add_test(tcase, a_circle_waits_for_its_mounts);
        tcase_add_test(tcase, a_high_tower);
        tcase_add_test(tcase, trees_are_named_by_what_people_know);
        tcase_add_test(tcase, trees_are_apart);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
