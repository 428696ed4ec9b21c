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
/* Of an LV that is not hidden. */
#define LVM_UUID_LENGTH (sizeof(LVM_UUID_PREFIX) - 1 + 2 * LVM_ID_LENGTH)

/* Whether `id` is one; it is then fit for a file's name, too. */
bool lvm_id_is_valid(const char *id) _nonnull_all_;

/* Reads an identifier with or without dashes. Returns 0, or -EBADMSG and leaves `ret` alone. */
int lvm_id_parse(const char *text, char ret[LVM_ID_SIZE]) _nonnull_all_ _must_check_;

/* Writes `id` as lvm2 prints it, with dashes: 6-4-4-4-4-4-6. Returns `ret`. */
#define LVM_ID_FORMATTED_SIZE (LVM_ID_SIZE + 6)
char *lvm_id_format(const char id[LVM_ID_SIZE], char ret[LVM_ID_FORMATTED_SIZE]) _nonnull_all_;
/* The same in a string that is there until the end of the block. */
#define LVM_ID_TO_STRING(id) lvm_id_format(id, (char[LVM_ID_FORMATTED_SIZE]){})

/* Of a VG, its NUL included. */
#define LVM_NAME_SIZE 128

/* Whether lvm2 would take `name` for a VG, or for an LV as far as characters go (lvm2, lib/misc/lvm-string.c: 1
 * to 127 of [A-Za-z0-9._+-], no leading '-', not "." or ".."). */
bool vg_name_is_valid(const char *name) _nonnull_all_;

/* The name of an LV as it stands on a disk, for messages and advice. lvm2 makes no LV with another name than one like
 * those above, but activates one that is called otherwise. So each byte that it would not have taken is written as
 * \xNN, of which neither a terminal nor a shell makes anything, and "..." stands for what is beyond 127 bytes. Returns a
 * string to be freed by the caller, or NULL without memory. */
char *logical_volume_name_to_show(const char *name) _nonnull_all_ _must_check_;

/* "Did you mean": of the names that there are, the one that is most like a name that there is not. */
struct suggestion {
        const char *wanted;
        char *nearest; /* NULL if none is like it */
        size_t distance;
};

/* How many letters have to be put in, left out, exchanged for another or for their neighbour to make one of the
 * other. Returns SIZE_MAX without memory. */
size_t suggestion_distance(const char *a, const char *b) _nonnull_all_;

/* Keeps a copy of `candidate` if it is more like what was wanted than all before it, and like it at all: a third
 * of the letters may differ, the case does not count. */
void suggestion_consider(struct suggestion *suggestion, const char *candidate) _nonnull_all_;

/* One line on standard error: Unknown WHAT "dta"; did you mean "data"? Without a suggestion, `otherwise` says what
 * to do instead. */
void suggestion_log_unknown(
        const struct suggestion *suggestion, const char *what, const char *otherwise) _nonnull_all_;

void suggestion_done(struct suggestion *suggestion) _nonnull_all_;
#define _cleanup_suggestion_ _cleanup_(suggestion_done)

/* Some names in one sentence, as "a, b, c and 4 more". Starts empty: all zeros. Without memory there are fewer. */
struct enumeration {
        char *text; /* printable; NULL while it is empty */
        size_t max; /* that are named; 0 for as many as people read at once */
        size_t n;
        size_t length; /* of the names in the text */
};

void enumeration_add(struct enumeration *enumeration, const char *name) _nonnull_all_;

static inline void enumeration_done(struct enumeration *enumeration)
{
        free(enumeration->text);
}
#define _cleanup_enumeration_ _cleanup_(enumeration_done)

/* Names of systemd units, as systemd.unit(5) describes them; libsystemd has no function for it. */

/* What systemd takes at most. */
#define UNIT_NAME_LENGTH_MAX 255

/* A link that systemd has, for the journal, from when a process of the unit was started until the unit is stopped (systemd,
 * src/core/unit.c), to nothing that is a file. */
#define UDEVD_STARTED_LINK "run/systemd/units/invocation:systemd-udevd.service"

/* The unit that waits for the VG `name`, "headgate-vg@NAME.service" with NAME escaped. Returns 0 and `*ret`, to
 * be freed by the caller; -ENAMETOOLONG if systemd would not take it; or -ENOMEM. */
int unit_name_of_vg(const char *name, char **ret) _nonnull_all_ _must_check_;

/* The unit of the mount point, an absolute path without "." or slashes that are doubled or at its end. Likewise. */
int unit_name_of_mount(const char *path, char **ret) _nonnull_all_ _must_check_;

/* Whether the unit is one that nobody is to be advised to stop: systemd's own, a user's manager, logins by console or SSH, D-Bus. */
bool unit_name_is_essential(const char *unit) _nonnull_all_;
