/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/unmonitor.h"

#include <poll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "shared/log.h"
#include "shared/names.h"

/* dmeventd's end for requests (lvm2, libdm/libdevmapper-event.h): without it there is no daemon that would monitor
 * anything. It stays behind when the daemon is killed, which costs one lvm process in vain. */
#define DMEVENTD_FIFO "/run/dmeventd-server"

/* lvm2 reads all PVs for it, which takes as long as the slowest disk. What is monitored still can be removed. */
#define DEADLINE_USEC (10 * USEC_PER_SEC)

/* lvm2's monitored segment types (lvm2, lib/activate/activate.c), and those LVs that may be made of them. An
 * origin is not monitored, but without it lvm2 takes its snapshots for inactive. */
static bool may_be_monitored(const struct tree_node *node)
{
        switch (node->kind) {
        case TREE_LV_ORIGIN:
        case TREE_LV_MIRROR:
        case TREE_LV_RAID:
        case TREE_LV_SNAPSHOT:
        case TREE_LV_COW:
        case TREE_LV_THIN_POOL:
        case TREE_LV_THIN:
        case TREE_LV_VDO:
        case TREE_LV_POOL_PART:
        case TREE_LV_CACHE_PART:
                return true;
        default:
                return false;
        }
}

int unmonitor_init(
        struct unmonitor *unmonitor, sd_event *event, int (*on_released)(void *userdata), void *userdata)
{
        *unmonitor = (struct unmonitor){
                .event = event,
                .dmeventd_runs = access(DMEVENTD_FIFO, F_OK) == 0,
                .vgs = dm_hash_create(64),
                .on_released = on_released,
                .userdata = userdata,
        };
        dm_list_init(&unmonitor->waiting);
        dm_list_init(&unmonitor->asked);
        dm_list_init(&unmonitor->released);
        return unmonitor->vgs ? 0 : -ENOMEM;
}

bool unmonitor_takes(struct unmonitor *unmonitor, struct removal *removal)
{
        const struct tree_node *node = removal->node;

        /* Anybody can call a device like one of lvm2's. What lvm2 takes for a tag, say, would be all VGs with that. */
        if (!unmonitor->dmeventd_runs || !node->vg || !volume_group_name_is_valid(node->vg) ||
                !may_be_monitored(node) || dm_hash_lookup(unmonitor->vgs, node->vg))
                return false;
        dm_list_add(&unmonitor->waiting, &removal->list);
        return true;
}

static void release(struct unmonitor *unmonitor)
{
        dm_list_splice(&unmonitor->released, &unmonitor->asked);
}

static int on_exit_of_lvm(struct job *job, int exit_status, void *userdata)
{
        _cleanup_job_ struct job *owned = job;
        _cleanup_free_ char *output = NULL;
        struct unmonitor *unmonitor = userdata;

        unmonitor->job = NULL;
        if (exit_status != 0 && lvm_command_read_output(&job->command, &output) >= 0)
                log_warning("vgchange --monitor n has ended with status %i: %s", exit_status, output);
        release(unmonitor);
        return unmonitor->on_released(unmonitor->userdata);
}

/* "vgchange --monitor n", without VGs yet. */
static int add_words(const struct unmonitor *unmonitor, const char *value, struct string_vector *arguments)
{
        const char *const words[] = {"vgchange", "--monitor", value};
        int r;

        r = string_vector_add_all(arguments, words, ELEMENTSOF(words));
        if (r >= 0 && unmonitor->vgs_are_locked)
                r = string_vector_add(arguments, "--nolocking");
        return r < 0 ? r : string_vector_add(arguments, "--");
}

static int add_vg(struct unmonitor *unmonitor, const char *vg, struct string_vector *arguments)
{
        if (dm_hash_lookup(unmonitor->vgs, vg))
                return 0;
        if (!dm_hash_insert(unmonitor->vgs, vg, unmonitor))
                return -ENOMEM;
        return string_vector_add(arguments, vg);
}

static int ask(struct unmonitor *unmonitor)
{
        _cleanup_string_vector_ struct string_vector arguments = {};
        struct removal *removal;
        int r;

        r = add_words(unmonitor, "n", &arguments);
        dm_list_iterate_items(removal, &unmonitor->waiting)
                if (r >= 0)
                        r = add_vg(unmonitor, removal->node->vg, &arguments);
        if (r < 0)
                return r;
        dm_list_splice(&unmonitor->asked, &unmonitor->waiting);
        unmonitor->deadline_usec = now_usec() + DEADLINE_USEC;
        r = job_start(unmonitor->event, JOB_UNMONITOR, &arguments, on_exit_of_lvm, unmonitor, &unmonitor->job);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to start vgchange --monitor n: %m");
                release(unmonitor);
        }
        return r == -ENOMEM ? r : 0;
}

int unmonitor_step(struct unmonitor *unmonitor)
{
        if (unmonitor->job && unmonitor->dmeventd_runs && unmonitor->deadline_usec <= now_usec()) {
                log_warning("vgchange --monitor n takes too long, nothing is waiting for it any more.");
                unmonitor->dmeventd_runs = false;
                dm_list_splice(&unmonitor->asked, &unmonitor->waiting);
                release(unmonitor);
        }
        if (unmonitor->job || dm_list_empty(&unmonitor->waiting))
                return 0;
        return ask(unmonitor);
}

bool unmonitor_is_busy(const struct unmonitor *unmonitor)
{
        return !dm_list_empty(&unmonitor->waiting) || !dm_list_empty(&unmonitor->asked);
}

uint64_t unmonitor_next_usec(const struct unmonitor *unmonitor)
{
        return unmonitor->job && unmonitor->dmeventd_runs ? unmonitor->deadline_usec : USEC_INFINITY;
}

/* The process may hang, as it reads disks; then it is left behind. */
static int wait_for(pid_t pid)
{
        _cleanup_close_ int fd = pidfd_open(pid, 0);
        struct pollfd ended = {.fd = fd, .events = POLLIN};
        int r, status;

        if (fd < 0)
                return -errno;
        r = poll(&ended, 1, DEADLINE_USEC / USEC_PER_MSEC);
        if (r <= 0)
                return r < 0 ? -errno : -ETIMEDOUT;
        if (waitpid(pid, &status, 0) < 0)
                return -errno;
        return status == 0 ? 0 : -EIO;
}

static int run_lvm(const struct string_vector *arguments)
{
        struct lvm_command command;
        int r;

        r = lvm_command_start(arguments, &command);
        if (r < 0)
                return r;
        r = wait_for(command.pid);
        lvm_command_done(&command);
        return r;
}

int unmonitor_undo(struct unmonitor *unmonitor, const struct tree *tree)
{
        _cleanup_string_vector_ struct string_vector arguments = {};
        size_t n_words;
        int r;

        r = add_words(unmonitor, "y", &arguments);
        n_words = arguments.n;
        FOREACH_NODE(node, &tree->nodes) {
                if (r < 0)
                        return r;
                if (!node->vg || node->state == TREE_GONE || !dm_hash_lookup(unmonitor->vgs, node->vg))
                        continue;
                /* Each once. */
                dm_hash_remove(unmonitor->vgs, node->vg);
                r = string_vector_add(&arguments, node->vg);
        }
        if (r < 0 || arguments.n == n_words)
                return r;
        return unmonitor->job ? -ETIMEDOUT : run_lvm(&arguments);
}

void unmonitor_done(struct unmonitor *unmonitor)
{
        job_free(unmonitor->job);
        if (unmonitor->vgs)
                dm_hash_destroy(unmonitor->vgs);
}
