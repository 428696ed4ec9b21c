/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/diskseq.h"

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
        /* A partition lies in the directory of its disk. */
        static const char *const places[] = {"", "../"};

        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                _cleanup_free_ char *path =
                        string_format("/sys/dev/block/%u:%u/%sdiskseq", major(number), minor(number), places[i]);
                _cleanup_free_ char *text = NULL;
                uint64_t diskseq;

                if (!path || read_file_at(AT_FDCWD, path, &text, NULL) < 0)
                        continue;
                text[strcspn(text, "\n")] = '\0';
                if (parse_u64(text, &diskseq) >= 0)
                        return diskseq;
        }
        return 0;
}
