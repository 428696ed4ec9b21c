/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* lvm2's part in a teardown: it has dmeventd stop monitoring LVs before they are removed, and monitor again what is
 * left. */

#include "teardown/unmonitor.h"

#include "shared/log.h"
#include "shared/names.h"

/* dmeventd's end for requests (lvm2, libdm/libdevmapper-event.h): without it there is no daemon that would monitor
 * anything. It stays behind when the daemon is killed, which costs one lvm process in vain. */
#define DMEVENTD_FIFO "/run/dmeventd-server"

/* lvm2 reads all PVs for it, which takes as long as the slowest disk. What is monitored still can be removed. */
#define DEADLINE_USEC (10 * USEC_PER_SEC)

/* lvm2's monitored segment types (lvm2, lib/activate/activate.c), and those LVs that may be made of them. An
 * origin is not monitored, but without it lvm2 takes its snapshots for inactive. */
static const enum tree_kind monitored[] = {TREE_LV_ORIGIN, TREE_LV_MIRROR, TREE_LV_RAID, TREE_LV_SNAPSHOT,
        TREE_LV_COW, TREE_LV_THIN_POOL, TREE_LV_THIN, TREE_LV_VDO, TREE_LV_POOL_PART, TREE_LV_CACHE_PART};

int unmonitor_init(struct unmonitor *unmonitor)
{
        unmonitor->dmeventd_runs = access(DMEVENTD_FIFO, F_OK) == 0;
        unmonitor->vgs = dm_hash_create(64);
        dm_list_init(&unmonitor->waiting);
        return unmonitor->vgs ? 0 : -ENOMEM;
}

bool unmonitor_takes(struct unmonitor *unmonitor, struct removal *removal)
{
        const struct tree_node *node = removal->node;

        /* Anybody can call a device like one of lvm2's. What lvm2 takes for a tag, say, would be all VGs with that. */
        if (!unmonitor->dmeventd_runs || !node->vg || !volume_group_name_is_valid(node->vg) ||
                !ANY(FOREACH_ARRAY(kind, monitored, ELEMENTSOF(monitored)), *kind == node->kind) ||
                dm_hash_lookup(unmonitor->vgs, node->vg))
                return false;
        dm_list_add(&unmonitor->waiting, &removal->list);
        return true;
}

/* Those whose VG lvm2 has been told of, or all if it is not waited for any more. */
static void release(struct teardown *teardown)
{
        struct unmonitor *unmonitor = &teardown->unmonitor;
        struct removal *removal, *next;

        dm_list_iterate_items_safe(removal, next, &unmonitor->waiting)
                if (!unmonitor->dmeventd_runs || dm_hash_lookup(unmonitor->vgs, removal->node->vg))
                        dm_list_move(&teardown->busy, &removal->list);
}

static int on_exit_of_lvm(_unused_ struct job *job, int exit_status, const char *output, void *userdata)
{
        struct teardown *teardown = userdata;

        teardown->unmonitor.job = NULL;
        teardown->unmonitor.status = exit_status;
        if (exit_status != 0)
                log_warning("vgchange --monitor has ended with status %i: %s", exit_status, output);
        release(teardown);
        return 0;
}

/* "vgchange --monitor n", without VGs yet. */
static int add_words(const struct teardown *teardown, const char *value, struct string_vector *arguments)
{
        const char *const words[] = {"vgchange", "--monitor", value, "--nolocking"};

        if (string_vector_add_all(
                    arguments, words, ELEMENTSOF(words) - (teardown->options.vgs_are_locked ? 0 : 1)) < 0)
                return -ENOMEM;
        return string_vector_add(arguments, "--");
}

static int start_lvm(struct teardown *teardown, const struct string_vector *arguments)
{
        return job_start(
                teardown->event, JOB_UNMONITOR, arguments, on_exit_of_lvm, teardown, &teardown->unmonitor.job);
}

/* Of the VGs of all removals that wait. */
static int ask(struct teardown *teardown)
{
        _cleanup_string_vector_ struct string_vector arguments = {};
        struct dm_hash_table *vgs = teardown->unmonitor.vgs;
        struct removal *removal;
        int r;

        if (add_words(teardown, "n", &arguments) < 0)
                return -ENOMEM;
        dm_list_iterate_items(removal, &teardown->unmonitor.waiting) {
                const char *vg = removal->node->vg;

                if (!dm_hash_lookup(vgs, vg) &&
                        (!dm_hash_insert(vgs, vg, removal) || string_vector_add(&arguments, vg) < 0))
                        return -ENOMEM;
        }
        r = start_lvm(teardown, &arguments);
        if (r < 0 && r != -ENOMEM) {
                (void) log_error_errno(r, "Failed to start vgchange --monitor n: %m");
                release(teardown);
                r = 0;
        }
        return r;
}

int unmonitor_step(struct teardown *teardown)
{
        struct unmonitor *unmonitor = &teardown->unmonitor;

        if (unmonitor_next_usec(unmonitor) <= now_usec()) {
                log_warning("vgchange --monitor n takes too long, nothing is waiting for it any more.");
                unmonitor->dmeventd_runs = false;
                release(teardown);
        }
        return unmonitor->job || dm_list_empty(&unmonitor->waiting) ? 0 : ask(teardown);
}

uint64_t unmonitor_next_usec(const struct unmonitor *unmonitor)
{
        return unmonitor->job && unmonitor->dmeventd_runs ? unmonitor->job->started_usec + DEADLINE_USEC
                                                          : USEC_INFINITY;
}

int unmonitor_undo(struct teardown *teardown)
{
        _cleanup_string_vector_ struct string_vector arguments = {};
        struct unmonitor *unmonitor = &teardown->unmonitor;
        uint64_t end_usec = now_usec() + DEADLINE_USEC;
        size_t n_words;
        int r;

        if (add_words(teardown, "y", &arguments) < 0)
                return -ENOMEM;
        n_words = arguments.n;
        FOREACH_NODE(node, &teardown->tree->nodes) {
                if (!node->vg || node->state == TREE_GONE || !dm_hash_lookup(unmonitor->vgs, node->vg))
                        continue;
                /* Each once. */
                dm_hash_remove(unmonitor->vgs, node->vg);
                if (string_vector_add(&arguments, node->vg) < 0)
                        return -ENOMEM;
        }
        if (arguments.n == n_words)
                return 0;
        if (unmonitor->job)
                return -ETIMEDOUT;
        r = start_lvm(teardown, &arguments);
        /* The process may hang, as it reads disks; then it is left behind. */
        for (uint64_t now; r >= 0 && unmonitor->job && (now = now_usec()) < end_usec;)
                r = sd_event_run(teardown->event, end_usec - now);
        if (r < 0)
                return r;
        return unmonitor->job ? -ETIMEDOUT : unmonitor->status == 0 ? 0 : -EIO;
}
