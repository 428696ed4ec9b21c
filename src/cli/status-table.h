/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cli/table.h"
#include "lvm/volume_group.h"

/* The table of "headgate status": one line for each VG. */
struct table_verb status_table_verb(void (*help)(void)) _nonnull_(1);

/* Prints the VGs, in their order; if there are none, NULL is as good as an array. Returns 0 or a negative errno. */
int status_table_print(const struct volume_group *const volume_groups[], size_t n,
        const struct table_options *options) _nonnull_(3) _must_check_;
