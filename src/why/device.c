/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A block device that is no LV: what is known of it, what keeps lvm2 away from it, and what becomes of the VG that it is a PV
 * of. */

#include <inttypes.h>
#include <libudev.h>

#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/kernel.h"
#include "shared/udev.h"
#include "why/why.h"

/* sysfs counts in these, whatever the device does. */
#define SECTOR_SIZE 512

/* lvm2's default of devices/pv_min_size. */
#define PV_SIZE_MIN (2U * 1024 * 1024)

/* ------ what sysfs says ------ */

static int read_number(const struct sources *sources, dev_t number, const char *name, uint64_t *ret)
{
        _cleanup_free_ char *text = NULL;
        int r = sysfs_read_attribute(sources->root_fd, number, name, &text);

        if (r <= 0 || parse_u64(text, ret) < 0)
                *ret = 0;
        return MIN(r, 0);
}

static int read_sysfs(const struct sources *sources, struct device_facts *facts)
{
        uint64_t value;
        int r = sysfs_read_name(sources->root_fd, facts->number, &facts->kernel_name);

        if (r >= 0)
                r = read_number(sources, facts->number, "size", &value);
        if (r < 0)
                return r;
        facts->size = value * SECTOR_SIZE;
        r = read_number(sources, facts->number, "dm/suspended", &value);
        facts->suspended = value == 1;
        return r < 0 ? r : MIN(sysfs_read_upper_map(sources->root_fd, facts->number, &facts->upper_map), 0);
}

/* ------ what udev says ------ */

static int copy_property(struct udev_device *device, const char *name, char **ret)
{
        const char *value = udev_device_get_property_value(device, name);

        return value ? string_replace(ret, strdup(value)) : 0;
}

static int read_udev(struct device_facts *facts)
{
        _cleanup_udev_ struct udev *udev = udev_new();
        _cleanup_udev_device_ struct udev_device *device =
                udev ? udev_device_new_from_devnum(udev, 'b', facts->number) : NULL;
        int r;

        if (!device)
                return udev ? 0 : -ENOMEM;
        facts->in_udev = udev_device_get_is_initialized(device) > 0;
        facts->multipath_path = udev_property_is(device, UDEV_MULTIPATH_PATH, "1");
        facts->pvscan_on_lvs = udev_property_is(device, "LVM_PVSCAN_ON_LVS", "1");
        facts->rules_disabled = udev_property_is(device, "DM_UDEV_DISABLE_OTHER_RULES_FLAG", "1");
        facts->not_ready = udev_property_is(device, "SYSTEMD_READY", "0");
        r = copy_property(device, "ID_FS_TYPE", &facts->fs_type);
        /* A partition inherits the property from its disk. */
        if (r >= 0 && !streq(udev_device_get_devtype(device) ?: "", "partition"))
                r = copy_property(device, "ID_PART_TABLE_TYPE", &facts->partition_table);
        return r;
}

int device_facts_read(const struct sources *sources, const char *path, dev_t number, struct device_facts *ret)
{
        int r;

        *ret = (struct device_facts){.number = number, .path = strdup(path)};
        r = ret->path ? read_sysfs(sources, ret) ?: read_udev(ret) : -ENOMEM;
        return r >= 0 && !ret->suspended ? pv_read(path, &ret->pv) : r;
}

void device_facts_done(struct device_facts *facts)
{
        free(facts->path);
        free(facts->kernel_name);
        free(facts->upper_map);
        free(facts->fs_type);
        free(facts->partition_table);
        pv_done(&facts->pv);
        *facts = (struct device_facts){};
}

/* ------ what keeps lvm2 away from it ------ */

/* An LV that lvm2 has been told to take notice of may be one that udev's rules still pass over. */
static void causes_of_rule_for_lvs(struct why *why)
{
        const struct sources *sources = why->sources;
        int takes_lvs = rule_file_stock_takes_lvs(sources->root_fd);

        why_fail(why, takes_lvs);
        if (why->device->pvscan_on_lvs ||
                (sources->in_charge ? flags_is_set(sources->run_fd, FLAGS_PVS_ON_LVS) != 0 : takes_lvs != 0))
                return;
        why_cause(why, "pv-on-lv", "it is an LV, and udev's rules pass over PVs on LVs");
        if (takes_lvs > 0)
                why_advise(why, "devices/scan_lvs=1 in lvm.conf counts from the next boot on.");
        else
                why_advise(why, "If the PV is this host's own, not a virtual machine's: have a udev rule set "
                                "LVM_PVSCAN_ON_LVS=1 for it, see headgate-request(8).");
}

static bool holds(const struct device_facts *device, const char *fs_type)
{
        return device->fs_type && streq(device->fs_type, fs_type);
}

static void causes_of_layers(struct why *why)
{
        const struct device_facts *device = why->device;
        const struct dm_device *dm = dm_devices_find(why->sources->devices, device->number);
        bool is_in_array = device->upper_map && skip_prefix(device->upper_map, "md");

        if (is_in_array) {
                why_cause(why, "md-component", "it is a part of the md array %s", device->upper_map);
                why_advise(why, "What is in the array is to be found on /dev/%s.", device->upper_map);
        } else if (holds(device, "linux_raid_member"))
                why_remedy(why, "md-component", "it is a part of an md array, which is not assembled",
                        "Assemble the array: \"mdadm --assemble --scan\".");
        if (device->multipath_path || (device->upper_map && !is_in_array)) {
                why_cause(why, "multipath-component", "it is a path of a multipath device%s%s",
                        device->upper_map ? ", " : "", device->upper_map ?: "");
                why_advise(why, "lvm2 uses the multipath device instead, see \"multipath -ll\".");
        }
        if (holds(device, "crypto_LUKS"))
                why_remedy(why, "luks", "it is encrypted (LUKS), and what is in it is on another device",
                        "If it is not open yet: \"cryptsetup open %s NAME\".", device->path);
        if (!dm || !skip_prefix(dm->uuid, LVM_UUID_PREFIX))
                return;
        if (why->sources->configuration.scan_lvs)
                causes_of_rule_for_lvs(why);
        else
                why_remedy(why, "pv-on-lv", "it is an LV, and lvm2 takes no notice of PVs on LVs",
                        "If the PV is this host's own, not a virtual machine's: devices/scan_lvs=1 in lvm.conf.");
}

void causes_of_device(struct why *why)
{
        const struct device_facts *device = why->device;

        causes_of_layers(why);
        if (device->suspended)
                why_remedy(why, "suspended", "it is suspended, so that whoever reads it has to wait",
                        "Find out who has suspended it; \"dmsetup resume\" ends that.");
        if (device->partition_table && !device->pv.found) {
                why_cause(why, "partition-table", "it has a partition table (%s)", device->partition_table);
                why_advise(why, "Ask for its partitions one by one.");
        } else if (device->partition_table) {
                why_cause(why, "partition-table", "it has a partition table (%s) besides the PV's label",
                        device->partition_table);
                why_advise(why, "If the whole disk is the PV, remove the table: wipefs(8), -t %s.",
                        device->partition_table);
        }
        if (device->size > 0 && device->size < PV_SIZE_MIN)
                why_cause(
                        why, "too-small", "it has %" PRIu64 " bytes, less than devices/pv_min_size", device->size);
        /* udev's rules have lvm2 asked only for what blkid has found to be a PV. */
        if (!device->pv.found || !device->in_udev || why->causes.n > 0 || holds(device, "LVM2_member"))
                return;
        why_cause(why, "not-in-blkid", "udev takes it for %s",
                device->fs_type ?: "nothing, since blkid was not asked or found several signatures");
        why_advise(why,
                "See what else is on it (\"wipefs %s\"), or which udev rule keeps blkid from it "
                "(UDEV_DISABLE_PERSISTENT_STORAGE_RULES_FLAG=1).",
                device->path);
}

void explain_udev(struct why *why, const struct device_facts *device)
{
        if (device->rules_disabled)
                why_state(why, "rules-disabled",
                        "device-mapper has udev's rules leave it alone (DM_UDEV_DISABLE_OTHER_RULES_FLAG=1).");
        if (device->not_ready)
                why_state(why, "not-ready", "udev says that it is not ready (SYSTEMD_READY=0).");
        if (!device->in_udev) {
                why_state(why, "not-in-udev", "udev has not dealt with it yet.");
                why_advise(why, "See whether udev is busy: \"udevadm settle\".");
        }
}

/* ------ what is on it ------ */

/* Whether what is on it is to be found on a multipath device or an md array, too, and is meant to be used there. */
static bool is_component(const struct device_facts *device)
{
        return device->multipath_path || device->upper_map || holds(device, "linux_raid_member");
}

void explain_unreadable(struct why *why, const char *path, int error)
{
        /* As intake_result() has it: what does not answer, or is not there, is not read again by itself. */
        bool for_good = error == -ETIMEDOUT || error == -EFAULT || error == -ENXIO || error == -ENODEV ||
                        error == -ENOMEDIUM;

        why_state(why, "unreadable", "%s cannot be read: %s; headgate reads it again %s.", path,
                reader_describe_error(error),
                for_good ? "when udev announces it" : "after 1, 2, 4, ... 64 seconds");
        why_advise(why, "Have it read now: \"udevadm trigger --action=add %s\".", path);
}

/* Of no PV, or one of which nobody knows the VG. */
static void answer_without_vg(struct why *why)
{
        const struct pv *pv = &why->device->pv;
        const char *path = why->device->path;

        if (!pv->found && pv->error < 0) {
                why_answer(why, VERDICT_UNKNOWN, "unknown", "%s cannot be read: %s.", path,
                        reader_describe_error(pv->error));
                explain_unreadable(why, path, pv->error);
        } else if (pv->damage) {
                why_answer(why, VERDICT_DOWN, "damaged", "%s %s: %s.", path,
                        pv->found ? "is a PV whose metadata is damaged" : "has a damaged LVM label", pv->damage);
                why_advise(why, "See what can be saved: pvck(8), vgcfgrestore(8).");
        } else if (pv->found) {
                why_answer(why, VERDICT_DOWN, "no-vg", "%s is a PV that belongs to no VG%s.", path,
                        pv->unused ? "" : ", as far as it tells: it holds no metadata");
        } else {
                why_answer(why, VERDICT_DOWN, "no-pv", "%s is not a PV: %s.", path,
                        why->causes.n > 0 ? why_first_cause(why) : "it has no LVM label");
                if (why->device->fs_type)
                        why_fact(why, "By blkid it holds %s.", why->device->fs_type);
        }
        if (why->verdict != VERDICT_UNKNOWN)
                why_condition(why, why->state);
        if (pv->found)
                why_fact(why, "Its PV UUID is %s.", LVM_ID_TO_STRING(pv->pvid));
        why_add_other_causes(why);
        if (pv->found && !is_component(why->device))
                explain_duplicates(why, why->device->pv.pvid, why->device->number, why->device->path);
}

/* Of PVs of such VGs lvm2 makes no record, and with event_activation=0 of none. */
static bool is_recorded(const struct sources *sources, const struct volume_group *metadata)
{
        return sources->configuration.event_activation && metadata && !metadata->exported &&
               !metadata->lock_type &&
               !system_id_is_foreign(&sources->configuration.system_id, metadata->system_id);
}

/* lvm2 has made a record of each PV that it accepts. */
static void explain_recording(struct why *why)
{
        const struct configuration *configuration = &why->sources->configuration;
        const char *pvid = why->device->pv.pvid;
        int lvm_run_fd = why->sources->lvm_run_fd;
        dev_t recorded;

        if (lvm_run_fd >= 0 && online_read_pv(lvm_run_fd, pvid, &recorded, NULL) == ONLINE_FOUND) {
                if (recorded != why->device->number)
                        why_fact(why, "lvm2 has recorded this PV as another device.");
                return;
        }
        why_state(why, "refused", "lvm2 has not recorded it as a PV that is there.");
        causes_of_refusal(
                why, pvid, configuration->filter.set || configuration->global_filter.set ? "filter" : "");
}

/* Which VG a PV without metadata is of, the VG's other PVs have told the worker. */
static int find_vg(const struct sources *sources, const struct pv *pv, char **ret, char ret_vgid[LVM_ID_SIZE])
{
        if (pv->metadata) {
                strcpy(ret_vgid, pv->metadata->vgid);
                *ret = strdup(pv->metadata->name);
                return *ret ? 1 : -ENOMEM;
        }
        FOREACH_RECORD(entry, sources->records) {
                _cleanup_volume_group_ struct volume_group *volume_group = NULL;

                if (!lvm_id_is_valid(entry->key) || !strstr(entry->text, pv->pvid) ||
                        volume_group_parse(entry->text, &volume_group) < 0 ||
                        !volume_group_find_pv(volume_group, pv->pvid))
                        continue;
                strcpy(ret_vgid, volume_group->vgid);
                *ret = TAKE_PTR(volume_group->name);
                return 1;
        }
        return 0;
}

/* By what there is to say of the VG. */
static void answer_by_vg(struct why *why, const char *name, const struct why *vg)
{
        why_answer(why, vg->verdict, vg->state ?: "unknown", "%s is a PV of VG %s, which is %s.",
                why->device->path, name, vg->state ?: "not known");
        why_add_other_causes(why);
        if (why->causes.n > 0)
                why_fact(why, "lvm2 leaves the device alone: %s.", why_first_cause(why));
        if (vg->answer)
                why_fact(why, "%s", vg->answer);
        why_take_over(why, vg);
}

static void explain_pv(struct why *why, const char *vg_name, const char *vgid)
{
        _cleanup_why_ struct why vg = {.sources = why->sources};
        _cleanup_vg_view_ struct vg_view view = {};
        int r;

        why_fact(why, "Its PV UUID is %s.", LVM_ID_TO_STRING(why->device->pv.pvid));
        if (is_recorded(why->sources, why->device->pv.metadata) && !is_component(why->device))
                explain_recording(why);
        r = vg_view_search(why->sources, vg_name, vgid, &view);
        why_fail(why, r);
        if (r > 0)
                volume_group_explain(&vg, &view);
        answer_by_vg(why, vg_name, &vg);
}

void device_explain(struct why *why)
{
        _cleanup_free_ char *vg_name = NULL;
        char vgid[LVM_ID_SIZE] = "";

        causes_of_device(why);
        if (why->device->pv.found)
                why_fail(why, find_vg(why->sources, &why->device->pv, &vg_name, vgid));
        if (vg_name)
                explain_pv(why, vg_name, vgid);
        else
                answer_without_vg(why);
        explain_udev(why, why->device);
        if (why->device->kernel_name)
                explain_holders_of_device(why);
}
