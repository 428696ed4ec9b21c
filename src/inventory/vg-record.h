/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/record-file.h"
#include "inventory/vg-state.h"
#include "lvm/metadata.h"

/* A VG as text: a line "KEY = VALUE" for each field that is not zero, then a section for each PV and LV. The syntax is
 * a subset of lvm2's metadata: one assignment a line. A record is the text of a VG of the worker; its key is the VGID.
 * Facts are the text of a VG as the reader has parsed it from metadata. */

/* Prints a VG; the caller frees `*ret`. Returns 0 or -ENOMEM. */
int vg_print(const struct vg *vg, char **ret) _nonnull_all_ _must_check_;

/* Parses such a text, ignoring unknown fields. All identifiers are valid. Returns 0 and `*ret`, to be freed with vg_free(); -EBADMSG if it is damaged;
 * or -ENOMEM. */
int vg_parse(const char *text, struct vg **ret) _nonnull_all_ _must_check_;

/* Likewise, for facts from the reader, which is not trusted: only fields from metadata count. Whatever the input, the result is within the
 * limits of metadata.h, the VG's name is valid, and all strings are printable. */
int facts_read(const char *data, size_t size, struct vg **ret) _nonnull_all_ _must_check_;

/* The most that is accepted from the reader. */
#define FACTS_SIZE_MAX (32U * 1024 * 1024)

/* Whether the text is of a VG of that name, without parsing it. */
bool vg_text_has_name(const char *text, const char *name) _nonnull_all_;

/* Parses the record of a VG. Returns 1 and `*ret`, to be freed with vg_free(); 0 if the record is not of a VG; -EBADMSG
 * if it is damaged, after logging that; or -ENOMEM. */
int record_entry_parse_vg(const struct record_entry *record, struct vg **ret) _nonnull_all_ _must_check_;

/* The worker's state as in the record and headgated(8), and back: -EBADMSG if there is no such state. */
const char *vg_state_to_string(enum vg_state state);
int vg_state_from_string(const char *words) _nonnull_all_;

/* Sets the worker's state of the VG, and the fields that follow from it: `status`, `overdue`, `lost_after_active`.
 * VG_REMOVED changes none. */
void vg_state_enter(struct vg *vg, enum vg_state state) _nonnull_all_;
