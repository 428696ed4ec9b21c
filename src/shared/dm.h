/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <sys/types.h>

#include "shared/macro.h"

/* libdevmapper's pools and hash tables, destroyed by scope. */

DEFINE_CLEANUP(struct dm_pool *, dm_pool_destroy)
#define _cleanup_dm_pool_ _cleanup_(dm_pool_destroyp)

DEFINE_CLEANUP(struct dm_hash_table *, dm_hash_destroy)
#define _cleanup_dm_hash_ _cleanup_(dm_hash_destroyp)

/* Creates a task for the device of that number, destroyed by scope; NULL without memory. */
struct dm_task *dm_task_new(int type, dev_t number) _must_check_;
/* Returns the open count of the device, 0 also if it does not exist; a negative number on error. */
int dm_open_count(dev_t number);
DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)
#define _cleanup_dm_task_ _cleanup_(dm_task_destroyp)

/* Text in lvm.conf's syntax, read with libdevmapper's parser. */

DEFINE_CLEANUP(struct dm_config_tree *, dm_config_destroy)
#define _cleanup_dm_config_ _cleanup_(dm_config_destroyp)

/* Whether sections are nested so deeply that the recursive parser might crash. Braces in strings and comments count
 * as sections, so a crafted text may pass. So only a reader (reader.h), whose crash is handled, parses text from a
 * disk. */
bool config_text_is_too_deep(const char *text) _nonnull_all_;

/* Parses a file below `dir_fd`, which may consist of comments only. Of repeated keys the last value counts;
 * repeated sections are merged. Returns 0 and `*ret`, to be freed with dm_config_destroy(), or -EBADMSG, -ENOMEM,
 * or an error of read_file_at(). With -EBADMSG, `*ret_message` is libdevmapper's message with the place, "Parse error at byte 16
 * (line 2): ...", to be freed by the caller, or still NULL; `ret_message` may be NULL. */
int config_tree_read(int dir_fd, const char *path, struct dm_config_tree **ret, char **ret_message)
        _nonnull_(2, 3) _must_check_;

/* Returns the boolean at `path`, or `default_value` if there is none, or a section of that name, at which
 * dm_config_tree_find_bool() crashes. Unlike that function, it does not search cascaded trees. */
int config_tree_find_bool(const struct dm_config_tree *tree, const char *path, int default_value) _nonnull_all_;
