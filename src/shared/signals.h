/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* Blocks SIGCHLD, SIGTERM and SIGINT, for an event loop to read: before any thread is started. Programs that are
 * started by command_start() get them back. Returns 0 or a negative errno. */
int signals_block(void) _must_check_;

/* Undoes that, when the event loop has come to its end. What has come in between acts now. Returns 0 or a negative
 * errno. */
int signals_unblock(void) _must_check_;
