/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What keeps lvm2 from activating VGs and LVs: what metadata, lvm.conf and lvm2's own words say, each with what to do about
 * it. */

#include "lvm/configuration.h"
#include "shared/kernel.h"
#include "why/why.h"

#define LVM_CONF "lvm.conf"

/* ------ what the metadata says ------ */

void causes_of_metadata(struct why *why)
{
        const struct system_id *host = &why->sources->configuration.system_id;
        const struct volume_group *metadata = why->view->metadata;
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
        const struct configuration_list *list, const char *lv, const char *name)
{
        enum list_naming naming = configuration_list_find(list, why->vg->name, lv);

        if (naming == LIST_NAMES)
                return false;
        why_cause(why, condition, "%s in " LVM_CONF " does not name it%s", setting,
                naming == LIST_NAMES_BY_TAG ? ", unless by a tag" : "");
        why_advise(why, "Add \"%s\" to %s in " LVM_CONF ", if it is to be activated.", name, setting);
        return true;
}

static bool causes_of_lists(struct why *why, const char *lv, const char *name)
{
        const struct configuration *configuration = &why->sources->configuration;
        bool automatic, any;

        automatic = cause_of_list(why, "auto-activation-volume-list", "activation/auto_activation_volume_list",
                &configuration->auto_activation_volume_list, lv, name);
        any = cause_of_list(why, "volume-list", "activation/volume_list", &configuration->volume_list, lv, name);
        if (automatic && !any)
                why_advise(why, "Or activate it by hand: \"%s -ay %s\".", lv ? "lvchange" : "vgchange", name);
        return automatic || any;
}

void causes_of_configuration(struct why *why)
{
        if (!why->sources->configuration.event_activation)
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

static void fact_of_filter(struct why *why, const char *setting, const struct configuration_list *list)
{
        _cleanup_free_ char *values = list->set ? string_vector_join(&list->values, "\", \"") : NULL;

        if (values)
                why_fact(why, "%s in " LVM_CONF " is [ \"%s\" ].", setting, values);
}

void causes_of_refusal(struct why *why, const char *pvid, const char *words)
{
        const struct configuration *configuration = &why->sources->configuration;

        FOREACH_ARRAY(refusal, refusals, ELEMENTSOF(refusals))
                if (strstr(words, refusal->words)) {
                        why_condition(why, refusal->condition);
                        if (refusal->advice)
                                why_advise(why, "%s", refusal->advice);
                }
        if (string_vector_has(&why->conditions, "filter")) {
                fact_of_filter(why, "devices/filter", &configuration->filter);
                fact_of_filter(why, "devices/global_filter", &configuration->global_filter);
        }
        if (configuration->use_devicesfile != 0 && configuration->devicesfile[0] != '\0' && pvid[0] != '\0' &&
                devices_file_find_pv(why->sources->root_fd, configuration->devicesfile, pvid) ==
                        DEVICES_FILE_NOT_LISTED)
                why_fact(why, "/etc/lvm/devices/%s does not list this PV.", configuration->devicesfile);
}

/* ------ LVs ------ */

void causes_of_lv(struct why *why, const struct volume_group_lv *lv)
{
        const struct volume_group_lv *metadata =
                why->view->metadata ? volume_group_find_lv(why->view->metadata, lv->name) : NULL;
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
        } else if (why->vg->state == VOLUME_GROUP_DEACTIVATED)
                why_remedy(why, "deactivated", "somebody has deactivated it since",
                        "Activate it again: \"lvchange -ay %s\".", name);
        else if (causes_of_lists(why, lv->name, name))
                return;
        else if (why->vg->state == VOLUME_GROUP_DEGRADED && volume_group_is_incomplete(why->vg))
                why_cause(why, "missing-pv", "it cannot do without the PVs that are missing");
        else if (why->vg->state == VOLUME_GROUP_ACTIVE)
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
