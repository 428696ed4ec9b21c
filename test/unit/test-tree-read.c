/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reading of what no tool makes: contradictions, leftovers, very many devices; and of mounts that come and go. */

#include "fixture.h"
#include "shapes.h"
#include "shared/util.h"
#include "tree/order.h"
#include "tree/read.h"

#define VG_A "LVM-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LV_1 "11111111111111111111111111111111"
#define LV_2 "22222222222222222222222222222222"

START_TEST(nothing_at_all)
{
        _cleanup_tree_ struct tree *tree = shape_read();

        ck_assert_uint_eq(tree->nodes.n, 0);
        ck_assert_uint_eq(shape_take_down(tree), 0);
}
END_TEST

START_TEST(a_circle_of_devices)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device("sda", 8, 0);
        shape_dm(0, "below", "-", "linear");
        shape_dm(1, "a", "-", "linear");
        shape_dm(2, "b", "-", "linear");
        shape_dm(3, "apart", "-", "linear");
        shape_hold("sda", "dm-0");
        shape_hold("dm-0", "dm-1");
        shape_hold("dm-1", "dm-2");
        shape_hold("dm-2", "dm-1");
        shape_hold("sda", "dm-3");

        tree = shape_read();
        ck_assert_ptr_nonnull(shape_node(tree, "a")->cycle);
        ck_assert_ptr_eq(shape_node(tree, "a")->cycle, shape_node(tree, "b")->cycle);
        ck_assert_ptr_null(shape_node(tree, "below")->cycle);
        ck_assert_ptr_null(shape_node(tree, "apart")->cycle);
        ck_assert_uint_eq(shape_take_down(tree), 0);
        ck_assert_uint_eq(tree->n_to_go, 4);
}
END_TEST

START_TEST(links_that_point_nowhere)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device("sda", 8, 0);
        shape_link("sys/dev/block/8:16", "../../devices/block/sdb");
        shape_link("sys/dev/block/strange", "../../devices/block/sda");
        shape_link("sys/dev/block/8:32", "sdc");
        shape_dm(0, "lv", VG_A LV_1, "linear");
        shape_hold("sda", "dm-0");
        shape_link("sys/devices/block/sda/holders/dm-7", "../../dm-7");
        shape_link("sys/devices/block/dm-0/slaves/sdb", "../../sdb");
        /* Itself. */
        shape_hold("dm-0", "dm-0");

        tree = shape_read();
        ck_assert_uint_eq(tree->nodes.n, 2);
        shape_is_held(tree, "sda", "lv");
        ck_assert_uint_eq(shape_node(tree, "sda")->uppers.n, 1);
        ck_assert_uint_eq(shape_take_down(tree), 0);
}
END_TEST

/* Each edge is there from one side only, the one that is read. */
START_TEST(slaves_are_enough)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device("sda", 8, 0);
        shape_dm(0, "one", "-", "linear");
        shape_dm(1, "two", "-", "linear");
        shape_link("sys/devices/block/dm-0/slaves/sda", "../../sda");
        shape_link("sys/devices/block/dm-1/slaves/dm-0", "../../dm-0");

        tree = shape_read();
        shape_is_held(tree, "sda", "one");
        shape_is_held(tree, "one", "two");
}
END_TEST

/* It was there when sysfs was read, and no longer when device-mapper was asked. */
START_TEST(a_device_that_vanishes)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device("sda", 8, 0);
        shape_device("dm-5", 253, 5);
        shape_hold("sda", "dm-5");
        shape_mount(20, 1, 253, 5, "/srv");

        tree = shape_read();
        ck_assert_uint_eq(tree->nodes.n, 2);
        ck_assert_uint_eq(shape_node(tree, "sda")->uppers.n, 0);
}
END_TEST

START_TEST(damaged_lists)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_write(fake_dm, "253:4 four - linear suspended\n253:1 two - -\n253:1 again - -\n253:2 \\x2 - -\n");
        shape_mountinfo("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
        shape_mountinfo("nonsense\n23\n");
        shape_mountinfo("24 22 253:1 / /srv rw shared:1 - ext4 /dev/dm-1 rw\n");
        shape_write(
                "proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/dm-2 partition 8 0 -2\nx\n");

        tree = shape_read();
        shape_is_held(tree, "two", "/srv");
        shape_is_held(tree, "\\x2", "/dev/dm-2");
        shape_is_held(tree, "/", "/srv");
        ck_assert_uint_eq(shape_take_down(tree), 0);
        ck_assert(shape_node(tree, "four")->suspended);
        ck_assert_uint_eq(tree->n_to_go, 3);
}
END_TEST

/* Of SCSI disks sysfs need not be asked, of all others it is. */
START_TEST(devices_of_partitions)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device_at("block/sda/sda1", 8, 1);
        shape_write("sys/devices/block/sda/sda1/partition", "1\n");
        shape_device_at("virtual/block/bcache0", 252, 0);
        shape_link("sys/devices/virtual/block/bcache0/slaves/sdq", "../../../../block/sdq");
        shape_device("loop0", 7, 0);
        shape_dm(0, "lv", VG_A LV_1, "linear");
        shape_hold("sda1", "dm-0");
        shape_write("proc/partitions",
                "major minor  #blocks  name\n\n   8        0       8 sda\n   8        1       4 sda1\n"
                "  65        0       6 sdq\n   8       99       6 sdz\n 254       16       6 vdb\n"
                " 252        0       5 bcache0\n 253        0       3 dm-0\n   8       32");

        tree = shape_read();
        ck_assert_uint_eq(tree->nodes.n, 5);
        shape_is_held(tree, "sda", "sda1");
        shape_is_held(tree, "sda1", "lv");
        shape_is_held(tree, "sdq", "bcache0");
        ck_assert_int_eq(shape_node(tree, "sdq")->kind, TREE_DISK);
        ck_assert_int_eq(shape_node(tree, "sda1")->kind, TREE_PARTITION);
        ck_assert_uint_eq(shape_node(tree, "sda1")->size, 4096);
        ck_assert_uint_eq(shape_node(tree, "lv")->size, 3072);
}
END_TEST

START_TEST(only_what_is_attached)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device("loop0", 7, 0);
        shape_device("loop1", 7, 1);
        shape_write("sys/devices/block/loop1/loop/backing_file", "/srv/a (deleted)\n");
        shape_device("md0", 9, 0);
        shape_write("sys/devices/block/md0/md/array_state", "clear\n");
        shape_device("md1", 9, 1);
        shape_write("sys/devices/block/md1/md/array_state", "inactive\n");
        shape_device("nvme0n1", 259, 0);
        shape_mount(20, 1, 8, 0, "/srv");

        tree = shape_read();
        ck_assert_uint_eq(tree->nodes.n, 4);
        shape_is_held(tree, "/srv", "loop1");
        ck_assert_int_eq(shape_node(tree, "md1")->kind, TREE_MD);
        ck_assert_int_eq(shape_node(tree, "nvme0n1")->kind, TREE_DISK);
}
END_TEST

START_TEST(devices_by_path)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "vg-lv", "-", "linear");
        shape_device("cciss!c0d0", 104, 0);
        shape_device("loop0", 7, 0);
        shape_write("sys/devices/block/loop0/loop/backing_file", "/dev/dm-0\n");
        shape_device("loop1", 7, 1);
        shape_write("sys/devices/block/loop1/loop/backing_file", "/dev/mapper/vg-lv\n");
        shape_mount(20, 1, 8, 0, "/");
        shape_write("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/cciss/c0d0\tpartition\t8\t0\t-2\n");

        tree = shape_read();
        shape_is_held(tree, "vg-lv", "loop0");
        shape_is_held(tree, "vg-lv", "loop1");
        shape_is_held(tree, "cciss!c0d0", "/dev/cciss/c0d0");
        ck_assert_uint_eq(shape_node(tree, "/")->uppers.n, 0);
}
END_TEST

static size_t count_gone(const struct tree *tree)
{
        size_t n = 0;

        for (size_t i = 0; i < tree->nodes.n; i++)
                n += tree->nodes.nodes[i]->state == TREE_GONE;
        return n;
}

/* Whichever of two mounts at one place mountinfo has first. */
START_TEST(files_lie_on_the_mount_that_is_on_top)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_mount(20, 1, 8, 0, "/");
        shape_mount(22, 21, 8, 2, "/srv");
        shape_mount(21, 20, 8, 1, "/srv");
        tree = shape_read();
        ck_assert_uint_eq(tree_find_mount_of(tree, "/srv/a/file")->mount_id, 22);
        ck_assert_uint_eq(tree_find_mount_of(tree, "/srv")->mount_id, 20);
        ck_assert_ptr_null(tree_find_mount_of(tree, "relative"));

        shape_write("proc/self/mountinfo", "");
        shape_mount(20, 1, 8, 0, "/");
        ck_assert_int_eq(tree_read_mounts(tree), 1);
        ck_assert_uint_eq(count_gone(tree), 2);
        ck_assert_uint_eq(tree_find_mount_of(tree, "/srv/a/file")->mount_id, 20);
}
END_TEST

/* Of firmware's metadata: the array is part of the container, though only disks are its slaves. */
START_TEST(a_container_goes_after_its_arrays)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_device("sda", 8, 0);
        shape_device("md126", 9, 126);
        shape_write("sys/devices/block/md126/md/array_state", "active\n");
        shape_write("sys/devices/block/md126/md/metadata_version", "external:/md127/0\n");
        shape_device("md127", 9, 127);
        shape_write("sys/devices/block/md127/md/array_state", "inactive\n");
        shape_write("sys/devices/block/md127/md/metadata_version", "external:imsm\n");
        shape_hold("sda", "md126");
        shape_hold("sda", "md127");

        tree = shape_read();
        shape_is_held(tree, "md127", "md126");
        ck_assert_uint_eq(shape_node(tree, "md127")->uppers.n, 1);
}
END_TEST

START_TEST(btrfs_on_two_lvs)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "vg-one", VG_A LV_1, "linear");
        shape_dm(1, "vg-two", VG_A LV_2, "linear");
        shape_dm(2, "vg-apart", "-", "linear");
        shape_link("sys/fs/btrfs/0000/devices/dm-0", "../../../../devices/block/dm-0");
        shape_link("sys/fs/btrfs/0000/devices/dm-1", "../../../../devices/block/dm-1");
        shape_link("sys/fs/btrfs/1111/devices/dm-2", "../../../../devices/block/dm-2");
        shape_mountinfo("20 1 0:40 /@ /srv rw shared:1 - btrfs /dev/mapper/vg-one rw\n");

        tree = shape_read();
        shape_is_held(tree, "vg-one", "/srv");
        shape_is_held(tree, "vg-two", "/srv");
        ck_assert_uint_eq(shape_node(tree, "vg-apart")->uppers.n, 0);
}
END_TEST

START_TEST(what_the_system_needs_stays)
{
        _cleanup_tree_ struct tree *tree = NULL;
        static const char *const mount_points[] = {
                "/", "/usr", "/run/initramfs/live", "/run/initramfs-not", "/early", "/usr/local", "/run/nextroot"};

        for (unsigned int i = 0; i < ELEMENTSOF(mount_points); i++) {
                _cleanup_free_ char *name = string_format("lv%u", i);

                shape_dm(i, name, "-", "linear");
                shape_mount(20 + i, i == 0 ? 1 : 20, 253, i, mount_points[i]);
        }
        shape_write("etc/fstab", "# devices\n/dev/a /early ext4 noatime,x-initrd.mount 0 0\nnonsense\n"
                                 "/dev/b /usr/local ext4 x-initrd.mounted 0 0\n");

        tree = shape_read();
        ck_assert_str_eq(shape_node(tree, "lv0")->skip_reason, "/ stays mounted");
        ck_assert_str_eq(shape_node(tree, "lv1")->skip_reason, "/usr stays mounted");
        ck_assert_str_eq(shape_node(tree, "lv2")->skip_reason, "/run/initramfs/live stays mounted");
        ck_assert_ptr_null(shape_node(tree, "lv3")->skip_reason);
        ck_assert_str_eq(shape_node(tree, "lv4")->skip_reason, "/early stays mounted");
        ck_assert_ptr_null(shape_node(tree, "lv5")->skip_reason);
        ck_assert_str_eq(shape_node(tree, "lv6")->skip_reason, "/run/nextroot stays mounted");
        ck_assert_uint_eq(shape_take_down(tree), 0);
        ck_assert_uint_eq(tree->n_to_go, 2);
}
END_TEST

/* systemd leaves them open at a shutdown, and over a soft reboot. */
START_TEST(devices_that_the_initrd_has_opened_stay)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "open", "CRYPT-LUKS2-0-open", "crypt");
        shape_dm(1, "late", "CRYPT-LUKS2-1-late", "crypt");
        shape_dm(2, "verified", "CRYPT-VERITY-2-verified", "verity");
        shape_dm(3, "vg-lv", VG_A LV_1, "linear");
        shape_hold("dm-3", "dm-0");
        shape_write("etc/crypttab",
                "# early\n#late /dev/b none x-initrd.attach\nopen /dev/vg/lv - luks,x-initrd.attach # LUKS\n"
                "late /dev/b none luks,x-initrd.attached\nabsent /dev/c none x-initrd.attach\nnonsense\n");
        shape_write("etc/veritytab", "verified /dev/d /dev/e 0123 x-initrd.attach\n");

        tree = shape_read();
        ck_assert_str_eq(shape_node(tree, "open")->skip_reason, "open stays attached");
        ck_assert_str_eq(shape_node(tree, "vg-lv")->skip_reason, "open stays attached");
        ck_assert_ptr_null(shape_node(tree, "late")->skip_reason);
        ck_assert_str_eq(shape_node(tree, "verified")->skip_reason, "verified stays attached");
}
END_TEST

static const char *const next_roots[] = {"/srv/next", "/srv/next/", "../srv/next"};

START_TEST(next_root_by_a_link_stays)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "next", "-", "linear");
        shape_dm(1, "usr", "-", "linear");
        shape_dm(2, "other", "-", "linear");
        shape_mount(21, 1, 253, 0, "/srv/next");
        shape_mount(22, 21, 253, 1, "/srv/next/usr");
        shape_mount(23, 1, 253, 2, "/srv/next-not");
        shape_write("srv/next/usr/file", "");
        shape_link("run/nextroot", next_roots[_i]);

        tree = shape_read();
        ck_assert_str_eq(shape_node(tree, "next")->skip_reason, "/srv/next stays mounted");
        ck_assert_str_eq(shape_node(tree, "usr")->skip_reason, "/srv/next/usr stays mounted");
        ck_assert_ptr_null(shape_node(tree, "other")->skip_reason);
}
END_TEST

START_TEST(layers_of_an_overlay_that_is_root_stay)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "lower", "-", "linear");
        shape_dm(1, "upper", "-", "linear");
        shape_dm(2, "other", "-", "linear");
        shape_mountinfo(
                "20 1 0:30 / / rw - overlay overlayroot "
                "rw,lowerdir=/media/root-ro:/media/root-ro/more,upperdir=/media/root-rw/overlay,workdir=/media/root-rw/work\n");
        shape_mount(21, 20, 253, 0, "/media/root-ro");
        shape_mount(22, 20, 253, 1, "/media/root-rw");
        shape_mount(23, 20, 253, 2, "/media/root");

        tree = shape_read();
        ck_assert_str_eq(shape_node(tree, "lower")->skip_reason, "/media/root-ro stays mounted");
        ck_assert_str_eq(shape_node(tree, "upper")->skip_reason, "/media/root-rw stays mounted");
        ck_assert_ptr_null(shape_node(tree, "other")->skip_reason);
        ck_assert_uint_eq(shape_take_down(tree), 0);
        ck_assert_uint_eq(tree->n_to_go, 1);
}
END_TEST

/* Root is written to until the end, and so its snapshots stay, too. */
START_TEST(snapshots_stay_with_their_origin)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "vg-root", VG_A LV_1, "snapshot-origin");
        shape_dm(1, "vg-root-real", VG_A LV_1 "-real", "linear");
        shape_dm(2, "vg-before", VG_A LV_2, "snapshot");
        shape_dm(3, "vg-before-cow", VG_A LV_2 "-cow", "linear");
        shape_hold("dm-1", "dm-0");
        shape_hold("dm-1", "dm-2");
        shape_hold("dm-3", "dm-2");
        shape_mount(20, 1, 253, 0, "/");

        tree = shape_read();
        ck_assert_str_eq(shape_node(tree, "vg-before")->skip_reason, "/ stays mounted");
        ck_assert_str_eq(shape_node(tree, "vg-before-cow")->skip_reason, "/ stays mounted");
        ck_assert_uint_eq(shape_take_down(tree), 0);
        ck_assert_uint_eq(tree->n_to_go, 0);
}
END_TEST

START_TEST(kinds_of_other_devices)
{
        static const struct {
                const char *uuid, *target, *lv;
                enum tree_kind kind;
        } devices[] = {
                {"part2-mpath-36", "linear", NULL, TREE_DM_PARTITION},
                {"party-mpath", "linear", NULL, TREE_DM},
                {"CRYPT-LUKS2-x-y", "", NULL, TREE_CRYPT},
                {"", "crypt", NULL, TREE_CRYPT},
                {"", "", NULL, TREE_DM},
                {VG_A LV_1, "thin", "snap", TREE_LV_THIN},
                {VG_A LV_1, "", "anything", TREE_LV_OTHER},
                {VG_A LV_1 "-tdata", "raid", "pool_tdata", TREE_LV_POOL_PART},
                {VG_A LV_1 "-real", "linear", "pool_tdata_rimage_0", TREE_LV_RAID_LEG},
                {VG_A LV_1 "-real", "linear", "r_rimage_1_imeta", TREE_LV_INTEGRITY_PART},
                /* Names that users may choose. */
                {VG_A LV_1, "linear", "tdata", TREE_LV_LINEAR},
                {VG_A LV_1, "linear", "my_cow", TREE_LV_LINEAR},
                {VG_A LV_1, "linear", "a_tdatabase", TREE_LV_LINEAR},
                {"LVM-short", "linear", "a", TREE_LV_LINEAR},
        };

        for (size_t i = 0; i < ELEMENTSOF(devices); i++) {
                enum tree_kind kind = tree_kind_of_dm(devices[i].uuid, devices[i].target, devices[i].lv);

                ck_assert_msg(kind == devices[i].kind, "%s, %s, %s is a %s", devices[i].uuid, devices[i].target,
                        devices[i].lv ?: "no LV", tree_kind_to_string(kind));
        }
}
END_TEST

/* ------ mounts that come and go ------ */

static void read_again(struct tree *tree, size_t n_went, size_t n_came)
{
        size_t n_before = tree->nodes.n, n_gone_before = count_gone(tree);

        ck_assert_int_eq(tree_read_mounts(tree), n_went > 0);
        ck_assert_uint_eq(count_gone(tree) - n_gone_before, n_went);
        ck_assert_uint_eq(tree->nodes.n - n_before, n_came);
}

static size_t count_holders(const struct tree_node *node)
{
        size_t n = 0;

        for (size_t i = 0; i < node->uppers.n; i++)
                n += node->uppers.nodes[i]->state != TREE_GONE;
        return n;
}

START_TEST(nodes_follow_their_mounts)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "one", "-", "linear");
        shape_dm(1, "two", "-", "linear");
        shape_mount(20, 1, 8, 0, "/");
        shape_mount(21, 20, 253, 0, "/one");
        shape_mount(22, 21, 253, 1, "/one/two");
        shape_write("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/one/swap\tfile\t8\t0\t-2\n");
        tree = shape_read();
        tree_schedule(tree);
        read_again(tree, 0, 0);
        ck_assert_ptr_null(tree_next_ready(tree));

        shape_write("proc/self/mountinfo", "");
        shape_mount(20, 1, 8, 0, "/");
        shape_mount(21, 20, 253, 0, "/one");
        read_again(tree, 1, 0);
        ck_assert_ptr_eq(tree_next_ready(tree), shape_node(tree, "two"));
        ck_assert_ptr_null(tree_next_ready(tree));

        /* The same number, another mount; and one that was not there before. */
        shape_write("proc/self/mountinfo", "");
        shape_mount(20, 1, 8, 0, "/");
        shape_mount(21, 20, 253, 0, "/elsewhere");
        shape_mount(30, 20, 253, 0, "/new");
        shape_write("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
        read_again(tree, 2, 2);
        ck_assert_uint_eq(count_holders(shape_node(tree, "one")), 2);
        ck_assert_ptr_null(tree_next_ready(tree));

        shape_write("proc/self/mountinfo", "");
        shape_mount(20, 1, 8, 0, "/");
        shape_mount(30, 20, 253, 0, "/new");
        read_again(tree, 1, 0);
        ck_assert_ptr_null(tree_next_ready(tree));
        shape_write("proc/self/mountinfo", "");
        shape_mount(20, 1, 8, 0, "/");
        read_again(tree, 1, 0);

        /* Back again, each as what it was before. */
        shape_mount(30, 20, 253, 0, "/new");
        shape_write("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/new/swap\tfile\t8\t0\t-2\n");
        read_again(tree, 0, 2);
        ck_assert_ptr_null(tree_next_ready(tree));
        shape_write("proc/self/mountinfo", "");
        shape_mount(20, 1, 8, 0, "/");
        shape_write("proc/swaps", "");
        read_again(tree, 2, 0);
        ck_assert_ptr_eq(tree_next_ready(tree), shape_node(tree, "one"));
        shape_write("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/new/swap\tfile\t8\t0\t-2\n");
        read_again(tree, 0, 1);
}
END_TEST

START_TEST(unreadable_mounts_change_nothing)
{
        _cleanup_tree_ struct tree *tree = NULL;

        shape_dm(0, "one", "-", "linear");
        shape_mount(21, 20, 253, 0, "/one");
        tree = shape_read();
        tree_schedule(tree);
        ck_assert_int_eq(unlinkat(shape_root(), "proc/self/mountinfo", 0), 0);
        shape_link("proc/self/mountinfo", "mountinfo");
        ck_assert_int_eq(tree_read_mounts(tree), -ELOOP);
        ck_assert_uint_eq(count_gone(tree), 0);
        ck_assert_ptr_null(tree_next_ready(tree));
}
END_TEST

/* ------ very many ------ */

#define N_MANY 1000
#define N_MANY_PVS 8

static void make_many(void)
{
        _cleanup_free_ char *list = NULL, *mounts = NULL;
        size_t size;
        FILE *list_file = open_memstream(&list, &size), *mount_file = open_memstream(&mounts, &size);

        for (unsigned int i = 0; i < N_MANY_PVS; i++) {
                _cleanup_free_ char *name = string_format("sd%c", (int) ('a' + i));

                shape_device(name, 8, 16 * i);
        }
        fprintf(mount_file, "20 1 259:0 / / rw - ext4 /dev/root rw\n");
        for (unsigned int i = 0; i < N_MANY; i++) {
                _cleanup_free_ char *name = string_format("dm-%u", i);
                _cleanup_free_ char *disk = string_format("sd%c", (int) ('a' + i % N_MANY_PVS));

                shape_device(name, 253, i);
                shape_hold(disk, name);
                fprintf(list_file, "253:%u many-lv%u " VG_A "%032u linear\n", i, i, i);
                fprintf(mount_file, "%u 20 253:%u / /srv/%u rw - ext4 /dev/mapper/many-lv%u rw\n", 100 + i, i, i,
                        i);
        }
        fclose(list_file);
        fclose(mount_file);
        shape_write(fake_dm, list);
        shape_write("proc/self/mountinfo", mounts);
}

/* A bound that only a mistake exceeds, something quadratic for instance: it takes some 20 ms, mostly for the file
 * system that the tree lies on, and ten times as long with sanitizers. */
#define MANY_USEC_MAX (2 * USEC_PER_SEC)

START_TEST(a_thousand_lvs)
{
        _cleanup_tree_ struct tree *tree = NULL;
        uint64_t start, read_usec, down_usec;

        make_many();
        start = now_usec();
        tree = shape_read();
        read_usec = now_usec() - start;
        start = now_usec();
        ck_assert_uint_eq(shape_take_down(tree), 0);
        down_usec = now_usec() - start;

        ck_assert_uint_eq(tree->n_to_go, N_MANY);
        ck_assert_uint_eq(shape_node(tree, "many-lv7")->component, shape_node(tree, "sda")->component);
        printf("%zu nodes: %lu us to read and order, %lu us to go through\n", tree->nodes.n,
                (unsigned long) read_usec, (unsigned long) down_usec);
        ck_assert_uint_lt(read_usec, MANY_USEC_MAX);
        ck_assert_uint_lt(down_usec, MANY_USEC_MAX);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("tree-read");
        TCase *tcase = tcase_create("tree-read");

        tcase_add_checked_fixture(tcase, shape_set_up, shape_tear_down);
        tcase_add_test(tcase, nothing_at_all);
        tcase_add_test(tcase, a_circle_of_devices);
        tcase_add_test(tcase, links_that_point_nowhere);
        tcase_add_test(tcase, slaves_are_enough);
        tcase_add_test(tcase, a_device_that_vanishes);
        tcase_add_test(tcase, damaged_lists);
        tcase_add_test(tcase, devices_of_partitions);
        tcase_add_test(tcase, only_what_is_attached);
        tcase_add_test(tcase, devices_by_path);
        tcase_add_test(tcase, files_lie_on_the_mount_that_is_on_top);
        tcase_add_test(tcase, a_container_goes_after_its_arrays);
        tcase_add_test(tcase, btrfs_on_two_lvs);
        tcase_add_test(tcase, what_the_system_needs_stays);
        tcase_add_test(tcase, devices_that_the_initrd_has_opened_stay);
        tcase_add_loop_test(tcase, next_root_by_a_link_stays, 0, ELEMENTSOF(next_roots));
        tcase_add_test(tcase, layers_of_an_overlay_that_is_root_stay);
        tcase_add_test(tcase, snapshots_stay_with_their_origin);
        tcase_add_test(tcase, kinds_of_other_devices);
        tcase_add_test(tcase, nodes_follow_their_mounts);
        tcase_add_test(tcase, unreadable_mounts_change_nothing);
        tcase_add_test(tcase, a_thousand_lvs);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
