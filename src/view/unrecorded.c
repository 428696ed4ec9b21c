/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "view/unrecorded.h"

#include "lvm/metadata.h"
#include "lvm/online.h"
#include "shared/dm.h"
#include "shared/kernel.h"
#include "shared/program.h"
#include "view/judgement.h"
#include "view/names.h"

/* Of a visible LV's device. */
#define UUID_LENGTH (strlen(LVM_UUID_PREFIX) + 2 * LVM_ID_LENGTH)

/* ------ with a backup ------ */

/* Sets which PVs of the VG are there: lvm2 has them on record, and the kernel has the device. */
static int find_pvs(const struct sources *sources, struct volume_group *volume_group)
{
        for (size_t i = 0; sources->lvm_run_fd >= 0 && i < volume_group->n_pvs; i++) {
                struct volume_group_pv *pv = &volume_group->pvs[i];
                _cleanup_free_ char *name = NULL;
                dev_t number;
                int r;

                r = online_read_pv(sources->lvm_run_fd, pv->pvid, &number);
                if (r == -ENOMEM)
                        return r;
                if (r != ONLINE_FOUND)
                        continue;
                r = sysfs_read_name(sources->root_fd, number, &name);
                if (r > 0)
                        r = string_replace(&pv->device_name, string_format("/dev/%s", name));
                if (r < 0)
                        return r;
                if (name)
                        pv->device = number;
        }
        return 0;
}

int unrecorded_new(const struct sources *sources, const struct metadata *metadata, struct volume_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        int r;

        r = volume_group_new(metadata, &volume_group);
        if (r < 0)
                return r;
        r = find_pvs(sources, volume_group);
        if (r < 0)
                return r;
        if (sources->devices)
                active_devices_mark(sources->devices, volume_group);
        volume_group->state = judge_unrecorded(volume_group);
        *ret = TAKE_PTR(volume_group);
        return 0;
}

/* ------ without ------ */

/* Sets the name of the LV if the device is a visible one of the VG, else NULL. */
static int name_lv(struct dm_pool *pool, const struct dm_device *device, const char *volume_group, char **ret)
{
        char *name = NULL, *lv = NULL, *layer = NULL;

        *ret = NULL;
        if (!skip_prefix(device->uuid, LVM_UUID_PREFIX) || strlen(device->uuid) != UUID_LENGTH)
                return 0;
        if (!dm_split_lvm_name(pool, device->name, &name, &lv, &layer))
                return -ENOMEM;
        if (streq(name, volume_group))
                *ret = lv;
        return 0;
}

/* Which of the LVs are to be activated is not known. */
static int add_active_lv(struct volume_group *volume_group, const char *name, const char *uuid)
{
        const char *vgid = uuid + strlen(LVM_UUID_PREFIX);
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
        _cleanup_dm_pool_ struct dm_pool *pool = dm_pool_create("names", 4096);
        int r = pool ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < list->n; i++) {
                char *lv;

                r = name_lv(pool, &list->devices[i], volume_group->name, &lv);
                if (r >= 0 && lv)
                        r = add_active_lv(volume_group, lv, list->devices[i].uuid);
        }
        return r;
}

static int read_devices(const struct sources *sources, const char *name, struct volume_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = calloc(1, sizeof(*volume_group));
        const struct dm_devices *list = sources->devices ? &sources->devices->list : NULL;
        int r;

        if (!volume_group)
                return -ENOMEM;
        volume_group->name = strdup(name);
        volume_group->lvs = calloc((list ? list->n : 0) + 1, sizeof(*volume_group->lvs));
        if (!volume_group->name || !volume_group->lvs)
                return -ENOMEM;
        r = list ? add_active_lvs(list, volume_group) : 0;
        if (r < 0)
                return r;
        volume_group->state = judge_unrecorded(volume_group);
        *ret = TAKE_PTR(volume_group);
        return 0;
}

/* ------ judgement ------ */

static const char *explain(const struct volume_group *volume_group)
{
        size_t n_active = volume_group_count_active(volume_group);

        if (volume_group->n_pvs == 0)
                return n_active > 0 ? "No backup can be read that would tell how many LVs it has."
                                    : "Its name is all that is known of it.";
        if (n_active > 0)
                return "Not all of its LVs are active.";
        return volume_group_count_seen(volume_group) > 0
                       ? "None of its LVs is active."
                       : "None of its LVs is active, and lvm2 has recorded none of its PVs.";
}

/* The plan's reason is a sentence, or the end of one. */
static char *explain_absence(const struct planned_volume_group *planned)
{
        return string_format(
                "None of its PVs was seen%s %s", planned->group == PLAN_NONE ? ";" : ".", planned->reason);
}

/* The initrd, or somebody by hand, may have activated a VG that the worker was not told of. */
static int describe(struct volume_group *volume_group, const struct planned_volume_group *planned)
{
        bool absent = volume_group->state == VOLUME_GROUP_ABSENT;

        if (planned)
                return string_replace(&volume_group->reason,
                        absent ? explain_absence(planned) : strdup("headgate has seen none of its PVs."));
        if (volume_group->state == VOLUME_GROUP_ACTIVE)
                return 0;
        /* Only a planned VG is reported as absent. */
        volume_group->state = VOLUME_GROUP_UNKNOWN;
        return string_replace(&volume_group->reason, strdup(explain(volume_group)));
}

static int read_backup(const struct sources *sources, const char *name, struct volume_group **ret)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        int r;

        r = volume_group_name_is_valid(name)
                    ? backup_read(
                              sources->root_fd, root_relative(sources->configuration.backup_dir), name, &metadata)
                    : -ENOENT;
        if (r == -ENOMEM)
                return r;
        return r < 0 ? read_devices(sources, name, ret) : unrecorded_new(sources, metadata, ret);
}

static int read_unrecorded(struct sources *sources, const char *name, const struct planned_volume_group *planned,
        struct volume_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        int r;

        r = sources_read_configuration(sources);
        if (r < 0)
                return r;
        if (!sources->devices && sources_read_devices(sources) == -ENOMEM)
                return -ENOMEM;
        r = read_backup(sources, name, &volume_group);
        if (r < 0)
                return r;
        r = describe(volume_group, planned);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(volume_group);
        return 0;
}

/* ------ adding ------ */

static int insert(struct snapshot *snapshot, struct volume_group **volume_group)
{
        int r = snapshot_insert(snapshot, *volume_group);

        if (r >= 0)
                TAKE_PTR(*volume_group);
        return r;
}

int unrecorded_add(struct sources *sources, const char *name, const struct planned_volume_group *planned,
        struct snapshot *snapshot)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        int r;

        if (snapshot_find(snapshot, name))
                return 0;
        r = read_unrecorded(sources, name, planned, &volume_group);
        return r < 0 ? r : insert(snapshot, &volume_group);
}

int unrecorded_add_present(struct sources *sources, const struct string_vector *names, struct snapshot *snapshot)
{
        _cleanup_string_vector_ struct string_vector online = {};

        if (sources->lvm_run_fd >= 0 && online_list_volume_groups(sources->lvm_run_fd, &online) == -ENOMEM)
                return -ENOMEM;
        for (size_t i = 0; i < names->n; i++) {
                _cleanup_volume_group_ struct volume_group *volume_group = NULL;
                const char *name = names->strings[i];
                int r;

                if (snapshot_find(snapshot, name))
                        continue;
                r = read_unrecorded(sources, name, NULL, &volume_group);
                if (r >= 0 && (judge_unrecorded(volume_group) != VOLUME_GROUP_ABSENT || names_have(&online, name)))
                        r = insert(snapshot, &volume_group);
                if (r < 0)
                        return r;
        }
        return 0;
}
