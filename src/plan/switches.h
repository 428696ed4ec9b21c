/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/configuration.h"
#include "shared/macro.h"
#include "shared/settings.h"

/* What turns direct activation off: the place where this runs, the kernel's command line, or a setting. Returns
 * 0 and `*ret`, one sentence that is a constant, or NULL if it is on; or -ENOMEM. What cannot be read turns
 * nothing off. Looks at $SYSTEMD_IN_INITRD and $SYSTEMD_VIRTUALIZATION, which systemd sets for generators, and
 * below `root_fd`. */
int switches_describe_off(int root_fd, const struct settings *settings, const struct configuration *configuration,
        const char **ret) _nonnull_(2, 3, 4) _must_check_;
