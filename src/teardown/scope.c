/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Selects the nodes to remove: at shutdown those in the scope of a unit, on a running machine those on the command line. All
 * others are skipped, with a reason for people. */

#include "teardown/scope.h"

#include "lvm/metadata.h"
#include "shared/program.h"
#include "shared/util.h"
#include "tree/read.h"
#include "tree/walk.h"

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

bool selection_add(struct tree *tree, const struct tree_node *node, const char *vg)
{
        _cleanup_tree_walk_ struct tree_walk walk = tree_walk_new(tree);
        bool found = false;

        FOREACH_NODE(other, &tree->nodes)
                if (vg ? other->vg && streq(other->vg, vg) : other == node && !tree_node_is_mount_or_swap(node))
                        tree_walk_add(&walk, other);
        /* Nodes on a node are removed with it, and snapshots with their origin. */
        FOREACH_VISITED(member, &walk) {
                member->selected = true;
                found |= tree_kind_is_removable(member->kind);
                FOREACH_NODE(upper, &member->uppers)
                        if (!tree_node_is_mount_or_swap(upper))
                                tree_walk_add(&walk, upper);
                FOREACH_NODE(lower, &member->lowers)
                        if (tree_is_snapshot_of(lower, member))
                                tree_walk_add(&walk, lower);
        }
        return found;
}

/* Finds mounts, swaps and skipped nodes, and all nodes below these, however indirectly; with `origins`, also origins of snapshots
 * that are found. */
static struct tree_walk find_used(struct tree *tree, bool origins)
{
        struct tree_walk used = tree_walk_new(tree);

        FOREACH_NODE(node, &tree->nodes)
                if (tree_node_is_mount_or_swap(node) || node->skip_reason)
                        tree_walk_add(&used, node);
        FOREACH_VISITED(node, &used) {
                FOREACH_NODE(lower, &node->lowers)
                        tree_walk_add(&used, lower);
                FOREACH_NODE(upper, &node->uppers)
                        if (origins && tree_is_snapshot_of(node, upper))
                                tree_walk_add(&used, upper);
        }
        return used;
}

/* Whether it is a loop device on a file. */
static bool is_loop_on_file(const struct tree_node *node)
{
        return node->kind == TREE_LOOP && !ANY(FOREACH_NODE(lower, &node->lowers), lower->kind != TREE_MOUNT);
}

void selection_add_unused(struct tree *tree)
{
        _cleanup_tree_walk_ struct tree_walk used = find_used(tree, true), lvs = tree_walk_new(tree);

        /* LVs, and all nodes below these. */
        FOREACH_NODE(node, &tree->nodes)
                if (node->vg)
                        tree_walk_add(&lvs, node);
        FOREACH_VISITED(node, &lvs)
                FOREACH_NODE(lower, &node->lowers)
                        tree_walk_add(&lvs, lower);
        FOREACH_NODE(node, &tree->nodes)
                node->selected |= tree_node_is_ours(node) && !tree_walk_has(&used, node) &&
                                  (tree_walk_has(&lvs, node) || !is_loop_on_file(node));
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
        _cleanup_tree_walk_ struct tree_walk used = find_used(tree, false);

        FOREACH_NODE(origin, &tree->nodes) {
                const char *reason = NULL;

                if (tree_walk_has(&used, origin) || !origin->selected)
                        continue;
                FOREACH_NODE(lower, &origin->lowers)
                        if (!reason && tree_walk_has(&used, lower) && tree_is_snapshot_of(lower, origin))
                                reason = tree_printf(
                                        tree, "snapshots go with their origin, and %s is in use", lower->name);
                if (!reason)
                        continue;
                selection_refuse(origin, reason);
                FOREACH_NODE(lower, &origin->lowers)
                        if (tree_is_snapshot_of(lower, origin) && !tree_walk_has(&used, lower))
                                selection_refuse(lower, reason);
        }
}

/* Whether it is a hidden LV whose users are all removed. Users of another VG do not count, since it is not a part of them. */
static bool is_left_over(const struct tree_node *node)
{
        return tree_lv_is_hidden(node) && node->uppers.n > 0 &&
               !ANY(FOREACH_NODE(upper, &node->uppers),
                       !upper->selected || !tree_node_is_ours(upper) || !tree_are_in_one_vg(node, upper));
}

void selection_finish(struct tree *tree)
{
        _cleanup_tree_walk_ struct tree_walk selected = tree_walk_new(tree);

        refuse_origins(tree);
        FOREACH_NODE(node, &tree->nodes)
                if (node->selected)
                        tree_walk_add(&selected, node);
        FOREACH_VISITED(node, &selected)
                FOREACH_NODE(lower, &node->lowers)
                        if (is_left_over(lower)) {
                                lower->selected = true;
                                tree_walk_add(&selected, lower);
                        }
        FOREACH_NODE(node, &tree->nodes)
                if (!node->selected && tree_node_is_ours(node))
                        node->skip_reason = "it was not selected";
}
