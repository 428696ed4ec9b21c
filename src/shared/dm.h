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

/* A task about the device of that number, destroyed by scope; NULL without memory. */
struct dm_task *dm_task_new(int type, dev_t number) _must_check_;
/* How often it is open, 0 also if it does not exist; or a negative number if device-mapper does not tell. */
int dm_open_count(dev_t number);
DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)
#define _cleanup_dm_task_ _cleanup_(dm_task_destroyp)

/* Text in lvm.conf's syntax, read with libdevmapper's parser. */

DEFINE_CLEANUP(struct dm_config_tree *, dm_config_destroy)
#define _cleanup_dm_config_ _cleanup_(dm_config_destroyp)

/* Whether sections are nested so deep that the parser, which is recursive, might crash. Strings and comments are not told from
 * sections: a text that was made to crash the parser may pass. So the text of a disk is parsed by a reader only (reader.h),
 * whose crash is handled. */
bool config_text_is_too_deep(const char *text) _nonnull_all_;

/* Parses a file below `dir_fd` in which a key or a section may occur twice, as people may write it: the last value counts, and
 * sections are merged. It may consist of comments only. Returns 0 and `*ret`, to be freed with dm_config_destroy(), or
 * -EBADMSG, -ENOMEM, or what read_file_at() does. */
int config_tree_read(int dir_fd, const char *path, struct dm_config_tree **ret) _nonnull_all_ _must_check_;

/* The boolean at `path`, or `otherwise` if there is none, or a section of that name: dm_config_tree_find_bool() crashes at
 * one. Unlike that function, it does not look into cascaded trees. */
int config_tree_find_bool(const struct dm_config_tree *tree, const char *path, int otherwise) _nonnull_all_;

/* Writes a line KEY = "VALUE", with what is special in a value escaped: for strings that come from elsewhere,
 * lvm2's messages or names of devices. Without a value nothing is written. Returns 0 or -ENOMEM. */
int config_print_string(FILE *file, const char *key, const char *value) _nonnull_(1, 2) _must_check_;
