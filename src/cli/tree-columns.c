/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/tree-columns.h"

#include <inttypes.h>
#include <sys/sysmacros.h>

#include "cli/node-names.h"
#include "shared/sysfs.h"
#include "shared/util.h"

/* ------ columns: each makes its cell of a line, NULL without memory ------ */

static char *format_name(const void *data)
{
        const struct tree_line *line = data;
        _cleanup_free_ char *name = string_printable(line->node->name);

        return name && line->cut ? string_format("%s (above)", name) : TAKE_PTR(name);
}

static char *format_plain_name(const void *data)
{
        const struct tree_line *line = data;

        return string_printable(line->node->name);
}

/* Mounts have numbers of their own only where their file systems are not on one device. */
static char *format_id(const void *data)
{
        const struct tree_line *line = data;
        const struct tree_node *node = line->node;
        _cleanup_free_ char *name = NULL;

        switch (node->kind) {
        case TREE_MOUNT:
                return string_format("mount %" PRIu64, node->mount_id);
        case TREE_SWAP:
                name = string_printable(node->name);
                return name ? string_format("swap %s", name) : NULL;
        default:
                return string_format("%u:%u", major(node->number), minor(node->number));
        }
}

static char *format_kind(const void *data)
{
        const struct tree_line *line = data;

        return strdup(tree_kind_to_string(line->node->kind));
}

/* "1.5G" */
static char *format_size(const void *data)
{
        static const char units[] = "BKMGTPE";
        const struct tree_line *line = data;
        uint64_t size = line->node->size, tenths;
        size_t unit = 0;

        if (size == TREE_SIZE_UNKNOWN)
                return strdup("");
        tenths = size > UINT64_MAX / 10 ? UINT64_MAX : size * 10;
        while (tenths >= 10240 && unit + 1 < strlen(units)) {
                tenths = (tenths + 512) / 1024;
                unit++;
        }
        if (tenths % 10 == 0 || unit == 0)
                return string_format("%" PRIu64 "%c", tenths / 10, units[unit]);
        return string_format("%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10, units[unit]);
}

static char *format_bytes(const void *data)
{
        const struct tree_line *line = data;
        uint64_t size = line->node->size;

        return size == TREE_SIZE_UNKNOWN ? strdup("") : string_format("%" PRIu64, size);
}

/* The kernel's attribute md/array_state (Documentation/admin-guide/md.rst). */
static char *format_state_of_array(const struct tree_line *line)
{
        _cleanup_free_ char *state = NULL;
        int r = sysfs_read_attribute(line->root_fd, line->node->number, "md/array_state", &state);

        return r < 0 ? NULL : string_printable(state ?: "");
}

/* Only what is known already, but for arrays: a file of sysfs for each disk takes as long as all else. */
static char *format_state(const void *data)
{
        const struct tree_line *line = data;
        const struct tree_node *node = line->node;

        if (node->kind == TREE_MD)
                return format_state_of_array(line);
        if (node->kind >= TREE_MULTIPATH && tree_node_is_stranded(node))
                return strdup("stranded");
        if (node->kind >= TREE_MULTIPATH)
                return strdup(node->suspended ? "suspended" : node->read_only ? "read-only" : "active");
        return strdup("");
}

static const char *color_of_state(const void *data)
{
        const struct tree_line *line = data;

        return line->node->suspended || tree_node_is_stranded(line->node) ? "red" : NULL;
}

/* Of a PV it is the one whose LVs lie on it. */
static const char *vg_of(const struct tree_node *node)
{
        if (node->vg)
                return node->vg;
        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->vg)
                        return node->uppers.nodes[i]->vg;
        return "";
}

static char *format_vg(const void *data)
{
        const struct tree_line *line = data;

        return string_printable(vg_of(line->node));
}

/* libsmartcols goes by the first character. */
static char *format_boolean(bool value)
{
        return strdup(value ? "1" : "0");
}

/* The kernel's attribute "ro" (Documentation/ABI/stable/sysfs-block). */
static char *format_read_only(const void *data)
{
        const struct tree_line *line = data;
        _cleanup_free_ char *read_only = NULL;

        if (!line->node->kernel_name)
                return strdup("");
        if (sysfs_read_attribute(line->root_fd, line->node->number, "ro", &read_only) < 0)
                return NULL;
        return format_boolean(read_only && streq(read_only, "1"));
}

static char *format_pv(const void *data)
{
        const struct tree_line *line = data;

        return format_boolean(line->node->is_pv);
}

static char *format_hidden(const void *data)
{
        const struct tree_line *line = data;

        return format_boolean(tree_lv_is_hidden(line->node));
}

static char *format_again(const void *data)
{
        const struct tree_line *line = data;

        return format_boolean(line->again);
}

static char *format_device(const void *data)
{
        const struct tree_line *line = data;

        return strdup(line->node->kernel_name ?: "");
}

static char *format_number(const void *data)
{
        const struct tree_line *line = data;

        return line->node->kernel_name ? format_id(data) : strdup("");
}

/* Returns 0 or -ENOMEM. */
static int find_mounts(const struct tree_node *node, struct tree_nodes *mounts)
{
        int r = 0;

        if (!node->kernel_name)
                return 0;
        for (size_t i = 0; r >= 0 && i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->kind == TREE_MOUNT)
                        r = tree_nodes_add(mounts, node->uppers.nodes[i]);
        return r;
}

static char *format_mount_points(const void *data)
{
        const struct tree_line *line = data;
        _cleanup_tree_nodes_ struct tree_nodes mounts = {};

        return find_mounts(line->node, &mounts) < 0 ? NULL : node_names_summarize(&mounts);
}

static char *format_mount_points_json(const void *data)
{
        const struct tree_line *line = data;
        _cleanup_tree_nodes_ struct tree_nodes mounts = {};

        return find_mounts(line->node, &mounts) < 0 ? NULL : node_names_join(&mounts, SIZE_MAX, "\n");
}

static char *format_held_by(const void *data)
{
        const struct tree_line *line = data;

        return node_names_summarize(&line->node->uppers);
}

static char *format_holders(const void *data)
{
        const struct tree_line *line = data;

        return node_names_join(&line->node->uppers, SIZE_MAX, "\n");
}

static char *format_file(const void *data)
{
        const struct tree_line *line = data;

        return string_printable(line->node->file ?: "");
}

static char *format_uuid(const void *data)
{
        const struct tree_line *line = data;

        return string_printable(line->node->uuid ?: "");
}

static char *format_tree(const void *data)
{
        const struct tree_line *line = data;

        return string_printable(line->tree_name);
}

static char *format_skip_reason(const void *data)
{
        const struct tree_line *line = data;

        return string_printable(line->node->skip_reason ?: "");
}

static const struct column columns[] = {
        {"NODE", "device-mapper's or the kernel's name of a device, or a mount point", COLUMN_ALWAYS,
                SCOLS_FL_TREE, SCOLS_JSON_STRING, format_name, format_plain_name},
        {"ID", "what tells it from all other nodes", COLUMN_IN_JSON, 0, SCOLS_JSON_STRING, format_id},
        {"KIND", "what it is", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_kind},
        {"SIZE", "its size, in JSON in bytes", COLUMN_ALWAYS, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER, format_size,
                format_bytes},
        {"STATE", "of device-mapper's devices active, read-only or suspended, of arrays what the kernel says",
                COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_state, .color = color_of_state},
        {"VG", "the volume group that it is a logical or physical volume of", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING,
                format_vg},
        {"DEVICE", "the kernel's name", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_device},
        {"NUMBER", "its major and minor number", COLUMN_IN_JSON, 0, SCOLS_JSON_STRING, format_number},
        {"RO", "whether the device is read-only", 0, 0, SCOLS_JSON_BOOLEAN, format_read_only},
        {"PV", "whether it is a physical volume", COLUMN_IN_JSON, 0, SCOLS_JSON_BOOLEAN, format_pv},
        {"HIDDEN", "whether it is a part of a logical volume, or a layer in one", COLUMN_IN_JSON, 0,
                SCOLS_JSON_BOOLEAN, format_hidden},
        {"AGAIN", "whether it has had a line before, with all that belongs below it", COLUMN_IN_JSON, 0,
                SCOLS_JSON_BOOLEAN, format_again},
        {"MOUNTPOINTS", "where its file system is mounted", COLUMN_IN_JSON, 0, SCOLS_JSON_ARRAY_STRING,
                format_mount_points, format_mount_points_json},
        {"HELD-BY", "what has to go before it could", COLUMN_IN_JSON, 0, SCOLS_JSON_ARRAY_STRING, format_held_by,
                format_holders},
        {"FILE", "of a loop device, the file", COLUMN_IN_JSON, 0, SCOLS_JSON_STRING, format_file},
        {"UUID", "device-mapper's UUID", COLUMN_IN_JSON, 0, SCOLS_JSON_STRING, format_uuid},
        {"TREE", "the name of its storage tree, as in plan teardown", COLUMN_IN_JSON, 0, SCOLS_JSON_STRING,
                format_tree},
        {"LEFT-ALONE", "why it is left alone at shutdown", COLUMN_IN_JSON, SCOLS_FL_WRAP, SCOLS_JSON_STRING,
                format_skip_reason},
};

struct table_verb tree_table_verb(void (*help)(void), const struct table_switch *switches, size_t n_switches)
{
        return (struct table_verb){help, "nodes", columns, ELEMENTSOF(columns), switches, n_switches};
}
