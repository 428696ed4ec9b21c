/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/scope.h"

#include "lvm/configuration.h"
#include "lvm/metadata.h"
#include "shared/program.h"
#include "shared/util.h"
#include "tree/network.h"

/* ------ shared VGs ------ */

static char *describe_sharing(const struct metadata *metadata)
{
        if (metadata->lock_type)
                return string_format("VG %s is shared (lock type %s)", metadata->name, metadata->lock_type);
        return string_format("VG %s is clustered", metadata->name);
}

/* There can be two VGs of one name; the backup is of one of them. */
static bool is_of(const struct metadata *metadata, const struct tree_node *lv)
{
        return strncmp(lv->uuid + strlen(LVM_UUID_PREFIX), metadata->vgid, LVM_ID_LENGTH) == 0;
}

/* Why the VG of an LV is another's to take down. Returns 1 and `*ret`, to be freed by the caller; 0 if it is not,
 * as far as is known; or -ENOMEM. */
static int find_sharing(int root_fd, const char *backup_directory, const struct tree_node *lv, char **ret)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        int r;

        if (!volume_group_name_is_valid(lv->vg))
                return 0;
        r = backup_read(root_fd, backup_directory, lv->vg, &metadata);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if ((!metadata->lock_type && !metadata->clustered) || !is_of(metadata, lv))
                return 0;
        *ret = describe_sharing(metadata);
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

int teardown_skip_foreign(struct tree *tree, int root_fd)
{
        _cleanup_configuration_ struct configuration configuration = {};
        /* lvm2 says itself what is wrong with its files. */
        _cleanup_problems_ struct problems problems = {};
        int r;

        r = configuration_read(root_fd, &configuration, &problems);
        /* To read a thousand backups takes longer than to take a thousand LVs down. */
        if (r >= 0 && (configuration.use_lvmlockd || problems.lines.n > 0))
                r = skip_shared_vgs(tree, root_fd, root_relative(configuration.backup_dir));
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
        int r;

        r = tree_find_network(tree, root_fd);
        if (r >= 0)
                r = teardown_skip_foreign(tree, root_fd);
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
