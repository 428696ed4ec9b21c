/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tells a VG by the name of a device, without the device. */

#include "boot/device_name.h"

#include <blkid.h>
#include <libdevmapper.h>

static void set_name(const char *volume_group, struct device_name *ret)
{
        if (!volume_group_name_is_valid(volume_group))
                return;
        ret->kind = DEVICE_OF_NAME;
        strcpy(ret->volume_group, volume_group);
}

/* "VG-LV" with the hyphens of both doubled, as device-mapper has it; they are undone in place. */
static void set_from_dm_name(char *dm_name, struct device_name *ret)
{
        char *volume_group = dm_name, *logical_volume, *layer;

        if (dm_split_lvm_name(NULL, NULL, &volume_group, &logical_volume, &layer) && *logical_volume)
                set_name(volume_group, ret);
}

/* The identifiers of VG and LV, one after the other; a suffix may follow, for parts of an LV. */
static void set_from_dm_uuid(const char *uuid, struct device_name *ret)
{
        char id[LVM_ID_SIZE] = {};

        if (strlen(uuid) < (size_t) 2 * LVM_ID_LENGTH)
                return;
        memcpy(id, uuid, LVM_ID_LENGTH);
        if (!lvm_id_is_valid(id))
                return;
        ret->kind = DEVICE_OF_ID;
        memcpy(ret->volume_group, id, sizeof(id));
}

/* Takes doubled slashes and "." out of a path, in place. */
static void simplify_path(char *path)
{
        char *end = path;

        for (char *name, *rest = path + 1; (name = strsep(&rest, "/"));) {
                size_t length = strlen(name);

                if (length == 0 || streq(name, "."))
                        continue;
                *end++ = '/';
                memmove(end, name, length);
                end += length;
        }
        *end = '\0';
}

/* What follows `prefix` if that is all, with no further directory; else NULL. */
static char *find_last_part(char *path, const char *prefix)
{
        const char *rest = skip_prefix(path, prefix);

        return rest && *rest && !strchr(rest, '/') ? (char *) rest : NULL;
}

static void set_from_path(char *path, struct device_name *ret)
{
        char *rest, *logical_volume;

        simplify_path(path);
        if ((rest = find_last_part(path, "/dev/mapper/")) ||
                (rest = find_last_part(path, "/dev/disk/by-id/dm-name-")))
                set_from_dm_name(rest, ret);
        else if ((rest = find_last_part(path, "/dev/disk/by-id/dm-uuid-" LVM_UUID_PREFIX)))
                set_from_dm_uuid(rest, ret);
        else if (find_last_part(path, "/dev/disk/by-uuid/") || find_last_part(path, "/dev/disk/by-label/") ||
                 /* MAJOR:MINOR; lvm2 names no VG after a directory of /dev. */
                 find_last_part(path, "/dev/block/") ||
                 ((rest = find_last_part(path, "/dev/dm-")) && strspn(rest, "0123456789") == strlen(rest)))
                ret->kind = DEVICE_UNRESOLVED;
        else if (skip_prefix(path, "/dev/") && (logical_volume = strchr(path + strlen("/dev/"), '/'))) {
                *logical_volume++ = '\0';
                if (volume_group_name_is_valid(logical_volume))
                        set_name(path + strlen("/dev/"), ret);
        }
}

int device_name_read(const char *device, struct device_name *ret)
{
        _cleanup_free_ char *copy = strdup(device), *tag = NULL, *value = NULL;

        *ret = (struct device_name){.kind = DEVICE_OTHER};
        if (!copy)
                return -ENOMEM;
        if (*device == '/')
                set_from_path(copy, ret);
        /* PARTUUID= and PARTLABEL= are of partitions, which LVs do not have. */
        else if (blkid_parse_tag_string(device, &tag, &value) == 0 && (streq(tag, "UUID") || streq(tag, "LABEL")))
                ret->kind = DEVICE_UNRESOLVED;
        return 0;
}
