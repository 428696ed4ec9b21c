/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "shared/util.h"

/* What systemd says of headgate's teardown, and of the shutdown that it is part of. Asked of PID 1 by its own
 * socket, since the message bus is stopped before storage is taken down; so only root may ask. */
struct teardown_status;

/* Called when something of it may have changed. */
typedef void (*teardown_status_function)(void *userdata);

/* Connects. Returns 0 and `*ret`, to be freed with teardown_status_free(), or a negative errno. */
int teardown_status_new(sd_event *event, teardown_status_function on_change, void *userdata,
        struct teardown_status **ret) _nonnull_(1, 2, 4) _must_check_;

enum {
        TEARDOWN_NONE = 0, /* the system is not being shut down */
        TEARDOWN_PENDING,  /* it is, and services are being stopped before */
        TEARDOWN_RUNNING,
        TEARDOWN_OVER,
};

/* Asks how far it is. While it is RUNNING, `lines` gets a line for each unit that is at it, with what that unit
 * says. Returns one of these or a negative errno. */
int teardown_status_ask(struct teardown_status *status, struct string_vector *lines) _nonnull_(1, 2) _must_check_;

struct teardown_status *teardown_status_free(struct teardown_status *status);
DEFINE_CLEANUP(struct teardown_status *, teardown_status_free)
#define _cleanup_teardown_status_ _cleanup_(teardown_status_freep)
