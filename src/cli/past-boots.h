/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "timeline/boots.h"

/* The boots that "headgate blame" and "headgate plot" can be asked about: this one, and those before it that
 * the journal or a kept timeline tells of. */

/* Reads them, the oldest first and this one last. What may not be read is left out. Returns 0 or a negative
 * errno. */
int past_boots_read(int root_fd, struct boots *boots) _nonnull_(2) _must_check_;

/* Finds one as boots_find() does. Returns 0; -EINVAL or -ENOENT, having said on standard error why there is
 * none; or another negative errno. */
int past_boots_find(const struct boots *boots, const char *name, sd_id128_t *ret) _nonnull_(1, 2, 3) _must_check_;
