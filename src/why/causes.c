/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What keeps lvm2 from activating VGs and LVs, or from a device: what metadata, lvm.conf, lvm2's own words, the kernel and udev say,
 * each with what to do about it. */

#include <inttypes.h>
#include <libudev.h>

#include "boot/plan.h"
#include "lvm/config.h"
#include "shared/flags.h"
#include "shared/kernel.h"
#include "shared/udev.h"
#include "why/why.h"

#define LVM_CONF "lvm.conf"

/* sysfs counts in these, whatever the device does. */
#define SECTOR_SIZE 512

/* lvm2's default of devices/pv_min_size. */
#define PV_SIZE_MIN (2U * 1024 * 1024)

/* ------ what the metadata says ------ */

void causes_of_metadata(struct why *why)
{
        const struct system_id *host = &why->sources->config.system_id;
        const struct vg *metadata = why->view->metadata;
        const char *name = why->vg->name;

        if (!metadata)
                return;
        if (metadata->exported)
                why_remedy(why, "exported", "it is exported",
                        "If it is to be used on this host: \"vgimport %1$s\", then \"vgchange -aay %1$s\".", name);
        if (system_id_is_foreign(host, metadata->system_id)) {
                why_cause(why, "foreign", "it belongs to the host with system ID \"%s\", and this one%s%s%s",
                        metadata->system_id, host->id ? "'s is \"" : " has none", host->id ?: "",
                        host->id ? "\"" : "");
                why_advise(why,
                        "If that host does not use it any more: list its ID in local/extra_system_ids of "
                        "lvmlocal.conf, and give the VG this host's by \"vgchange --systemid ID %s\", see "
                        "lvmsystemid(7).",
                        name);
        }
        if (metadata->lock_type) {
                why_cause(why, "shared", "it is shared by several hosts (lock type %s)", metadata->lock_type);
                why_advise(why,
                        "Activate it with the lock manager: \"vgchange --lockstart %1$s\", then \"vgchange -aey "
                        "%1$s\" or \"-asy\", see lvmlockd(8); or leave that to the cluster.",
                        name);
        } else if (metadata->clustered)
                why_remedy(why, "clustered", "it is clustered, which lvm2 has no support for any more",
                        "If no other host uses it: \"vgchange --locktype none --lockopt force %s\".", name);
        if (metadata->autoactivation_off)
                why_remedy(why, "vg-autoactivation-off", "its autoactivation is off",
                        "Activate it by \"vgchange -ay %1$s\"; to have it activated by itself from now on: "
                        "\"vgchange --setautoactivation y %1$s\".",
                        name);
}

/* ------ what lvm.conf says ------ */

/* Returns whether it is one. `name` is VG/LV or, without an LV, the VG's. */
static bool cause_of_list(struct why *why, const char *condition, const char *setting,
        const struct config_list *list, const char *lv, const char *name)
{
        enum list_naming naming = config_list_find(list, why->vg->name, lv);

        if (naming == LIST_NAMES)
                return false;
        why_cause(why, condition, "%s in " LVM_CONF " does not name it%s", setting,
                naming == LIST_NAMES_BY_TAG ? ", unless by a tag" : "");
        why_advise(why, "Add \"%s\" to %s in " LVM_CONF ", if it is to be activated.", name, setting);
        return true;
}

static bool causes_of_lists(struct why *why, const char *lv, const char *name)
{
        const struct config *config = &why->sources->config;
        bool automatic, any;

        automatic = cause_of_list(why, "auto-activation-volume-list", "activation/auto_activation_volume_list",
                &config->auto_activation_volume_list, lv, name);
        any = cause_of_list(why, "volume-list", "activation/volume_list", &config->volume_list, lv, name);
        if (automatic && !any)
                why_advise(why, "Or activate it by hand: \"%s -ay %s\".", lv ? "lvchange" : "vgchange", name);
        return automatic || any;
}

void causes_of_config(struct why *why)
{
        if (!why->sources->config.event_activation)
                why_remedy(why, "event-activation-off",
                        "global/event_activation is 0 in " LVM_CONF ", so that nothing is activated by itself",
                        "Activate it by hand: \"vgchange -ay %s\".", why->vg->name);
        (void) causes_of_lists(why, NULL, why->vg->name);
}

/* ------ what lvm2 has said of a PV ------ */

/* What lvm2 says of a device that it leaves alone (lvm2, lib/device/dev-type.c and tools/pvscan.c), and what is
 * wrong then. */
static const struct {
        const char *words;
        const char *condition;
        const char *advice;
} refusals[] = {
        {"filter", "filter",
                "Let devices/filter and devices/global_filter in " LVM_CONF
                " or lvmlocal.conf accept the device."},
        {"devices file", "devices-file",
                "If lvm2 is to use the device, add it to the devices file: see lvmdevices(8), --adddev."},
        {"multipath component", "multipath-component", "The VG is to be found on the multipath device instead."},
        {"md component", "md-component", "The VG is to be found on the md array instead."},
        {"partitioned", "partition-table",
                "Remove the partition table if the whole disk is the PV, see wipefs(8)."},
        {"too small", "too-small", "Lower devices/pv_min_size in " LVM_CONF ", if the device is to be used."},
        {"used by LV", "pv-on-lv", "Set devices/scan_lvs=1 in " LVM_CONF ", if the PV is this host's own."},
        {"duplicate", "duplicate-pv",
                "Take one of the two devices away, or give it a new identity: vgimportclone(8)."},
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
                devices_file_find_pv(why->sources->root_fd, config->devicesfile, pvid) == DEVICES_FILE_NOT_LISTED)
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
                why_remedy(why, "stranded", "it is in the kernel, on a disk that has gone",
                        "If nothing uses it: \"headgate deactivate %s\", then \"headgate activate %s\".", name,
                        why->vg->name);
                why_advise(why, "If it is in use, and the disk is back: \"lvchange --refresh %s\".", name);
                return;
        }
        if (skip)
                why_remedy(why, "activation-skip", "its activation skip flag is set",
                        "Activate it in spite of the flag: \"lvchange -ay -K %1$s\"; to clear the flag: "
                        "\"lvchange --setactivationskip n %1$s\".",
                        name);
        if (off)
                why_remedy(why, "lv-autoactivation-off", "its autoactivation is off",
                        "Activate it by \"lvchange -ay %1$s\"; to have it activated by itself from now on: "
                        "\"lvchange --setautoactivation y %1$s\".",
                        name);
        if (!lv->autoactivated) {
                if (!skip && !off)
                        why_cause(why, "not-wanted", "it is not activated by itself");
        } else if (why->vg->state == VG_STATUS_DEACTIVATED)
                why_remedy(why, "deactivated", "somebody has deactivated it since",
                        "Activate it again: \"lvchange -ay %s\".", name);
        else if (causes_of_lists(why, lv->name, name))
                return;
        else if (why->vg->state == VG_STATUS_DEGRADED && vg_is_incomplete(why->vg))
                why_cause(why, "missing-pv", "it cannot do without the PVs that are missing");
        else if (why->vg->state == VG_STATUS_ACTIVE)
                why_cause(why, "not-wanted", "lvm2 has left it out, and has not said why");
}

/* ------ PVs that several devices hold ------ */

/* Whether the record is of another device than `number` that is still there and holds the PV: 1 and its name, 0 or -ENOMEM. */
static int find_other_device(const struct sources *sources, const struct record_entry *entry, const char *pvid,
        dev_t number, char **ret)
{
        struct record_device other;

        if (!record_entry_has_pv(entry, pvid) || record_entry_parse_device(entry, &other) <= 0 ||
                other.number == number)
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
                        "PV %s is on %s and also on /dev/%s, one being a copy or another path of the other: lvm2 "
                        "may refuse to activate what is on either.",
                        LVM_ID_TO_STRING(pvid), path, other);
                why_advise(why, "Take one of the two devices away, or give the copy an identity of its own: "
                                "vgimportclone(8).");
        }
}

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

/* ------ what keeps lvm2 away from a device ------ */

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

bool explain_crypttab(struct why *why, const char *name, const char *kernel_name)
{
        _cleanup_crypttab_entry_ struct crypttab_entry entry = {};
        _cleanup_free_ char *unlocked = NULL;
        bool is_locked;

        why_fail(why, crypttab_find(why->sources->root_fd, name, kernel_name, &entry));
        if (!entry.name || !entry.device)
                return false;
        is_locked = device_follow(why->sources->root_fd, path_format("/dev/mapper/%s", entry.name).text,
                            &unlocked) == -ENODEV;
        if (!entry.kernel_name)
                why_state(why, "luks", "Line %u of " CRYPTTAB_FILE " unlocks %s from %s, which is not there.",
                        entry.line, entry.name, entry.device);
        else
                why_state(why, "luks", "Line %u of " CRYPTTAB_FILE " unlocks %s from %s (/dev/%s)%s.", entry.line,
                        entry.name, entry.device, entry.kernel_name, is_locked ? ", which has not been done" : "");
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
                why_cause(why, "md-component", "it is a part of the md array %s", device->upper_map);
                why_advise(why, "What is in the array is to be found on /dev/%s.", device->upper_map);
        } else if (device_holds(device, "linux_raid_member"))
                why_remedy(why, "md-component", "it is a part of an md array, which is not assembled",
                        "Assemble the array: \"mdadm --assemble --scan\".");
        if (device->multipath_path || (device->upper_map && !is_in_array)) {
                why_cause(why, "multipath-component", "it is a path of a multipath device%s%s",
                        device->upper_map ? ", " : "", device->upper_map ?: "");
                why_advise(why, "lvm2 uses the multipath device instead, see \"multipath -ll\".");
        }
        if (device_holds(device, "crypto_LUKS")) {
                why_cause(why, "luks", "it is encrypted (LUKS), and what is in it is on another device");
                if (!device->kernel_name || !explain_crypttab(why, NULL, device->kernel_name))
                        why_advise(why, "If it is not open yet: \"cryptsetup open %s NAME\".", device->path);
        }
        if (!dm || !skip_prefix(dm->uuid, LVM_UUID_PREFIX))
                return;
        if (why->sources->config.scan_lvs)
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
        if (!device->pv.found || !device->in_udev || why->n_causes > 0 || device_holds(device, "LVM2_member"))
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

void explain_read_only(struct why *why, const char *path, dev_t number)
{
        uint64_t read_only;

        why_fail(why, read_number(why->sources, number, "ro", &read_only));
        if (read_only == 1)
                why_fact(why, "%s is read-only.", path);
}

void explain_unreadable(struct why *why, const char *path, int error)
{
        /* As intake_result() has it: what does not answer, or is not there, is not read again by itself. */
        bool for_good = error == -ETIMEDOUT || error == -EFAULT || error == -ENXIO || error == -ENODEV ||
                        error == -ENOMEDIUM;

        why_state(why, "unreadable", "%s cannot be read: %s; headgate reads it again %s.", path,
                reader_describe_error(error),
                for_good ? "when udev announces it" : "after 1, 2, 4, ... 64 seconds");
        if (error == -EBADE)
                why_remedy(why, "reserved", "another host has reserved a disk of it",
                        "Find out which host that is, and have it release the disk: \"sg_persist --read-full-status %s\".",
                        path);
        why_advise(why, "Have it read now: \"udevadm trigger --action=add %s\".", path);
}
