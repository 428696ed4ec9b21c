/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes dmeventd stop monitoring LVs before they are removed, and monitor LVs again that are left. */

#include "teardown/unmonitor.h"

#include <fcntl.h>
#include <libdevmapper-event.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "shared/log.h"

/* The file that dmeventd locks while it runs (lvm2, daemons/dmeventd/dmeventd.c). */
#define DMEVENTD_PIDFILE "/run/dmeventd.pid"

/* dmeventd may be busy. After that time, LVs are removed although they are monitored. */
#define DEADLINE_USEC (10 * USEC_PER_SEC)

/* The child's answers, one byte each. If dmeventd does not respond, it shuts down its side of the socket. */
enum answer {
        ANSWER_STOPPED,  /* dmeventd does not monitor the LV */
        ANSWER_RESTORED, /* the last one: LVs that are left are monitored as before */
        ANSWER_LOST,     /* the last one: some are not */
};

static bool may_be_monitored(const struct tree_node *node)
{
        return tree_node_is_ours(node) && node->may_be_monitored;
}

/* Its fifos do not tell: systemd makes them, and starts dmeventd when something is written to them. */
static bool dmeventd_runs(void)
{
        _cleanup_close_ int fd = open(DMEVENTD_PIDFILE, O_RDONLY | O_CLOEXEC);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

        return fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* ------ the child ------ */

/* Returns 0 if the device is monitored, with the plugin and events in `handler`. Returns -ENODEV if the device does not exist,
 * -ENOENT if it is not monitored, or another negative errno; `handler` then has no UUID. A thread of dmeventd that is about to
 * end has no events. libdevmapper-event returns -ENXIO if the device was removed meanwhile. */
static int find_monitoring(struct dm_event_handler *handler, const struct tree_node *node)
{
        int r = dm_event_handler_set_uuid(handler, node->uuid) ?: dm_event_get_registered_device(handler, 0);

        if (r == 0 && !(dm_event_handler_get_event_mask(handler) & DM_EVENT_ALL_ERRORS))
                return -ENOENT;
        return r == -ENXIO ? -ENODEV : r;
}

/* Returns whether dmeventd responds, and a handler for restore() in `*ret` if the device was monitored. */
static bool stop_monitoring(const struct tree_node *node, struct dm_event_handler **ret)
{
        struct dm_event_handler *handler = dm_event_handler_create();
        int r = handler ? find_monitoring(handler, node) : -ENOMEM;

        if (r == 0) {
                *ret = handler;
                /* dmeventd may have done it even if this fails. */
                (void) dm_event_unregister_handler(handler);
        }
        /* After its end it monitors nothing. */
        return r == 0 || r == -ENODEV || r == -ENOENT || !dmeventd_runs();
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

/* Gets the indexes of nodes, and end of file when the removals are done, or when its parent has died. */
static void run_child(const struct teardown *teardown, int fd)
{
        const struct tree *tree = teardown->tree;
        struct dm_event_handler **handlers = calloc(tree->nodes.n, sizeof(*handlers));
        char answer = ANSWER_STOPPED;

        for (size_t index; handlers && recv(fd, &index, sizeof(index), 0) == sizeof(index);)
                /* A node of a dependency cycle comes again. */
                if (handlers[index] || stop_monitoring(tree->nodes.nodes[index], &handlers[index]))
                        (void) send(fd, &answer, 1, MSG_NOSIGNAL);
                else
                        (void) shutdown(fd, SHUT_WR);
        answer = ANSWER_RESTORED;
        if (teardown->options.at_shutdown)
                _exit(EXIT_SUCCESS);
        FOREACH_NODE(node, &tree->nodes)
                if (handlers && handlers[node->index] && !restore(node, handlers[node->index]))
                        answer = ANSWER_LOST;
        (void) send(fd, &answer, 1, MSG_NOSIGNAL);
        _exit(EXIT_SUCCESS);
}

/* ------ its parent ------ */

/* Its time in use begins now. */
static void release(struct teardown *teardown, struct removal *removal, uint64_t now)
{
        removal->ready_usec = now;
        dm_list_move(&teardown->busy, &removal->list);
}

static void stop_asking(struct teardown *teardown, uint64_t now)
{
        struct unmonitor *unmonitor = &teardown->unmonitor;

        log_warning("dmeventd is unresponsive, removing LVs that it may monitor.");
        unmonitor->asks = false;
        unmonitor->deadline_usec = USEC_INFINITY;
        FOREACH_LISTED(struct removal, removal, &unmonitor->waiting)
                release(teardown, removal, now);
}

static int on_answer(_unused_ sd_event_source *source, int fd, _unused_ uint32_t events, void *userdata)
{
        struct teardown *teardown = userdata;
        struct unmonitor *unmonitor = &teardown->unmonitor;
        char answer;
        bool answered = recv(fd, &answer, 1, 0) == 1;

        if (unmonitor->asks && !answered)
                stop_asking(teardown, now_usec());
        if (!unmonitor->asks)
                return 0;
        unmonitor->deadline_usec = USEC_INFINITY;
        release(teardown, dm_list_item(dm_list_first(&unmonitor->waiting), struct removal), now_usec());
        return 0;
}

int unmonitor_init(struct teardown *teardown)
{
        static const struct timeval timeout = {.tv_sec = DEADLINE_USEC / USEC_PER_SEC};
        struct unmonitor *unmonitor = &teardown->unmonitor;
        const struct tree *tree = teardown->tree;
        int ends[2];
        pid_t pid;

        unmonitor->deadline_usec = USEC_INFINITY;
        dm_list_init(&unmonitor->waiting);
        if (!ANY(FOREACH_NODE(node, &tree->nodes), may_be_monitored(node)) || !dmeventd_runs())
                return 0;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return -errno;
        pid = fork();
        if (pid == 0) {
                close(ends[0]);
                (void) setsid(); /* Ctrl-C must not kill the child */
                if (teardown->options.at_shutdown)
                        (void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* it may hang, and restores nothing */
                run_child(teardown, ends[1]);
        }
        close(ends[1]);
        unmonitor->fd = ends[0];
        unmonitor->asks = true;
        (void) setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
        /* Edge-triggered, as end of file stays. Without a child, it comes at once. */
        return sd_event_add_io(teardown->event, NULL, ends[0], EPOLLIN | EPOLLET, on_answer, teardown);
}

bool unmonitor_takes(struct teardown *teardown, struct removal *removal)
{
        bool takes = teardown->unmonitor.asks && may_be_monitored(removal->node);

        if (takes)
                dm_list_add(&teardown->unmonitor.waiting, &removal->list);
        return takes;
}

void unmonitor_step(struct teardown *teardown, uint64_t now)
{
        struct unmonitor *unmonitor = &teardown->unmonitor;

        if (unmonitor->deadline_usec <= now)
                stop_asking(teardown, now);
        if (unmonitor->deadline_usec == USEC_INFINITY && !dm_list_empty(&unmonitor->waiting)) {
                struct removal *first = dm_list_item(dm_list_first(&unmonitor->waiting), struct removal);

                unmonitor->deadline_usec = now + DEADLINE_USEC;
                (void) send(unmonitor->fd, &first->node->index, sizeof(first->node->index), MSG_NOSIGNAL);
        }
}

int unmonitor_end(const struct teardown *teardown)
{
        int fd = teardown->unmonitor.fd;
        char answer = ANSWER_STOPPED;

        if (fd < 0 || teardown->options.at_shutdown ||
                !ANY(FOREACH_NODE(node, &teardown->tree->nodes),
                        may_be_monitored(node) && node->state != TREE_GONE))
                return 0;
        (void) shutdown(fd, SHUT_WR);
        while (recv(fd, &answer, 1, 0) == 1)
                ;
        if (answer == ANSWER_STOPPED)
                log_error(
                        "dmeventd is unresponsive; lvs -o +seg_monitor shows whether the LVs that are left are monitored.");
        return answer == ANSWER_RESTORED ? 0 : -EIO;
}
