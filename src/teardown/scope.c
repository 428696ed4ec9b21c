/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Selects the nodes to remove: at shutdown those in the scope of a unit, on a running machine those on the command line. All
 * others are skipped, with a reason for people. */

#include "teardown/scope.h"

#include "lvm/metadata.h"
#include "shared/program.h"
#include "shared/util.h"
#include "tree/read.h"

/* ------ nodes that other programs remove ------ */

/* Why the VG of an LV is skipped, because it is shared; NULL if it is not, or unknown. */
static const char *find_sharing(struct tree *tree, const char *backup_directory, const struct tree_node *lv)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        int r;

        if (!vg_name_is_valid(lv->vg))
                return NULL;
        r = backup_read(tree->root_fd, backup_directory, lv->vg, &metadata, NULL, NULL);
        if (r == -ENOMEM)
                tree_fail(tree, r);
        /* Two VGs can have one name; the backup belongs to one of them. */
        if (r < 0 || strncmp(lv->uuid + strlen(LVM_UUID_PREFIX), metadata->vgid, LVM_ID_LENGTH) != 0)
                return NULL;
        if (metadata->lock_type)
                return tree_printf(tree, "VG %s is shared (lock type %s)", metadata->name, metadata->lock_type);
        return metadata->clustered ? tree_printf(tree, "VG %s is clustered", metadata->name) : NULL;
}

static void skip_shared_vgs(struct tree *tree, const char *backup_directory)
{
        FOREACH_NODE(first, &tree->nodes) {
                const char *sharing = first->vg && tree_find_vg(tree, first) == first
                                              ? find_sharing(tree, backup_directory, first)
                                              : NULL;

                if (!sharing)
                        continue;
                FOREACH_NODE(lv, &tree->nodes)
                        if (tree_are_in_one_vg(first, lv))
                                tree_skip(lv, sharing);
        }
}

int teardown_skip_foreign(struct tree *tree, const struct config *config, const struct problems *problems)
{
        /* Reading a thousand backups takes longer than removing a thousand LVs. */
        if (config->use_lvmlockd || problems->lines.n > 0)
                skip_shared_vgs(tree, root_relative(config->backup_dir));
        FOREACH_NODE(node, &tree->nodes)
                if (node->has_mdmon)
                        tree_skip(node, tree_printf(tree, "mdmon manages the metadata of %s", node->name));
        return tree->error;
}

/* ------ scopes ------ */

/* A mount of a local device below a network mount is on the network; the device still waits for it. */
static bool is_for_other_unit(const struct tree_node *node, enum teardown_scope scope)
{
        if (scope == TEARDOWN_LOCAL)
                return node->on_network &&
                       !(tree_node_is_mount_or_swap(node) &&
                               ANY(FOREACH_NODE(lower, &node->lowers),
                                       !lower->on_network && !tree_node_is_mount_or_swap(lower)));
        return scope == TEARDOWN_NETWORK && !node->on_network;
}

int teardown_scope_apply(struct tree *tree, enum teardown_scope scope)
{
        _cleanup_config_ struct config config = {};
        /* lvm2 reports problems of its files itself. */
        _cleanup_problems_ struct problems problems = {};
        int r = tree_find_network(tree)
                ?: config_read(tree->root_fd, &config, &problems)
                ?: teardown_skip_foreign(tree, &config, &problems);

        FOREACH_NODE(node, &tree->nodes)
                if (r >= 0 && is_for_other_unit(node, scope) && !node->skip_reason)
                        node->skip_reason = node->on_network ? "it is on the network" : "it is not on the network";
        return r;
}

/* ------ selections ------ */

/* Marks nodes that follow from marked ones, until no more do. Starts from the newest devices, since lower devices are older. */
static void spread_marks(const struct tree *tree, bool (*follows)(const struct tree_node *node))
{
        bool more;

        do {
                more = false;
                for (size_t i = tree->nodes.n; i > 0; i--) {
                        struct tree_node *node = tree->nodes.nodes[i - 1];

                        if (!node->marked && follows(node))
                                node->marked = more = true;
                }
        } while (more);
}

/* Nodes on a node are removed with it, and snapshots with their origin. */
static bool goes_with_marked(const struct tree_node *node)
{
        return !tree_node_is_mount_or_swap(node) &&
               (ANY(FOREACH_NODE(lower, &node->lowers), lower->marked) ||
                       ANY(FOREACH_NODE(upper, &node->uppers), upper->marked && tree_is_snapshot_of(node, upper)));
}

/* Selects marked nodes, and nodes that are removed with them. Returns whether any of them is removable. */
static bool select_marked(const struct tree *tree)
{
        bool found = false;

        spread_marks(tree, goes_with_marked);
        FOREACH_NODE(node, &tree->nodes) {
                node->selected |= node->marked;
                found |= node->marked && tree_kind_is_removable(node->kind);
        }
        return found;
}

bool selection_add(struct tree *tree, struct tree_node *node)
{
        tree_clear_marks(tree);
        node->marked = !tree_node_is_mount_or_swap(node);
        return select_marked(tree);
}

bool selection_add_vg(struct tree *tree, const char *vg)
{
        FOREACH_NODE(node, &tree->nodes)
                node->marked = node->vg && streq(node->vg, vg);
        return select_marked(tree);
}

/* Whether a node above it stays, however indirectly: a mount, a swap, or a skipped node. */
static bool is_used(const struct tree_node *node)
{
        return tree_node_is_mount_or_swap(node) || node->skip_reason ||
               ANY(FOREACH_NODE(upper, &node->uppers), upper->marked);
}

/* A marked, that is used, snapshot of an unused origin; NULL if there is none. */
static const struct tree_node *find_used_snapshot(const struct tree_node *origin)
{
        FOREACH_NODE(lower, &origin->lowers)
                if (!origin->marked && lower->marked && tree_is_snapshot_of(lower, origin))
                        return lower;
        return NULL;
}

static bool is_used_with_snapshots(const struct tree_node *node)
{
        return is_used(node) || find_used_snapshot(node);
}

static bool has_lvm_above(const struct tree_node *node)
{
        return node->vg || ANY(FOREACH_NODE(upper, &node->uppers), upper->marked);
}

/* Whether it is a loop device on a file without an LV on it. */
static bool is_foreign_loop(const struct tree_node *node)
{
        return node->kind == TREE_LOOP && !node->marked &&
               !ANY(FOREACH_NODE(lower, &node->lowers), lower->kind != TREE_MOUNT);
}

void selection_add_unused(struct tree *tree)
{
        tree_clear_marks(tree);
        spread_marks(tree, is_used_with_snapshots);
        FOREACH_NODE(node, &tree->nodes)
                node->selected |= !node->marked && tree_node_is_ours(node);
        tree_clear_marks(tree);
        spread_marks(tree, has_lvm_above);
        FOREACH_NODE(node, &tree->nodes)
                node->selected &= !is_foreign_loop(node);
}

void selection_refuse(struct tree_node *node, const char *reason)
{
        DM_LIST_INIT(waiting);
        DM_LIST_INIT(refused);

        for (tree_queue_add(&waiting, node); (node = tree_queue_take(&waiting));) {
                if (tree_node_is_mount_or_swap(node) || node->skip_reason)
                        continue;
                node->skip_reason = reason;
                tree_queue_add(&refused, node);
                FOREACH_NODE(upper, &node->uppers)
                        tree_queue_add(&waiting, upper);
        }
        /* The hidden LVs of an LV that stays stay, too. */
        while ((node = tree_queue_take(&refused)))
                FOREACH_NODE(lower, &node->lowers)
                        if (!lower->skip_reason && tree_lv_is_hidden(lower) && tree_are_in_one_vg(node, lower)) {
                                lower->skip_reason = reason;
                                tree_queue_add(&refused, lower);
                        }
}

/* Refuses origins with a used snapshot, and their unused snapshots. A used node need not be refused: its removal fails. */
static void refuse_origins(struct tree *tree)
{
        tree_clear_marks(tree);
        spread_marks(tree, is_used);
        FOREACH_NODE(origin, &tree->nodes) {
                const struct tree_node *snapshot = find_used_snapshot(origin);
                const char *reason;

                if (!snapshot || !origin->selected)
                        continue;
                reason = tree_printf(tree, "snapshots go with their origin, and %s is in use", snapshot->name);
                selection_refuse(origin, reason);
                FOREACH_NODE(lower, &origin->lowers)
                        if (tree_is_snapshot_of(lower, origin) && !lower->marked)
                                selection_refuse(lower, reason);
        }
}

/* Whether it is a hidden LV whose users are all removed. Users of another VG do not count, since it is not a part of them. */
static bool is_left_over(const struct tree_node *node)
{
        return tree_lv_is_hidden(node) && node->uppers.n > 0 &&
               !ANY(FOREACH_NODE(upper, &node->uppers),
                       !upper->marked || !tree_node_is_ours(upper) || !tree_are_in_one_vg(node, upper));
}

void selection_finish(struct tree *tree)
{
        refuse_origins(tree);
        FOREACH_NODE(node, &tree->nodes)
                node->marked = node->selected;
        spread_marks(tree, is_left_over);
        FOREACH_NODE(node, &tree->nodes) {
                node->selected = node->marked;
                if (!node->selected && tree_node_is_ours(node))
                        node->skip_reason = "it was not selected";
        }
}
