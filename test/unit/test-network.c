/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is on the network. */

#include "fixture.h"
#include "shapes.h"
#include "shared/util.h"
#include "tree/read.h"

static struct tree *read_network(void)
{
        struct tree *tree = shape_read();

        ck_assert_int_eq(tree_find_network(tree), 0);
        return tree;
}

/* Where the kernel (6.1) has disks, by drivers/scsi/scsi_transport_iscsi.c, drivers/scsi/fcoe/fcoe_sysfs.c,
 * drivers/nvme/host/core.c and multipath.c, and the disk_name of each driver in drivers/block/. */
static const struct disk {
        const char *location;
        bool on_network;
} disks[] = {
        {"pci0000:00/0000:00:05.0/virtio2/host0/target0:0:0/0:0:0:0/block/sda", false},
        {"pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", false},
        /* Fibre Channel has a network of its own. */
        {"pci0000:00/0000:03:00.0/host7/rport-7:0-3/target7:0:1/7:0:1:0/block/sda", false},
        {"platform/host2/session1/target2:0:0/2:0:0:1/block/sda", true},
        {"pci0000:00/0000:04:00.1/host4/session12/target4:0:0/4:0:0:0/block/sda", true},
        {"virtual/sessions/session/block/sda", false},
        {"virtual/session1x/block/sda", false},
        {"pci0000:00/0000:02:00.0/net/eth0/ctlr_0/host3/rport-3:0-0/target3:0:0/3:0:0:0/block/sda", true},
        {"virtual/net/eth0.172/ctlr_11/host3/rport-3:0-0/target3:0:0/3:0:0:0/block/sda", true},
        {"pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1", false},
        {"platform/soc/27bcc0000.nvme/nvme/nvme0/nvme0n1", false},
        {"virtual/nvme-fabrics/ctl/nvme0/nvme0n1", true},
        {"virtual/block/nbd0", true},
        {"virtual/block/nbd", false},
        {"virtual/block/rbd17", true},
        {"virtual/block/drbd3", true},
        {"virtual/block/rnbd0", true},
        {"virtual/block/etherd!e1.1", true},
        {"virtual/block/zram0", false},
        {"virtual/block/ram0", false},
};

START_TEST(disks_by_sysfs)
{
        const struct disk *disk = &disks[_i];
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device_at(disk->location, 8, 0);
        tree = read_network();
        ck_assert_uint_eq(tree->nodes.n, 1);
        ck_assert_msg(tree->nodes.nodes[0]->on_network == disk->on_network, "%s", disk->location);
}
END_TEST

/* With native multipath the disk is the subsystem's, which has links to its controllers. */
#define FABRICS "../../nvme-fabrics/ctl/nvme"
#define PCIE "../../../pci0000:00/0000:00:04.0/nvme/nvme"

START_TEST(nvme_with_several_controllers)
{
        static const struct {
                const char *first, *second;
                bool on_network;
        } subsystems[] = {
                {FABRICS "0", FABRICS "1", true},
                {PCIE "0", FABRICS "1", true},
                {FABRICS "0", PCIE "1", true},
                {PCIE "0", PCIE "1", false},
        };
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device_at("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", 259, 0);
        shape_link("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0", subsystems[_i].first);
        shape_link("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme1", subsystems[_i].second);
        tree = read_network();
        ck_assert_int_eq(shape_node(tree, "nvme0n1")->on_network, subsystems[_i].on_network);
}
END_TEST

START_TEST(what_lies_on_it)
{
        static const char *const on_network[] = {
                "sda", "sda1", "on-iscsi", "on-both", "/iscsi", "/iscsi/loop", "loop0"};
        static const char *const local[] = {"sdb", "on-disk", "/", "/disk"};
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device_at("platform/host2/session1/target2:0:0/2:0:0:1/block/sda", 8, 0);
        shape_device_at("platform/host2/session1/target2:0:0/2:0:0:1/block/sda/sda1", 8, 1);
        shape_write("sys/devices/platform/host2/session1/target2:0:0/2:0:0:1/block/sda/sda1/partition", "1\n");
        shape_device("sdb", 8, 16);
        shape_device("loop0", 7, 0);
        shape_write("sys/devices/block/loop0/loop/backing_file", "/iscsi/image\n");
        shape_dm(0, "on-iscsi", "-", "linear");
        shape_dm(1, "on-disk", "-", "linear");
        shape_dm(2, "on-both", "-", "linear");
        shape_hold("sda1", "dm-0");
        shape_hold("sdb", "dm-1");
        shape_hold("dm-0", "dm-2");
        shape_hold("dm-1", "dm-2");
        shape_mount(20, 1, 259, 0, "/");
        shape_mount(21, 20, 253, 0, "/iscsi");
        shape_mount(22, 21, 7, 0, "/iscsi/loop");
        shape_mount(23, 20, 253, 1, "/disk");

        tree = read_network();
        ck_assert_uint_eq(tree->nodes.n, ELEMENTSOF(on_network) + ELEMENTSOF(local));
        for (size_t i = 0; i < ELEMENTSOF(on_network); i++)
                ck_assert_msg(shape_node(tree, on_network[i])->on_network, "%s is local", on_network[i]);
        for (size_t i = 0; i < ELEMENTSOF(local); i++)
                ck_assert_msg(!shape_node(tree, local[i])->on_network, "%s is on the network", local[i]);
}
END_TEST

START_TEST(a_file_on_nfs)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device("loop0", 7, 0);
        shape_write("sys/devices/block/loop0/loop/backing_file", "/nfs/image\n");
        shape_device("loop1", 7, 1);
        shape_write("sys/devices/block/loop1/loop/backing_file", "/tmp/image\n");
        shape_mount(20, 1, 259, 0, "/");
        shape_mountinfo("21 20 0:40 / /nfs rw - nfs4 server:/export rw\n");
        shape_mountinfo("22 20 0:41 / /tmp rw - tmpfs tmpfs rw\n");

        tree = read_network();
        ck_assert(shape_node(tree, "loop0")->on_network);
        ck_assert(!shape_node(tree, "loop1")->on_network);
}
END_TEST

/* A link that leads nowhere, directories that are empty: nothing of it is an error. */
START_TEST(half_of_a_device)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "circle", "-", "linear");
        shape_dm(1, "other", "-", "linear");
        shape_hold("dm-0", "dm-1");
        shape_hold("dm-1", "dm-0");
        shape_device_at("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", 259, 0);
        shape_link("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0", "nowhere");
        tree = shape_read();
        tree_add_edge(tree, tree_add_device(tree, TREE_DISK, "sdz", 12345), shape_node(tree, "circle"));
        ck_assert_int_eq(tree_find_network(tree), 0);
        ck_assert(!shape_node(tree, "circle")->on_network);
        ck_assert(!shape_node(tree, "nvme0n1")->on_network);

        tree_add_edge(tree, tree_add_device(tree, TREE_DISK, "nbd7", 12346), shape_node(tree, "circle"));
        ck_assert_int_eq(tree_find_network(tree), 0);
        ck_assert(shape_node(tree, "other")->on_network);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("network");
        TCase *tcase = tcase_create("network");

        tcase_add_checked_fixture(tcase, shape_set_up, shape_tear_down);
        tcase_add_loop_test(tcase, disks_by_sysfs, 0, ELEMENTSOF(disks));
        tcase_add_loop_test(tcase, nvme_with_several_controllers, 0, 4);
        tcase_add_test(tcase, what_lies_on_it);
        tcase_add_test(tcase, a_file_on_nfs);
        tcase_add_test(tcase, half_of_a_device);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
