/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What keeps lvm2 from activating something: what metadata, lvm.conf, lvm2's own words, sysfs and udev say of VGs, LVs and
 * devices, each with what to do about it. */

#include "why/causes.h"

#include <inttypes.h>

#include "lvm/configuration.h"
#include "shared/flags.h"
#include "shared/kernel.h"
#include "shared/udev.h"

#define LVM_CONF "lvm.conf"

/* ------ what the metadata says ------ */

static void cause_of_system_id(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct system_id *host = &sources->configuration.system_id;
        const char *id = view->metadata->system_id, *name = view->volume_group->name;

        if (!system_id_is_foreign(host, id))
                return;
        if (host->id)
                explanation_cause(explanation, "foreign",
                        "it belongs to the host with system ID \"%s\", and this one's is \"%s\"", id, host->id);
        else
                explanation_cause(explanation, "foreign",
                        "it belongs to the host with system ID \"%s\", and this one has none", id);
        explanation_advise(explanation,
                "If that host does not use it any more: list its ID in local/extra_system_ids of lvmlocal.conf, "
                "and give the VG this host's by \"vgchange --systemid ID %s\", see lvmsystemid(7).",
                name);
}

static void cause_of_lock_type(const struct vg_view *view, struct explanation *explanation)
{
        const char *name = view->volume_group->name;

        if (view->metadata->lock_type) {
                explanation_cause(explanation, "shared", "it is shared by several hosts (lock type %s)",
                        view->metadata->lock_type);
                explanation_advise(explanation,
                        "Activate it with the lock manager: \"vgchange --lockstart %s\", then \"vgchange -aey "
                        "%s\" or \"-asy\", see lvmlockd(8); or leave that to the cluster.",
                        name, name);
        } else if (view->metadata->clustered) {
                explanation_cause(
                        explanation, "clustered", "it is clustered, which lvm2 has no support for any more");
                explanation_advise(explanation,
                        "If no other host uses it: \"vgchange --locktype none --lockopt force %s\".", name);
        }
}

void causes_of_metadata(const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const char *name = view->volume_group->name;

        if (!view->metadata)
                return;
        if (view->metadata->exported) {
                explanation_cause(explanation, "exported", "it is exported");
                explanation_advise(explanation,
                        "If it is to be used on this host: \"vgimport %s\", then \"vgchange -aay %s\".", name,
                        name);
        }
        cause_of_system_id(sources, view, explanation);
        cause_of_lock_type(view, explanation);
        if (view->metadata->autoactivation_off) {
                explanation_cause(explanation, "vg-autoactivation-off", "its autoactivation is off");
                explanation_advise(explanation,
                        "Activate it by \"vgchange -ay %s\"; to have it activated by itself from now on: "
                        "\"vgchange --setautoactivation y %s\".",
                        name, name);
        }
}

/* ------ what lvm.conf says ------ */

enum naming {
        NAMED,
        NAMED_BY_TAG, /* perhaps: lvm2 has to tell */
        NOT_NAMED,
};

/* How lvm2 reads these lists (lvm.conf(5)): "vg", "vg/lv", "@tag", "@*". `lv` may be NULL, for any LV. */
static enum naming find_in_list(const struct configuration_list *list, const char *vg, const char *lv)
{
        enum naming naming = NOT_NAMED;

        for (size_t i = 0; i < list->values.n; i++) {
                const char *value = list->values.strings[i], *rest = skip_prefix(value, vg);

                if (value[0] == '@')
                        naming = NAMED_BY_TAG;
                else if (rest && (rest[0] == '\0' || (rest[0] == '/' && (!lv || streq(rest + 1, lv)))))
                        return NAMED;
        }
        return naming;
}

/* Returns whether it is one. */
static bool cause_of_list(const struct configuration_list *list, const char *setting, const char *condition,
        const char *vg, const char *lv, struct explanation *explanation)
{
        enum naming naming = list->set ? find_in_list(list, vg, lv) : NAMED;

        if (naming == NAMED)
                return false;
        explanation_cause(explanation, condition, "%s in " LVM_CONF " does not name it%s", setting,
                naming == NAMED_BY_TAG ? ", unless by a tag" : "");
        explanation_advise(explanation, "Add \"%s%s%s\" to %s in " LVM_CONF ", if it is to be activated.", vg,
                lv ? "/" : "", lv ?: "", setting);
        return true;
}

static bool causes_of_lists(
        const struct sources *sources, const char *vg, const char *lv, struct explanation *explanation)
{
        const struct configuration *configuration = &sources->configuration;
        bool automatic, any;

        automatic = cause_of_list(&configuration->auto_activation_volume_list,
                "activation/auto_activation_volume_list", "auto-activation-volume-list", vg, lv, explanation);
        any = cause_of_list(
                &configuration->volume_list, "activation/volume_list", "volume-list", vg, lv, explanation);
        if (automatic && !any)
                explanation_advise(explanation, "Or activate it by hand: \"%s -ay %s%s%s\".",
                        lv ? "lvchange" : "vgchange", vg, lv ? "/" : "", lv ?: "");
        return automatic || any;
}

void causes_of_configuration(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const char *name = view->volume_group->name;

        if (!sources->configuration.event_activation) {
                explanation_cause(explanation, "event-activation-off",
                        "global/event_activation is 0 in " LVM_CONF ", so that nothing is activated by itself");
                explanation_advise(explanation, "Activate it by hand: \"vgchange -ay %s\".", name);
        }
        (void) causes_of_lists(sources, name, NULL, explanation);
}

/* ------ what lvm2 has said of a PV ------ */

/* What lvm2 says of a device that it leaves alone (lvm2, lib/device/dev-type.c and tools/pvscan.c), and what is
 * wrong then. */
static const struct {
        const char *words;
        const char *condition;
        const char *advice;
} refusals[] = {
        {"filter", "filter", "Let devices/filter and devices/global_filter in " LVM_CONF " accept the device."},
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

static void fact_of_filter(
        const char *setting, const struct configuration_list *list, struct explanation *explanation)
{
        _cleanup_free_ char *values = list->set ? string_vector_join(&list->values, "\", \"") : NULL;

        if (values)
                explanation_fact(explanation, "%s in " LVM_CONF " is [ \"%s\" ].", setting, values);
}

void causes_of_refusal(
        const struct sources *sources, const char *pvid, const char *words, struct explanation *explanation)
{
        const struct configuration *configuration = &sources->configuration;

        for (size_t i = 0; i < ELEMENTSOF(refusals); i++)
                if (strstr(words, refusals[i].words)) {
                        explanation_condition(explanation, refusals[i].condition);
                        if (refusals[i].advice)
                                explanation_advise(explanation, "%s", refusals[i].advice);
                }
        if (explanation_has_condition(explanation, "filter")) {
                fact_of_filter("devices/filter", &configuration->filter, explanation);
                fact_of_filter("devices/global_filter", &configuration->global_filter, explanation);
        }
        if (!configuration->no_devicesfile && configuration->devicesfile[0] != '\0' && pvid[0] != '\0' &&
                devices_file_find_pv(sources->root_fd, configuration->devicesfile, pvid) ==
                        DEVICES_FILE_NOT_LISTED)
                explanation_fact(
                        explanation, "/etc/lvm/devices/%s does not list this PV.", configuration->devicesfile);
}

/* ------ LVs ------ */

void causes_of_lv(const struct sources *sources, const struct vg_view *view, const struct volume_group_lv *lv,
        struct explanation *explanation)
{
        const struct metadata_lv *metadata = vg_view_find_metadata_lv(view, lv->name);
        const char *vg = view->volume_group->name;

        if (lv->stranded) {
                explanation_cause(explanation, "stranded", "it is in the kernel, on a disk that has gone");
                explanation_advise(explanation,
                        "If nothing uses it: \"headgate deactivate %s/%s\", then \"headgate activate %s\".", vg,
                        lv->name, vg);
                explanation_advise(explanation,
                        "If it is in use, and the disk is back: \"lvchange --refresh %s/%s\".", vg, lv->name);
                return;
        }
        if (metadata && metadata->activation_skip) {
                explanation_cause(explanation, "activation-skip", "its activation skip flag is set");
                explanation_advise(explanation,
                        "Activate it in spite of the flag: \"lvchange -ay -K %s/%s\"; to clear the flag: "
                        "\"lvchange --setactivationskip n %s/%s\".",
                        vg, lv->name, vg, lv->name);
        }
        if (metadata && metadata->autoactivation_off) {
                explanation_cause(explanation, "lv-autoactivation-off", "its autoactivation is off");
                explanation_advise(explanation,
                        "Activate it by \"lvchange -ay %s/%s\"; to have it activated by itself from now on: "
                        "\"lvchange --setautoactivation y %s/%s\".",
                        vg, lv->name, vg, lv->name);
        }
        if (!lv->autoactivated) {
                if (!metadata || (!metadata->activation_skip && !metadata->autoactivation_off))
                        explanation_cause(explanation, "not-wanted", "it is not activated by itself");
                return;
        }
        if (view->volume_group->state == VOLUME_GROUP_DEACTIVATED) {
                explanation_cause(explanation, "deactivated", "somebody has deactivated it since");
                explanation_advise(explanation, "Activate it again: \"lvchange -ay %s/%s\".", vg, lv->name);
                return;
        }
        if (causes_of_lists(sources, vg, lv->name, explanation))
                return;
        if (view->volume_group->state == VOLUME_GROUP_DEGRADED && volume_group_is_incomplete(view->volume_group))
                explanation_cause(explanation, "missing-pv", "it cannot do without the PVs that are missing");
        else if (view->volume_group->state == VOLUME_GROUP_ACTIVE)
                explanation_cause(explanation, "not-wanted", "lvm2 has left it out, and has not said why");
}

/* ------ devices ------ */

/* lvm2's default of devices/pv_min_size. */
#define PV_SIZE_MIN (2U * 1024 * 1024)

/* An LV that lvm2 has been told to take notice of may be one that udev's rules still pass over. */
static void causes_of_rule_for_lvs(
        const struct sources *sources, const struct device_facts *facts, struct explanation *explanation)
{
        int takes_lvs = rule_file_stock_takes_lvs(sources->root_fd);

        explanation_fail(explanation, takes_lvs);
        if (facts->pvscan_on_lvs ||
                (sources->in_charge ? flags_is_set(sources->run_fd, FLAGS_PVS_ON_LVS) != 0 : takes_lvs != 0))
                return;
        explanation_cause(explanation, "pv-on-lv", "it is an LV, and udev's rules pass over PVs on LVs");
        explanation_advise(explanation,
                takes_lvs > 0 ? "devices/scan_lvs=1 in lvm.conf counts from the next boot on."
                              : "If the PV is this host's own, not a virtual machine's: have a udev rule set "
                                "LVM_PVSCAN_ON_LVS=1 for it, see headgate-request(8).");
}

static void causes_of_layers(
        const struct sources *sources, const struct device_facts *facts, struct explanation *explanation)
{
        const struct dm_device *dm = sources_find_dm_device(sources, facts->number);

        if (facts->upper_map && facts->upper_is_md) {
                explanation_cause(
                        explanation, "md-component", "it is a part of the md array %s", facts->upper_map);
                explanation_advise(
                        explanation, "What is in the array is to be found on /dev/%s.", facts->upper_map);
        } else if (facts->fs_type && streq(facts->fs_type, "linux_raid_member")) {
                explanation_cause(
                        explanation, "md-component", "it is a part of an md array, which is not assembled");
                explanation_advise(explanation, "Assemble the array: \"mdadm --assemble --scan\".");
        }
        if (facts->multipath_path || (facts->upper_map && !facts->upper_is_md)) {
                explanation_cause(explanation, "multipath-component", "it is a path of a multipath device%s%s",
                        facts->upper_map ? ", " : "", facts->upper_map ?: "");
                explanation_advise(explanation, "lvm2 uses the multipath device instead, see \"multipath -ll\".");
        }
        if (facts->fs_type && streq(facts->fs_type, "crypto_LUKS")) {
                explanation_cause(
                        explanation, "luks", "it is encrypted (LUKS), and what is in it is on another device");
                explanation_advise(
                        explanation, "If it is not open yet: \"cryptsetup open %s NAME\".", facts->path);
        }
        if (dm && skip_prefix(dm->uuid, "LVM-") && !sources->configuration.scan_lvs) {
                explanation_cause(explanation, "pv-on-lv", "it is an LV, and lvm2 takes no notice of PVs on LVs");
                explanation_advise(explanation,
                        "If the PV is this host's own, not a virtual machine's: devices/scan_lvs=1 in lvm.conf.");
        } else if (dm && skip_prefix(dm->uuid, "LVM-")) {
                causes_of_rule_for_lvs(sources, facts, explanation);
        }
}

static void causes_of_content(const struct device_facts *facts, struct explanation *explanation)
{
        if (facts->suspended) {
                explanation_cause(
                        explanation, "suspended", "it is suspended, so that whoever reads it has to wait");
                explanation_advise(explanation, "Find out who has suspended it; \"dmsetup resume\" ends that.");
        }
        if (facts->partition_table && !facts->pv.found) {
                explanation_cause(
                        explanation, "partition-table", "it has a partition table (%s)", facts->partition_table);
                explanation_advise(explanation, "Ask for its partitions one by one.");
        }
        if (facts->partition_table && facts->pv.found) {
                explanation_cause(explanation, "partition-table",
                        "it has a partition table (%s) besides the PV's label", facts->partition_table);
                explanation_advise(explanation, "If the whole disk is the PV, remove the table: wipefs(8), -t %s.",
                        facts->partition_table);
        }
        if (facts->size > 0 && facts->size < PV_SIZE_MIN)
                explanation_cause(explanation, "too-small",
                        "it has %" PRIu64 " bytes, less than devices/pv_min_size", facts->size);
}

void causes_of_device(
        const struct sources *sources, const struct device_facts *facts, struct explanation *explanation)
{
        causes_of_layers(sources, facts, explanation);
        causes_of_content(facts, explanation);
}

void explain_udev(const struct device_facts *facts, struct explanation *explanation)
{
        if (facts->rules_disabled) {
                explanation_condition(explanation, "rules-disabled");
                explanation_fact(explanation, "device-mapper has udev's rules leave it alone "
                                              "(DM_UDEV_DISABLE_OTHER_RULES_FLAG=1).");
        }
        if (facts->not_ready) {
                explanation_condition(explanation, "not-ready");
                explanation_fact(explanation, "udev says that it is not ready (SYSTEMD_READY=0).");
        }
        if (!facts->in_udev) {
                explanation_condition(explanation, "not-in-udev");
                explanation_fact(explanation, "udev has not dealt with it yet.");
                explanation_advise(explanation, "See whether udev is busy: \"udevadm settle\".");
        }
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

#define ADVICE_ON_DUPLICATES                                                                                      \
        "Take one of the two devices away, or give the copy an identity of its own: vgimportclone(8)."

void explain_duplicate_of_device(
        const struct sources *sources, const struct device_facts *facts, struct explanation *explanation)
{
        const struct record_entry *entry;

        if (!sources->records)
                return;
        dm_list_iterate_items(entry, &sources->records->records) {
                _cleanup_free_ char *other = NULL;
                int r = find_other_device(sources, entry, facts->pv.pvid, facts->number, &other);

                explanation_fail(explanation, r);
                if (r <= 0)
                        continue;
                explanation_condition(explanation, "duplicate-pv");
                explanation_fact(explanation,
                        "/dev/%s holds the same PV, one being a copy or another path of the other.", other);
                explanation_advise(explanation, ADVICE_ON_DUPLICATES);
                return;
        }
}

static void explain_duplicate_of_vg(
        const struct volume_group_pv *pv, const char *other, struct explanation *explanation)
{
        char formatted[LVM_ID_FORMATTED_SIZE];

        lvm_id_format(pv->pvid, formatted);
        explanation_condition(explanation, "duplicate-pv");
        explanation_fact(explanation,
                "PV %s is on %s and also on /dev/%s, which is a copy or another path: headgate goes by the "
                "former, and lvm2 may refuse to activate what is on either.",
                formatted, pv->device_name ?: "?", other);
        explanation_advise(explanation, ADVICE_ON_DUPLICATES);
}

void explain_duplicate_pvs(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        const struct record_entry *entry;

        if (!sources->records)
                return;
        dm_list_iterate_items(entry, &sources->records->records)
                for (size_t i = 0; i < volume_group->n_pvs; i++) {
                        const struct volume_group_pv *pv = &volume_group->pvs[i];
                        _cleanup_free_ char *other = NULL;
                        int r = pv->device == 0 ? 0
                                                : find_other_device(sources, entry, pv->pvid, pv->device, &other);

                        explanation_fail(explanation, r);
                        if (r > 0)
                                explain_duplicate_of_vg(pv, other, explanation);
                }
}
