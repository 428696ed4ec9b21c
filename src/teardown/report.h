/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* What teardown reports. Each line names things as people know them; the fields are for programs. Each node also becomes a bar
 * of options.timeline. Without memory for it, one is left out. */

/* Before anything is done: dependency cycles, whose nodes are tried one after another. */
void report_cycles(const struct tree *tree) _nonnull_all_;

/* Which storage trees are down. */
void report_trees_down(struct teardown *teardown) _nonnull_all_;

/* When nothing has happened for a while: what is waited for, and who uses it. */
void report_waiting(const struct teardown *teardown) _nonnull_all_;

/* In the status that systemd shows: how far it is, and what is waited for. Not more often than twice a second. As
 * long as something happens, systemd is asked for more time, too. */
void report_progress(struct teardown *teardown) _nonnull_all_;

/* At the end: what is left, each node with what holds it, the trees that are not down, and the sum. */
void report_end(struct teardown *teardown) _nonnull_all_;
