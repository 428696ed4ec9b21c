/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/state.h"

/* What teardown says. Each line names things as people know them; the fields are for programs. And what it adds to
 * options.timeline: a bar for each node, with the times that the journal gets. Without memory for it, one is left out. */

/* Before anything is done: dependency cycles, whose nodes are tried one after another. */
void report_cycles(const struct tree *tree) _nonnull_(1);

/* Which storage trees are down, each with a field HEADGATE_NODES, of one line for each node in the order in which they went:
 * microseconds from the start of the teardown to the first try and from then until it was gone, the number of
 * tries, the kind, and the name. HEADGATE_STARTED_USEC is that start, by now_usec(); lines about nodes that are
 * left have it, too. */
void report_trees_down(struct teardown *teardown) _nonnull_(1);

/* When nothing has happened for a while: what is waited for, and who uses it. */
void report_waiting(const struct teardown *teardown) _nonnull_(1);

/* In the status that systemd shows: how far it is, and what is waited for. Not more often than twice a second. As
 * long as something happens, systemd is asked for more time, too. */
void report_progress(struct teardown *teardown) _nonnull_(1);

/* At the end: what is left, each node with what holds it, the trees that are not down, and the sum. A node that is
 * left has HEADGATE_WAITED_USEC and HEADGATE_TOOK_USEC, which are for it what the first two numbers in a line of
 * HEADGATE_NODES are. */
void report_end(struct teardown *teardown) _nonnull_(1);
