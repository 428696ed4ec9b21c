/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "table/table.h"

/* headgate blame --critical-chain. */

extern const struct table_kind chain_table;

/* Prints what a mount point or unit waited for. Returns an exit status. */
int chain_run(const char *name, struct table *table) _nonnull_all_;
