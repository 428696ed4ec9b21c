/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fast-rules/cookies-left.h"

#include <libudev.h>
#include <systemd/sd-login.h>

#include "fast-rules/cookie.h"
#include "shared/log.h"
#include "shared/util.h"

/* A semaphore that udev still has an event for changes when that was handled. To be wrong is to have lvm2 go on before
 * udev has made the links of an LV. */
#define UNCHANGED_IDLE_USEC (2 * USEC_PER_SEC)
#define UNCHANGED_BUSY_USEC (10 * USEC_PER_SEC)
#define INTERVAL_USEC (250 * USEC_PER_MSEC)

struct suspect {
        int id;
        struct cookie_state state;
        uint64_t since_usec;
};

struct cookies_left {
        struct udev *udev;
        struct udev_queue *queue;
        struct suspect *suspects;
        size_t n;
};

struct cookies_left *cookies_left_free(struct cookies_left *left)
{
        if (!left)
                return NULL;
        free(left->suspects);
        udev_queue_unref(left->queue);
        udev_unref(left->udev);
        free(left);
        return NULL;
}

static int add(int id, const struct cookie_state *state, void *userdata)
{
        struct cookies_left *left = userdata;
        struct suspect *suspects = reallocarray(left->suspects, left->n + 1, sizeof(*suspects));

        if (!suspects)
                return -ENOMEM;
        left->suspects = suspects;
        suspects[left->n++] = (struct suspect){.id = id, .state = *state, .since_usec = now_usec()};
        return 0;
}

int cookies_left_find(struct cookies_left **ret)
{
        _cleanup_cookies_left_ struct cookies_left *left = calloc(1, sizeof(*left));
        int r;

        *ret = NULL;
        if (!left)
                return -ENOMEM;
        left->udev = udev_new();
        left->queue = left->udev ? udev_queue_new(left->udev) : NULL;
        if (!left->queue)
                return -ENOMEM;
        r = cookie_for_each(add, left);
        if (r < 0 || left->n == 0)
                return r;
        r = (int) left->n;
        *ret = TAKE_PTR(left);
        return r;
}

static bool is_foreign_process(pid_t pid)
{
        _cleanup_free_ char *theirs = NULL, *ours = NULL;

        return sd_pid_get_cgroup(pid, &theirs) >= 0 && sd_pid_get_cgroup(0, &ours) >= 0 && !streq(theirs, ours);
}

static bool is_stuck(const struct suspect *suspect, struct udev_queue *queue)
{
        uint64_t unchanged = now_usec() - suspect->since_usec;

        if (suspect->state.waiting == 0 || suspect->state.left == 0)
                return false;
        return unchanged >= UNCHANGED_BUSY_USEC ||
               (unchanged >= UNCHANGED_IDLE_USEC && udev_queue_get_queue_is_empty(queue) > 0);
}

/* Returns 0 as long as it is to be watched, 1 when there is nothing to be done any more, or a negative errno. */
static int look(struct suspect *suspect, struct udev_queue *queue)
{
        struct cookie_state state;
        int r;

        r = cookie_get_state(suspect->id, &state);
        if (r < 0)
                return r == -ENOENT ? 1 : r;
        if (state.left != suspect->state.left || state.last != suspect->state.last)
                suspect->since_usec = now_usec();
        suspect->state = state;
        if (!is_stuck(suspect, queue))
                return 0;
        if (is_foreign_process(state.last))
                return 1;

        r = cookie_complete_all(suspect->id, &state);
        if (r == -EAGAIN)
                return 0;
        if (r < 0)
                return r == -ENOENT ? 1 : r;
        log_notice("Completed %u event%s of device-mapper that the worker has left, and lvm2 waited for.",
                state.left, plural(state.left));
        return 1;
}

int cookies_left_complete(struct cookies_left *left, uint64_t patience_usec)
{
        uint64_t end = now_usec() + patience_usec;

        while (left->n > 0 && now_usec() < end) {
                for (size_t i = left->n; i-- > 0;) {
                        int r = look(&left->suspects[i], left->queue);

                        if (r < 0)
                                return r;
                        if (r > 0)
                                left->suspects[i] = left->suspects[--left->n];
                }
                (void) usleep(INTERVAL_USEC);
        }
        return 0;
}
