/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a VG that is not active, or not as a whole, waits for: PVs that are missing, the RAIDs of one that is degraded, its
 * turn. */

#include <inttypes.h>
#include <sys/stat.h>

#include "boot/plan.h"
#include "lvm/dm-devices.h"
#include "reader/pv.h"
#include "shared/flags.h"
#include "shared/kernel.h"
#include "shared/program.h"
#include "why/why.h"

/* ------ what PVs may be in: LUKS that is not unlocked, md arrays that are not started ------ */

/* Whether what is at `place` below a device's directory in sysfs, "" for itself, is an MD array of which members are still to
 * come. The state is described in the kernel's Documentation/admin-guide/md.rst. */
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

static bool is_member(sd_device *device, const char *array)
{
        const char *name = "";

        (void) sd_device_get_property_value(device, "MD_DEVNAME", &name);
        return array && streq(name, array);
}

static void add_unopened(struct why *why, const char *path, struct enumeration *unopened)
{
        _cleanup_crypttab_entry_ struct crypttab_entry entry = {};
        struct path text;

        why_fail(why, crypttab_find(why->sources->root_fd, NULL, strrchr(path, '/') + 1, &entry));
        text = path_format("%s (line %u of " CRYPTTAB_FILE ")", path, entry.line);
        enumeration_add(unopened, entry.line > 0 ? text.text : path);
}

/* The members of an array that are there. Starts empty. */
struct members {
        struct enumeration paths;
        uint64_t roles; /* a bit for each */
        uint32_t n;     /* that the array has; 0 if that is not known */
        const char *uuid;
};

static void add_member(struct why *why, sd_device *device, const char *path, struct members *members)
{
        _cleanup_pv_ struct pv pv = {};

        enumeration_add(&members->paths, path);
        (void) sd_device_get_property_value(device, "ID_FS_UUID", &members->uuid);
        why_fail(why, pv_read(path, &pv));
        if (pv.md_disks == 0 || pv.md_disks > 64)
                return;
        members->n = pv.md_disks;
        members->roles |= pv.md_role < 64 ? UINT64_C(1) << pv.md_role : 0;
}

static void explain_members(struct why *why, const struct members *members)
{
        _cleanup_enumeration_ struct enumeration missing = {};

        why_state(why, "md-component", "Of md array %s these members are there: %s.", members->uuid ?: "?",
                members->paths.text);
        for (uint32_t i = 0; i < members->n; i++)
                if (!(members->roles & UINT64_C(1) << i))
                        enumeration_add(&missing, path_format("%" PRIu32, i).text);
        if (!missing.text) {
                why_advise(why, "Assemble the array: \"mdadm --assemble --scan\".");
                return;
        }
        why_fact(why, "Of its %" PRIu32 " members these are missing, as \"mdadm --examine\" numbers them: %s.",
                members->n, missing.text);
        why_advise(why, "If they are lost, start the array without them: \"mdadm --incremental --run --scan\".");
}

/* What udev has found to be LUKS or a member of an array, and nothing lies on: the members of `array`, as mdadm told udev, or else,
 * and if it is NULL, all, as it is not known what is in them. */
static void explain_unopened(struct why *why, const char *array)
{
        _cleanup_(sd_device_enumerator_unrefp) sd_device_enumerator *enumerator = NULL;
        _cleanup_enumeration_ struct enumeration unopened = {};
        struct members members = {};
        const char *path;
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
                if (is_member(device, array))
                        add_member(why, device, path, &members);
        }
        if (members.paths.text)
                explain_members(why, &members);
        else if (unopened.text)
                why_fact(why, "PVs may be in these devices, which are not unlocked or assembled: %s.",
                        unopened.text);
        enumeration_done(&members.paths);
}

void explain_layers_below(struct why *why, const char *path)
{
        const char *name = skip_prefix(path, "/dev/mapper/");
        const char *array = skip_prefix(path, "/dev/md/");

        if (name && explain_crypttab(why, name, NULL))
                return;
        /* Arrays get their numbers anew at each boot: that tells nothing of who is who. */
        if ((skip_prefix(path, "/dev/md") || name || skip_prefix(path, "/dev/dm-") || *path == '\0') &&
                !root_is_chosen())
                explain_unopened(why, array);
}

/* ------ missing PVs ------ */

/* What is at the place where lvm2 had the PV. */
static void explain_last_place(struct why *why, const struct vg_pv *missing)
{
        const char *path = missing->device_name;
        _cleanup_pv_ struct pv pv = {};
        struct stat status;

        if (!path || stat(path, &status) < 0 || !S_ISBLK(status.st_mode)) {
                if (path)
                        why_fact(why, "There is no %s now.", path);
                explain_layers_below(why, path ?: "");
                return;
        }
        if (is_array_not_started(why->sources, status.st_rdev, "")) {
                why_fact(why, "There is a %s now, an array that has not been started.", path);
                why_advise(why, "See which of its disks are missing: \"mdadm --detail %s\".", path);
                explain_layers_below(why, path);
                return;
        }
        why_fail(why, pv_read(path, &pv));
        if (pv.error < 0) {
                explain_unreadable(why, path, pv.error);
        } else if (!pv.found) {
                why_fact(why, "There is a %s now, and it is no PV%s%s.", path, pv.damage ? ": " : "",
                        pv.damage ?: "");
        } else if (!streq(pv.pvid, missing->pvid)) {
                why_fact(why, "There is a %s now, and it is PV %s.", path, LVM_ID_TO_STRING(pv.pvid));
        } else if (pv.metadata && !streq(pv.metadata->vgid, why->vg->vgid)) {
                why_fact(why, "%s has it, and it belongs to VG %s now.", path, pv.metadata->name);
        } else if (!pv.metadata && pv.unused && !pv.damage) {
                why_fact(why, "%s has it, and it belongs to no VG now.", path);
                why_advise(why,
                        "If the VG was removed (vgremove), remove its backup, too, or set expected = \"no\" for it in headgate.conf.");
        } else {
                why_fact(why, "%s has it, and headgate was not told.", path);
                why_advise(why, "Have udev look at it: \"udevadm trigger --action=add %s\".", path);
        }
}

static void explain_missing_pv(struct why *why, const struct vg_pv *pv)
{
        const struct vg *metadata = why->view->metadata;
        const struct vg_pv *found = metadata ? vg_find_pv(metadata, pv->pvid) : NULL;
        const char *flagged = found && found->flagged ? " lvm2 has changed the VG without it (flag MISSING)." : "";

        why_fact(why, "PV %s is missing; %s%s.%s", LVM_ID_TO_STRING(pv->pvid),
                pv->device_name ? "its last place was " : "nobody knows where it was", pv->device_name ?: "",
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

        why_fact(why, "It has been waiting since %s%s%s.", TIME_TO_STRING(vg, vg->first_seen_usec),
                vg->overdue ? ", and is overdue: its deadline was " : "; its deadline is ",
                DURATION_TO_STRING(settings_get_deadline(&why->sources->settings, vg->name)));
        if (vg->lost_after_active)
                why_fact(why, "It is lost: it was settled when a PV was removed, and no PV has appeared since.");
}

/* Who has allowed it in headgate.conf need only know when. */
static void advise_on_degraded(struct why *why)
{
        const struct vg *vg = why->vg;
        bool allowed = settings_allow_degraded(&why->sources->settings, vg->name);

        if (why->view->source == VG_VIEW_OF_WORKER && allowed && !vg->overdue && !vg->lost_after_active)
                why_fact(
                        why, "At its deadline lvm2 is asked for what can do without them, as headgate.conf says.");
        else
                why_advise(why,
                        "headgate %s. To have those LVs that can do without the missing PVs: \"vgchange -ay "
                        "--activationmode degraded %s\", see lvmraid(7)%s.",
                        allowed ? "has not activated it without them"
                                : "does not activate incomplete VGs by itself, unless headgate.conf says so",
                        vg->name, allowed ? "" : "; for the next time, \"degraded\" in headgate.conf(5)");
}

static void advise(struct why *why)
{
        bool degraded = why->vg->state == VG_STATUS_DEGRADED;

        why_advise(why, "Find out why the disk does not appear; %s is there.",
                degraded ? "what cannot do without is activated when it"
                         : "the VG is activated as soon as the last PV");
        if (vg_count(why->vg).seen == 0)
                return;
        if (!degraded && why->vg->state != VG_STATUS_DEACTIVATED)
                advise_on_degraded(why);
        why_advise(why,
                "If the PVs are lost for good, \"vgreduce --removemissing %s\" makes the VG complete without "
                "them, see vgreduce(8) for what becomes of LVs on them.",
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
        if (why->view->source == VG_VIEW_OF_WORKER && vg->first_seen_usec != 0 && vg->state == VG_STATUS_WAITING)
                explain_deadline(why);
        advise(why);
}

/* ------ degraded VGs ------ */

static void explain_late_pvs(struct why *why)
{
        FOREACH_PV(pv, why->vg)
                if (pv->late_usec > 0)
                        why_fact(why, "PV %s came back at %s, as %s, and takes part in no RAID by itself.",
                                LVM_ID_TO_STRING(pv->pvid), TIME_TO_STRING(why->vg, pv->late_usec),
                                pv->device_name ?: "?");
}

/* What has the flag counts as missing for lvm2 wherever it is (vgextend(8)). */
void advise_on_flags(struct why *why)
{
        FOREACH_PV(pv, why->vg) {
                if (!pv->flagged || pv->device == 0)
                        continue;
                why_fact(why, "lvm2 has changed the VG without %s (flag MISSING).", pv->device_name ?: "it");
                why_advise(why,
                        "First have lvm2 take the PV for present again: \"vgextend "
                        "--restoremissing %s %s\".",
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
                why_cause(why, "degraded", "all of its PVs are there, and RAIDs of it go without some");
        why_fact(why, "It is degraded since %s, when it had to do without PVs, as headgate.conf allows.",
                TIME_TO_STRING(vg, vg->degraded_usec));
        explain_late_pvs(why);

        if (raid_describe_refresh(why->sources->devices, vg, &refresh) == -ENOMEM)
                why_fail(why, -ENOMEM);
        advise_on_flags(why);
        if (!vg_is_incomplete(vg))
                why_advise(why, "Have the RAIDs take part again what came back: \"%s%s\".",
                        refresh ?: "vgchange --refresh ", refresh ? "" : vg->name);
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
        if (vg->state == VG_STATUS_COMPLETE && !vg_is_incomplete(vg))
                why_fact(why, "All its PVs were there at %s.", TIME_TO_STRING(vg, vg->complete_usec));
        if (vg->state == VG_STATUS_ACTIVATING)
                why_fact(why, "lvm2 was asked at %s.", TIME_TO_STRING(vg, vg->activating_usec));
        if (vg->state == VG_STATUS_ACTIVATING && vg->slow)
                why_fact(why,
                        "It has LVs that may take long, thin pools to be checked for instance; others go on.");
        (void) flags_walk_requests(why->sources->run_fd, find_expected, &not_expected);
        if (!not_expected)
                why_fact(why, "It is needed at boot, or requested by name, so that it goes before others.");
        if (flags_is_set(why->sources->run_fd, FLAGS_BOOT_FINISHED) == 0)
                why_fact(why, "The devices that were there at boot have not all been dealt with yet.");
}
