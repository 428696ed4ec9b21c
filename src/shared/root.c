/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/root.h"

#include <fcntl.h>

#include "shared/macro.h"

const char *root_path(void)
{
        return secure_getenv("HEADGATE_ROOT") ?: "/";
}

bool root_is_chosen(void)
{
        return secure_getenv("HEADGATE_ROOT") != NULL;
}

int root_open(void)
{
        int fd = open(root_path(), O_PATH | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

const char *root_relative(const char *path)
{
        return path + strspn(path, "/");
}
