/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/record.h"

#include <fcntl.h>
#include <libdevmapper.h>
#include <libudev.h>
#include <sys/sysmacros.h>

#include "lvm/active.h"
#include "lvm/backup.h"
#include "lvm/online.h"
#include "lvm/raid.h"
#include "shared/root.h"
#include "tree/sysfs.h"
#include "why/pv.h"

/* ------ the worker's records ------ */

/* A VG that has the identifier and not the name counts as not found, and so does a damaged record. */
static int load_if_named(const struct sources *sources, const char *vgid, const char *name, struct record *record)
{
        const char *text = record_file_find(sources->records, vgid);
        int r;

        if (!text || !volume_group_text_has_name(text, name))
                return 0;
        r = volume_group_parse(text, &record->volume_group);
        return r == -ENOMEM ? r : 0;
}

/* An active LV has the VG's name in its own, and the VG's identifier in its UUID. */
static int find_by_active_lv(const struct sources *sources, const char *name, struct record *record)
{
        struct dm_pool *pool = dm_pool_create("name", 512);
        char *prefix = pool ? dm_build_dm_name(pool, name, "", NULL) : NULL;
        int r = prefix ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && !record->volume_group && i < sources->devices.n; i++) {
                const struct dm_device *device = &sources->devices.devices[i];
                const char *id = skip_prefix(device->uuid, "LVM-");
                char vgid[LVM_ID_SIZE] = {};

                if (!id || strlen(id) < LVM_ID_LENGTH || !skip_prefix(device->name, prefix))
                        continue;
                memcpy(vgid, id, LVM_ID_LENGTH);
                r = load_if_named(sources, vgid, name, record);
        }
        if (pool)
                dm_pool_destroy(pool);
        return r;
}

/* The VG of that name in any record, or with a VG found already, how many others have its name. */
static int look_through_records(const struct sources *sources, const char *name, struct record *record)
{
        const struct record_entry *entry;
        int r = 0;

        if (!sources->records)
                return 0;
        dm_list_iterate_items(entry, &sources->records->records) {
                if ((record->volume_group && streq(entry->key, record->volume_group->vgid)) ||
                        !volume_group_text_has_name(entry->text, name))
                        continue;
                if (record->volume_group)
                        record->n_namesakes++;
                else
                        r = load_if_named(sources, entry->key, name, record);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int find_of_worker(const struct sources *sources, const char *name, struct record *record)
{
        int r = find_by_active_lv(sources, name, record);

        return r < 0 || record->volume_group ? r : look_through_records(sources, name, record);
}

/* Only if something is wrong with a VG that was found without looking through all records. */
static int count_namesakes(const struct sources *sources, struct record *record)
{
        record->n_namesakes = 0;
        return look_through_records(sources, record->volume_group->name, record);
}

/* ------ lvm2's backup ------ */

static int find_device_name(const struct sources *sources, dev_t number, char **ret)
{
        _cleanup_free_ char *location = NULL;
        int r;

        r = sysfs_read_location(sources->root_fd, number, &location);
        if (r <= 0)
                return r;
        *ret = string_format("/dev/%s", strrchr(location, '/') + 1);
        return *ret ? 0 : -ENOMEM;
}

/* Which of the PVs there are, by lvm2's own record. */
static int look_for_pvs(const struct sources *sources, struct volume_group *volume_group)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && sources->lvm_run_fd >= 0 && i < volume_group->n_pvs; i++) {
                struct volume_group_pv *pv = &volume_group->pvs[i];
                char *name = NULL;
                dev_t number;

                if (online_read_pv(sources->lvm_run_fd, pv->pvid, &number) != ONLINE_FOUND ||
                        !sources_has_device(sources, number))
                        continue;
                r = find_device_name(sources, number, &name);
                if (r < 0 || !name)
                        continue;
                free(pv->device_name);
                pv->device_name = name;
                pv->device = number;
        }
        return r;
}

static int find_in_backup(const struct sources *sources, const char *name, struct record *record)
{
        int r;

        r = backup_read(
                sources->root_fd, root_relative(sources->configuration.backup_dir), name, &record->metadata);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        record->source = RECORD_OF_BACKUP;
        r = volume_group_new(record->metadata, &record->volume_group);
        return r < 0 ? r : look_for_pvs(sources, record->volume_group);
}

/* ------ metadata ------ */

static bool is_newer(const struct metadata *metadata, const struct record *record)
{
        return streq(metadata->vgid, record->volume_group->vgid) &&
               (!record->metadata || metadata->seqno > record->metadata->seqno);
}

static int read_metadata_of_pv(
        const struct sources *sources, const struct volume_group_pv *source, struct record *record)
{
        _cleanup_free_ char *suspended = NULL;
        _cleanup_pv_ struct pv pv = {};
        int r;

        /* Who reads from a device that is suspended waits until it is not. */
        r = sysfs_read_attribute(sources->root_fd, source->device, "dm/suspended", &suspended);
        if (r < 0 || (suspended && streq(suspended, "1")))
                return r;
        r = pv_read(source->device_name, &pv);
        if (r >= 0 && pv.error == -ETIMEDOUT)
                return pv.error;
        if (r < 0 || !pv.metadata || !is_newer(pv.metadata, record))
                return r;
        metadata_free(record->metadata);
        record->metadata = TAKE_PTR(pv.metadata);
        record->metadata_device = NULL;
        r = string_replace(&record->device_name, strdup(source->device_name));
        record->metadata_device = record->device_name;
        return r;
}

/* Any PV that has what the worker has read will do. Where one does not answer, others of the VG will not, either. */
static int read_metadata(const struct sources *sources, struct record *record)
{
        const struct volume_group *volume_group = record->volume_group;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < volume_group->n_pvs; i++) {
                if (record->metadata_device && record->metadata->seqno >= volume_group->seqno)
                        return 0;
                if (volume_group->pvs[i].device != 0)
                        r = read_metadata_of_pv(sources, &volume_group->pvs[i], record);
        }
        if ((r < 0 && r != -ETIMEDOUT) || record->metadata)
                return MIN(r, 0);

        r = backup_read(sources->root_fd, root_relative(sources->configuration.backup_dir), volume_group->name,
                &record->metadata);
        if (r >= 0 && !streq(record->metadata->vgid, volume_group->vgid))
                record->metadata = metadata_free(record->metadata);
        return r == -ENOMEM ? r : 0;
}

/* ------ the state ------ */

/* lvm2 takes back its claim on a VG of which LVs are deactivated. Without that, what is not active is not
 * wanted. */
static void judge_worker_state(struct record *record, bool all_active, size_t n_active)
{
        struct volume_group *volume_group = record->volume_group;

        if (volume_group->state == VOLUME_GROUP_ACTIVE && !all_active && !record->claimed)
                volume_group->state = VOLUME_GROUP_DEACTIVATED;
        /* They were in the way, and are not any more. */
        else if (volume_group->state == VOLUME_GROUP_FAILED && volume_group->lost_pv && !all_active &&
                 volume_group_count_stranded(volume_group) == 0)
                volume_group->state = VOLUME_GROUP_DEACTIVATED;
        else if (volume_group->state == VOLUME_GROUP_DEGRADED && n_active == 0)
                volume_group->state = VOLUME_GROUP_DEACTIVATED;
        else if (volume_group->state == VOLUME_GROUP_DEGRADED && raid_is_whole_again(volume_group))
                volume_group->state = VOLUME_GROUP_ACTIVE;
        /* Somebody has done by hand what failed. */
        else if (volume_group->state == VOLUME_GROUP_FAILED && all_active && n_active > 0)
                volume_group->state = VOLUME_GROUP_ACTIVE;
}

static void judge_backup_state(struct record *record, bool all_active, size_t n_active)
{
        struct volume_group *volume_group = record->volume_group;

        if (n_active > 0 && all_active)
                volume_group->state = VOLUME_GROUP_ACTIVE;
        else if (volume_group_count_seen(volume_group) == volume_group->n_pvs)
                volume_group->state = VOLUME_GROUP_DEACTIVATED;
        else
                volume_group->state = VOLUME_GROUP_WAITING;
}

static int judge_state(const struct sources *sources, struct record *record)
{
        _cleanup_active_devices_ struct active_devices *devices = NULL;
        struct volume_group *volume_group = record->volume_group;
        size_t n_active;
        bool all_active;
        int r;

        r = active_devices_get(&devices);
        if (r < 0)
                return r;
        active_devices_mark(devices, volume_group);
        n_active = volume_group_count_active(volume_group);
        all_active = n_active >= volume_group_count_autoactivated(volume_group);
        record->claimed =
                sources->lvm_run_fd >= 0 && online_is_claimed(sources->lvm_run_fd, volume_group->name) > 0;
        if (record->source == RECORD_OF_WORKER)
                judge_worker_state(record, all_active, n_active);
        else
                judge_backup_state(record, all_active, n_active);
        return 0;
}

static bool is_up(const struct volume_group *volume_group)
{
        for (size_t i = 0; i < volume_group->n_lvs; i++)
                if (!volume_group->lvs[i].active)
                        return false;
        return volume_group->state == VOLUME_GROUP_ACTIVE;
}

int record_find(const struct sources *sources, const char *name, struct record *ret)
{
        _cleanup_record_ struct record record = {};
        int r = 0;

        /* What a worker has written down is out of date where headgate is not in charge any more. */
        if (!sources->in_charge)
                r = find_in_backup(sources, name, &record);
        if (r >= 0 && !record.volume_group)
                r = find_of_worker(sources, name, &record);
        if (r >= 0 && !record.volume_group && sources->in_charge)
                r = find_in_backup(sources, name, &record);
        if (r < 0 || !record.volume_group)
                return r < 0 ? r : RECORD_NONE;
        r = judge_state(sources, &record);
        /* A disk that does not answer is no reason to wait if all is well. */
        if (r >= 0 && !is_up(record.volume_group)) {
                r = read_metadata(sources, &record);
                if (r >= 0)
                        r = count_namesakes(sources, &record);
        }
        if (r < 0)
                return r;
        *ret = record;
        record = (struct record){};
        return RECORD_FOUND;
}

/* ------ disks that the worker does not know ------ */

static bool worker_knows(const struct sources *sources, dev_t number)
{
        _cleanup_free_ char *key = string_format("%u:%u", major(number), minor(number));

        return sources->in_charge && key && record_file_find(sources->records, key);
}

static int take_disk(
        const struct sources *sources, const char *path, dev_t number, struct pv *pv, struct record *record)
{
        struct volume_group_pv *seen;
        int r;

        record->source = RECORD_OF_DISK;
        record->metadata = TAKE_PTR(pv->metadata);
        record->metadata_number = number;
        r = string_replace(&record->device_name, strdup(path));
        if (r >= 0)
                r = volume_group_new(record->metadata, &record->volume_group);
        if (r >= 0)
                r = look_for_pvs(sources, record->volume_group);
        if (r < 0)
                return r;
        record->metadata_device = record->device_name;
        seen = volume_group_find_pv(record->volume_group, pv->pvid);
        if (!seen)
                return 0;
        seen->device = number;
        return string_replace(&seen->device_name, strdup(path));
}

static int look_at_disk(
        const struct sources *sources, struct udev_device *device, const char *name, struct record *record)
{
        const char *path = udev_device_get_devnode(device);
        dev_t number = udev_device_get_devnum(device);
        _cleanup_free_ char *suspended = NULL;
        _cleanup_pv_ struct pv pv = {};
        int r;

        if (!path || worker_knows(sources, number))
                return 0;
        r = sysfs_read_attribute(sources->root_fd, number, "dm/suspended", &suspended);
        if (r < 0 || (suspended && streq(suspended, "1")))
                return r;
        r = pv_read(path, &pv);
        if (r < 0 || !pv.metadata || !streq(pv.metadata->name, name))
                return r;
        return take_disk(sources, path, number, &pv, record);
}

static int look_at_disks(
        const struct sources *sources, struct udev_enumerate *enumerate, const char *name, struct record *record)
{
        struct udev_list_entry *entry;
        int r;

        r = udev_enumerate_add_match_subsystem(enumerate, "block");
        if (r >= 0)
                r = udev_enumerate_add_match_property(enumerate, "ID_FS_TYPE", "LVM2_member");
        if (r >= 0)
                r = udev_enumerate_scan_devices(enumerate);
        if (r < 0)
                return r;
        udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(enumerate)) {
                struct udev_device *device = udev_device_new_from_syspath(
                        udev_enumerate_get_udev(enumerate), udev_list_entry_get_name(entry));

                r = device ? look_at_disk(sources, device, name, record) : 0;
                udev_device_unref(device);
                if (r < 0 || record->volume_group)
                        return r;
        }
        return 0;
}

int record_search(const struct sources *sources, const char *name, struct record *ret)
{
        _cleanup_record_ struct record record = {};
        struct udev *udev = root_is_chosen() ? NULL : udev_new();
        struct udev_enumerate *enumerate = udev ? udev_enumerate_new(udev) : NULL;
        int r = 0;

        if (enumerate)
                r = look_at_disks(sources, enumerate, name, &record);
        udev_enumerate_unref(enumerate);
        udev_unref(udev);
        if (r >= 0 && record.volume_group)
                r = judge_state(sources, &record);
        if (r < 0 || !record.volume_group)
                return r < 0 ? r : RECORD_NONE;
        *ret = record;
        record = (struct record){};
        return RECORD_FOUND;
}

/* ------ names ------ */

static void suggest_from(DIR *directory, struct suggestion *suggestion)
{
        for (const struct dirent *entry; (entry = readdir(directory));)
                if (volume_group_name_is_valid(entry->d_name))
                        suggestion_consider(suggestion, entry->d_name);
}

static int suggest_volume_group(struct volume_group *volume_group, void *userdata)
{
        suggestion_consider(userdata, volume_group->name);
        volume_group_free(volume_group);
        return 0;
}

void record_suggest(const struct sources *sources, struct suggestion *suggestion)
{
        _cleanup_closedir_ DIR *backups =
                open_directory_at(sources->root_fd, root_relative(sources->configuration.backup_dir));

        if (volume_groups_parse(sources->records, suggest_volume_group, suggestion) >= 0 && backups)
                suggest_from(backups, suggestion);
}

const struct metadata_lv *record_find_metadata_lv(const struct record *record, const char *name)
{
        for (size_t i = 0; record->metadata && i < record->metadata->n_lvs; i++)
                if (streq(record->metadata->lvs[i].name, name))
                        return &record->metadata->lvs[i];
        return NULL;
}

const struct volume_group_lv *record_find_lv(const struct record *record, const char *name)
{
        for (size_t i = 0; i < record->volume_group->n_lvs; i++)
                if (streq(record->volume_group->lvs[i].name, name))
                        return &record->volume_group->lvs[i];
        return NULL;
}

void record_done(struct record *record)
{
        volume_group_free(record->volume_group);
        metadata_free(record->metadata);
        free(record->device_name);
        *record = (struct record){};
}
