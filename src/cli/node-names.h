/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tree/node.h"

/* The printable names of nodes, each in a line of its own, in the order of the alphabet with numbers as such, since
 * directories of sysfs are in no order. Returns a string to be freed by the caller, NULL without memory. */
char *node_names_join(const struct tree_nodes *nodes) _nonnull_(1) _must_check_;
