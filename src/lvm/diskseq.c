/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/diskseq.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include "shared/sysfs.h"
#include "shared/util.h"

bool diskseq_device_exists(dev_t number)
{
        _cleanup_free_ char *path = string_format("/sys/dev/block/%u:%u", major(number), minor(number));

        return path && access(path, F_OK) == 0;
}

uint64_t diskseq_read(dev_t number)
{
        _cleanup_free_ char *path = string_format("/sys/dev/block/%u:%u/uevent", major(number), minor(number));
        _cleanup_free_ char *text = NULL;
        const char *line;

        /* A partition has the number of its disk there. */
        if (!path || sysfs_read_at(AT_FDCWD, path, &text) < 0)
                return 0;
        line = strstr(text, "\nDISKSEQ=");
        return line ? strtoull(line + strlen("\nDISKSEQ="), NULL, 10) : 0;
}
