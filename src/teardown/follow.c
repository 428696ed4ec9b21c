/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/follow.h"

#include <fcntl.h>

#include "shared/util.h"

/* One unmount among few is followed at once. */
#define PAUSE_MIN_USEC (5 * USEC_PER_MSEC)

/* At most a fifth of the time goes into reading tables. */
#define PAUSE_FACTOR 4

struct follow {
        sd_event_source *mountinfo_source, *swaps_source, *timer_source;
        uint64_t pause_usec;
        int (*function)(void *userdata);
        void *userdata;
};

static int on_time(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
        struct follow *follow = userdata;
        uint64_t begin = now_usec();
        int r;

        r = follow->function(follow->userdata);
        follow->pause_usec = MAX(PAUSE_MIN_USEC, (now_usec() - begin) * PAUSE_FACTOR);
        return r;
}

/* What happens while the timer runs is read with the rest. */
static int on_change(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t events, void *userdata)
{
        struct follow *follow = userdata;
        int enabled, r;

        r = sd_event_source_get_enabled(follow->timer_source, &enabled);
        if (r < 0 || enabled != SD_EVENT_OFF)
                return r;
        r = sd_event_source_set_time(follow->timer_source, now_usec() + follow->pause_usec);
        return r < 0 ? r : sd_event_source_set_enabled(follow->timer_source, SD_EVENT_ONESHOT);
}

static int add_file(sd_event *event, const char *path, struct follow *follow, sd_event_source **ret)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        int r;

        if (fd < 0)
                return errno == ENOENT ? 0 : -errno; /* a kernel without swaps */
        r = sd_event_add_io(event, ret, fd, EPOLLPRI, on_change, follow);
        if (r < 0)
                return r;
        (void) sd_event_source_set_io_fd_own(*ret, true);
        (void) TAKE_FD(fd);
        return sd_event_source_set_exit_on_failure(*ret, true);
}

int follow_new(sd_event *event, int (*function)(void *userdata), void *userdata, struct follow **ret)
{
        _cleanup_(follow_freep) struct follow *follow = calloc(1, sizeof(*follow));
        int r;

        if (!follow)
                return -ENOMEM;
        follow->function = function;
        follow->userdata = userdata;
        follow->pause_usec = PAUSE_MIN_USEC;
        r = sd_event_add_time(event, &follow->timer_source, CLOCK_MONOTONIC, 0, 1, on_time, follow);
        if (r >= 0)
                r = sd_event_source_set_exit_on_failure(follow->timer_source, true);
        if (r >= 0)
                r = sd_event_source_set_enabled(follow->timer_source, SD_EVENT_OFF);
        if (r >= 0)
                r = add_file(event, "/proc/self/mountinfo", follow, &follow->mountinfo_source);
        if (r >= 0)
                r = add_file(event, "/proc/swaps", follow, &follow->swaps_source);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(follow);
        return 0;
}

struct follow *follow_free(struct follow *follow)
{
        if (!follow)
                return NULL;
        sd_event_source_disable_unref(follow->mountinfo_source);
        sd_event_source_disable_unref(follow->swaps_source);
        sd_event_source_disable_unref(follow->timer_source);
        free(follow);
        return NULL;
}
