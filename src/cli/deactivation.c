/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/deactivation.h"

#include "lvm/dm_devices.h"
#include "shared/log.h"
#include "shared/util.h"
#include "teardown/scope.h"
#include "tree/order.h"
#include "tree/read.h"
#include "view/names.h"

/* How long to wait for commands that work on the same VGs. */
#define LOCKS_TIMEOUT_USEC (5 * USEC_PER_SEC)

#define REASON_LOCKED "a command of lvm2 is at work on its VG"

/* ------ what was asked for ------ */

static void report_bad_name(const char *name, int error)
{
        _cleanup_free_ char *printable = string_printable(name);

        if (error == -EINVAL)
                log_error("\"%s\" cannot be the name of a VG or an LV.", printable ?: "?");
        else if (error == -ENOTBLK)
                log_error("%s is not a block device.", printable ?: "?");
        else
                (void) log_error_errno(error, "%s: %m", printable ?: "?");
}

static int parse_targets(struct deactivation *deactivation, char *names[], size_t n)
{
        deactivation->targets = calloc(n + 1, sizeof(*deactivation->targets));
        if (!deactivation->targets)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                int r = target_parse(names[i], &deactivation->targets[deactivation->n_targets]);

                if (r == -ENOMEM)
                        return r;
                if (r < 0) {
                        deactivation->something_left = true;
                        report_bad_name(names[i], r);
                } else {
                        deactivation->n_targets++;
                }
        }
        return 0;
}

int deactivation_init(struct deactivation *deactivation, char *names[], size_t n)
{
        int r;

        *deactivation = (struct deactivation){.sources = SOURCES_NONE};
        r = sources_open(&deactivation->sources);
        if (r >= 0)
                r = sources_read_configuration(&deactivation->sources);
        return r < 0 || n == 0 ? r : parse_targets(deactivation, names, n);
}

/* ------ the tree ------ */

static int select_targets(struct deactivation *deactivation)
{
        int r = 0;

        if (!deactivation->targets)
                return selection_add_unused(&deactivation->selection);
        for (size_t i = 0; r >= 0 && i < deactivation->n_targets; i++)
                r = target_select(&deactivation->targets[i], &deactivation->selection);
        return r;
}

static int find(struct deactivation *deactivation)
{
        int r;

        selection_done(&deactivation->selection);
        deactivation->selection = (struct selection){};
        tree_free(deactivation->tree);
        deactivation->tree = NULL;

        r = tree_read(deactivation->sources.root_fd, &deactivation->tree);
        if (r >= 0)
                r = teardown_scope_apply(deactivation->tree, deactivation->sources.root_fd, TEARDOWN_ALL);
        if (r >= 0)
                r = selection_init(&deactivation->selection, deactivation->tree);
        return r < 0 ? r : select_targets(deactivation);
}

static int skip_used(struct tree_node *node)
{
        _cleanup_free_ char *reason =
                string_format(node->kind == TREE_MOUNT ? "%s is mounted" : "%s is swapped to", node->name);

        return reason ? tree_skip(node, reason) : -ENOMEM;
}

int deactivation_find(struct deactivation *deactivation)
{
        int r;

        r = find(deactivation);
        if (r < 0)
                return r;
        FOREACH_NODE(node, &deactivation->tree->nodes) {
                r = tree_node_is_mount_or_swap(node) ? skip_used(node) : 0;
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ locks ------ */

/* Those that turn out to be concerned are waited for later. */
static int lock_active(struct deactivation *deactivation)
{
        _cleanup_dm_devices_ struct dm_devices devices = {};
        struct dm_pool *pool = dm_pool_create("names", 4096);
        int r = pool ? dm_devices_get(deactivation->sources.root_fd, &devices) : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < devices.n; i++) {
                char *vg, *lv, *layer;

                if (!skip_prefix(devices.devices[i].uuid, "LVM-"))
                        continue;
                r = dm_split_lvm_name(pool, devices.devices[i].name, &vg, &lv, &layer)
                            ? volume_group_locks_take(&deactivation->locks, vg, 0)
                            : -ENOMEM;
        }
        if (pool)
                dm_pool_destroy(pool);
        return r;
}

static int lock_targets(struct deactivation *deactivation, uint64_t until_usec)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < deactivation->n_targets; i++)
                if (deactivation->targets[i].vg)
                        r = volume_group_locks_take(&deactivation->locks, deactivation->targets[i].vg, until_usec);
        return r;
}

/* The VGs that turn out to be concerned. Returns 1 if one of them was not locked before, 0, or -ENOMEM. */
static int lock_selected(struct deactivation *deactivation, uint64_t until_usec)
{
        const struct tree_nodes *nodes = &deactivation->tree->nodes;
        bool more = false;

        for (size_t i = 0; i < nodes->n; i++) {
                int r;

                if (!nodes->nodes[i]->vg || !selection_has(&deactivation->selection, nodes->nodes[i]))
                        continue;
                r = volume_group_locks_take(&deactivation->locks, nodes->nodes[i]->vg, until_usec);
                if (r < 0)
                        return r;
                more |= r > 0;
        }
        return more;
}

/* What is known to be concerned is locked before the tree is read, so that it does not change any more. With a
 * disk, say, come VGs that are seen only then, and the tree has to be read again. */
int deactivation_lock_and_find(struct deactivation *deactivation)
{
        uint64_t until_usec = now_usec() + LOCKS_TIMEOUT_USEC;
        int r;

        /* Each lock is one. */
        allow_many_files();
        r = volume_group_locks_init(&deactivation->locks, deactivation->sources.configuration.locking_dir);
        if (r >= 0)
                r = deactivation->targets ? lock_targets(deactivation, until_usec) : lock_active(deactivation);
        if (r < 0)
                return r;
        do {
                r = find(deactivation);
                if (r >= 0)
                        r = lock_selected(deactivation, until_usec);
        } while (r > 0);
        return r;
}

/* ------ what stays ------ */

static int refuse_locked(struct deactivation *deactivation)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && deactivation->locks.locks && i < deactivation->tree->nodes.n; i++) {
                struct tree_node *node = deactivation->tree->nodes.nodes[i];

                if (node->vg && selection_has(&deactivation->selection, node) &&
                        volume_group_locks_get(&deactivation->locks, node->vg) < 0)
                        r = selection_refuse(node, REASON_LOCKED);
        }
        return r;
}

/* To touch what is suspended, or what lies on it, may be to wait for ever. */
static int refuse_suspended(struct deactivation *deactivation)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < deactivation->tree->nodes.n; i++) {
                struct tree_node *node = deactivation->tree->nodes.nodes[i];
                _cleanup_free_ char *reason = NULL;

                if (!node->suspended)
                        continue;
                reason = string_format("%s is suspended", node->name);
                r = reason ? selection_refuse(node, reason) : -ENOMEM;
        }
        return r;
}

static bool is_concerned(const struct deactivation *deactivation, const char *vg)
{
        const struct tree_nodes *nodes = &deactivation->tree->nodes;

        for (size_t i = 0; i < deactivation->n_targets; i++)
                if (deactivation->targets[i].vg && streq(deactivation->targets[i].vg, vg))
                        return true;
        for (size_t i = 0; i < nodes->n; i++)
                if (nodes->nodes[i]->vg && streq(nodes->nodes[i]->vg, vg) &&
                        selection_has(&deactivation->selection, nodes->nodes[i]))
                        return true;
        return false;
}

static void report_locked(struct deactivation *deactivation)
{
        struct dm_hash_table *locks = deactivation->locks.locks;

        if (!locks)
                return;
        for (struct dm_hash_node *entry = dm_hash_get_first(locks); entry;
                entry = dm_hash_get_next(locks, entry)) {
                const char *vg = dm_hash_get_key(locks, entry);
                int r = volume_group_locks_get(&deactivation->locks, vg);

                if (r >= 0 || !is_concerned(deactivation, vg))
                        continue;
                deactivation->something_left = true;
                if (r == -EAGAIN)
                        log_error("VG %s is left alone: a command of lvm2 is at work on it.", vg);
                else
                        (void) log_error_errno(r, "VG %s is left alone, its lock cannot be taken: %m", vg);
        }
}

static void report_skipped(struct deactivation *deactivation)
{
        for (size_t i = 0; i < deactivation->tree->nodes.n; i++) {
                const struct tree_node *node = deactivation->tree->nodes.nodes[i];
                _cleanup_free_ char *name = NULL, *reason = NULL;

                if (!selection_has(&deactivation->selection, node) || !node->skip_reason ||
                        !tree_kind_is_removable(node->kind) || tree_lv_is_hidden(node))
                        continue;
                deactivation->something_left = true;
                if (streq(node->skip_reason, REASON_LOCKED))
                        continue;
                name = string_printable(node->name);
                reason = string_printable(node->skip_reason);
                log_error("%s is left alone: %s.", name ?: "?", reason ?: "?");
        }
}

/* Returns 1 if it is not active, 0 if it does not exist, or a negative errno. */
static int report_inactive(struct deactivation *deactivation, const struct target *target)
{
        _cleanup_string_vector_ struct string_vector names = {};
        int r;

        if (!target->vg) {
                log_info("There is nothing on %s that could be deactivated.", target->name);
                return 1;
        }
        r = target_is_down(target, deactivation->sources.root_fd, &deactivation->sources.configuration);
        if (r == 0)
                r = names_read(&deactivation->sources, &names);
        if (r < 0)
                return r;
        if (r > 0 || (!target->lv && names_have(&names, target->vg))) {
                log_info("%s %s is not active.", target->lv ? "LV" : "VG", target->name);
                return 1;
        }
        if (target->lv)
                log_error("There is no LV %s.", target->name);
        else
                names_log_unknown(&names, target->vg);
        return 0;
}

static int report_not_found(struct deactivation *deactivation)
{
        for (size_t i = 0; i < deactivation->n_targets; i++) {
                int r = deactivation->targets[i].found ? 1
                                                       : report_inactive(deactivation, &deactivation->targets[i]);

                if (r < 0)
                        return r;
                deactivation->something_left |= r == 0;
        }
        return 0;
}

int deactivation_decide(struct deactivation *deactivation)
{
        int r;

        r = refuse_locked(deactivation);
        if (r >= 0)
                r = refuse_suspended(deactivation);
        if (r >= 0)
                r = selection_finish(&deactivation->selection);
        if (r >= 0)
                r = report_not_found(deactivation);
        if (r < 0)
                return r;
        report_locked(deactivation);
        report_skipped(deactivation);
        return tree_order(deactivation->tree);
}

void deactivation_done(struct deactivation *deactivation)
{
        volume_group_locks_done(&deactivation->locks);
        selection_done(&deactivation->selection);
        tree_free(deactivation->tree);
        for (size_t i = 0; i < deactivation->n_targets; i++)
                target_done(&deactivation->targets[i]);
        free(deactivation->targets);
        sources_done(&deactivation->sources);
}
