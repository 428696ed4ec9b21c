/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lvm/disk.h"

_Static_assert(sizeof(off_t) == 8, "build with -D_FILE_OFFSET_BITS=64");

ssize_t disk_read(int fd, void *buffer, size_t size, uint64_t offset)
{
        char *bytes = buffer;
        size_t done = 0;

        /* No device reaches that far, and pread() would call it EINVAL. */
        if (offset > (uint64_t) INT64_MAX - size)
                return 0;

        while (done < size) {
                ssize_t n = pread(fd, bytes + done, size - done, (off_t) (offset + done));

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;

                done += (size_t) n;
        }

        return (ssize_t) done;
}
