/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* The directory below which all input is read, by openat() and with paths that begin without a slash:
 * $HEADGATE_ROOT, which tests set, or "/". */
const char *root_path(void);

/* Whether it was set: then nothing of the system itself is to be touched. */
bool root_is_chosen(void);

/* Opens it. Returns a descriptor or a negative errno. */
int root_open(void);

/* An absolute path as openat() wants it: without the slashes at its beginning. */
const char *root_relative(const char *path);
