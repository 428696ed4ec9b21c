/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/device_causes.h"

#include <inttypes.h>

#include "shared/flags.h"
#include "shared/udev.h"

/* lvm2's default of devices/pv_min_size. */
#define PV_SIZE_MIN (2U * 1024 * 1024)

/* An LV that lvm2 has been told to take notice of may be one that udev's rules still pass over. */
static void causes_of_rule_for_lvs(
        const struct sources *sources, const struct device_facts *facts, struct explanation *explanation)
{
        int takes_lvs = rule_file_stock_takes_lvs(sources->root_fd);

        if (takes_lvs < 0)
                explanation->error = takes_lvs;
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
