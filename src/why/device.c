/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/device.h"

#include <inttypes.h>

#include "lvm/online.h"
#include "why/causes.h"
#include "why/duplicates.h"
#include "why/holders.h"
#include "why/volume_group.h"

/* lvm2's default of devices/pv_min_size. */
#define PV_SIZE_MIN (2U * 1024 * 1024)

/* ------ what keeps lvm2 away from it, whatever is on it ------ */

static void causes_of_layers(
        const struct machine *machine, const struct device_facts *facts, struct explanation *explanation)
{
        const struct dm_device *dm = machine_find_dm_device(machine, facts->number);

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
        if (dm && skip_prefix(dm->uuid, "LVM-") && !machine->configuration.scan_lvs) {
                explanation_cause(explanation, "pv-on-lv", "it is an LV, and lvm2 takes no notice of PVs on LVs");
                explanation_advise(explanation,
                        "If the PV is this host's own, not a virtual machine's: devices/scan_lvs=1 in lvm.conf.");
        }
}

static void causes_of_device(const struct device_facts *facts, struct explanation *explanation)
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

/* What udev says of it, which may keep headgate from looking at it. */
static void explain_udev(const struct device_facts *facts, struct explanation *explanation)
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

/* ------ what is on it ------ */

static void answer_no_pv(const struct device_facts *facts, struct explanation *explanation)
{
        const struct pv *pv = &facts->pv;

        if (pv->error < 0) {
                explanation_condition(explanation, "unreadable");
                explanation_answer(explanation, VERDICT_UNKNOWN, "unknown", "%s cannot be read: %s.", facts->path,
                        strerror(-pv->error));
        } else if (pv->damage) {
                explanation_condition(explanation, "damaged");
                explanation_answer(explanation, VERDICT_DOWN, "damaged", "%s has a damaged LVM label: %s.",
                        facts->path, pv->damage);
                explanation_advise(explanation, "See what can be saved: pvck(8), vgcfgrestore(8).");
        } else {
                explanation_condition(explanation, "no-pv");
                explanation_answer(explanation, VERDICT_DOWN, "no-pv", "%s is not a PV: %s.", facts->path,
                        explanation_first_cause(explanation, "it has no LVM label"));
                if (facts->fs_type)
                        explanation_fact(explanation, "By blkid it holds %s.", facts->fs_type);
        }
        explanation_tell_other_causes(explanation);
}

static void answer_orphan(const struct device_facts *facts, const char *uuid, struct explanation *explanation)
{
        const struct pv *pv = &facts->pv;

        if (pv->damage) {
                explanation_condition(explanation, "damaged");
                explanation_answer(explanation, VERDICT_DOWN, "damaged",
                        "%s is a PV whose metadata is damaged: %s.", facts->path, pv->damage);
                explanation_advise(explanation, "See what can be saved: pvck(8), vgcfgrestore(8).");
        } else {
                explanation_condition(explanation, "no-vg");
                explanation_answer(explanation, VERDICT_DOWN, "no-vg", "%s is a PV that belongs to no VG%s.",
                        facts->path,
                        pv->label.n_metadata_areas == 0 ? ", as far as it tells: it holds no metadata" : "");
        }
        explanation_fact(explanation, "Its PV UUID is %s.", uuid);
        explanation_tell_other_causes(explanation);
}

/* lvm2 has made a record of each PV that it accepts, if it was asked at all. */
static void explain_recording(
        const struct machine *machine, const struct device_facts *facts, struct explanation *explanation)
{
        const char *pvid = facts->pv.label.pvid;
        dev_t recorded;

        if (machine->lvm_run_fd < 0)
                return;
        if (online_read_pv(machine->lvm_run_fd, pvid, &recorded) == ONLINE_FOUND) {
                if (recorded == facts->number)
                        return;
                explanation_fact(explanation, "lvm2 has recorded this PV as another device.");
                return;
        }
        explanation_condition(explanation, "refused");
        explanation_fact(explanation, "lvm2 has not recorded it as a PV that is there.");
        causes_of_refusal(machine, pvid,
                machine->configuration.filter.set || machine->configuration.global_filter.set ? "filter" : "",
                explanation);
}

static int explain_duplicate(
        const struct machine *machine, const struct device_facts *facts, struct explanation *explanation)
{
        _cleanup_free_ char *other = NULL;
        int r;

        r = find_duplicate_of_pv(machine, facts->pv.label.pvid, facts->number, &other);
        if (r <= 0)
                return r;
        explanation_condition(explanation, "duplicate-pv");
        explanation_fact(
                explanation, "/dev/%s holds the same PV, one being a copy or another path of the other.", other);
        explanation_advise(explanation,
                "Take one of the two devices away, or give the copy an identity of its own: vgimportclone(8).");
        return 0;
}

/* Which VG a PV without metadata is of, the VG's other PVs have told the worker. */
static int find_vg_name(const struct machine *machine, const struct device_facts *facts, char **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        _cleanup_free_ char *path = NULL;
        int r;

        if (facts->pv.metadata) {
                *ret = strdup(facts->pv.metadata->name);
                return *ret ? 1 : -ENOMEM;
        }
        if (machine->run_fd < 0)
                return 0;
        path = string_format("members/%s", facts->pv.label.pvid);
        if (!path)
                return -ENOMEM;
        char vgid[LVM_ID_SIZE] = {};
        if (readlinkat(machine->run_fd, path, vgid, LVM_ID_LENGTH) != LVM_ID_LENGTH)
                return 0;
        free(path);
        path = string_format(VOLUME_GROUP_DIRECTORY "/%s", vgid);
        r = path ? volume_group_load_name(machine->run_fd, path, ret) : -ENOMEM;
        return r == -ENOMEM ? r : r >= 0;
}

static void answer_of_vg(const struct device_facts *facts, const char *name, const struct explanation *vg,
        struct explanation *explanation)
{
        explanation_answer(explanation, vg->verdict, vg->state ?: "unknown", "%s is a PV of VG %s, which is %s.",
                facts->path, name, vg->state ?: "not known");
        explanation_tell_other_causes(explanation);
        if (explanation->causes.n > 0)
                explanation_fact(explanation, "lvm2 leaves the device alone: %s.", explanation->causes.strings[0]);
        for (size_t i = 0; i < vg->conditions.n; i++)
                explanation_condition(explanation, vg->conditions.strings[i]);
        if (vg->answer)
                explanation_fact(explanation, "%s", vg->answer);
        for (size_t i = 0; i < vg->facts.n; i++)
                explanation_fact(explanation, "%s", vg->facts.strings[i]);
        for (size_t i = 0; i < vg->advice.n; i++)
                explanation_advise(explanation, "%s", vg->advice.strings[i]);
}

static int explain_pv(
        const struct machine *machine, const struct device_facts *facts, struct explanation *explanation)
{
        _cleanup_explanation_ struct explanation vg = {};
        _cleanup_record_ struct record record = {};
        char uuid[LVM_ID_FORMATTED_SIZE];
        _cleanup_free_ char *name = NULL;
        int r;

        lvm_id_format(facts->pv.label.pvid, uuid);
        r = find_vg_name(machine, facts, &name);
        if (r < 0)
                return r;
        if (r == 0) {
                answer_orphan(facts, uuid, explanation);
                return explain_duplicate(machine, facts, explanation);
        }

        explanation_fact(explanation, "Its PV UUID is %s.", uuid);
        if (facts->pv.metadata && !facts->pv.metadata->exported && !facts->pv.metadata->lock_type)
                explain_recording(machine, facts, explanation);
        r = record_find(machine, name, &record);
        if (r > 0)
                r = volume_group_explain(machine, &record, &vg);
        if (r >= 0)
                r = explain_duplicate(machine, facts, explanation);
        if (r >= 0)
                answer_of_vg(facts, name, &vg, explanation);
        return r;
}

int device_explain(
        const struct machine *machine, const struct device_facts *facts, struct explanation *explanation)
{
        int r = 0;

        causes_of_layers(machine, facts, explanation);
        causes_of_device(facts, explanation);
        if (facts->pv.found)
                r = explain_pv(machine, facts, explanation);
        else
                answer_no_pv(facts, explanation);
        explain_udev(facts, explanation);
        if (r < 0 || !facts->kernel_name)
                return r;
        return explain_holders_of_device(machine, facts->number, facts->kernel_name, explanation);
}
