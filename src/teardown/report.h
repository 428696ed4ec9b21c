/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* Reports of teardown. Lines are for people, fields for programs. Each node also becomes a bar of options.timeline. Reports and
 * bars without memory are omitted. */

/* Before the start: reports dependency cycles, whose nodes are tried one after another. */
void report_cycles(const struct tree *tree) _nonnull_all_;

/* Reports storage trees that are removed. */
void report_trees_down(struct teardown *teardown) _nonnull_all_;

/* After some time without progress: reports nodes that teardown waits for, and their users. */
void report_waiting(const struct teardown *teardown) _nonnull_all_;

/* Sets the status that systemd shows: the progress, and nodes that teardown waits for. At most twice a second. While there is
 * progress, also asks systemd for more time. */
void report_progress(struct teardown *teardown, uint64_t now) _nonnull_all_;

/* At the end: reports nodes that are left and their users, trees that are not removed, and a summary. */
void report_end(struct teardown *teardown) _nonnull_all_;
