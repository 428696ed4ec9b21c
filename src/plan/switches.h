/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/configuration.h"
#include "shared/macro.h"
#include "shared/settings.h"

/* What turns headgate off as a whole: the place where this runs, or the kernel's command line. Returns 0 and
 * `*ret`, one sentence that is a constant, or NULL if nothing does; or -ENOMEM. What cannot be read turns nothing
 * off. Looks at $SYSTEMD_IN_INITRD and $SYSTEMD_VIRTUALIZATION, which systemd sets for generators, and below
 * `root_fd`. */
int switches_describe_headgate_off(int root_fd, const char **ret) _nonnull_(2) _must_check_;

/* The same for direct activation, which settings turn off, too. */
int switches_describe_off(int root_fd, const struct settings *settings, const struct configuration *configuration,
        const char **ret) _nonnull_(2, 3, 4) _must_check_;
