/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is left alone by whom: the two units, and others than headgate. */

#include "teardown/scope.h"

#include "fixture.h"
#include "shapes.h"
#include "shared/util.h"

#define VGID "abcdef-ghij-klmn-opqr-stuv-wxyz-012345"
#define VG_UUID "LVM-abcdefghijklmnopqrstuvwxyz012345"
#define OTHER_VG_UUID "LVM-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"
#define LV_1 "11111111111111111111111111111111"
#define LV_2 "22222222222222222222222222222222"

static struct tree *read_scope(enum teardown_scope scope)
{
        struct tree *tree;

        ck_assert_int_eq(tree_read(shape_root(), &tree), 0);
        ck_assert_int_eq(teardown_scope_apply(tree, scope), 0);
        ck_assert_int_eq(tree_order(tree), 0);
        return tree;
}

static void is_skipped(const struct tree *tree, const char *name, const char *reason)
{
        const struct tree_node *node = shape_node(tree, name);

        ck_assert_msg(node->skip_reason && reason ? streq(node->skip_reason, reason) : node->skip_reason == reason,
                "%s: %s, and not %s", name, node->skip_reason ?: "not left alone", reason ?: "not left alone");
}

/* ------ the two units ------ */

static void make_disk_and_iscsi(void)
{
        shape_device("sda", 8, 0);
        shape_device_at("platform/host2/session1/target2:0:0/2:0:0:1/block/sdb", 8, 16);
        shape_dm(0, "local", "-", "linear");
        shape_dm(1, "network", "-", "linear");
        shape_hold("sda", "dm-0");
        shape_hold("sdb", "dm-1");
        shape_mount(20, 1, 259, 0, "/");
}

struct expected {
        const char *name;
        bool in_local, in_network; /* whether a unit has it in its scope */
};

static void check_scopes(const struct expected *nodes, size_t n)
{
        _cleanup_tree_ struct tree *local = read_scope(TEARDOWN_LOCAL);
        _cleanup_tree_ struct tree *network = read_scope(TEARDOWN_NETWORK);
        _cleanup_tree_ struct tree *all = read_scope(TEARDOWN_ALL);

        for (size_t i = 0; i < n; i++) {
                is_skipped(local, nodes[i].name, nodes[i].in_local ? NULL : "it is on the network");
                is_skipped(network, nodes[i].name, nodes[i].in_network ? NULL : "it is not on the network");
                is_skipped(all, nodes[i].name, NULL);
                if (nodes[i].in_local != nodes[i].in_network)
                        ck_assert_str_eq(teardown_unit_of(shape_node(all, nodes[i].name)),
                                nodes[i].in_local ? "headgate-teardown.service" : "headgate-teardown-net.service");
        }
}

START_TEST(each_its_own)
{
        static const struct expected nodes[] = {
                {"sda", true, false},
                {"sdb", false, true},
                {"local", true, false},
                {"network", false, true},
                {"/local", true, false},
                {"/network", false, true},
        };

        make_disk_and_iscsi();
        shape_mount(21, 20, 253, 0, "/local");
        shape_mount(22, 20, 253, 1, "/network");
        check_scopes(nodes, ELEMENTSOF(nodes));
}
END_TEST

START_TEST(nothing_is_left_over)
{
        make_disk_and_iscsi();
        shape_mount(21, 20, 253, 0, "/local");
        shape_mount(22, 20, 253, 1, "/network");
        for (enum teardown_scope scope = TEARDOWN_LOCAL; scope <= TEARDOWN_ALL; scope++) {
                _cleanup_tree_ struct tree *tree = read_scope(scope);

                ck_assert_uint_eq(shape_take_down(tree), 0);
                ck_assert_uint_eq(tree->n_gone, scope == TEARDOWN_ALL ? 2 : 1);
        }
}
END_TEST

/* What holds both goes with the network, and leaves its local half to the local unit. */
START_TEST(on_both_sides)
{
        static const struct expected nodes[] = {
                {"local", true, false},
                {"network", false, true},
                {"both", false, true},
                {"above", false, true},
        };
        _cleanup_tree_ struct tree *network = NULL;

        make_disk_and_iscsi();
        shape_dm(2, "both", "-", "raid");
        shape_dm(3, "above", "-", "crypt");
        shape_hold("dm-0", "dm-2");
        shape_hold("dm-1", "dm-2");
        shape_hold("dm-2", "dm-3");
        check_scopes(nodes, ELEMENTSOF(nodes));

        network = read_scope(TEARDOWN_NETWORK);
        ck_assert_uint_eq(shape_take_down(network), 0);
        ck_assert_uint_eq(network->n_gone, 3);
}
END_TEST

/* To be unmounted with what it is mounted on, and awaited by what it lies on. */
START_TEST(local_below_a_network_mount)
{
        static const struct expected nodes[] = {
                {"local", true, false},
                {"network", false, true},
                {"/network", false, true},
                {"/network/local", true, true},
        };
        _cleanup_tree_ struct tree *local = NULL, *network = NULL;

        make_disk_and_iscsi();
        shape_mount(21, 20, 253, 1, "/network");
        shape_mount(22, 21, 253, 0, "/network/local");
        check_scopes(nodes, ELEMENTSOF(nodes));

        local = read_scope(TEARDOWN_LOCAL);
        ck_assert_uint_eq(shape_take_down(local), 0);
        ck_assert_uint_eq(local->n_gone, 1);
        network = read_scope(TEARDOWN_NETWORK);
        ck_assert_uint_eq(shape_take_down(network), 0);
        ck_assert_uint_eq(network->n_gone, 1);
}
END_TEST

START_TEST(network_below_a_local_mount)
{
        static const struct expected nodes[] = {
                {"local", true, false},
                {"network", false, true},
                {"/local", true, false},
                {"/local/network", false, true},
        };

        make_disk_and_iscsi();
        shape_mount(21, 20, 253, 0, "/local");
        shape_mount(22, 21, 253, 1, "/local/network");
        check_scopes(nodes, ELEMENTSOF(nodes));
}
END_TEST

/* Then all is mounted on the network, and disks are as local as before. */
START_TEST(root_on_the_network)
{
        static const struct expected nodes[] = {
                {"local", true, false},
                {"/local", true, true},
                {"data", false, true},
                {"/data", false, true},
        };

        shape_device("sda", 8, 0);
        shape_device_at("platform/host2/session1/target2:0:0/2:0:0:1/block/sdb", 8, 16);
        shape_dm(0, "local", "-", "linear");
        shape_dm(1, "root", "-", "linear");
        shape_dm(2, "data", "-", "linear");
        shape_hold("sda", "dm-0");
        shape_hold("sdb", "dm-1");
        shape_hold("sdb", "dm-2");
        shape_mount(20, 1, 253, 1, "/");
        shape_mount(21, 20, 253, 0, "/local");
        shape_mount(22, 20, 253, 2, "/data");
        check_scopes(nodes, ELEMENTSOF(nodes));
        for (enum teardown_scope scope = TEARDOWN_LOCAL; scope <= TEARDOWN_ALL; scope++) {
                _cleanup_tree_ struct tree *tree = read_scope(scope);

                is_skipped(tree, "root", "/ stays mounted");
        }
}
END_TEST

/* ------ others ------ */

static void write_backup(const char *name, const char *keys)
{
        _cleanup_free_ char *path = string_format("etc/lvm/backup/%s", name);
        _cleanup_free_ char *text = string_format("contents = \"Text Format Volume Group\"\nversion = 1\n"
                                                  "%s {\n"
                                                  "id = \"" VGID "\"\nseqno = 7\n%s\n"
                                                  "physical_volumes { pv0 { id = \"" VGID "\" } }\n"
                                                  "}\n",
                name, keys);

        shape_write(path, text);
}

/* As on a machine that has shared VGs. */
static void write_config(const char *text)
{
        _cleanup_free_ char *content = string_format("global { use_lvmlockd = 1 }\n%s", text);

        shape_write("etc/lvm/lvm.conf", content);
}

static void make_two_lvs(void)
{
        write_config("");
        shape_device("sda", 8, 0);
        shape_dm(0, "mpatha", "mpath-36", "multipath");
        shape_dm(1, "vg-one", VG_UUID LV_1, "linear");
        shape_dm(2, "vg-two", VG_UUID LV_2, "linear");
        shape_dm(3, "luks", "CRYPT-LUKS2-x", "crypt");
        shape_hold("sda", "dm-0");
        shape_hold("dm-0", "dm-1");
        shape_hold("dm-0", "dm-2");
        shape_hold("dm-1", "dm-3");
}

START_TEST(shared_vgs)
{
        static const struct {
                const char *keys;
                const char *reason;
        } backups[] = {
                {"status = [\"READ\", \"WRITE\"]", NULL},
                {"status = [\"READ\"]\nlock_type = \"none\"", NULL},
                {"status = [\"READ\"]\nlock_type = \"sanlock\"", "VG vg is shared (lock type sanlock)"},
                {"status = [\"READ\"]\nlock_type = \"dlm\"", "VG vg is shared (lock type dlm)"},
                {"status = [\"READ\"]\nlock_type = \"idm\"", "VG vg is shared (lock type idm)"},
                {"status = [\"READ\", \"CLUSTERED\"]", "VG vg is clustered"},
        };
        const char *reason = backups[_i].reason;
        _cleanup_tree_ struct tree *tree = NULL;

        make_two_lvs();
        write_backup("vg", backups[_i].keys);
        tree = read_scope(TEARDOWN_ALL);
        is_skipped(tree, "vg-one", reason);
        is_skipped(tree, "vg-two", reason);
        is_skipped(tree, "mpatha", reason);
        is_skipped(tree, "luks", NULL);
}
END_TEST

START_TEST(another_vg_of_that_name)
{
        _cleanup_tree_ struct tree *tree = NULL;

        make_two_lvs();
        shape_dm(4, "vg-strange", OTHER_VG_UUID LV_1, "linear");
        shape_dm(5, "own-lv", OTHER_VG_UUID LV_2, "linear");
        write_backup("vg", "status = [\"READ\"]\nlock_type = \"dlm\"");
        tree = read_scope(TEARDOWN_ALL);
        is_skipped(tree, "vg-one", "VG vg is shared (lock type dlm)");
        is_skipped(tree, "vg-strange", NULL);
        is_skipped(tree, "own-lv", NULL);
}
END_TEST

START_TEST(backups_elsewhere_or_nowhere)
{
        _cleanup_tree_ struct tree *elsewhere = NULL, *damaged = NULL;

        make_two_lvs();
        write_config("backup { backup_dir = \"/srv/backup\" }\n");
        write_backup("vg", "status = [\"READ\"]\nlock_type = \"dlm\"");
        elsewhere = read_scope(TEARDOWN_ALL);
        is_skipped(elsewhere, "vg-one", NULL);

        write_config("");
        shape_write("etc/lvm/backup/vg", "vg {");
        damaged = read_scope(TEARDOWN_ALL);
        is_skipped(damaged, "vg-one", NULL);
}
END_TEST

/* lvm2 would not have activated it: the backup is old, or another machine's. A damaged configuration says nothing. */
START_TEST(without_lvmlockd)
{
        _cleanup_tree_ struct tree *without = NULL, *damaged = NULL;

        make_two_lvs();
        shape_write("etc/lvm/lvm.conf", "");
        write_backup("vg", "status = [\"READ\"]\nlock_type = \"dlm\"");
        without = read_scope(TEARDOWN_ALL);
        is_skipped(without, "vg-one", NULL);

        shape_write("etc/lvm/lvm.conf", "global {");
        damaged = read_scope(TEARDOWN_ALL);
        is_skipped(damaged, "vg-one", "VG vg is shared (lock type dlm)");
}
END_TEST

/* As the kernel has it for Intel's firmware: a container, and an array in it. */
START_TEST(arrays_of_mdmon)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device("sda", 8, 0);
        shape_device("md127", 9, 127);
        shape_write("sys/devices/block/md127/md/array_state", "inactive\n");
        shape_write("sys/devices/block/md127/md/metadata_version", "external:imsm\n");
        shape_hold("sda", "md127");
        shape_device("md126", 9, 126);
        shape_write("sys/devices/block/md126/md/array_state", "active\n");
        shape_write("sys/devices/block/md126/md/metadata_version", "external:/md127/0\n");
        shape_device("md0", 9, 0);
        shape_write("sys/devices/block/md0/md/array_state", "clean\n");
        shape_write("sys/devices/block/md0/md/metadata_version", "1.2\n");
        shape_dm(0, "on-it", "-", "linear");
        shape_hold("md126", "dm-0");

        tree = read_scope(TEARDOWN_LOCAL);
        is_skipped(tree, "md126", "mdmon manages the metadata of md126");
        ck_assert_ptr_nonnull(shape_node(tree, "md127")->skip_reason);
        ck_assert_ptr_nonnull(shape_node(tree, "sda")->skip_reason);
        is_skipped(tree, "md0", NULL);
        is_skipped(tree, "on-it", NULL);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("scope");
        TCase *tcase = tcase_create("scope");

        tcase_add_checked_fixture(tcase, shape_set_up, shape_tear_down);
        tcase_add_test(tcase, each_its_own);
        tcase_add_test(tcase, nothing_is_left_over);
        tcase_add_test(tcase, on_both_sides);
        tcase_add_test(tcase, local_below_a_network_mount);
        tcase_add_test(tcase, network_below_a_local_mount);
        tcase_add_test(tcase, root_on_the_network);
        tcase_add_loop_test(tcase, shared_vgs, 0, 6);
        tcase_add_test(tcase, another_vg_of_that_name);
        tcase_add_test(tcase, without_lvmlockd);
        tcase_add_test(tcase, backups_elsewhere_or_nowhere);
        tcase_add_test(tcase, arrays_of_mdmon);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
