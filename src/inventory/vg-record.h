/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/record-file.h"
#include "inventory/vg-state.h"
#include "lvm/metadata.h"

/* The record of a VG, as text: a line "KEY = VALUE" for each field, then a section for each PV and LV. It is in the syntax
 * of lvm2's metadata, but not all of that is a record: one assignment a line, in sections of one level. */

/* Facts are what metadata say, without what became of the VG, in the same form: on their way from the process that has parsed
 * metadata to the one that believes nothing of it.
 *
 * Returns 0, with `*ret` to be freed by the caller, or -ENOMEM. */
int facts_write(const struct vg *metadata, char **ret) _nonnull_all_ _must_check_;

/* Reads them. Whatever they say, what comes of it is within the limits of metadata.h, and all identifiers and the VG's name
 * are valid. Returns 0 and `*ret`, to be freed with vg_free(); -EBADMSG; or -ENOMEM. */
int facts_read(const char *data, size_t size, struct vg **ret) _nonnull_all_ _must_check_;

/* More is not taken from another process. */
#define FACTS_SIZE_MAX (32U * 1024 * 1024)

/* The text of a VG's record, which has its VGID as key; to be freed by the caller. Returns 0 or a negative errno. */
int vg_print(const struct vg *vg, char **ret) _nonnull_all_ _must_check_;

/* Makes a VG of such a text; fields that it does not know are ignored. Returns 0; -EBADMSG if it is damaged; or -ENOMEM. */
int vg_parse(const char *text, struct vg **ret) _nonnull_all_ _must_check_;

/* Whether the text is of a VG of that name, without parsing it. */
bool vg_text_has_name(const char *text, const char *name) _nonnull_all_;

/* Called for each VG, which it takes over if it returns 0 or more; a negative errno ends the walk and is passed on. */
typedef int (*vg_function)(struct vg *vg, void *userdata);

enum {
        VGS_DAMAGED = 1, /* one of the records, or several; a line names each */
};

/* Walks over all VGs of a file, in the order in which they were written last. `file` may be NULL. Returns 0, the above, or a
 * negative errno. */
int vgs_parse(const struct record_file *file, vg_function function, void *userdata) _nonnull_(2) _must_check_;

/* The worker's state as the record and headgated(8) have it, and back: -EBADMSG if there is no such state. */
const char *vg_state_to_string(enum vg_state state);
int vg_state_from_string(const char *words) _nonnull_all_;

/* Notes the state in the VG, with the public one that it stands for; one that is removed stays as it is. */
void vg_state_enter(struct vg *vg, enum vg_state state) _nonnull_all_;
