/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/backup.h"

#include "shared/util.h"

int backup_read(int root_fd, const char *directory, const char *name, struct metadata **ret)
{
        _cleanup_free_ char *path = string_format("%s/%s", directory, name);
        _cleanup_metadata_ struct metadata *metadata = NULL;
        _cleanup_free_ char *text = NULL;
        const char *reason;
        int r;

        if (!path)
                return -ENOMEM;
        r = read_file_at(root_fd, path, &text, NULL);
        if (r < 0)
                return r;
        r = metadata_parse(text, &metadata, &reason);
        if (r < 0)
                return r;
        if (!streq(metadata->name, name))
                return -EBADMSG;
        *ret = TAKE_PTR(metadata);
        return 0;
}
