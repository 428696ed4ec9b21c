/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "generator/blk_availability.h"

#include <fcntl.h>

#include "generator/charge.h"

int blk_availability_mask(int root_fd, const char *early_directory)
{
        _cleanup_close_ int unit_fd = -EBADF;
        int r;

        r = is_in_charge_by(root_fd, "headgate-teardown.service");
        if (r <= 0)
                return r;
        unit_fd = open(early_directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (unit_fd < 0)
                return -errno;
        return symlinkat("/dev/null", unit_fd, BLK_AVAILABILITY_UNIT) < 0 ? -errno : 0;
}
