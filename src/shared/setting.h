/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>

#include "shared/problems.h"
#include "shared/util.h"

#define SETTINGS_FILE "etc/headgate/headgate.conf"

/* Values of single keys of headgate.conf(5). `name` is what the key is called in a message. A value of another type
 * or out of range is added to `problems`, in one line with the file and `name`, and leaves the target as it is. */

/* From 1 second to a day. */
void setting_take_seconds(const struct dm_config_node *node, const char *name, uint64_t *usec,
        struct problems *problems) _nonnull_(1, 2, 3, 4);

/* 0 or 1. */
void setting_take_switch(const struct dm_config_node *node, const char *name, bool *is_on,
        struct problems *problems) _nonnull_(1, 2, 3, 4);

/* "no" or "yes", or 0 or 1. */
void setting_take_choice(const struct dm_config_node *node, const char *name, bool *is_chosen,
        struct problems *problems) _nonnull_(1, 2, 3, 4);
