/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the LVM structures on one device, for a command. */

#include "reader/pv.h"

#include <sys/stat.h>

#include "inventory/vg-record.h"
#include "kernel-log/log.h"
#include "reader/reader.h"
#include "shared/dm.h"
#include "shared/kernel.h"
#include "shared/program.h"
#include "shared/util.h"

const char *reader_describe_error(int error)
{
        if (error == -EBADE)
                return "reserved by another host (persistent reservation)";
        return error == -ETIMEDOUT ? "unresponsive" : error == -EFAULT ? "reader crashed" : strerror(-error);
}

static int note_damage(struct pv *pv, const char *reason)
{
        return string_replace(&pv->damage, strdup(!isempty(reason) ? reason : "unreadable"));
}

static int take_copy(const struct reader_copy *copy, struct pv *pv)
{
        _cleanup_vg_ struct vg *metadata = NULL;

        /* The same text as in the first area. */
        if (copy->error == 0 && !copy->facts)
                return 0;
        if (copy->error < 0 || facts_read(copy->facts, copy->facts_size, &metadata) < 0 || !metadata)
                return note_damage(pv, copy->reason);
        if (!pv->metadata || metadata->seqno > pv->metadata->seqno) {
                vg_free(pv->metadata);
                pv->metadata = TAKE_PTR(metadata);
        }
        return 0;
}

static int on_result(const struct reader_result *result, void *userdata)
{
        struct pv *pv = userdata;

        if (result->error == -EBADMSG)
                return note_damage(pv, result->reason);
        pv->error = result->error;
        pv->found = !isempty(result->pvid);
        pv->unused = result->empty;
        pv->md_disks = result->md_disks;
        pv->md_role = result->md_role;
        memcpy(pv->pvid, result->pvid, sizeof(pv->pvid));
        FOREACH_ARRAY(copy, result->copies, result->n_copies)
                if (take_copy(copy, pv) < 0)
                        return -ENOMEM;
        return 0;
}

/* Whether another host has reserved the disk of a device, by the kernel log; false if that cannot be read. */
static bool disk_is_reserved(const char *path)
{
        _cleanup_dm_hash_ struct dm_hash_table *reserved = NULL;
        _cleanup_free_ char *location = NULL;
        _cleanup_close_ int root_fd = root_open();
        struct stat status;
        char *slash;

        if (root_fd < 0 || stat(path, &status) < 0 || reserved_disks_read(root_fd, &reserved) < 0 ||
                sysfs_read_location(root_fd, status.st_rdev, &location) <= 0 || !(slash = strrchr(location, '/')))
                return false;
        /* "../../block/sdb/sdb1": of a partition, the disk is before it. */
        *slash = '\0';
        return dm_hash_lookup(reserved, slash + 1) || dm_hash_lookup(reserved, basename(location));
}

/* ------ a PV ------ */

int pv_read(int root_fd, dev_t number, const char *path, struct pv *ret)
{
        _cleanup_free_ char *suspended = NULL;
        int r = sysfs_read_attribute(root_fd, number, "dm/suspended", &suspended);

        *ret = (struct pv){.suspended = r > 0 && streq(suspended, "1")};
        if (r < 0 || ret->suspended)
                return MIN(r, 0);
        r = devices_read(&(char *){(char *) path}, 1, on_result, ret);
        if (r < 0 && r != -ENOMEM)
                ret->error = r;
        /* The kernel's cache makes EIO of any error. */
        if (ret->error == -EIO && disk_is_reserved(path))
                ret->error = -EBADE;
        return r == -ENOMEM ? r : 0;
}

void pv_done(struct pv *pv)
{
        vg_free(pv->metadata);
        free(pv->damage);
        *pv = (struct pv){};
}

int devices_with_signature_new(const char *fs_type, sd_device_enumerator **ret)
{
        /* A chosen root directory has no udev database. */
        int r = root_is_chosen() ? -EOPNOTSUPP : sd_device_enumerator_new(ret);

        if (r >= 0)
                r = sd_device_enumerator_add_match_subsystem(*ret, "block", true);
        if (r >= 0)
                r = sd_device_enumerator_add_match_property(*ret, "ID_FS_TYPE", fs_type);
        return MIN(r, 0);
}
