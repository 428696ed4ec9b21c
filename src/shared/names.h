/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "shared/macro.h"

/* LVM's names and identifiers. */

/* An LVM identifier without its dashes, and with a terminating NUL. lvm2 writes 32 of [0-9a-zA-Z!#]. */
#define LVM_ID_LENGTH 32
#define LVM_ID_SIZE (LVM_ID_LENGTH + 1)

/* Prefix of the UUID of an LV's device. The identifiers of VG and LV follow, and for a hidden LV a suffix such as
 * "-tdata" (lvm2, lib/activate/dev_manager.c). */
#define LVM_UUID_PREFIX "LVM-"
/* Length of the UUID of a visible LV's device. */
#define LVM_UUID_LENGTH (sizeof(LVM_UUID_PREFIX) - 1 + 2 * LVM_ID_LENGTH)

/* Whether `id` is an identifier, which is also a valid file name. */
bool lvm_id_is_valid(const char *id) _nonnull_all_;

/* Parses an identifier with or without dashes. Returns 0, or -EBADMSG with `ret` unchanged. */
int lvm_id_parse(const char *text, char ret[LVM_ID_SIZE]) _nonnull_all_ _must_check_;

/* Writes `id` as lvm2 prints it, with dashes: 6-4-4-4-4-4-6. Returns `ret`. */
#define LVM_ID_FORMATTED_SIZE (LVM_ID_SIZE + 6)
char *lvm_id_format(const char id[LVM_ID_SIZE], char ret[LVM_ID_FORMATTED_SIZE]) _nonnull_all_;
/* Likewise, as a string that is valid until the end of the block. */
#define LVM_ID_TO_STRING(id) lvm_id_format(id, (char[LVM_ID_FORMATTED_SIZE]){})

/* Size of a VG name, including NUL. */
#define LVM_NAME_SIZE 128

/* Whether lvm2 accepts `name` for a VG, or its characters for an LV (lvm2, lib/misc/lvm-string.c: 1 to 127 of
 * [A-Za-z0-9._+-], no leading '-', not "." or ".."). */
bool vg_name_is_valid(const char *name) _nonnull_all_;

/* Makes the name of an LV on a disk printable, for messages and advice. lvm2 creates only LVs with names as above,
 * but activates others, too. So invalid bytes are written as \xNN, which neither terminals nor shells interpret,
 * and "..." replaces bytes beyond 127. Returns a string to be freed by the caller, or NULL without memory. */
char *logical_volume_name_to_show(const char *name) _nonnull_all_ _must_check_;

/* "Did you mean": the existing name that is most similar to an unknown one. */
struct suggestion {
        const char *wanted;
        char *nearest; /* NULL if none is similar */
        size_t distance;
};

/* Returns how many letters have to be inserted, removed, replaced or swapped to change one name to the other;
 * SIZE_MAX without memory. */
size_t suggestion_distance(const char *a, const char *b) _nonnull_all_;

/* Keeps a copy of `candidate` if it is the most similar so far, and at most a third of the letters differ; case
 * does not count. */
void suggestion_consider(struct suggestion *suggestion, const char *candidate) _nonnull_all_;

/* Logs: Unknown WHAT "dta"; did you mean "data"? Without a suggestion, `advice` says what to do instead. */
void suggestion_log_unknown(
        const struct suggestion *suggestion, const char *what, const char *advice) _nonnull_all_;

void suggestion_done(struct suggestion *suggestion) _nonnull_all_;
#define _cleanup_suggestion_ _cleanup_(suggestion_done)

/* A list of names for a sentence, "a, b, c and 4 more". Initialize with zeros. Without memory names are dropped. */
struct enumeration {
        char *text; /* printable; NULL while it is empty */
        size_t max; /* names to list; 0 for the default */
        size_t n;
        size_t length; /* of the names in the text */
};

void enumeration_add(struct enumeration *enumeration, const char *name) _nonnull_all_;

static inline void enumeration_done(struct enumeration *enumeration)
{
        free(enumeration->text);
}
#define _cleanup_enumeration_ _cleanup_(enumeration_done)

/* Names of systemd units (systemd.unit(5)); libsystemd has no functions for these. */

/* systemd's limit. */
#define UNIT_NAME_LENGTH_MAX 255

/* A dangling link that systemd keeps for the journal from the first process of the unit until the unit is stopped
 * (src/core/unit.c of systemd). */
#define UDEVD_STARTED_LINK "run/systemd/units/invocation:systemd-udevd.service"

/* Escapes a string for a unit name as systemd-escape(1) does. Returns a string to be freed by the caller, or NULL. */
char *unit_name_escape(const char *string) _nonnull_all_ _must_check_;

/* Returns the name of the unit that waits for the VG `name`, "headgate-vg@NAME.service" with NAME escaped. Returns
 * 0 and `*ret`, to be freed by the caller; -ENAMETOOLONG if it is too long for systemd; or -ENOMEM. */
int unit_name_of_vg(const char *name, char **ret) _nonnull_all_ _must_check_;

/* Likewise the unit of a mount point, an absolute path without ".", double or trailing slashes. */
int unit_name_of_mount(const char *path, char **ret) _nonnull_all_ _must_check_;

/* Whether stopping the unit must never be advised: systemd's own units, user managers, console and SSH logins,
 * D-Bus. */
bool unit_name_is_essential(const char *unit) _nonnull_all_;
