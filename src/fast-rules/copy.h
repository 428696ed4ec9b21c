/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "shared/flags.h"
#include "shared/macro.h"

/* The directory with names of LVs that the worker writes, and the program that replaces dmsetup for all others. */
#define COPY_NAMES_DIRECTORY "run/headgate/" FLAGS_DM_NAMES
#define COPY_PROGRAM LIBEXECDIR "/headgate-dmsetup.static"

/* Only copies begin with it. By this the unit finds the files that it has to remove. */
#define COPY_MARK "# Made by headgate"

/* Makes the copy of rules. It names `path`; `text` is modified. Returns 0 or a negative errno. -EBADMSG: the line `*ret_line` calls
 * dmsetup in an unknown way or for the second time; or 0, if no line calls it. `*ret` is to be freed by the caller. */
int copy_print(const char *path, char *text, char **ret, size_t *ret_line) _nonnull_all_ _must_check_;
