/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* lvm2's backup of a VG's metadata, as the worker and the generator read it. */

#include "fuzz.h"
#include "lvm/metadata.h"
#include "plan-check.h"
#include "shared/util.h"

/* The file is called like the VG: by what the text says, if that is a name. */
static char *file_of(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = fuzz_text(data, size);
        _cleanup_vg_ struct vg *metadata = NULL;
        const char *reason;

        if (metadata_parse(text, &metadata, &reason) < 0)
                return string_format("vg0");
        return strdup(metadata->name);
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *name = file_of(data, size), *path = string_format("etc/lvm/backup/%s", name);
        _cleanup_vg_ struct vg *metadata = NULL;
        int r;

        fuzz_check(name && path);
        fuzz_write(path, data, size);
        r = backup_read(fuzz_root(), "etc/lvm/backup", name, &metadata, NULL, NULL);
        fuzz_check(r == -EBADMSG || r == -ESTALE || (r == 0 && streq(metadata->name, name)));
        plan_check();
        fuzz_check(unlinkat(fuzz_root(), path, 0) == 0);
        return 0;
}
