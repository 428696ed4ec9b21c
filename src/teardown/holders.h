/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/users.h"
#include "tree/node.h"

/* What holds a node, for people. All texts are printable, to be freed by the caller, and NULL without memory. */

/* "vg0-lv (dm-3)" */
char *node_describe(const struct tree_node *node) _nonnull_(1) _must_check_;

/* "held by /srv/a, dm-4; process 123 (cat) has it open": what lies on it now, and `users`; or that its unmounting
 * has not come to its end; "" if nothing is known to hold it. */
char *node_describe_holders(const struct tree_node *node, const struct users *users) _nonnull_(1, 2) _must_check_;

/* users_find(). Who it is cannot always be told, and what else there is to say is said all the same. */
void nodes_find_users(struct usage_query *queries, size_t n) _nonnull_(1);

/* Whether a kernel thread's name has the device's in it, as a word. */
bool thread_is_of_device(const char *thread, const char *kernel_name) _nonnull_(1, 2);
