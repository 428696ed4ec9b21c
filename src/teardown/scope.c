/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What of a storage tree is to be taken down: at shutdown what is in the scope of a unit, on a machine that goes on
 * running what somebody has selected. All else is skipped, with a reason for people. */

#include "teardown/scope.h"

#include "lvm/metadata.h"
#include "shared/program.h"
#include "shared/util.h"
#include "tree/network.h"

/* ------ shared VGs ------ */

/* Why the VG of an LV is another's to take down. Returns 1 and `*ret`, to be freed by the caller; 0 if it is not,
 * as far as is known; or -ENOMEM. */
static int find_sharing(int root_fd, const char *backup_directory, const struct tree_node *lv, char **ret)
{
        _cleanup_volume_group_ struct volume_group *metadata = NULL;
        int r;

        if (!volume_group_name_is_valid(lv->vg))
                return 0;
        r = backup_read(root_fd, backup_directory, lv->vg, &metadata);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (!metadata->lock_type && !metadata->clustered)
                return 0;
        /* There can be two VGs of one name; the backup is of one of them. */
        if (strncmp(lv->uuid + strlen(LVM_UUID_PREFIX), metadata->vgid, LVM_ID_LENGTH) != 0)
                return 0;
        *ret = metadata->lock_type
                       ? string_format("VG %s is shared (lock type %s)", metadata->name, metadata->lock_type)
                       : string_format("VG %s is clustered", metadata->name);
        return *ret ? 1 : -ENOMEM;
}

static int skip_shared_vgs(const struct tree *tree, int root_fd, const char *backup_directory)
{
        _cleanup_tree_nodes_ struct tree_nodes lvs = {};
        _cleanup_free_ char *sharing = NULL;
        int r;

        r = tree_find_lvs(tree, &lvs);
        if (r < 0)
                return r;
        for (size_t i = 0; i < lvs.n; i++) {
                if (i == 0 || !tree_are_in_one_vg(lvs.nodes[i - 1], lvs.nodes[i])) {
                        free(TAKE_PTR(sharing));
                        r = find_sharing(root_fd, backup_directory, lvs.nodes[i], &sharing);
                }
                if (r >= 0 && sharing)
                        r = tree_skip(lvs.nodes[i], sharing);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ md ------ */

static int skip_arrays_of_mdmon(const struct tree *tree)
{
        FOREACH_NODE(node, &tree->nodes) {
                _cleanup_free_ char *reason = NULL;
                int r;

                if (!node->has_mdmon)
                        continue;
                reason = string_format("mdmon keeps the metadata of %s", node->name);
                r = reason ? tree_skip(node, reason) : -ENOMEM;
                if (r < 0)
                        return r;
        }
        return 0;
}

int teardown_skip_foreign(
        struct tree *tree, int root_fd, const struct configuration *configuration, const struct problems *problems)
{
        int r = 0;

        /* To read a thousand backups takes longer than to take a thousand LVs down. */
        if (configuration->use_lvmlockd || problems->lines.n > 0)
                r = skip_shared_vgs(tree, root_fd, root_relative(configuration->backup_dir));
        return r < 0 ? r : skip_arrays_of_mdmon(tree);
}

/* ------ scopes ------ */

const char *teardown_unit_of(const struct tree_node *node)
{
        return node->on_network ? "headgate-teardown-net.service" : "headgate-teardown.service";
}

/* A mount on a local device is on the network if its mount point is; the device waits for it all the same. */
static bool holds_local_device(const struct tree_node *node)
{
        FOREACH_NODE(lower, &node->lowers)
                if (!lower->on_network && !tree_node_is_mount_or_swap(lower))
                        return true;
        return false;
}

static bool is_for_other_unit(const struct tree_node *node, enum teardown_scope scope)
{
        if (scope == TEARDOWN_LOCAL)
                return node->on_network && !(tree_node_is_mount_or_swap(node) && holds_local_device(node));
        return scope == TEARDOWN_NETWORK && !node->on_network;
}

int teardown_scope_apply(struct tree *tree, int root_fd, enum teardown_scope scope)
{
        _cleanup_configuration_ struct configuration configuration = {};
        /* lvm2 says itself what is wrong with its files. */
        _cleanup_problems_ struct problems problems = {};
        int r;

        r = tree_find_network(tree, root_fd);
        if (r >= 0)
                r = configuration_read(root_fd, &configuration, &problems);
        if (r >= 0)
                r = teardown_skip_foreign(tree, root_fd, &configuration, &problems);
        if (r < 0)
                return r;
        FOREACH_NODE(node, &tree->nodes) {
                r = is_for_other_unit(node, scope)
                            ? tree_skip_node(
                                      node, node->on_network ? "it is on the network" : "it is not on the network")
                            : 0;
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ selections ------ */

int selection_init(struct selection *selection, struct tree *tree)
{
        *selection = (struct selection){
                .tree = tree,
                .selected = calloc(tree->nodes.n + 1, sizeof(*selection->selected)),
        };
        return selection->selected ? 0 : -ENOMEM;
}

bool selection_has(const struct selection *selection, const struct tree_node *node)
{
        return selection->selected[node->index];
}

/* Nodes of a tree, by index. To be freed. */
static bool *marks_new(const struct tree *tree)
{
        return calloc(tree->nodes.n + 1, sizeof(bool));
}

/* Marks what follows from what is marked, until nothing more does. From the newest device on, as what is below was
 * there before it. */
static void marks_spread(
        bool *marks, const struct tree *tree, bool (*follows)(const struct tree_node *node, const bool *marks))
{
        bool more;

        do {
                more = false;
                for (size_t i = tree->nodes.n; i > 0; i--)
                        if (!marks[i - 1] && follows(tree->nodes.nodes[i - 1], marks))
                                marks[i - 1] = more = true;
        } while (more);
}

static bool is_snapshot_of(const struct tree_node *snapshot, const struct tree_node *origin)
{
        return origin->kind == TREE_LV_ORIGIN && snapshot->kind == TREE_LV_SNAPSHOT;
}

/* With a node goes what lies on it, and with an origin its snapshots. */
static bool goes_with_marked(const struct tree_node *node, const bool *marks)
{
        if (tree_node_is_mount_or_swap(node))
                return false;
        FOREACH_NODE(lower, &node->lowers)
                if (marks[lower->index])
                        return true;
        FOREACH_NODE(upper, &node->uppers)
                if (marks[upper->index] && is_snapshot_of(node, upper))
                        return true;
        return false;
}

/* Returns 1; 0 if there is nothing among what is marked, and goes with it, that could be removed. */
static int add_marked(struct selection *selection, bool *marks)
{
        bool found = false;

        marks_spread(marks, selection->tree, goes_with_marked);
        FOREACH_NODE(node, &selection->tree->nodes) {
                selection->selected[node->index] |= marks[node->index];
                found |= marks[node->index] && tree_kind_is_removable(node->kind);
        }
        return found;
}

int selection_add(struct selection *selection, struct tree_node *node)
{
        _cleanup_free_ bool *marks = marks_new(selection->tree);

        if (!marks)
                return -ENOMEM;
        marks[node->index] = !tree_node_is_mount_or_swap(node);
        return add_marked(selection, marks);
}

int selection_add_vg(struct selection *selection, const char *vg)
{
        _cleanup_free_ bool *marks = marks_new(selection->tree);

        if (!marks)
                return -ENOMEM;
        FOREACH_NODE(node, &selection->tree->nodes)
                marks[node->index] = node->vg && streq(node->vg, vg);
        return add_marked(selection, marks);
}

/* Something is mounted or swapped to on it, however indirectly. */
static bool is_used(const struct tree_node *node, const bool *used)
{
        if (tree_node_is_mount_or_swap(node))
                return true;
        FOREACH_NODE(upper, &node->uppers)
                if (used[upper->index])
                        return true;
        return false;
}

/* A snapshot of the origin that is used though the origin is not; NULL if there is none. */
static const struct tree_node *find_used_snapshot(const struct tree_node *origin, const bool *used)
{
        if (origin->kind != TREE_LV_ORIGIN || used[origin->index])
                return NULL;
        FOREACH_NODE(lower, &origin->lowers)
                if (is_snapshot_of(lower, origin) && used[lower->index])
                        return lower;
        return NULL;
}

static bool is_used_with_snapshots(const struct tree_node *node, const bool *used)
{
        return is_used(node, used) || find_used_snapshot(node, used);
}

int selection_add_unused(struct selection *selection)
{
        _cleanup_free_ bool *used = marks_new(selection->tree);

        if (!used)
                return -ENOMEM;
        marks_spread(used, selection->tree, is_used_with_snapshots);
        FOREACH_NODE(node, &selection->tree->nodes)
                selection->selected[node->index] |= !used[node->index] && tree_node_is_ours(node);
        return 0;
}

/* With an LV stay the hidden LVs that it consists of. */
static int skip_components(struct tree_node *node, const char *reason)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = tree_nodes_add(&waiting, node);

        while (r >= 0 && waiting.n > 0) {
                node = waiting.nodes[--waiting.n];
                FOREACH_NODE(lower, &node->lowers) {
                        if (lower->skip_reason || !tree_lv_is_hidden(lower) || !tree_are_in_one_vg(node, lower))
                                continue;
                        r = tree_skip_node(lower, reason);
                        if (r >= 0)
                                r = tree_nodes_add(&waiting, lower);
                        if (r < 0)
                                return r;
                }
        }
        return r;
}

int selection_refuse(struct tree_node *node, const char *reason)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = tree_nodes_add(&waiting, node);

        while (r >= 0 && waiting.n > 0) {
                node = waiting.nodes[--waiting.n];
                if (tree_node_is_mount_or_swap(node) || node->skip_reason)
                        continue;
                r = tree_skip_node(node, reason);
                if (r >= 0)
                        r = skip_components(node, reason);
                if (r >= 0)
                        r = tree_nodes_add_all(&waiting, &node->uppers);
        }
        return r;
}

/* An origin, with those of its snapshots that are not used. What is used itself is in nobody's way, and fails when it
 * is tried. */
static int refuse_origins(const struct selection *selection)
{
        _cleanup_free_ bool *used = marks_new(selection->tree);

        if (!used)
                return -ENOMEM;
        marks_spread(used, selection->tree, is_used);
        FOREACH_NODE(origin, &selection->tree->nodes) {
                const struct tree_node *snapshot = find_used_snapshot(origin, used);
                _cleanup_free_ char *reason = NULL;
                int r;

                if (!snapshot || !selection_has(selection, origin))
                        continue;
                reason = string_format("snapshots go with their origin, and %s is in use", snapshot->name);
                r = reason ? selection_refuse(origin, reason) : -ENOMEM;
                FOREACH_NODE(lower, &origin->lowers)
                        if (r >= 0 && is_snapshot_of(lower, origin) && !used[lower->index])
                                r = selection_refuse(lower, reason);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A hidden LV whose holders all go. Those of another VG are none that it would be there for. */
static bool is_left_over(const struct tree_node *node, const bool *selected)
{
        if (!tree_lv_is_hidden(node))
                return false;
        FOREACH_NODE(upper, &node->uppers)
                if (!selected[upper->index] || !tree_node_is_ours(upper) || !tree_are_in_one_vg(node, upper))
                        return false;
        return node->uppers.n > 0;
}

int selection_finish(struct selection *selection)
{
        int r;

        r = refuse_origins(selection);
        if (r < 0)
                return r;
        marks_spread(selection->selected, selection->tree, is_left_over);
        FOREACH_NODE(node, &selection->tree->nodes)
                if (!selection_has(selection, node) && tree_node_is_ours(node) &&
                        tree_skip_node(node, "it was not asked for") < 0)
                        return -ENOMEM;
        return 0;
}

void selection_done(struct selection *selection)
{
        free(selection->selected);
}
