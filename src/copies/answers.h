/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "shared/macro.h"

/* Has a few other processes read a little of each of these devices, from the disk and not from the kernel's cache: a
 * read() of a disk that does not answer can take as long as the kernel likes, and nothing ends it, so it had better
 * not be ours. That a device cannot be read is an answer. Returns 0 if all have answered; -ETIMEDOUT if one has not
 * and nothing has been heard for 3 seconds, with its place in `*ret_silent`; or another negative errno. */
int devices_answer(char *const paths[], size_t n, size_t *ret_silent) _nonnull_(3) _must_check_;
