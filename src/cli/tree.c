/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate tree: shows the storage tree, from disks to mounts or the other way round. */

#include <inttypes.h>
#include <sys/sysmacros.h>

#include "cli/verb.h"
#include "deactivate/target.h"
#include "shared/kernel.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"
#include "table/tree-view.h"
#include "tree/order.h"
#include "tree/read.h"

static bool arg_all, arg_inverse;

/* ------ names on the command line ------ */

/* Adds the nodes of a name on the command line: a VG, VG/LV, the kernel's or device-mapper's name of a device, or a path. The
 * path is that of a device, a swap or a mount point, which may have several mounts. If a VG and a device have the same name, adds
 * both. In a captured tree only names count, since device numbers of this machine do not match. Returns 0; -ENOENT if it is not
 * known; -ESTALE as target_parse(); or -ENOMEM. */
static int find_nodes(const struct tree *tree, const char *name, struct tree_nodes *ret)
{
        bool is_path = name[0] == '/' || name[0] == '.';
        _cleanup_free_ char *resolved = is_path && !root_is_chosen() ? realpath(name, NULL) : NULL;
        const char *path = resolved ?: name;
        const struct tree_node *at_path = NULL, *named;
        _cleanup_target_ struct target target = {};
        size_t n = ret->n;
        int r = target_parse(name, &target);

        if (r == -ENOMEM || r == -ESTALE)
                return r;
        if (target.dm_name || target.lv || (target.number != 0 && !root_is_chosen()))
                at_path = target_find_node(&target, tree);
        if (!at_path && is_path)
                at_path = tree_find_device_path(tree, path);
        named = tree_find_kernel_name(tree, name) ?: dm_hash_lookup(tree->dm_names, name);
        FOREACH_NODE(node, &tree->nodes) {
                bool is_mount = is_path && !at_path && tree_node_is_mount_or_swap(node) && streq(node->name, path);
                bool is_lv = node->vg && streq(node->vg, name);

                if ((node == at_path || node == named || is_mount || is_lv) && tree_nodes_add(ret, node) < 0)
                        return -ENOMEM;
        }
        return ret->n > n ? 0 : -ENOENT;
}

/* Whether lvm2 has a backup of it: then it is a VG or LV that is not active. */
static bool is_inactive(int root_fd, const char *name)
{
        _cleanup_config_ struct config config = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_target_ struct target target = {};

        if (config_read(root_fd, &config, &problems) < 0 || target_parse(name, &target) < 0)
                return false;
        return target.vg && target_is_down(&target, root_fd, &config) > 0;
}

static void log_unknown(const struct tree *tree, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};

        FOREACH_NODE(node, &tree->nodes) {
                if (node->kernel_name || name[0] == '/')
                        suggestion_consider(&suggestion, node->name);
                if (node->vg)
                        suggestion_consider(&suggestion, node->vg);
                if (node->kernel_name)
                        suggestion_consider(&suggestion,
                                path_format("%s%s", name[0] == '/' ? "/dev/" : "", node->kernel_name).text);
        }
        suggestion_log_unknown(&suggestion, "device", "see \"headgate tree\"");
}

/* Shows only the named nodes, including disks that are hidden by default. Returns 0; 1 after logging an unknown name; or
 * -ENOMEM. */
static int show_named(struct tree_view *view, int root_fd, char *const names[], size_t n)
{
        _cleanup_tree_nodes_ struct tree_nodes nodes = {};
        int r, result = 0;

        for (size_t i = 0; i < n; i++) {
                size_t first = nodes.n;

                r = find_nodes(view->tree, names[i], &nodes);
                if (r == -ENOMEM)
                        return r;
                if (ANY(FOREACH_ARRAY(node, nodes.nodes + first, nodes.n - first), view->shown[(*node)->index]))
                        continue;
                result = 1;
                /* A file system such as /proc has no node. */
                if (r >= 0)
                        log_error("%s is not on a block device.", names[i]);
                else if (r == -ESTALE)
                        target_log_error(names[i], r);
                else if (is_inactive(root_fd, names[i]))
                        log_error("%s has no active LVs.", names[i]);
                else
                        log_unknown(view->tree, names[i]);
        }
        r = tree_view_restrict(view, &nodes);
        return r < 0 ? r : result;
}

/* ------ columns ------ */

/* A line of the tree. Values that a node does not have are NULL. */
struct line {
        const char *color;
        struct tree_node node; /* a copy */
        int root_fd;           /* where the machine's files are */
        const char *name, *kind, *state, *id, *number, *vg, *tree_name;
        struct strv mount_points, holders;
        bool is_hidden, again;
};

/* The kernel's attribute "ro" (Documentation/ABI/stable/sysfs-block). */
static char *get_read_only(const void *data)
{
        const struct line *line = data;
        _cleanup_free_ char *read_only = NULL;

        if (!line->node.kernel_name)
                return strdup("");
        if (sysfs_read_attribute(line->root_fd, line->node.number, "ro", &read_only) < 0)
                return NULL;
        return read_only ? TAKE_PTR(read_only) : strdup("0");
}

/* The result of blkid, as udev keeps it: "ext4", "LVM2_member", "crypto_LUKS". libsystemd would read a dozen files of each device for
 * it, which takes longer than everything else; that is where the format is from (sd-device.c). */
static char *get_fs_type(const void *data)
{
        const struct line *line = data;
        dev_t number = line->node.number;
        _cleanup_free_ char *text = NULL;
        char type[64] = "";

        if (line->node.kernel_name &&
                read_file_at(line->root_fd, path_format("run/udev/data/b%u:%u", major(number), minor(number)).text,
                        &text, NULL) >= 0)
                (void) sscanf(strstr(text, "\nE:ID_FS_TYPE=") ?: "", "\nE:ID_FS_TYPE=%63s", type);
        return string_printable(type);
}

static const struct column columns[] = {
        COLUMN("NODE", ALWAYS, STRING, name, "device-mapper's or the kernel's name of a device, or a mount point",
                .flags = SCOLS_FL_TREE),
        COLUMN("ID", IN_JSON, STRING, id, "unique ID of the node"),
        COLUMN("KIND", ALWAYS, STRING, kind, "kind of node"),
        {"FSTYPE", "file system or signature on it, by udev", COLUMN_ALWAYS, COLUMN_STRING, .text = get_fs_type},
        COLUMN("SIZE", ALWAYS, SIZE, node.size, "its size, in JSON in bytes"),
        COLUMN("STATE", ALWAYS, STRING, state,
                "active, read-only, suspended or stranded; of md arrays the kernel's word", .colored = true),
        COLUMN("VG", ALWAYS, STRING, vg, "its volume group"),
        COLUMN("DEVICE", ALWAYS, STRING, node.kernel_name, "the kernel's name"),
        COLUMN("NUMBER", IN_JSON, STRING, number, "its major and minor number"),
        {"RO", "whether the device is read-only", 0, COLUMN_BOOL, .text = get_read_only},
        COLUMN("PV", IN_JSON, BOOL, node.is_pv, "whether an LV of another volume group lies on it"),
        COLUMN("HIDDEN", IN_JSON, BOOL, is_hidden, "whether it is a hidden logical volume"),
        COLUMN("AGAIN", IN_JSON, BOOL, again, "whether it was shown before, with all nodes below it"),
        COLUMN("MOUNTPOINTS", IN_JSON, SUMMARY, mount_points, "where its file system is mounted"),
        COLUMN("HELD-BY", IN_JSON, SUMMARY, holders, "nodes to be removed before it"),
        COLUMN("FILE", IN_JSON, STRING, node.file, "file of a loop device"),
        COLUMN("UUID", IN_JSON, STRING, node.uuid, "device-mapper's UUID"),
        COLUMN("TREE", IN_JSON, STRING, tree_name, "the name of its storage tree, as in plan teardown"),
        COLUMN("LEFT-ALONE", IN_JSON, STRING, node.skip_reason, "why it is not removed at shutdown",
                .flags = SCOLS_FL_WRAP),
};

/* ------ lines ------ */

/* For a PV, returns the VG whose LVs lie on it. */
static const char *vg_of(const struct tree_node *node)
{
        if (node->vg)
                return node->vg;
        FOREACH_NODE(upper, &node->uppers)
                if (upper->vg)
                        return upper->vg;
        return "";
}

/* A unique ID. The device number is not unique: a mount has the number of its device, unless its file system is on several. */
static char *describe_id(const struct tree_node *node)
{
        if (node->kind == TREE_MOUNT)
                return string_format("mount %" PRIu64, node->mount_id);
        if (node->kind == TREE_SWAP)
                return string_format("swap %s", node->name);
        return string_format("%u:%u", major(node->number), minor(node->number));
}

/* Uses only what the tree has already, since reading a sysfs file for each disk takes as long as everything else. Arrays are few:
 * they have md/array_state (Documentation/admin-guide/md.rst). */
static char *describe_state(int root_fd, const struct tree_node *node)
{
        char *state = NULL;

        if (node->kind == TREE_MD && sysfs_read_attribute(root_fd, node->number, "md/array_state", &state) != 0)
                return state;
        if (node->kind < TREE_MULTIPATH)
                return strdup("");
        if (node->is_stranded)
                return strdup("stranded");
        return strdup(node->suspended ? "suspended" : node->read_only ? "read-only" : "active");
}

static struct libscols_line *add_line(struct table *table, struct libscols_line *parent,
        const struct tree_row *row, const struct tree *tree, int root_fd)
{
        const struct tree_node *node = row->node, *lower = node->lowers.n > 0 ? node->lowers.nodes[0] : node;
        /* The kernel calls it /dev/dm-N. */
        bool is_dm_swap = node->kind == TREE_SWAP && lower->uuid;
        bool cut = row->again && row->has_children && !table->options.json;
        _cleanup_free_ char *name = string_format("%s%s%s", is_dm_swap ? "/dev/mapper/" : "",
                is_dm_swap ? lower->name : node->name, cut ? " (above)" : "");
        _cleanup_free_ char *id = describe_id(node), *state = describe_state(root_fd, node);
        _cleanup_strv_ struct strv mount_points = {}, holders = {};
        _cleanup_tree_nodes_ struct tree_nodes mounts = {};

        table_fail(table, name && id && state ? 0 : -ENOMEM);
        FOREACH_NODE(upper, &node->uppers)
                if (upper->kind == TREE_MOUNT && node->kernel_name)
                        table_fail(table, tree_nodes_add(&mounts, upper));
        table_fail(table, tree_nodes_names(&mounts, &mount_points));
        table_fail(table, tree_nodes_names(&node->uppers, &holders));
        return table_add_line(table, parent,
                &(struct line){
                        .color = node->suspended || node->is_stranded ? "red" : NULL,
                        .node = *node,
                        .root_fd = root_fd,
                        .name = name,
                        .kind = tree_kind_to_string(node->kind),
                        .state = state,
                        .id = id,
                        .number = node->kernel_name ? id : NULL,
                        .vg = vg_of(node),
                        .tree_name = tree->names[node->component],
                        .mount_points = mount_points,
                        .holders = holders,
                        .is_hidden = tree_lv_is_hidden(node),
                        .again = row->again,
                });
}

/* ------ the verb ------ */

static int run(char *names[], size_t n, struct table *table)
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_tree_view_ struct tree_view view = {};
        _cleanup_tree_rows_ struct tree_rows rows = {};
        _cleanup_close_ int root_fd = root_open();
        int unknown = 0, r;

        r = root_fd < 0 ? root_fd : tree_read(root_fd, &tree) ?: tree_order(tree) ?: tree_view_init(&view, tree);
        if (r < 0)
                return verb_fail(r, "Failed to read the storage tree: %m");

        if (n > 0)
                r = unknown = show_named(&view, root_fd, names, n);
        else if (!arg_all)
                tree_view_leave_out_empty(&view);
        if (r >= 0)
                r = tree_view_draw(&view, arg_inverse ? TREE_DOWNWARDS : TREE_UPWARDS, &rows);
        for (struct tree_row *row = rows.rows; r >= 0 && row < rows.rows + rows.n; row++)
                row->line = add_line(table, row->parent == TREE_ROW_NONE ? NULL : rows.rows[row->parent].line, row,
                        tree, root_fd);
        return verb_print(table, r >= 0 && unknown ? EXIT_NOT_ALL_UP : r, "print the tree");
}

static const struct verb_option options[] = {
        {"all", 'a', NULL, "Show empty disks, too", &arg_all},
        {"inverse", 's', NULL, "Begin with mounts, and end with disks", &arg_inverse},
        {},
};

const struct verb verb_tree = {"tree", "[NAME...]", "Show the storage tree, from disks to mounts",
        .help = "Usage: headgate tree [OPTION...] [VG|VG/LV|DEVICE|MOUNTPOINT...]\n\n"
                "Show the storage tree: disks, partitions, arrays, volumes, file systems and swaps.\n\n",
        .footer = "Exit status: 0, 1 if a name is not known, 2 if headgate cannot tell.\n\n", .options = options,
        .root_only = "ask device-mapper for its devices", .table = TABLE_KIND("nodes", columns), .run = run};
