/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Explains why a VG waits or is only partly active: missing PVs, degraded RAIDs, its place in the queue. */

#include <inttypes.h>
#include <sys/stat.h>

#include "boot/plan.h"
#include "lvm/dm-devices.h"
#include "reader/pv.h"
#include "shared/flags.h"
#include "shared/kernel.h"
#include "shared/program.h"
#include "why/why.h"

/* ------ devices that may contain PVs: locked LUKS, md arrays that are not started ------ */

/* Whether the device at `place` in a device's sysfs directory, "" for itself, is an md array that waits for members (the kernel's
 * Documentation/admin-guide/md.rst). */
static bool is_array_not_started(const struct sources *sources, dev_t device, const char *place)
{
        struct path path = path_format("%smd/array_state", place);
        _cleanup_free_ char *state = NULL;

        return sysfs_read_attribute(sources->root_fd, device, path.text, &state) > 0 && streq(state, "inactive");
}

static bool is_in_use(const struct sources *sources, dev_t device)
{
        _cleanup_closedir_ DIR *holders = open_directory_at(sources->root_fd, sysfs_path(device, "holders").text);

        return ANY(FOREACH_ENTRY(name, holders),
                !is_array_not_started(sources, device, path_format("holders/%s/", name).text));
}

static void add_unopened(struct why *why, const char *path, struct enumeration *unopened)
{
        _cleanup_crypttab_entry_ struct crypttab_entry entry = {};
        struct path text;

        why_fail(why, crypttab_find(why->sources->root_fd, NULL, strrchr(path, '/') + 1, &entry));
        text = path_format("%s (line %u of " CRYPTTAB_FILE ")", path, entry.line);
        enumeration_add(unopened, entry.line > 0 ? text.text : path);
}

/* Members of an array that were found. Starts empty. */
struct members {
        struct enumeration paths;
        uint64_t roles; /* a bit for each */
        uint32_t n;     /* number of members of the array; 0 if unknown */
        const char *uuid;
};

static void add_member(struct why *why, sd_device *device, dev_t number, const char *path, struct members *members)
{
        _cleanup_pv_ struct pv pv = {};

        enumeration_add(&members->paths, path);
        (void) sd_device_get_property_value(device, "ID_FS_UUID", &members->uuid);
        why_fail(why, pv_read(why->sources->root_fd, number, path, &pv));
        if (pv.md_disks == 0 || pv.md_disks > 64)
                return;
        members->n = pv.md_disks;
        members->roles |= pv.md_role < 64 ? UINT64_C(1) << pv.md_role : 0;
}

static void explain_members(struct why *why, const struct members *members)
{
        _cleanup_enumeration_ struct enumeration missing = {};

        why_state(why, "md-component", "Members of md array %s that are there: %s.", members->uuid ?: "?",
                members->paths.text);
        for (uint32_t i = 0; i < members->n; i++)
                if (!(members->roles & UINT64_C(1) << i))
                        enumeration_add(&missing, path_format("%" PRIu32, i).text);
        if (!missing.text) {
                why_advise(why, "Assemble the array: \"mdadm --assemble --scan\".");
                return;
        }
        why_fact(why, "Missing members of %" PRIu32 ", as numbered by \"mdadm --examine\": %s.", members->n,
                missing.text);
        why_advise(why, "If they are lost, start the array without them: \"mdadm --incremental --run --scan\".");
}

/* Explains devices that udev reports as LUKS or members of an array, and that have no device on them. If `array` has members by
 * udev's database, only these are shown; otherwise all, since their contents are not known. */
static void explain_unopened(struct why *why, const char *array)
{
        _cleanup_(sd_device_enumerator_unrefp) sd_device_enumerator *enumerator = NULL;
        _cleanup_enumeration_ struct enumeration unopened = {};
        struct members members = {};
        const char *path, *name;
        dev_t number;
        int r = devices_with_signature_new("crypto_LUKS", &enumerator)
                        ?: sd_device_enumerator_add_match_property(enumerator, "ID_FS_TYPE", "linux_raid_member");

        why_fail(why, r);
        if (r < 0)
                return;
        FOREACH_UDEV_DEVICE(device, enumerator) {
                if (sd_device_get_devname(device, &path) < 0 || sd_device_get_devnum(device, &number) < 0 ||
                        is_in_use(why->sources, number))
                        continue;
                add_unopened(why, path, &unopened);
                if (array && sd_device_get_property_value(device, "MD_DEVNAME", &name) >= 0 && streq(name, array))
                        add_member(why, device, number, path, &members);
        }
        if (members.paths.text)
                explain_members(why, &members);
        else if (unopened.text)
                why_fact(why, "The PVs may be on devices that are not unlocked or assembled: %s.", unopened.text);
        enumeration_done(&members.paths);
}

void explain_layers_below(struct why *why, const char *path)
{
        const char *name = skip_prefix(path, "/dev/mapper/");
        const char *array = skip_prefix(path, "/dev/md/");

        if (name && explain_crypttab(why, name, NULL))
                return;
        /* Numbers of arrays change with each boot, so they do not identify an array. */
        if ((skip_prefix(path, "/dev/md") || name || skip_prefix(path, "/dev/dm-") || *path == '\0') &&
                !root_is_chosen())
                explain_unopened(why, array);
}

/* ------ missing PVs ------ */

/* Explains the device where lvm2 saw the PV last. */
static void explain_last_place(struct why *why, const struct vg_pv *missing)
{
        const char *path = missing->device_name;
        _cleanup_pv_ struct pv pv = {};
        struct stat status;

        if (!path || stat(path, &status) < 0 || !S_ISBLK(status.st_mode)) {
                if (path)
                        why_fact(why, "%s does not exist now.", path);
                explain_layers_below(why, path ?: "");
                return;
        }
        if (is_array_not_started(why->sources, status.st_rdev, "")) {
                why_fact(why, "%s is an array that has not been started.", path);
                why_advise(why, "See which of its disks are missing: \"mdadm --detail %s\".", path);
                explain_layers_below(why, path);
                return;
        }
        why_fail(why, pv_read(why->sources->root_fd, status.st_rdev, path, &pv));
        if (pv.suspended) {
                why_state(why, "suspended", "%s is suspended: I/O to it waits.", path);
                why_advise(why, WHY_ADVICE_SUSPENDED);
        } else if (pv.error < 0) {
                explain_unreadable(why, path, pv.error);
        } else if (!pv.found) {
                why_fact(why, "%s exists, but is not a PV%s%s.", path, pv.damage ? ": " : "", pv.damage ?: "");
        } else if (!streq(pv.pvid, missing->pvid)) {
                why_fact(why, "%s is now PV %s.", path, LVM_ID_TO_STRING(pv.pvid));
        } else if (pv.metadata && !streq(pv.metadata->vgid, why->vg->vgid)) {
                why_fact(why, "%s has this PV, which now belongs to VG %s.", path, pv.metadata->name);
        } else if (!pv.metadata && pv.unused && !pv.damage) {
                why_fact(why, "%s has this PV, which now belongs to no VG.", path);
                why_advise(why,
                        "If the VG was removed (vgremove), remove its backup, too, or set expected = \"no\" for it in headgate.conf.");
        } else {
                why_fact(why, "%s has this PV, but udev has not announced it to headgate.", path);
                why_advise(why, "Have udev process it again: \"udevadm trigger --action=add %s\".", path);
        }
}

static void explain_missing_pv(struct why *why, const struct vg_pv *pv)
{
        const struct vg *metadata = why->view->metadata;
        const struct vg_pv *found = metadata ? vg_find_pv(metadata, pv->pvid) : NULL;
        const char *flagged = found && found->flagged ? " lvm2 has changed the VG without it (flag MISSING)." : "";

        why_fact(why, "PV %s is missing, %s%s.%s", LVM_ID_TO_STRING(pv->pvid),
                pv->device_name ? "last seen at " : "its last device is not known", pv->device_name ?: "",
                flagged);
        explain_last_place(why, pv);
}

static void explain_present_pvs(struct why *why)
{
        const struct vg *vg = why->vg;
        _cleanup_strv_ struct strv names = {};
        size_t n = vg_count(vg).seen;
        _cleanup_free_ char *joined = NULL;

        FOREACH_PV(pv, vg)
                if (names.n < TOLD_MAX && pv->device != 0)
                        why_fail(why, strv_add(&names, pv->device_name ?: "?"));
        joined = strv_join(&names, ", ");
        if (names.n > 0)
                why_fact(why, "%zu of its %zu PV%s %s there: %s%s.", n, vg->n_pvs, plural(vg->n_pvs),
                        n == 1 ? "is" : "are", joined ?: "?", n > names.n ? ", ..." : "");
}

static void explain_deadline(struct why *why)
{
        const struct vg *vg = why->vg;

        why_fact(why, "Waiting since %s%s%s.", TIME_TO_STRING(vg, vg->first_seen_usec),
                vg->overdue ? "; overdue, its deadline was " : "; its deadline is ",
                DURATION_TO_STRING(settings_get_policy(&why->sources->settings, vg->name).deadline_usec));
        if (vg->lost_after_active)
                why_fact(why, "A PV was removed while the VG was settled, and no PV has appeared since.");
}

/* If headgate.conf allows it, only the time is shown; otherwise a command. */
static void advise_on_degraded(struct why *why)
{
        const struct vg *vg = why->vg;
        bool allowed = settings_get_policy(&why->sources->settings, vg->name).degraded;

        if (why->view->recorded && allowed && !vg->overdue && !vg->lost_after_active)
                why_fact(why, "At its deadline, it is activated degraded, as headgate.conf allows.");
        else
                why_advise(why,
                        "headgate %s. To activate LVs that do not need the missing PVs: \"vgchange -ay "
                        "--activationmode degraded %s\", see lvmraid(7)%s.",
                        allowed ? "did not activate it without them"
                                : "activates incomplete VGs only if headgate.conf allows it",
                        vg->name, allowed ? "" : "; for the next time, \"degraded\" in headgate.conf(5)");
}

static void advise(struct why *why)
{
        bool degraded = why->vg->status == VG_STATUS_DEGRADED;
        /* It has other causes, or no LVs to activate. */
        bool excluded = why->n_causes > 1U + (why->vg->status == VG_STATUS_DEACTIVATED) ||
                        vg_count(why->vg).autoactivated == 0;

        why_advise(why, "Find out why the disk does not appear%s.",
                degraded   ? "; the inactive LVs are activated when it is there"
                : excluded ? ""
                           : "; the VG is activated as soon as the last PV is there");
        if (vg_count(why->vg).seen == 0)
                return;
        if (!degraded && why->vg->status != VG_STATUS_DEACTIVATED)
                advise_on_degraded(why);
        why_advise(why,
                "If the PVs are lost for good: \"vgreduce --removemissing %s\" removes them from the VG; "
                "vgreduce(8) explains what happens to LVs on them.",
                why->vg->name);
}

void explain_missing_pvs(struct why *why)
{
        const struct vg *vg = why->vg;
        size_t n_missing = vg_count(vg).missing, n_told = 0;

        if (n_missing == vg->n_pvs)
                why_cause(why, "missing-pv", "none of its %zu PV%s was seen", n_missing, plural(n_missing));
        else
                why_cause(why, "missing-pv", "%zu of its %zu PVs %s missing", n_missing, vg->n_pvs,
                        n_missing == 1 ? "is" : "are");

        explain_present_pvs(why);
        FOREACH_PV(pv, vg)
                if (pv->device == 0 && n_told++ < TOLD_MAX)
                        explain_missing_pv(why, pv);
        if (n_missing > TOLD_MAX)
                why_fact(why, "%zu more PVs are missing.", n_missing - TOLD_MAX);
        if (why->view->recorded && vg->first_seen_usec != 0 && vg->status == VG_STATUS_WAITING)
                explain_deadline(why);
        advise(why);
}

/* ------ degraded VGs ------ */

static void explain_late_pvs(struct why *why)
{
        FOREACH_PV(pv, why->vg)
                if (pv->late_usec > 0)
                        why_fact(why,
                                "PV %s appeared again at %s, as %s; RAIDs do not use it until it is added again.",
                                LVM_ID_TO_STRING(pv->pvid), TIME_TO_STRING(why->vg, pv->late_usec),
                                pv->device_name ?: "?");
}

/* lvm2 counts a PV with the flag as missing even if its device is there (vgextend(8)). */
void advise_on_flags(struct why *why)
{
        FOREACH_PV(pv, why->vg) {
                if (!pv->flagged || pv->device == 0)
                        continue;
                why_fact(why, "lvm2 has changed the VG without %s (flag MISSING).", pv->device_name ?: "it");
                why_advise(why, "First clear the PV's MISSING flag: \"vgextend --restoremissing %s %s\".",
                        why->vg->name, pv->device_name ?: "DEVICE");
        }
}

void explain_degraded(struct why *why)
{
        const struct vg *vg = why->vg;
        _cleanup_free_ char *refresh = NULL;

        why_condition(why, "degraded");
        if (vg_is_incomplete(vg))
                explain_missing_pvs(why);
        else
                why_cause(why, "degraded", "all of its PVs are there, but RAIDs do not use all of them");
        why_fact(why, "Degraded since %s: activated without missing PVs, as headgate.conf allows.",
                TIME_TO_STRING(vg, vg->degraded_usec));
        explain_late_pvs(why);

        if (raid_describe_refresh(why->sources->devices, vg, &refresh) == -ENOMEM)
                why_fail(why, -ENOMEM);
        advise_on_flags(why);
        if (!vg_is_incomplete(vg))
                why_advise(why, "To add the PVs to their RAIDs again: \"%s%s\".", refresh ?: "vgchange --refresh ",
                        refresh ? "" : vg->name);
}

/* ------ the queue ------ */

static int find_expected(const char *entry, void *userdata)
{
        const char **name = userdata, *expected = skip_prefix(entry, FLAGS_ENTRY_EXPECTED);

        if (*name && expected && streq(expected, *name))
                *name = NULL;
        return 0;
}

void explain_queue(struct why *why)
{
        const struct vg *vg = why->vg;
        const char *not_expected = vg->name;

        if (why->sources->run_fd < 0 || !why->sources->in_charge)
                return;
        if (vg->status == VG_STATUS_COMPLETE && !vg_is_incomplete(vg))
                why_fact(why, "Its last PV appeared at %s.", TIME_TO_STRING(vg, vg->complete_usec));
        if (vg->status == VG_STATUS_ACTIVATING)
                why_fact(why, "vgchange was started at %s.", TIME_TO_STRING(vg, vg->activating_usec));
        if (vg->status == VG_STATUS_ACTIVATING && vg->slow)
                why_fact(why,
                        "Its LVs may take long, by a check of a thin pool for instance; other VGs do not wait "
                        "for it.");
        (void) flags_walk_requests(why->sources->run_fd, find_expected, &not_expected);
        if (!not_expected)
                why_fact(why, "Needed at boot or requested by name; activated before others.");
        if (flags_is_set(why->sources->run_fd, FLAGS_BOOT_FINISHED) == 0)
                why_fact(why, "udev has not processed all devices of this boot yet.");
}
