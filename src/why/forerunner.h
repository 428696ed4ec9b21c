/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "shared/macro.h"

/* A process that reads a device before this one does, and keeps it open: what it has read is in the kernel's cache
 * then, and reading it again takes no time. A read() of a disk that does not answer can take as long as the
 * kernel likes, two minutes with iSCSI, and nothing ends it; so it is the forerunner that hangs in it. */
struct forerunner {
        pid_t pid; /* 0 if there is none */
};

/* Has a forerunner call `read_all` with `path`; what comes of that does not matter. Returns 0 when it has returned,
 * -ETIMEDOUT if it has not within 3 seconds, or another negative errno. In any case forerunner_done() is to be
 * called, after which the kernel may forget what was read. */
int forerunner_start(struct forerunner *forerunner, void (*read_all)(const char *path), const char *path)
        _nonnull_(1, 2, 3) _must_check_;

/* One that hangs is left to itself: it ends as soon as the kernel lets it. */
void forerunner_done(struct forerunner *forerunner) _nonnull_(1);
#define _cleanup_forerunner_ _cleanup_(forerunner_done)
