/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <systemd/sd-event.h>

#include "shared/macro.h"

/* Tells when mounts or swaps have come or gone, by the kernel's own notice: /proc/self/mountinfo and /proc/swaps
 * are polled for POLLPRI (proc(5)). With a thousand mounts going one by one, reading the table each time would
 * cost more than all else: what comes shortly after another is told of together with it. */
struct follow;

/* Calls `function` from the event loop, as long as the result is not freed. Returns 0 and `*ret`, or a negative
 * errno. */
int follow_new(sd_event *event, int (*function)(void *userdata), void *userdata, struct follow **ret)
        _nonnull_(1, 2, 4) _must_check_;
struct follow *follow_free(struct follow *follow);
DEFINE_CLEANUP(struct follow *, follow_free)
