/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a PV that is not there may be in: LUKS that is not unlocked, md arrays that are not started. */

#include <inttypes.h>

#include "boot/plan.h"
#include "reader/pv.h"
#include "shared/kernel.h"
#include "shared/program.h"
#include "why/why.h"

bool array_is_not_started(const struct sources *sources, dev_t device, const char *place)
{
        struct path path = path_format("%smd/array_state", place);
        _cleanup_free_ char *state = NULL;

        return sysfs_read_attribute(sources->root_fd, device, path.text, &state) > 0 && streq(state, "inactive");
}

static bool is_in_use(const struct sources *sources, dev_t device)
{
        _cleanup_closedir_ DIR *holders = open_directory_at(sources->root_fd, sysfs_path(device, "holders").text);

        return ANY(FOREACH_ENTRY(name, holders),
                !array_is_not_started(sources, device, path_format("holders/%s/", name).text));
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
