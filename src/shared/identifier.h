/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "shared/macro.h"

/* What LVM calls things by: identifiers, which it makes up itself, and names, which people give. */

/* An LVM identifier without its dashes, and with a terminating NUL. lvm2 writes 32 of [0-9a-zA-Z!#]. */
#define LVM_ID_LENGTH 32
#define LVM_ID_SIZE (LVM_ID_LENGTH + 1)

/* The UUID of an LV's device begins with this, the VG's identifier and the LV's, and of a hidden one goes on with a suffix,
 * such as "-tdata" (lvm2, lib/activate/dev_manager.c). */
#define LVM_UUID_PREFIX "LVM-"

/* Whether `id` is one; it is then fit for a file's name, too. */
bool lvm_id_is_valid(const char *id) _nonnull_(1);

/* Reads an identifier with or without dashes. Returns 0, or -EBADMSG and leaves `ret` alone. */
int lvm_id_parse(const char *text, char ret[LVM_ID_SIZE]) _nonnull_(1, 2) _must_check_;

/* Writes `id` as lvm2 prints it, with dashes: 6-4-4-4-4-4-6. */
#define LVM_ID_FORMATTED_SIZE (LVM_ID_SIZE + 6)
void lvm_id_format(const char id[LVM_ID_SIZE], char ret[LVM_ID_FORMATTED_SIZE]) _nonnull_(1, 2);

/* Of a VG, its NUL included. */
#define LVM_NAME_SIZE 128

/* Whether lvm2 would take `name` for a VG, or for an LV as far as characters go (lvm2, lib/misc/lvm-string.c: 1
 * to 127 of [A-Za-z0-9._+-], no leading '-', not "." or ".."). */
bool volume_group_name_is_valid(const char *name) _nonnull_(1);

/* The name of an LV as it stands on a disk, for messages and advice. lvm2 makes no LV with another name than one like
 * those above, but activates one that is called otherwise. So each byte that it would not have taken is written as
 * \xNN, of which neither a terminal nor a shell makes anything, and "..." stands for what is beyond 127 bytes. Returns a
 * string to be freed by the caller, or NULL without memory. */
char *logical_volume_name_to_show(const char *name) _nonnull_(1) _must_check_;
