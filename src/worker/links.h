/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* Symbolic links that lead nowhere, and whose targets are short words: what a worker leaves to its successor, each
 * read by itself when there is a reason to. */

/* A target that is longer than that, its NUL included, was not made here. */
#define LINK_TARGET_SIZE 64

/* Makes the link, or replaces one that says something else. Returns 0 or a negative errno. */
int link_make(int dir_fd, const char *name, const char *target) _nonnull_(2, 3) _must_check_;

/* Reads the target. Returns 0 or a negative errno: -ENOENT, or -EBADMSG for one that is too long. */
int link_read(int dir_fd, const char *name, char ret[LINK_TARGET_SIZE]) _nonnull_(2) _must_check_;

/* That it is not there is success. Returns 0 or a negative errno. */
int link_remove(int dir_fd, const char *name) _nonnull_(2) _must_check_;
