/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/others.h"

#include "lvm/backup.h"
#include "lvm/configuration.h"
#include "shared/root.h"
#include "shared/util.h"

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
        return strncmp(lv->uuid + strlen("LVM-"), metadata->vgid, LVM_ID_LENGTH) == 0;
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

/* LVs of one VG follow each other. */
static int compare_vgs(const void *a, const void *b)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;

        return strncmp(first->uuid, second->uuid, TREE_VG_UUID_LENGTH);
}

static int find_lvs(const struct tree *tree, struct tree_nodes *lvs)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++)
                if (tree->nodes.nodes[i]->vg)
                        r = tree_nodes_add(lvs, tree->nodes.nodes[i]);
        if (lvs->n > 0)
                qsort(lvs->nodes, lvs->n, sizeof(*lvs->nodes), compare_vgs);
        return r;
}

static int skip_shared_vgs(struct tree *tree, int root_fd, const char *backup_directory)
{
        _cleanup_tree_nodes_ struct tree_nodes lvs = {};
        _cleanup_free_ char *sharing = NULL;
        int r = find_lvs(tree, &lvs);

        for (size_t i = 0; r >= 0 && i < lvs.n; i++) {
                if (i == 0 || compare_vgs(&lvs.nodes[i - 1], &lvs.nodes[i]) != 0) {
                        free(sharing);
                        sharing = NULL;
                        r = find_sharing(root_fd, backup_directory, lvs.nodes[i], &sharing);
                }
                if (r >= 0 && sharing)
                        r = tree_skip(lvs.nodes[i], sharing);
        }
        return MIN(r, 0);
}

/* ------ md ------ */

static int skip_arrays_of_mdmon(struct tree *tree)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i];
                _cleanup_free_ char *reason = NULL;

                if (!node->has_mdmon)
                        continue;
                reason = string_format("mdmon keeps the metadata of %s", node->name);
                r = reason ? tree_skip(node, reason) : -ENOMEM;
        }
        return r;
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
