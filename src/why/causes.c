/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Causes that prevent lvm2 from activating VGs and LVs, or from using a device, each with advice. They come from metadata,
 * lvm.conf, lvm2's messages, the kernel and udev. */

#include <inttypes.h>
#include <libudev.h>

#include "boot/plan.h"
#include "lvm/config.h"
#include "shared/flags.h"
#include "shared/kernel.h"
#include "shared/udev.h"
#include "why/why.h"

#define LVM_CONF "lvm.conf"

/* sysfs counts in sectors of this size for all devices. */
#define SECTOR_SIZE 512

/* lvm2's default of devices/pv_min_size. */
#define PV_SIZE_MIN (2U * 1024 * 1024)

/* ------ metadata ------ */

void causes_of_metadata(struct why *why)
{
        const struct system_id *host = &why->sources->config.system_id;
        const struct vg *metadata = why->view->metadata;
        const char *name = why->vg->name;

        if (!metadata)
                return;
        if (metadata->exported)
                why_remedy(why, "exported", "it is exported",
                        "To use it on this host: \"vgimport %1$s\", then \"vgchange -aay %1$s\".", name);
        if (system_id_is_foreign(host, metadata->system_id)) {
                why_cause(why, "foreign", "its system ID is \"%s\", and this host%s%s%s", metadata->system_id,
                        host->id ? "'s is \"" : " has none", host->id ?: "", host->id ? "\"" : "");
                why_advise(why,
                        "If that host no longer uses it: add its ID to local/extra_system_ids in lvmlocal.conf, "
                        "then run \"vgchange --systemid ID %s\" with this host's ID, see lvmsystemid(7).",
                        name);
        }
        if (metadata->lock_type) {
                why_cause(why, "shared", "it is shared by several hosts (lock type %s)", metadata->lock_type);
                why_advise(why,
                        "Activate it with the lock manager: \"vgchange --lockstart %1$s\", then \"vgchange -aey "
                        "%1$s\" or \"-asy\", see lvmlockd(8); or let the cluster activate it.",
                        name);
        } else if (metadata->clustered)
                why_remedy(why, "clustered", "it is clustered, which lvm2 no longer supports",
                        "If no other host uses it: \"vgchange --locktype none --lockopt force %s\".", name);
        if (metadata->autoactivation_off)
                why_remedy(why, "vg-autoactivation-off", "its autoactivation is off",
                        "To activate it: \"vgchange -ay %1$s\"; to turn on its autoactivation: \"vgchange "
                        "--setautoactivation y %1$s\".",
                        name);
}

/* ------ lvm.conf ------ */

/* Returns whether the list excludes the VG or LV. `name` is VG/LV; without an LV, the VG. */
static bool cause_of_list(struct why *why, const char *condition, const char *setting,
        const struct config_list *list, const char *lv, const char *name)
{
        enum list_naming naming = config_list_find(list, why->vg->name, lv);

        if (naming == LIST_NAMES)
                return false;
        why_cause(why, condition, "%s in " LVM_CONF " does not name it%s", setting,
                naming == LIST_NAMES_BY_TAG ? ", unless by a tag" : "");
        why_advise(why, "To have it activated, add \"%s\" to %s in " LVM_CONF ".", name, setting);
        return true;
}

static bool causes_of_lists(struct why *why, const char *lv, const char *name)
{
        const struct config *config = &why->sources->config;
        bool automatic = cause_of_list(why, "auto-activation-volume-list",
                "activation/auto_activation_volume_list", &config->auto_activation_volume_list, lv, name);
        bool any = cause_of_list(why, "volume-list", "activation/volume_list", &config->volume_list, lv, name);

        if (automatic && !any)
                why_advise(why, "Or activate it by hand: \"%s -ay %s\".", lv ? "lvchange" : "vgchange", name);
        return automatic || any;
}

void causes_of_config(struct why *why)
{
        if (!why->sources->config.event_activation)
                why_remedy(why, "event-activation-off",
                        "global/event_activation is 0 in " LVM_CONF ", which disables autoactivation",
                        "Activate it by hand: \"vgchange -ay %s\".", why->vg->name);
        (void) causes_of_lists(why, NULL, why->vg->name);
}

/* ------ lvm2's messages about a PV ------ */

/* lvm2's messages about devices that it ignores (lvm2, lib/device/dev-type.c and tools/pvscan.c), and the condition of each. */
static const struct {
        const char *words;
        const char *condition;
        const char *advice;
} refusals[] = {
        {"filter", "filter",
                "Let devices/filter and devices/global_filter in " LVM_CONF
                " or lvmlocal.conf accept the device."},
        {"devices file", "devices-file",
                "To use the device, add it to the devices file: see lvmdevices(8), --adddev."},
        {"multipath component", "multipath-component", "lvm2 uses the multipath device instead."},
        {"md component", "md-component", "lvm2 uses the md array instead."},
        {"partitioned", "partition-table",
                "Remove the partition table if the whole disk is the PV, see wipefs(8)."},
        {"too small", "too-small", "To use the device, lower devices/pv_min_size in " LVM_CONF "."},
        {"used by LV", "pv-on-lv", "Set devices/scan_lvs=1 in " LVM_CONF ", if the PV is this host's own."},
        {"duplicate", "duplicate-pv",
                "Remove one of the two devices, or give the copy new UUIDs: vgimportclone(8)."},
        {"exported", "exported", NULL},
        {"foreign", "foreign", NULL},
        {"shared", "shared", NULL},
};

static void fact_of_filter(struct why *why, const char *setting, const struct config_list *list)
{
        _cleanup_free_ char *values = list->set ? strv_join(&list->values, "\", \"") : NULL;

        if (values)
                why_fact(why, "%s in " LVM_CONF " is [ \"%s\" ].", setting, values);
}

void causes_of_refusal(struct why *why, const char *pvid, const char *words)
{
        const struct config *config = &why->sources->config;

        FOREACH_ELEMENT(refusal, refusals)
                if (strstr(words, refusal->words)) {
                        why_condition(why, refusal->condition);
                        if (refusal->advice)
                                why_advise(why, "%s", refusal->advice);
                }
        if (strv_has(&why->conditions, "filter")) {
                fact_of_filter(why, "devices/filter", &config->filter);
                fact_of_filter(why, "devices/global_filter", &config->global_filter);
        }
        if (config->use_devicesfile != 0 && !isempty(config->devicesfile) && !isempty(pvid) &&
                devices_file_lacks_pv(why->sources->root_fd, config->devicesfile, pvid))
                why_fact(why, "/etc/lvm/devices/%s does not list this PV.", config->devicesfile);
}

/* ------ LVs ------ */

void causes_of_lv(struct why *why, const struct vg_lv *lv)
{
        const struct vg_lv *metadata = why->view->metadata ? vg_find_lv(why->view->metadata, lv->name) : NULL;
        struct path path = path_format("%s/%s", why->vg->name, lv->name);
        const char *name = path.text;
        bool skip = metadata && metadata->activation_skip, off = metadata && metadata->autoactivation_off;

        if (lv->stranded) {
                why_remedy(why, "stranded", "it maps a removed disk",
                        "If nothing uses it: \"headgate deactivate %s\", then \"headgate activate %s\".", name,
                        why->vg->name);
                why_advise(why, "If it is in use, and the disk is back: \"lvchange --refresh %s\".", name);
                return;
        }
        if (skip)
                why_remedy(why, "activation-skip", "its activation skip flag is set",
                        "To activate it despite the flag: \"lvchange -ay -K %1$s\"; to clear the flag: "
                        "\"lvchange --setactivationskip n %1$s\".",
                        name);
        if (off)
                why_remedy(why, "lv-autoactivation-off", "its autoactivation is off",
                        "To activate it: \"lvchange -ay %1$s\"; to turn on its autoactivation: \"lvchange "
                        "--setautoactivation y %1$s\".",
                        name);
        if (!lv->autoactivated) {
                if (!skip && !off)
                        why_cause(why, "not-wanted", "it is not autoactivated");
        } else if (why->vg->status == VG_STATUS_DEACTIVATED)
                why_remedy(why, "deactivated", "it was deactivated later",
                        "Activate it again: \"lvchange -ay %s\".", name);
        else if (causes_of_lists(why, lv->name, name))
                return;
        else if (why->vg->status == VG_STATUS_DEGRADED && vg_is_incomplete(why->vg))
                why_cause(why, "missing-pv", "it needs the missing PVs");
        else if (why->vg->status == VG_STATUS_ACTIVE)
                why_cause(why, "not-wanted", "lvm2 skipped it without giving a reason");
}

/* ------ PVs on several devices ------ */

/* Whether the record is of another existing device than `number` with this PV. Returns 1 and its name, 0 or -ENOMEM. */
static int find_other_device(const struct sources *sources, const struct record_entry *entry, const char *pvid,
        dev_t number, char **ret)
{
        struct record_device other;

        if (record_entry_parse_device(entry, &other) <= 0 || !streq(other.pvid, pvid) || other.number == number)
                return 0;
        return sysfs_read_name(sources->root_fd, other.number, ret);
}

void explain_duplicates(struct why *why, const char *pvid, dev_t number, const char *path)
{
        FOREACH_RECORD(entry, why->sources->records) {
                _cleanup_free_ char *other = NULL;

                why_fail(why, find_other_device(why->sources, entry, pvid, number, &other));
                if (!other)
                        continue;
                why_state(why, "duplicate-pv",
                        "PV %s is on both %s and /dev/%s, a copy or another path to the same disk; lvm2 may "
                        "refuse to activate its VG.",
                        LVM_ID_TO_STRING(pvid), path, other);
                why_advise(why, "Remove one of the two devices, or give the copy new UUIDs: vgimportclone(8).");
        }
}

/* ------ sysfs ------ */

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
        return MIN(sysfs_read_upper_map(sources->root_fd, facts->number, &facts->upper_map), 0);
}

/* ------ udev ------ */

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

        *ret = (struct device_facts){.number = number, .path = path};
        r = read_sysfs(sources, ret) ?: read_udev(ret);
        return r >= 0 ? pv_read(sources->root_fd, number, path, &ret->pv) : r;
}

void device_facts_done(struct device_facts *facts)
{
        free(facts->kernel_name);
        free(facts->upper_map);
        free(facts->fs_type);
        free(facts->partition_table);
        pv_done(&facts->pv);
        *facts = (struct device_facts){};
}

/* ------ causes that prevent lvm2 from using a device ------ */

/* udev's rules may ignore an LV although scan_lvs is set. */
static void causes_of_rule_for_lvs(struct why *why)
{
        const struct sources *sources = why->sources;
        int takes_lvs = rule_file_stock_takes_lvs(sources->root_fd);

        why_fail(why, takes_lvs);
        if (why->device->pvscan_on_lvs ||
                (sources->in_charge ? flags_is_set(sources->run_fd, FLAGS_PVS_ON_LVS) != 0 : takes_lvs != 0))
                return;
        why_cause(why, "pv-on-lv", "it is an LV, and udev's rules ignore PVs on LVs");
        if (takes_lvs > 0)
                why_advise(why, "devices/scan_lvs=1 in lvm.conf takes effect at the next boot.");
        else
                why_advise(why,
                        "If the PV is this host's own, not a virtual machine's: set LVM_PVSCAN_ON_LVS=1 for it "
                        "in a udev rule, see headgate-request(8).");
}

bool explain_crypttab(struct why *why, const char *name, const char *kernel_name)
{
        _cleanup_crypttab_entry_ struct crypttab_entry entry = {};
        _cleanup_free_ char *unlocked = NULL;
        bool is_locked;

        why_fail(why, crypttab_find(why->sources->root_fd, name, kernel_name, &entry));
        if (!entry.name)
                return false;
        is_locked = device_follow(why->sources->root_fd, path_format("/dev/mapper/%s", entry.name).text,
                            &unlocked) == -ENODEV;
        if (!entry.kernel_name)
                why_state(why, "luks", "Line %u of " CRYPTTAB_FILE " unlocks %s from %s, which does not exist.",
                        entry.line, entry.name, entry.device);
        else
                why_state(why, "luks", "Line %u of " CRYPTTAB_FILE " unlocks %s from %s (/dev/%s)%s.", entry.line,
                        entry.name, entry.device, entry.kernel_name, is_locked ? ", which is still locked" : "");
        if (entry.kernel_name && is_locked)
                why_advise(why, "Unlock it: \"systemctl start systemd-cryptsetup@$(systemd-escape %s)\".",
                        entry.name);
        return true;
}

static void causes_of_layers(struct why *why)
{
        const struct device_facts *device = why->device;
        const struct dm_device *dm = dm_devices_find(why->sources->devices, device->number);
        bool is_in_array = device->upper_map && skip_prefix(device->upper_map, "md");

        if (is_in_array) {
                why_cause(why, "md-component", "it is a member of md array %s", device->upper_map);
                why_advise(why, "lvm2 uses the array instead: \"headgate why /dev/%s\".", device->upper_map);
        } else if (device_holds(device, "linux_raid_member"))
                why_remedy(why, "md-component", "it is a member of an md array that is not assembled",
                        "Assemble the array: \"mdadm --assemble --scan\".");
        if (device->multipath_path || (device->upper_map && !is_in_array)) {
                why_cause(why, "multipath-component", "it is a path of a multipath device%s%s",
                        device->upper_map ? ", " : "", device->upper_map ?: "");
                why_advise(why, "lvm2 uses the multipath device instead, see \"multipath -ll\".");
        }
        if (device_holds(device, "crypto_LUKS")) {
                why_cause(why, "luks", "it is encrypted (LUKS); its contents are on another device");
                if (!device->kernel_name || !explain_crypttab(why, NULL, device->kernel_name))
                        why_advise(why, "If it is not open yet: \"cryptsetup open %s NAME\".", device->path);
        }
        if (!dm || !skip_prefix(dm->uuid, LVM_UUID_PREFIX))
                return;
        if (why->sources->config.scan_lvs)
                causes_of_rule_for_lvs(why);
        else
                why_remedy(why, "pv-on-lv", "it is an LV, and lvm2 ignores PVs on LVs",
                        "If the PV is this host's own, not a virtual machine's: set devices/scan_lvs=1 in "
                        "lvm.conf.");
}

void causes_of_device(struct why *why)
{
        const struct device_facts *device = why->device;

        causes_of_layers(why);
        if (device->pv.suspended)
                why_remedy(why, "suspended", "it is suspended: I/O to it waits", WHY_ADVICE_SUSPENDED);
        if (device->partition_table && !device->pv.found) {
                why_cause(why, "partition-table", "it has a partition table (%s)", device->partition_table);
                why_advise(why, "Run \"headgate why\" for each of its partitions.");
        } else if (device->partition_table) {
                why_cause(why, "partition-table", "it has a partition table (%s) as well as a PV label",
                        device->partition_table);
                why_advise(why, "If the whole disk is the PV, remove the table: wipefs(8), -t %s.",
                        device->partition_table);
        }
        if (device->size > 0 && device->size < PV_SIZE_MIN)
                why_cause(
                        why, "too-small", "it has %" PRIu64 " bytes, less than devices/pv_min_size", device->size);
        /* udev's rules announce only devices on which blkid found a PV. */
        if (!device->pv.found || !device->in_udev || why->n_causes > 0 || device_holds(device, "LVM2_member"))
                return;
        why_cause(why, "not-in-blkid", "udev did not find a PV on it%s%s", device->fs_type ? ", but " : "",
                device->fs_type ?: "; blkid was not run or found several signatures");
        why_advise(why,
                "List the other signatures: \"wipefs %s\"; or find the udev rule that skips blkid "
                "(UDEV_DISABLE_PERSISTENT_STORAGE_RULES_FLAG=1).",
                device->path);
}

void explain_udev(struct why *why, const struct device_facts *device)
{
        if (device->rules_disabled)
                why_state(why, "rules-disabled",
                        "device-mapper tells udev's rules to ignore it (DM_UDEV_DISABLE_OTHER_RULES_FLAG=1).");
        if (device->not_ready)
                why_state(why, "not-ready", "udev reports that it is not ready (SYSTEMD_READY=0).");
        if (!device->in_udev) {
                why_state(why, "not-in-udev", "udev has not processed it yet.");
                why_advise(why, "See whether udev is busy: \"udevadm settle\".");
        }
}

void explain_read_only(struct why *why, const char *path, dev_t number)
{
        uint64_t read_only;

        why_fail(why, read_number(why->sources, number, "ro", &read_only));
        if (read_only == 1)
                why_fact(why, "%s is read-only.", path);
}

void explain_unreadable(struct why *why, const char *path, int error)
{
        /* As in intake_result(): the worker does not retry unresponsive and missing devices until udev announces them. */
        bool for_good = error == -ETIMEDOUT || error == -EFAULT || error == -ENXIO || error == -ENODEV ||
                        error == -ENOMEDIUM;

        why_state(why, "unreadable", "%s cannot be read: %s; headgate retries %s.", path,
                reader_describe_error(error),
                for_good ? "when udev announces it" : "after 1, 2, 4, ... 64 seconds");
        if (error == -EBADE)
                why_remedy(why, "reserved", "another host has reserved a disk of it",
                        "Find out which host that is, and have it release the disk: \"%s %s\".",
                        strstr(path, "/nvme") ? "nvme resv-report" : "sg_persist --read-full-status", path);
        why_advise(why, "To retry now: \"udevadm trigger --action=add %s\".", path);
}
