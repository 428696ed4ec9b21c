/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes dmeventd stop monitoring LVs before they are removed. At shutdown, lvm2 tells dmeventd; on a running machine, a child
 * process does, and has it monitor LVs again that are left. */

#include "teardown/unmonitor.h"

#include <fcntl.h>
#include <libdevmapper-event.h>
#include <sys/socket.h>

#include "shared/log.h"
#include "shared/names.h"

/* dmeventd's fifo for requests (lvm2, libdm/libdevmapper-event.h). Without it, dmeventd does not run. It remains if the daemon is
 * killed, which costs one useless lvm process. */
#define DMEVENTD_FIFO "/run/dmeventd-server"

/* lvm2 reads all PVs for this, and dmeventd may be busy. After that time, LVs are removed although they are monitored. */
#define DEADLINE_USEC (10 * USEC_PER_SEC)

/* lvm2's monitored segment types (lvm2, lib/activate/activate.c), and LVs that may be made of them. An origin is not monitored,
 * but without it lvm2 considers its snapshots inactive. */
static const enum tree_kind monitored[] = {TREE_LV_ORIGIN, TREE_LV_MIRROR, TREE_LV_RAID, TREE_LV_SNAPSHOT,
        TREE_LV_COW, TREE_LV_THIN_POOL, TREE_LV_THIN, TREE_LV_VDO, TREE_LV_POOL_PART, TREE_LV_CACHE_PART};

static bool may_be_monitored(const struct tree_node *node)
{
        return tree_node_is_ours(node) && node->vg && ANY(FOREACH_ELEMENT(kind, monitored), *kind == node->kind);
}

/* ------ at shutdown ------ */

void unmonitor_init(struct unmonitor *unmonitor)
{
        unmonitor->dmeventd_runs = access(DMEVENTD_FIFO, F_OK) == 0;
        dm_list_init(&unmonitor->waiting);
}

/* lvm2 is called once for each VG; its first LV has the mark. */
static bool *find_mark(const struct teardown *teardown, const struct tree_node *lv)
{
        return &tree_find_vg(teardown->tree, lv)->vg_unmonitored;
}

bool unmonitor_takes(struct teardown *teardown, struct removal *removal)
{
        const struct tree_node *node = removal->node;

        /* Any device may have a name like an LV's. lvm2 might take an invalid VG name for a tag, and handle all VGs with it. */
        if (!teardown->unmonitor.dmeventd_runs || !may_be_monitored(node) || !vg_name_is_valid(node->vg) ||
                *find_mark(teardown, node))
                return false;
        dm_list_add(&teardown->unmonitor.waiting, &removal->list);
        return true;
}

/* Releases removals whose VG lvm2 has handled; or all, after the deadline. */
static void release(struct teardown *teardown)
{
        struct unmonitor *unmonitor = &teardown->unmonitor;

        FOREACH_LISTED(struct removal, removal, &unmonitor->waiting)
                if (!unmonitor->dmeventd_runs || *find_mark(teardown, removal->node))
                        dm_list_move(&teardown->busy, &removal->list);
}

static int on_exit_of_lvm(_unused_ struct job *job, int exit_status, const char *output, void *userdata)
{
        struct teardown *teardown = userdata;

        teardown->unmonitor.job = NULL;
        if (exit_status != 0)
                log_warning("vgchange --monitor n failed with exit status %i: %s", exit_status, output);
        release(teardown);
        return 0;
}

/* Runs lvm2 for the VGs of all waiting removals. */
static int ask(struct teardown *teardown)
{
        static const char *const words[] = {"vgchange", "--monitor", "n", "--"};
        _cleanup_strv_ struct strv arguments = {};
        int r;

        if (strv_add_all(&arguments, words, ELEMENTSOF(words)) < 0)
                return -ENOMEM;
        FOREACH_LISTED(struct removal, removal, &teardown->unmonitor.waiting) {
                bool *mark = find_mark(teardown, removal->node);

                if (!*mark && strv_add(&arguments, removal->node->vg) < 0)
                        return -ENOMEM;
                *mark = true;
        }
        r = job_start(
                teardown->event, JOB_UNMONITOR, &arguments, on_exit_of_lvm, teardown, &teardown->unmonitor.job);
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
                log_warning("vgchange --monitor n takes too long, no longer waiting for it.");
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

/* ------ on a running machine ------ */

/* Returns 0 if the device is monitored, with the plugin and events in `handler`. Returns -ENODEV if the device does not exist, or
 * another negative errno; `handler` then has no UUID. A thread of dmeventd that is about to end has no events. */
static int find_monitoring(struct dm_event_handler *handler, const struct tree_node *node)
{
        int r = dm_event_handler_set_uuid(handler, node->uuid) ?: dm_event_get_registered_device(handler, 0);

        return r != 0 || dm_event_handler_get_event_mask(handler) & DM_EVENT_ALL_ERRORS ? r : -ENOENT;
}

/* Returns whether the device is monitored or removed. */
static bool restore(const struct tree_node *node, struct dm_event_handler *handler)
{
        unsigned int events = dm_event_handler_get_event_mask(handler);
        int r = find_monitoring(handler, node);

        dm_event_handler_set_event_mask(handler, events & ~(unsigned int) DM_EVENT_REGISTRATION_PENDING);
        if (r == 0 || r == -ENODEV ||
                (dm_event_handler_set_uuid(handler, node->uuid) == 0 && dm_event_register_handler(handler)))
                return true;
        log_error("%s is no longer monitored: dmeventd refuses it; try \"lvchange --monitor y %s/%s\".",
                node->name, node->vg, node->lv);
        return false;
}

/* Runs in the child. It gets end of file when the removals are done, or when its parent has died. */
static void guard(const struct tree *tree, int fd)
{
        struct dm_event_handler **handlers = calloc(tree->nodes.n, sizeof(*handlers));
        char failed = false;

        FOREACH_NODE(node, &tree->nodes) {
                struct dm_event_handler *handler = may_be_monitored(node) ? dm_event_handler_create() : NULL;

                if (!handlers || !handler || find_monitoring(handler, node) != 0)
                        continue;
                handlers[node->index] = handler;
                /* dmeventd may have done it even if this fails. */
                (void) dm_event_unregister_handler(handler);
        }
        if (send(fd, &failed, 1, MSG_NOSIGNAL) == 1)
                (void) read(fd, &failed, 1);
        FOREACH_NODE(node, &tree->nodes)
                failed |= handlers && handlers[node->index] && !restore(node, handlers[node->index]);
        (void) send(fd, &failed, 1, MSG_NOSIGNAL);
        _exit(EXIT_SUCCESS);
}

int monitoring_pause(const struct tree *tree, int *ret_fd)
{
        static const struct timeval timeout = {.tv_sec = DEADLINE_USEC / USEC_PER_SEC};
        _cleanup_close_ int fifo_fd = open(DMEVENTD_FIFO, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        int ends[2];
        pid_t pid;
        char byte;

        *ret_fd = -EBADF;
        /* Without a reader of the fifo, libdevmapper-event would start dmeventd. */
        if (fifo_fd < 0 || !ANY(FOREACH_NODE(node, &tree->nodes), may_be_monitored(node)))
                return 0;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return -errno;
        pid = fork();
        if (pid == 0) {
                close(ends[0]);
                (void) setsid(); /* Ctrl-C must not kill the child */
                guard(tree, ends[1]);
        }
        close(ends[1]);
        *ret_fd = ends[0];
        (void) setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
        if (pid < 0 || recv(ends[0], &byte, 1, 0) != 1)
                log_warning("dmeventd is unresponsive, removing LVs that it may monitor.");
        return 0;
}

int monitoring_resume(int fd)
{
        char failed = true;

        if (fd < 0)
                return 0;
        (void) shutdown(fd, SHUT_WR);
        if (recv(fd, &failed, 1, 0) != 1)
                log_error(
                        "dmeventd is unresponsive; lvs -o +seg_monitor shows whether the LVs that are left are monitored.");
        close(fd);
        return failed ? -EIO : 0;
}
