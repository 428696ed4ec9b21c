/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/uio.h>

#include "shared/macro.h"

/* Sends lines to the journal. sd_journal_sendv() waits without limit while systemd-journald does not read its socket,
 * and boot and shutdown wait for headgate; this waits for at most a second in the life of a process, and then loses lines.
 * By the documented protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). */

/* Sends one line. `fields` are complete, "MESSAGE=text", and their values may contain anything. Returns 0 or a negative
 * errno, and then the line is lost: -EAGAIN if journald does not read, -ENOENT or -ECONNREFUSED if it is not there. */
int journal_send(const struct iovec *fields, size_t n_fields) _nonnull_(1) _must_check_;
