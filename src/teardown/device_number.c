/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/device_number.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

dev_t device_number_of_link(int dir_fd, const char *link, const char *target)
{
        struct statx status;

        if (!skip_prefix(target, "/dev/") ||
                statx(dir_fd, link, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &status) < 0 ||
                !S_ISBLK(status.stx_mode))
                return 0;
        return makedev(status.stx_rdev_major, status.stx_rdev_minor);
}
