/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/device_name.h"

#include <libdevmapper.h>
#include <libmount.h>

#include "shared/names.h"
#include "shared/util.h"

DEFINE_CLEANUP(struct libmnt_fs *, mnt_free_fs)

/* A path as its names, without slashes in doubt: "/dev//data/srv" is { "dev", "data", "srv" }. */
static int split_path(const char *path, struct string_vector *names)
{
        _cleanup_free_ char *copy = strdup(path);
        char *rest = copy;
        int r;

        if (!copy)
                return -ENOMEM;
        for (char *name; (name = strsep(&rest, "/"));) {
                if (!*name || streq(name, "."))
                        continue;
                r = string_vector_add(names, name);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int set_name(const char *volume_group, struct device_name *ret)
{
        if (!volume_group_name_is_valid(volume_group))
                return 0;
        ret->volume_group = strdup(volume_group);
        if (!ret->volume_group)
                return -ENOMEM;
        ret->kind = DEVICE_OF_NAME;
        return 0;
}

/* "VG-LV" with the hyphens of both doubled, as device-mapper has it. */
static int set_from_dm_name(const char *dm_name, struct device_name *ret)
{
        _cleanup_free_ char *buffer = strdup(dm_name);
        char *volume_group = buffer, *logical_volume, *layer;

        if (!buffer)
                return -ENOMEM;
        if (!dm_split_lvm_name(NULL, NULL, &volume_group, &logical_volume, &layer) || !*logical_volume)
                return 0;
        return set_name(volume_group, ret);
}

/* The identifiers of VG and LV, one after the other; a suffix may follow, for parts of an LV. */
static int set_from_dm_uuid(const char *uuid, struct device_name *ret)
{
        char id[LVM_ID_SIZE] = {};

        if (strlen(uuid) < (size_t) 2 * LVM_ID_LENGTH)
                return 0;
        memcpy(id, uuid, LVM_ID_LENGTH);
        if (!lvm_id_is_valid(id))
                return 0;
        ret->volume_group = strdup(id);
        if (!ret->volume_group)
                return -ENOMEM;
        ret->kind = DEVICE_OF_ID;
        return 0;
}

static int set_from_disk_link(const char *directory, const char *name, struct device_name *ret)
{
        const char *rest;

        if (streq(directory, "by-uuid") || streq(directory, "by-label"))
                ret->kind = DEVICE_UNRESOLVED;
        else if (streq(directory, "by-id") && (rest = skip_prefix(name, "dm-name-")))
                return set_from_dm_name(rest, ret);
        else if (streq(directory, "by-id") && (rest = skip_prefix(name, "dm-uuid-LVM-")))
                return set_from_dm_uuid(rest, ret);
        return 0;
}

static bool is_kernel_name(const char *name)
{
        const char *number = skip_prefix(name, "dm-");

        return number && *number && strspn(number, "0123456789") == strlen(number);
}

static int set_from_path(const char *path, struct device_name *ret)
{
        _cleanup_string_vector_ struct string_vector names = {};
        int r;

        r = split_path(path, &names);
        if (r < 0)
                return r;
        if (names.n < 2 || !streq(names.strings[0], "dev"))
                return 0;

        if (names.n == 2 && is_kernel_name(names.strings[1]))
                ret->kind = DEVICE_UNRESOLVED;
        else if (names.n == 3 && streq(names.strings[1], "mapper"))
                return set_from_dm_name(names.strings[2], ret);
        else if (names.n == 3 && streq(names.strings[1], "block"))
                /* /dev/block/MAJOR:MINOR; lvm2 names no VG after a directory of /dev. */
                ret->kind = DEVICE_UNRESOLVED;
        else if (names.n == 3 && volume_group_name_is_valid(names.strings[2]))
                return set_name(names.strings[1], ret);
        else if (names.n == 4 && streq(names.strings[1], "disk"))
                return set_from_disk_link(names.strings[2], names.strings[3], ret);
        return 0;
}

int device_name_read(const char *device, struct device_name *ret)
{
        _cleanup_(mnt_free_fsp) struct libmnt_fs *fs = NULL;
        const char *tag;

        *ret = (struct device_name){.kind = DEVICE_OTHER};
        if (*device == '/')
                return set_from_path(device, ret);

        fs = mnt_new_fs();
        if (!fs)
                return -ENOMEM;
        /* PARTUUID= and PARTLABEL= are of partitions, which LVs do not have. */
        if (mnt_fs_set_source(fs, device) == 0 && mnt_fs_get_tag(fs, &tag, NULL) == 0 &&
                (streq(tag, "UUID") || streq(tag, "LABEL")))
                ret->kind = DEVICE_UNRESOLVED;
        return 0;
}

void device_name_done(struct device_name *name)
{
        free(name->volume_group);
        name->volume_group = NULL;
}
