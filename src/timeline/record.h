/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "timeline/timeline.h"

/* A timeline as the text of a file, in the syntax of lvm2's metadata, which libdevmapper reads. It has a
 * version: what another version of headgate has written is not guessed at. */

/* So large is the text at most: enough for a thousand VGs or devices. Of more, what took least is left out. */
#define RECORD_SIZE_MAX ((size_t) 512 * 1024)

/* Sorts the timeline by blame, and returns the text, to be freed by the caller, or NULL without memory. */
char *record_format(struct timeline *timeline) _nonnull_(1) _must_check_;

/* Adds what a text has to a timeline of that kind: of one shutdown there can be two. Returns 0; -EBADMSG if it is
 * damaged, or about something else; -EPROTONOSUPPORT if it is of another version; or -ENOMEM. Then the
 * bars are as they were. */
int record_parse(const char *text, struct timeline *timeline) _nonnull_(1, 2) _must_check_;
