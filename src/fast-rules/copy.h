/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "shared/flags.h"
#include "shared/macro.h"

/* What the worker writes names of LVs to, and what does dmsetup's work for others. */
#define COPY_NAMES_DIRECTORY "run/headgate/" FLAGS_DM_NAMES
#define COPY_PROGRAM LIBEXECDIR "/headgate-dmsetup.static"

/* What a copy begins with, and no other file does. By this the unit finds what it has to remove. */
#define COPY_MARK "# Made by headgate"

/* Makes the copy of rules, of which `path` is said in it and `text` is taken apart. Returns 0; or -EBADMSG, and in `*ret_line` the
 * number of the line that calls dmsetup in a way that is not known or for the second time, or 0 if there is none that does; or
 * another negative errno. `*ret` is to be freed by the caller. */
int copy_print(const char *path, char *text, char **ret, size_t *ret_line) _nonnull_all_ _must_check_;
