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
        const char *transport_of; /* the directory that has a file of that name, with... */
        const char *transport;
        bool on_network;
} disks[] = {
        {"pci0000:00/0000:00:05.0/virtio2/host0/target0:0:0/0:0:0:0/block/sda", NULL, NULL, false},
        {"pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", NULL, NULL, false},
        /* Fibre Channel has a network of its own. */
        {"pci0000:00/0000:03:00.0/host7/rport-7:0-3/target7:0:1/7:0:1:0/block/sda", NULL, NULL, false},
        {"platform/host2/session1/target2:0:0/2:0:0:1/block/sda", NULL, NULL, true},
        {"pci0000:00/0000:04:00.1/host4/session12/target4:0:0/4:0:0:0/block/sda", NULL, NULL, true},
        {"virtual/sessions/session/block/sda", NULL, NULL, false},
        {"virtual/session1x/block/sda", NULL, NULL, false},
        {"pci0000:00/0000:02:00.0/net/eth0/ctlr_0/host3/rport-3:0-0/target3:0:0/3:0:0:0/block/sda", NULL, NULL,
                true},
        {"virtual/net/eth0.172/ctlr_11/host3/rport-3:0-0/target3:0:0/3:0:0:0/block/sda", NULL, NULL, true},
        {"pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1", "pci0000:00/0000:00:04.0/nvme/nvme0", "pcie", false},
        {"pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1", NULL, NULL, false},
        {"platform/soc/27bcc0000.nvme/nvme/nvme0/nvme0n1", "platform/soc/27bcc0000.nvme/nvme/nvme0", "apple-nvme",
                false},
        {"virtual/nvme-fabrics/ctl/nvme0/nvme0n1", "virtual/nvme-fabrics/ctl/nvme0", "tcp", true},
        {"virtual/nvme-fabrics/ctl/nvme0/nvme0n1", "virtual/nvme-fabrics/ctl/nvme0", "rdma", true},
        {"virtual/nvme-fabrics/ctl/nvme0/nvme0n1", "virtual/nvme-fabrics/ctl/nvme0", "fc", true},
        {"virtual/nvme-fabrics/ctl/nvme0/nvme0n1", "virtual/nvme-fabrics/ctl/nvme0", "loop", true},
        {"virtual/block/nbd0", NULL, NULL, true},
        {"virtual/block/nbd", NULL, NULL, false},
        {"virtual/block/rbd17", NULL, NULL, true},
        {"virtual/block/drbd3", NULL, NULL, true},
        {"virtual/block/rnbd0", NULL, NULL, true},
        {"virtual/block/etherd!e1.1", NULL, NULL, true},
        {"virtual/block/zram0", NULL, NULL, false},
        {"virtual/block/ram0", NULL, NULL, false},
};

START_TEST(disks_by_sysfs)
{
        const struct disk *disk = &disks[_i];
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device_at(disk->location, 8, 0);
        if (disk->transport) {
                _cleanup_free_ char *path = string_format("sys/devices/%s/transport", disk->transport_of);
                _cleanup_free_ char *line = string_format("%s\n", disk->transport);

                shape_write(path, line);
        }
        tree = read_network();
        ck_assert_uint_eq(tree->nodes.n, 1);
        ck_assert_msg(tree->nodes.nodes[0]->on_network == disk->on_network, "%s, %s", disk->location,
                disk->transport ?: "no transport");
}
END_TEST

/* With native multipath the disk is the subsystem's. */
static void make_subsystem(const char *first_transport, const char *second_transport)
{
        shape_device_at("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", 259, 0);
        shape_link("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0", "../../nvme-fabrics/ctl/nvme0");
        shape_link("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme1", "../../nvme-fabrics/ctl/nvme1");
        shape_write("sys/devices/virtual/nvme-fabrics/ctl/nvme0/transport", first_transport);
        shape_write("sys/devices/virtual/nvme-fabrics/ctl/nvme1/transport", second_transport);
}

START_TEST(nvme_with_several_controllers)
{
        static const struct {
                const char *first, *second;
                bool on_network;
        } subsystems[] = {
                {"tcp\n", "rdma\n", true},
                {"pcie\n", "tcp\n", true},
                {"tcp\n", "", true},
                {"pcie\n", "pcie\n", false},
                {"", "", false},
        };
        _cleanup_tree_ struct tree *tree = NULL;

        make_subsystem(subsystems[_i].first, subsystems[_i].second);
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
        tree_hold(tree, tree_add_device(tree, TREE_DISK, "sdz", 12345), shape_node(tree, "circle"));
        ck_assert_int_eq(tree_find_network(tree), 0);
        ck_assert(!shape_node(tree, "circle")->on_network);
        ck_assert(!shape_node(tree, "nvme0n1")->on_network);

        tree_hold(tree, tree_add_device(tree, TREE_DISK, "nbd7", 12346), shape_node(tree, "circle"));
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
        tcase_add_loop_test(tcase, nvme_with_several_controllers, 0, 5);
        tcase_add_test(tcase, what_lies_on_it);
        tcase_add_test(tcase, a_file_on_nfs);
        tcase_add_test(tcase, half_of_a_device);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
