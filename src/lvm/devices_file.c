/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/devices_file.h"

#include <fcntl.h>

#include "shared/util.h"

#define DIRECTORY "etc/lvm/devices"
#define IMPORT_MARK "auto-import-rootvg"

/* lvm2 writes the PVID without dashes, people may not. */
static bool line_has(char *line, const char pvid[LVM_ID_SIZE])
{
        if (line[0] == '#')
                return false;
        for (char *word; (word = strsep(&line, " \t"));) {
                const char *value = skip_prefix(word, "PVID=");
                char found[LVM_ID_SIZE];

                if (value && lvm_id_parse(value, found) >= 0 && streq(found, pvid))
                        return true;
        }
        return false;
}

static bool exists(int root_fd, const char *name)
{
        _cleanup_free_ char *path = string_format(DIRECTORY "/%s", name);

        return path && faccessat(root_fd, path, F_OK, 0) >= 0;
}

bool devices_file_is_to_be_made(int root_fd, const char *name)
{
        return exists(root_fd, IMPORT_MARK) && !exists(root_fd, name);
}

int devices_file_find_pv(int root_fd, const char *name, const char pvid[LVM_ID_SIZE])
{
        _cleanup_free_ char *path = string_format(DIRECTORY "/%s", name);
        _cleanup_free_ char *text = NULL;
        char *rest;
        int r;

        r = path ? read_file_at(root_fd, path, &text, NULL) : -ENOMEM;
        if (r == -ENOENT)
                return DEVICES_FILE_NONE;
        if (r < 0)
                return r;
        rest = text;
        for (char *line; (line = strsep(&rest, "\n"));)
                if (line_has(line, pvid))
                        return DEVICES_FILE_LISTED;
        return DEVICES_FILE_NOT_LISTED;
}
