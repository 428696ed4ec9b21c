/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/snapshot.h"

#include "cli/known-names.h"
#include "lvm/active.h"
#include "lvm/online.h"
#include "lvm/raid.h"
#include "shared/flags.h"
#include "shared/log.h"

static int compare(const void *a, const void *b)
{
        const struct volume_group *const *first = a, *const *second = b;

        return strcmp((*first)->name, (*second)->name);
}

static int add(struct snapshot *snapshot, struct volume_group *volume_group)
{
        struct volume_group **larger;

        larger = reallocarray(snapshot->volume_groups, snapshot->n + 1, sizeof(*larger));
        if (!larger)
                return -ENOMEM;
        snapshot->volume_groups = larger;
        snapshot->volume_groups[snapshot->n++] = volume_group;
        return 0;
}

/* Without memory for it, there is no reason. */
static void set_state(struct volume_group *volume_group, enum volume_group_state state, const char *reason)
{
        volume_group->state = state;
        free(volume_group->reason);
        volume_group->reason = reason ? strdup(reason) : NULL;
}

/* lvm2 takes back its claim on a VG of which LVs are deactivated. Who removes devices without lvm2, as teardown
 * does, leaves it there; but then the worker has seen more of them. What it has not seen active is not wanted. */
static void look_at_devices(
        const struct active_devices *devices, int lvm_run_fd, struct volume_group *volume_group)
{
        size_t n_before = volume_group_count_active(volume_group), n_active;
        bool all_active;

        active_devices_mark(devices, volume_group);
        n_active = volume_group_count_active(volume_group);
        all_active = n_active >= volume_group_count_autoactivated(volume_group);
        if (volume_group->state == VOLUME_GROUP_ACTIVE && !all_active &&
                (n_active < n_before || online_is_claimed(lvm_run_fd, volume_group->name) == 0))
                set_state(volume_group, VOLUME_GROUP_DEACTIVATED, "LVs were deactivated since.");
        /* They were in the way, and are not any more. */
        else if (volume_group->state == VOLUME_GROUP_FAILED && volume_group->lost_pv && !all_active &&
                 volume_group_count_stranded(volume_group) == 0)
                set_state(volume_group, VOLUME_GROUP_DEACTIVATED, "LVs were deactivated since.");
        /* Likewise what could do without PVs. */
        else if (volume_group->state == VOLUME_GROUP_DEGRADED && n_active < n_before)
                set_state(volume_group, VOLUME_GROUP_DEACTIVATED, "LVs were deactivated since.");
        /* Somebody has had RAIDs take part again those PVs that came late. */
        else if (volume_group->state == VOLUME_GROUP_DEGRADED && raid_is_whole_again(volume_group))
                set_state(volume_group, VOLUME_GROUP_ACTIVE, NULL);
        /* Somebody has done by hand what failed. */
        else if (volume_group->state == VOLUME_GROUP_FAILED && all_active)
                set_state(volume_group, VOLUME_GROUP_ACTIVE, NULL);
}

static int take(struct volume_group *volume_group, void *userdata)
{
        return add(userdata, volume_group);
}

int open_run_directory_in_charge(void)
{
        _cleanup_close_ int run_fd = flags_open_run_directory();
        int r;

        r = run_fd < 0 ? run_fd : flags_is_set(run_fd, FLAGS_TAKEN_OVER);
        if (r < 0 && r != -ENOENT)
                return log_error_errno(r, "Failed to look into /run/headgate: %m");
        if (r <= 0) {
                log_error("headgate is not in charge, lvm2's own udev rule is (see headgate-takeover(8)).");
                return -ENOENT;
        }
        return TAKE_FD(run_fd);
}

/* Without a file, no worker has known anything yet. */
static int read_records(int run_fd, struct record_file **records, struct snapshot *snapshot)
{
        int r = record_file_read(run_fd, records);

        if (r >= 0) {
                r = volume_groups_parse(*records, take, snapshot);
                return r < 0 ? r : 0;
        }
        if (r == -ENOENT)
                return 0;
        record_file_warn(record_file_describe_error(r));
        return r;
}

int snapshot_read(int run_fd, struct snapshot *ret)
{
        _cleanup_record_file_ struct record_file *records = NULL;

        return snapshot_read_on(run_fd, &records, ret);
}

int snapshot_read_on(int run_fd, struct record_file **records, struct snapshot *ret)
{
        _cleanup_active_devices_ struct active_devices *devices = NULL;
        _cleanup_snapshot_ struct snapshot snapshot = {};
        _cleanup_close_ int lvm_run_fd = -EBADF;
        int r;

        r = read_records(run_fd, records, &snapshot);
        if (r < 0)
                return r;
        if (snapshot.n > 1)
                qsort(snapshot.volume_groups, snapshot.n, sizeof(*snapshot.volume_groups), compare);

        /* Where the kernel cannot be asked, what the worker saw is the next best. */
        lvm_run_fd = online_open_to_look();
        if (active_devices_get(&devices) >= 0)
                for (size_t i = 0; i < snapshot.n; i++)
                        look_at_devices(devices, lvm_run_fd, snapshot.volume_groups[i]);

        *ret = snapshot;
        snapshot = (struct snapshot){};
        return 0;
}

int snapshot_insert(struct snapshot *snapshot, struct volume_group *volume_group)
{
        size_t place = 0;
        int r;

        r = add(snapshot, volume_group);
        if (r < 0)
                return r;
        while (place < snapshot->n - 1 && strcmp(snapshot->volume_groups[place]->name, volume_group->name) <= 0)
                place++;
        memmove(&snapshot->volume_groups[place + 1], &snapshot->volume_groups[place],
                (snapshot->n - 1 - place) * sizeof(*snapshot->volume_groups));
        snapshot->volume_groups[place] = volume_group;
        return 0;
}

void snapshot_done(struct snapshot *snapshot)
{
        for (size_t i = 0; i < snapshot->n; i++)
                volume_group_free(snapshot->volume_groups[i]);
        free(snapshot->volume_groups);
        *snapshot = (struct snapshot){};
}

const struct volume_group *snapshot_find(const struct snapshot *snapshot, const char *name)
{
        size_t low = 0, high = snapshot->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (strcmp(snapshot->volume_groups[middle]->name, name) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < snapshot->n && streq(snapshot->volume_groups[low]->name, name) ? snapshot->volume_groups[low]
                                                                                    : NULL;
}

void explain_volume_group(const struct volume_group *volume_group)
{
        _cleanup_free_ char *missing = volume_group_describe_missing(volume_group);

        if (volume_group->state == VOLUME_GROUP_WAITING)
                log_error("VG %s waits for %s.", volume_group->name, missing ?: "PVs");
        else if (volume_group->state == VOLUME_GROUP_DEGRADED && volume_group_is_incomplete(volume_group))
                log_error("VG %s is degraded, without %s%s%s", volume_group->name, missing ?: "PVs",
                        volume_group->reason ? "; " : ".", volume_group->reason ?: "");
        else
                log_error("VG %s is %s%s%s", volume_group->name, volume_group_state_to_string(volume_group->state),
                        volume_group->reason ? ": " : ".", volume_group->reason ?: "");
}

void explain_absent(const char *name)
{
        _cleanup_string_vector_ struct string_vector names = {};

        if (known_names_read(&names) >= 0 && !known_names_have(&names, name))
                known_names_log_unknown(&names, name);
        else
                log_error("VG %s is not there: none of its PVs was seen.", name);
}
