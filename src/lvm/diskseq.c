/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/diskseq.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include "shared/util.h"

bool diskseq_device_exists(dev_t number)
{
        _cleanup_free_ char *path = string_format("/sys/dev/block/%u:%u", major(number), minor(number));

        return path && access(path, F_OK) == 0;
}

uint64_t diskseq_read(dev_t number)
{
        _cleanup_free_ char *path = string_format("/sys/dev/block/%u:%u/uevent", major(number), minor(number));
        _cleanup_close_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -EBADF;
        char text[1024];
        const char *line;
        ssize_t n;

        /* The kernel gives the whole of an attribute at once. A partition has the number of its disk there. */
        n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
        if (n < 0)
                return 0;
        text[n] = '\0';
        line = strstr(text, "\nDISKSEQ=");
        return line ? strtoull(line + strlen("\nDISKSEQ="), NULL, 10) : 0;
}
