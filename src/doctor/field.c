/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Problems of other machines' disks, of disks of virtual machines, of very many disks, and of missing VGs and devices. */

#include <fnmatch.h>

#include "boot/switches.h"
#include "doctor/doctor.h"
#include "fast-rules/semaphores.h"
#include "kernel-log/log.h"
#include "lvm/command.h"
#include "reader/pv.h"
#include "shared/dm.h"
#include "shared/kernel.h"
#include "shared/log.h"
#include "shared/program.h"
#include "timeline/journal.h"

/* ------ PVs that udev knows ------ */

/* Reads the PVs in lvm2's backups on this machine, by UUID. Returns 0 or a negative errno. */
static int find_known_pvs(const struct sources *sources, struct dm_hash_table **ret)
{
        _cleanup_strv_ struct strv files = {};
        int r = list_directory_at(sources->root_fd, sources->config.backup_dir, true, &files);

        *ret = dm_hash_create(256);
        if (r < 0 || !*ret)
                return r < 0 ? r : -ENOMEM;
        STRV_FOREACH(file, &files) {
                _cleanup_vg_ struct vg *vg = NULL;

                if (sources_read_backup(sources, basename(*file), &vg) < 0)
                        continue;
                FOREACH_PV(pv, vg)
                        if (!dm_hash_insert(*ret, pv->pvid, vg->pvs))
                                return -ENOMEM;
        }
        return 0;
}

/* PVs of other machines may be missing from the devices file on purpose. */
void check_unlisted(struct doctor *doctor)
{
        _cleanup_(sd_device_enumerator_unrefp) sd_device_enumerator *enumerator = NULL;
        _cleanup_enumeration_ struct enumeration unlisted = {};
        _cleanup_dm_hash_ struct dm_hash_table *known = NULL;
        _cleanup_free_ char *text = NULL;
        const struct config *config = &doctor->sources.config;
        struct path file = path_format("etc/lvm/devices/%s", config->devicesfile);
        int r;

        if (config->use_devicesfile == 0 || isempty(config->devicesfile))
                return;
        r = read_file_at(doctor->sources.root_fd, file.text, &text, NULL)
                    ?: find_known_pvs(&doctor->sources, &known);
        if (r < 0 && r != -ENOENT)
                finding_unknown(doctor, r, "Failed to read /%s or lvm2's backups: %m.", file.text);
        if (r < 0 || devices_with_signature_new("LVM2_member", &enumerator) < 0)
                return;
        FOREACH_UDEV_DEVICE(device, enumerator) {
                const char *uuid, *path;
                char pvid[LVM_ID_SIZE];

                if (sd_device_get_property_value(device, "ID_FS_UUID", &uuid) >= 0 &&
                        sd_device_get_devname(device, &path) >= 0 && lvm_id_parse(uuid, pvid) >= 0 &&
                        dm_hash_lookup(known, pvid) &&
                        devices_file_lacks_pv(doctor->sources.root_fd, config->devicesfile, pvid))
                        enumeration_add(&unlisted, path);
        }
        if (unlisted.n > 0)
                finding_warning(doctor, "Run for each of them: lvmdevices --adddev DEVICE",
                        "PVs of this machine's VGs are not in /etc/lvm/devices/%s, so lvm2 ignores them: %s.",
                        config->devicesfile, unlisted.text ?: "?");
}

/* Most such LVs are disks of virtual machines. */
void check_nested(struct doctor *doctor)
{
        _cleanup_(sd_device_enumerator_unrefp) sd_device_enumerator *enumerator = NULL;
        _cleanup_enumeration_ struct enumeration nested = {};

        if (!doctor->sources.config.scan_lvs || !doctor->tree ||
                devices_with_signature_new("LVM2_member", &enumerator) < 0)
                return;
        FOREACH_UDEV_DEVICE(device, enumerator) {
                const struct tree_node *node;
                dev_t number;

                if (sd_device_get_devnum(device, &number) >= 0 &&
                        (node = tree_find_number(doctor->tree, number)) && node->vg)
                        enumeration_add(&nested, node->name);
        }
        if (nested.n > 0)
                finding_warning(doctor,
                        "If they are disks of virtual machines: scan_lvs=0 in lvm.conf(5), then vgchange -an VG",
                        "LVs are PVs of VGs that lvm2 activates (scan_lvs=1): %s.", nested.text ?: "?");
}

/* ------ other machines ------ */

void check_system_id(struct doctor *doctor)
{
        _cleanup_enumeration_ struct enumeration foreign = {};
        _cleanup_plan_ struct plan plan = {};
        bool named = false;

        doctor->out_of_memory |= claims_find(&doctor->sources, &plan) < 0;
        FOREACH_ARRAY(vg, doctor->sources.vgs, doctor->sources.n_vgs) {
                const struct planned_vg *claim = plan_find(&plan, (*vg)->name);

                if (!system_id_is_foreign(&doctor->sources.config.system_id, (*vg)->system_id))
                        continue;
                enumeration_add(&foreign, (*vg)->name);
                named |= claim && claim->source;
        }
        if (foreign.n > 0)
                finding_add(doctor, named ? FINDING_WARNING : FINDING_OK, 0,
                        named ? "If it is this machine's: vgchange --systemid, see lvmsystemid(7)." : NULL,
                        "VGs of other machines, by their system IDs%s: %s.",
                        named ? ", of which boot waits for at least one" : "", foreign.text ?: "?");
}

/* Whether it may be a PV, or be below one: blkid has not found a file system on it. */
static bool may_be_pv(const struct tree_node *disk)
{
        _cleanup_(sd_device_unrefp) sd_device *device = NULL;
        const char *usage;

        return root_is_chosen() || sd_device_new_from_devnum(&device, 'b', disk->number) < 0 ||
               sd_device_get_property_value(device, "ID_FS_USAGE", &usage) < 0 || !streq(usage, "filesystem");
}

/* A multipath device stands for its paths. */
void check_reservations(struct doctor *doctor)
{
        _cleanup_enumeration_ struct enumeration names = {};
        _cleanup_dm_hash_ struct dm_hash_table *reserved = NULL;
        int r = reserved_disks_read(doctor->sources.root_fd, &reserved) ?: doctor->tree_error;

        if (r < 0)
                finding_unknown(doctor, r, "Failed to find reserved disks in the kernel log: %m.");
        else
                FOREACH_NODE(disk, &doctor->tree->nodes)
                        if (disk->kernel_name &&
                                !ANY(FOREACH_NODE(map, &disk->uppers), map->kind == TREE_MULTIPATH) &&
                                (dm_hash_lookup(reserved, disk->kernel_name) ||
                                        ANY(FOREACH_NODE(path, &disk->lowers),
                                                disk->kind == TREE_MULTIPATH &&
                                                        dm_hash_lookup(reserved, path->kernel_name))) &&
                                may_be_pv(disk))
                                enumeration_add(&names, disk->name);
        if (names.n > 0)
                finding_warning(doctor,
                        "Find out which host that is, and have it release the disk: sg_persist --read-full-status "
                        "DEVICE, or for NVMe: nvme resv-report DEVICE",
                        "Disk%s reserved by another host (persistent reservation), by the last error in the kernel log: %s.",
                        plural(names.n), names.text ?: "?");
}

/* ------ missing VGs and LVs ------ */

#define REMOVE_WORD "Remove it from the boot loader's configuration, or correct it."

void check_command_line(struct doctor *doctor)
{
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ struct strv words = {};
        int r = read_file_at(doctor->sources.root_fd, "proc/cmdline", &text, NULL)
                        ?: command_line_split(text, &words);

        r = r == -ENOENT ? 0 : r ?: doctor->snapshot_error ?: sources_read_names(&doctor->sources);
        if (r < 0)
                finding_unknown(doctor, r, "Failed to read the kernel command line or VGs: %m.");
        STRV_FOREACH(word, &words) {
                const char *lv = skip_prefix(*word, "rd.lvm.lv="), *name = lv ?: skip_prefix(*word, "rd.lvm.vg=");
                /* dracut ignores an empty name. */
                _cleanup_free_ char *vg = isempty(name) ? NULL : strndup(name, strcspn(name, "/"));

                if (r >= 0 && vg && !sources_have_name(&doctor->sources, vg))
                        finding_warning(doctor, REMOVE_WORD,
                                "%s on the kernel command line: no VG %s is known; the initrd waits for it.",
                                *word, vg);
                else if (vg && lv && doctor->tree &&
                         !ANY(FOREACH_NODE(node, &doctor->tree->nodes),
                                 node->vg && streq(path_format("%s/%s", node->vg, node->lv).text, lv)))
                        finding_warning(doctor, REMOVE_WORD,
                                "%s on the kernel command line: there is no such active LV; an initrd of dracut waits for it.",
                                *word);
        }
}

void check_fstab(struct doctor *doctor)
{
        _cleanup_plan_ struct plan plan = {};
        bool known = doctor->sources.in_charge && doctor->snapshot_error >= 0;

        doctor->out_of_memory |= known && expected_find(&doctor->sources, true, &plan) < 0;
        FOREACH_ARRAY(planned, plan.vgs, plan.n) {
                const struct vg *vg = snapshot_find(&doctor->sources, planned->name);

                if (planned->needed && planned->source &&
                        (!vg || (vg->status == VG_STATUS_SKIPPED && plan_find_unmet(&plan, vg))))
                        finding_warning(doctor, "To boot without it, add nofail to its options.",
                                "VG %s is %s, so that boot waits for it and fails: %s", planned->name,
                                vg || planned->group == PLAN_NONE ? "not activated" : "absent",
                                (vg ? vg->reason : planned->reason) ?: "?");
        }
}

/* ------ udev and timeouts ------ */

/* Finds the first word of each line that contains the mark; or if the line begins with it, the word after it. Tests have a file
 * instead of the journal. */
static int find_in_journal(const struct doctor *doctor, const char *const *words, const char *file,
        const char *mark, struct enumeration *ret)
{
        _cleanup_free_ char *text = NULL;
        int r = root_is_chosen() ? read_file_at(doctor->sources.root_fd, file, &text, NULL)
                                 : command_run("/bin/journalctl", words, &text);

        FOREACH_LINE(line, r < 0 ? NULL : text)
                if (strstr(line, mark)) {
                        char *name = line + (skip_prefix(line, mark) ? strlen(mark) : 0);

                        name[strcspn(name, ": ")] = '\0';
                        enumeration_add(ret, name);
                }
        return r == -ENOENT ? 0 : r > 0 ? -EIO : r;
}

void timeouts_list_units(struct doctor *doctor, struct strv *ret)
{
        static const char *const targets[] = {"local-fs.target", "remote-fs.target", "swap.target"};
        _cleanup_strv_ struct strv units = {};
        int r = 0;

        FOREACH_ELEMENT(target, targets)
                r = r ?: systemd_get_list(&doctor->systemd, *target, "Requires", &units)
                                 ?: systemd_get_list(&doctor->systemd, *target, "Wants", &units);
        STRV_FOREACH(unit, &units)
                if (fnmatch("@(*.mount|*.swap)", *unit, FNM_EXTMATCH) == 0)
                        r = r ?: systemd_get_list(&doctor->systemd, *unit, "After", ret);
        SORT(ret->strings, ret->n, compare_strings);
        doctor->out_of_memory |= r < 0;
}

void timeouts_forecast(
        struct doctor *doctor, const struct strv *units, const struct timeline *earlier, struct enumeration *ret)
{
        const struct systemd *systemd = &doctor->systemd;
        uint64_t booted_usec = unit_get_usec(systemd, NULL, "UserspaceTimestampMonotonic"), until_usec = 0;

        /* After that, disks were plugged in. */
        doctor->out_of_memory |= timeline_find_pause(earlier, &until_usec) < 0;
        STRV_FOREACH(unit, units) {
                /* An unknown timeout, 0, counts as infinity. */
                uint64_t timeout_usec = MIN(unit_get_usec(systemd, *unit, "JobRunningTimeoutUSec") - 1,
                        unit_get_usec(systemd, *unit, "JobTimeoutUSec") - 1);
                _cleanup_free_ char *path = systemd_get_property(systemd, *unit, "SysFSPath");
                const struct tree_node *node =
                        path && doctor->tree ? tree_find_kernel_name(doctor->tree, basename(path)) : NULL;
                bool again = unit > units->strings && streq(unit[-1], *unit);

                FOREACH_ARRAY(bar, earlier->bars, node && node->vg && !again ? earlier->n : 0) {
                        uint64_t took_usec = usec_between(booted_usec, timeline_end_usec(bar));

                        if (streq(bar->name, node->vg) && bar->end == TIMELINE_DONE && took_usec > timeout_usec &&
                                bar->first_usec <= until_usec)
                                enumeration_add(ret, path_format("%s (timeout %s, VG %s took %s)", *unit,
                                                             DURATION_TO_STRING(timeout_usec + 1), bar->name,
                                                             DURATION_TO_STRING(took_usec))
                                                             .text);
                }
        }
}

/* Checks the last three boots, and reports the newest one with a problem. */
static void check_forecast(struct doctor *doctor)
{
        _cleanup_enumeration_ struct enumeration late = {};
        _cleanup_strv_ struct strv units = {};

        timeouts_list_units(doctor, &units);
        for (unsigned int i = 1; i <= 3 && units.n > 0 && late.n == 0; i++) {
                _cleanup_timeline_ struct timeline timeline = {.kind = TIMELINE_BOOT};

                if (timeline_read_earlier(&timeline, i) < 0)
                        continue;
                timeouts_forecast(doctor, &units, &timeline, &late);
                if (late.n > 0)
                        finding_warning(doctor,
                                "Raise x-systemd.device-timeout= in fstab(5), or DefaultDeviceTimeoutSec=.",
                                "In boot -%u, systemd would not have waited long enough for these devices: %s.", i,
                                late.text ?: "?");
        }
}

void check_timeouts(struct doctor *doctor)
{
        static const char *const of_udev[] = {"--boot", "--quiet", "--no-pager", "--output=cat", "--priority=err",
                "--identifier=systemd-udevd", "--identifier=(udev-worker)", NULL};
        static const char *const of_systemd[] = {"--boot", "--quiet", "--no-pager", "--output=cat", "_PID=1",
                "JOB_TYPE=start", "JOB_RESULT=timeout", NULL};
        _cleanup_enumeration_ struct enumeration events = {}, devices = {};
        sd_id128_t boot;
        int r = root_is_chosen() && !secure_getenv("HEADGATE_JOURNAL") ? 0 : timeline_find_boot("0", &boot);

        r = r ?: find_in_journal(doctor, of_udev, "journal-udevd", " kill", &events)
                        ?: find_in_journal(
                                   doctor, of_systemd, "journal-jobs", "Timed out waiting for device ", &devices);

        if (r < 0)
                finding_unknown(doctor, r, "Failed to read the journal of this boot: %m.");
        if (events.n > 0)
                finding_warning(doctor,
                        "See: journalctl -b -u systemd-udevd; if there are just many disks: event_timeout= in "
                        "udev.conf(5)",
                        "udev killed a worker or program that took too long for these devices: %s.",
                        events.text ?: "?");
        if (devices.n > 0)
                finding_warning(doctor,
                        "If they just appear late: x-systemd.device-timeout= in fstab(5), or "
                        "DefaultDeviceTimeoutSec=",
                        "systemd timed out waiting for these devices: %s.", devices.text ?: "?");
        check_forecast(doctor);
}

/* lvm2 waits for udev without a limit. */
#define COOKIE_AGE_MAX_SEC 60

void check_cookies(struct doctor *doctor)
{
        _cleanup_free_ struct suspect *suspects = NULL;
        size_t n = 0;
        int r = root_is_chosen() ? 0 : suspects_find(&suspects, &n);

        if (r < 0)
                finding_unknown(doctor, r, "Failed to read device-mapper's semaphores: %m.");
        FOREACH_ARRAY(suspect, suspects, n) {
                _cleanup_free_ char *advice = string_format("Run: dmsetup udevcomplete 0x%x", suspect->key),
                                    *name = NULL;

                if (suspect->state.left == 0 || time(NULL) - suspect->changed_sec < COOKIE_AGE_MAX_SEC)
                        continue;
                if (sysfs_read_at(doctor->sources.root_fd, path_format("proc/%i/comm", suspect->state.last).text,
                            &name) < 0)
                        name = strdup("an ended process");
                finding_warning(doctor, advice,
                        "Cookie 0x%x of device-mapper is not completed; %u process%s for it; last changed by %s "
                        "(%i).",
                        suspect->key, suspect->state.waiting, suspect->state.waiting == 1 ? " waits" : "es wait",
                        name ?: "?", suspect->state.last);
        }
}
