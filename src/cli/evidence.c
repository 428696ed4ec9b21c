/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/evidence.h"

#include <libdevmapper.h>

#include "lvm/backup.h"
#include "lvm/online.h"
#include "shared/root.h"
#include "shared/util.h"

/* The UUID of a visible LV's device: "LVM-", the VG's identifier, the LV's (lvm2, lib/activate/dev_manager.c). */
#define UUID_PREFIX "LVM-"
#define UUID_LENGTH (sizeof(UUID_PREFIX) - 1 + 2 * LVM_ID_LENGTH)

int evidence_gather(struct evidence *ret)
{
        /* lvm2 says itself what is wrong with its files. */
        _cleanup_problems_ struct problems problems = {};
        _cleanup_evidence_ struct evidence evidence = {.root_fd = root_open(), .lvm_run_fd = -EBADF};
        int r;

        if (evidence.root_fd < 0)
                return evidence.root_fd;
        r = configuration_read(evidence.root_fd, &evidence.configuration, &problems);
        if (r < 0)
                return r;
        evidence.lvm_run_fd = online_open_to_look();
        if (dm_devices_get_unprivileged(evidence.root_fd, &evidence.list) == -ENOMEM ||
                active_devices_get(&evidence.active) == -ENOMEM)
                return -ENOMEM;

        *ret = evidence;
        evidence = EVIDENCE_NONE;
        return 0;
}

void evidence_done(struct evidence *evidence)
{
        if (evidence->root_fd >= 0)
                close(evidence->root_fd);
        if (evidence->lvm_run_fd >= 0)
                close(evidence->lvm_run_fd);
        configuration_done(&evidence->configuration);
        dm_devices_done(&evidence->list);
        active_devices_free(evidence->active);
        *evidence = EVIDENCE_NONE;
}

/* ------ with a backup ------ */

static void look_for_pvs(int lvm_run_fd, struct volume_group *volume_group)
{
        for (size_t i = 0; lvm_run_fd >= 0 && i < volume_group->n_pvs; i++) {
                struct volume_group_pv *pv = &volume_group->pvs[i];

                if (online_read_pv(lvm_run_fd, pv->pvid, &pv->device) != ONLINE_FOUND)
                        pv->device = 0;
        }
}

static int describe_by_backup(
        const struct evidence *evidence, const struct metadata *metadata, struct volume_group **ret)
{
        int r = volume_group_new(metadata, ret);

        if (r < 0)
                return r;
        (*ret)->state = VOLUME_GROUP_UNKNOWN;
        look_for_pvs(evidence->lvm_run_fd, *ret);
        if (evidence->active)
                active_devices_mark(evidence->active, *ret);
        return 0;
}

/* ------ without ------ */

/* Sets the name of the LV if the device is a visible one of the VG, else NULL. */
static int name_lv(struct dm_pool *pool, const struct dm_device *device, const char *volume_group, char **ret)
{
        char *name = NULL, *lv = NULL, *layer = NULL;

        *ret = NULL;
        if (!skip_prefix(device->uuid, UUID_PREFIX) || strlen(device->uuid) != UUID_LENGTH)
                return 0;
        if (!dm_split_lvm_name(pool, device->name, &name, &lv, &layer))
                return -ENOMEM;
        if (streq(name, volume_group))
                *ret = lv;
        return 0;
}

/* Which of the LVs lvm2 would activate by itself, nobody knows. */
static int add_active_lv(struct volume_group *volume_group, const char *name, const char *uuid)
{
        const char *vgid = uuid + strlen(UUID_PREFIX);
        struct volume_group_lv *lv = &volume_group->lvs[volume_group->n_lvs];

        *lv = (struct volume_group_lv){.name = strdup(name), .autoactivated = true, .active = true};
        if (!lv->name)
                return -ENOMEM;
        memcpy(volume_group->vgid, vgid, LVM_ID_LENGTH);
        memcpy(lv->lvid, vgid + LVM_ID_LENGTH, LVM_ID_LENGTH);
        volume_group->n_lvs++;
        return 0;
}

static int add_active_lvs(const struct dm_devices *list, struct volume_group *volume_group)
{
        struct dm_pool *pool = dm_pool_create("names", 4096);
        int r = pool ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < list->n; i++) {
                char *lv;

                r = name_lv(pool, &list->devices[i], volume_group->name, &lv);
                if (r >= 0 && lv)
                        r = add_active_lv(volume_group, lv, list->devices[i].uuid);
        }
        if (pool)
                dm_pool_destroy(pool);
        return r;
}

static int describe_by_devices(const struct evidence *evidence, const char *name, struct volume_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = calloc(1, sizeof(*volume_group));
        int r;

        if (!volume_group)
                return -ENOMEM;
        volume_group->state = VOLUME_GROUP_UNKNOWN;
        volume_group->name = strdup(name);
        volume_group->lvs = calloc(evidence->list.n + 1, sizeof(*volume_group->lvs));
        if (!volume_group->name || !volume_group->lvs)
                return -ENOMEM;
        r = add_active_lvs(&evidence->list, volume_group);
        if (r >= 0)
                *ret = TAKE_PTR(volume_group);
        return r;
}

int evidence_describe(const struct evidence *evidence, const char *name, struct volume_group **ret)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        int r;

        r = volume_group_name_is_valid(name)
                    ? backup_read(evidence->root_fd, root_relative(evidence->configuration.backup_dir), name,
                              &metadata)
                    : -ENOENT;
        if (r == -ENOMEM)
                return r;
        return r < 0 ? describe_by_devices(evidence, name, ret) : describe_by_backup(evidence, metadata, ret);
}
