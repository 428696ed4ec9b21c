/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What headgate knows of one VG: its metadata's facts, which of its PVs have been seen, and how far its activation is. */

#include "lvm/volume_group.h"

#include <fcntl.h>
#include <libdevmapper.h>
#include <sys/stat.h>

#include "lvm/configuration.h"
#include "shared/dm.h"
#include "shared/program.h"
#include "shared/util.h"

static const char *const state_names[_VOLUME_GROUP_STATE_MAX] = {
        [VOLUME_GROUP_WAITING] = "waiting",
        [VOLUME_GROUP_COMPLETE] = "complete",
        [VOLUME_GROUP_ACTIVATING] = "activating",
        [VOLUME_GROUP_ACTIVE] = "active",
        [VOLUME_GROUP_DEGRADED] = "degraded",
        [VOLUME_GROUP_SKIPPED] = "skipped",
        [VOLUME_GROUP_FAILED] = "failed",
        [VOLUME_GROUP_DEACTIVATED] = "deactivated",
        [VOLUME_GROUP_ABSENT] = "absent",
        [VOLUME_GROUP_UNKNOWN] = "unknown",
};

uint64_t volume_group_since_usec(const struct volume_group *volume_group)
{
        const uint64_t since[_VOLUME_GROUP_STATE_MAX] = {
                [VOLUME_GROUP_WAITING] = volume_group->first_seen_usec,
                [VOLUME_GROUP_COMPLETE] = volume_group->complete_usec,
                [VOLUME_GROUP_ACTIVATING] = volume_group->activating_usec,
                [VOLUME_GROUP_ACTIVE] = volume_group->settled_usec,
                [VOLUME_GROUP_DEGRADED] = volume_group->degraded_usec,
                [VOLUME_GROUP_SKIPPED... VOLUME_GROUP_DEACTIVATED] = volume_group->settled_usec,
        };

        return since[volume_group->state];
}

/* When all PVs were there, or it was decided to do without those that are missing. */
static uint64_t ready_usec(const struct volume_group *volume_group)
{
        return volume_group->state == VOLUME_GROUP_DEGRADED && volume_group_is_incomplete(volume_group)
                       ? volume_group->degraded_usec
                       : volume_group->complete_usec;
}

struct volume_group_times volume_group_first_times(const struct volume_group *volume_group)
{
        if (volume_group->first.settled_usec != 0)
                return volume_group->first;
        return (struct volume_group_times){
                .first_seen_usec = volume_group->first_seen_usec,
                .complete_usec = ready_usec(volume_group),
                .activating_usec = volume_group->activating_usec,
                .settled_usec = volume_group->settled_usec,
        };
}

/* What the kernel takes for the time of a file is that of its last tick, at most 10 ms old. */
#define TICK_USEC (10 * USEC_PER_MSEC)

/* When a file was made, on the clock of file times. */
static int read_birth(int root_fd, const char *path, int flags, uint64_t *ret_usec)
{
        struct statx status;

        if (statx(root_fd, path, flags, STATX_BTIME, &status) < 0)
                return -errno;
        if (!(status.stx_mask & STATX_BTIME))
                return -ENODATA;
        *ret_usec = (uint64_t) status.stx_btime.tv_sec * USEC_PER_SEC + status.stx_btime.tv_nsec / 1000;
        return 0;
}

static void read_links(const struct volume_group *volume_group, struct volume_group_times *times)
{
        _cleanup_close_ int root_fd = root_open();
        uint64_t last_made = 0, last_linked = 0;

        FOREACH_LV(lv, volume_group) {
                struct path path = path_format("dev/%s/%s", volume_group->name, lv->name);
                uint64_t made = 0, linked = 0;

                if (!lv->autoactivated || !lv->active)
                        continue;
                if (read_birth(root_fd, path.text, AT_SYMLINK_NOFOLLOW, &linked) < 0 ||
                        read_birth(root_fd, path.text, 0, &made) < 0)
                        return;
                last_made = MAX(last_made, made - volume_group->clock_usec);
                last_linked = MAX(last_linked, linked - volume_group->clock_usec);
        }
        /* vgchange has waited for the links. What is younger was made anew, as mkfs has udev do for one. */
        if (last_made + TICK_USEC < times->activating_usec || last_made > last_linked ||
                last_linked > times->settled_usec)
                return;
        times->made_usec = MAX(last_made, times->activating_usec);
        times->linked_usec = MAX(last_linked, times->activating_usec);
}

static bool was_asked_for(const struct volume_group_times *times)
{
        return times->activating_usec >= times->complete_usec;
}

void volume_group_note_first(struct volume_group *volume_group)
{
        struct volume_group_times *first = &volume_group->first;

        if (first->settled_usec != 0)
                return;
        *first = volume_group_first_times(volume_group);
        if (was_asked_for(first))
                read_links(volume_group, first);
}

const char *volume_group_describe_activator(const struct volume_group *volume_group)
{
        struct volume_group_times times = volume_group_first_times(volume_group);
        bool is_active = volume_group->state == VOLUME_GROUP_ACTIVE;

        if (volume_group_count(volume_group).autoactivated == 0)
                return NULL;
        if (volume_group->first.settled_usec != 0)
                return was_asked_for(&times) ? NULL : "before headgate saw it, as by the initrd";
        return is_active && (times.settled_usec == 0 || !was_asked_for(&times)) ? "by hand" : NULL;
}

int64_t volume_group_to_realtime(const struct volume_group *volume_group, uint64_t usec)
{
        /* Modulo 2^64 this is right whatever the clock was set to. */
        return (int64_t) (usec + volume_group->clock_usec) / (int64_t) USEC_PER_SEC;
}

const char *volume_group_state_to_string(enum volume_group_state state)
{
        return state_names[state];
}

struct volume_group *volume_group_free(struct volume_group *volume_group)
{
        if (!volume_group)
                return NULL;

        FOREACH_PV(pv, volume_group)
                free(pv->device_name);
        FOREACH_LV(lv, volume_group)
                free(lv->name);
        dm_hash_destroyp(&volume_group->pvs_by_pvid);
        free(volume_group->pvs);
        free(volume_group->lvs);
        free(volume_group->name);
        free(volume_group->reason);
        free(volume_group->skip_reason);
        free(volume_group->system_id);
        free(volume_group->lock_type);
        free(volume_group);
        return NULL;
}

static int index_pvs(struct volume_group *volume_group)
{
        size_t n = volume_group->n_pvs;

        volume_group->pvs_by_pvid = dm_hash_create((unsigned int) n + 1);
        if (!volume_group->pvs_by_pvid)
                return -ENOMEM;
        /* Of several with one identifier, which only a forged text has, the first counts. */
        while (n-- > 0)
                if (!dm_hash_insert(volume_group->pvs_by_pvid, volume_group->pvs[n].pvid, &volume_group->pvs[n]))
                        return -ENOMEM;
        return 0;
}

/* Whether there is a lock manager of the type (lvm2, is_lockd_type() in lib/locking/lvmlockd.c). lvm2 takes a VG of any
 * other type for a local one. */
static bool is_shared(const char *lock_type)
{
        return lock_type && (streq(lock_type, "dlm") || streq(lock_type, "sanlock") || streq(lock_type, "idm"));
}

int volume_group_finish(struct volume_group *volume_group)
{
        char **reason = &volume_group->skip_reason;
        int r = 0;

        if (volume_group->exported)
                r = string_replace(reason, strdup(VOLUME_GROUP_EXPORTED));
        else if (is_shared(volume_group->lock_type))
                r = string_replace(
                        reason, string_format("the VG is shared (lock type %s), its cluster activates it.",
                                        volume_group->lock_type));
        else if (volume_group->clustered)
                r = string_replace(reason, strdup("the VG is clustered."));
        else if (volume_group->autoactivation_off)
                r = string_replace(
                        reason, strdup("the VG's autoactivation is off (vgchange --setautoactivation y)."));
        return r < 0 ? r : index_pvs(volume_group);
}

int volume_group_compare_host(struct volume_group *volume_group, const struct system_id *host)
{
        if (volume_group->skip_reason || !system_id_is_foreign(host, volume_group->system_id))
                return 0;
        return string_replace(&volume_group->skip_reason,
                string_format("the VG belongs to the host with system ID %s.", volume_group->system_id));
}

struct volume_group_pv *volume_group_find_pv(const struct volume_group *volume_group, const char *pvid)
{
        return dm_hash_lookup(volume_group->pvs_by_pvid, pvid);
}

const struct volume_group_lv *volume_group_find_lv(const struct volume_group *volume_group, const char *name)
{
        FOREACH_LV(lv, volume_group)
                if (streq(lv->name, name))
                        return lv;
        return NULL;
}

struct volume_group_counts volume_group_count(const struct volume_group *volume_group)
{
        struct volume_group_counts counts = {};

        FOREACH_PV(pv, volume_group)
                counts.seen += pv->device != 0;
        counts.missing = volume_group->n_pvs - counts.seen;
        FOREACH_LV(lv, volume_group) {
                counts.autoactivated += lv->autoactivated;
                counts.active += lv->autoactivated && lv->active;
                counts.stranded += lv->stranded;
                counts.any_active |= lv->active;
        }
        return counts;
}

char *volume_group_describe_missing(const struct volume_group *volume_group)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        size_t n_missing = 0;
        char *text;

        if (!file)
                return NULL;
        FOREACH_PV(pv, volume_group) {
                if (pv->device != 0 || n_missing++ >= VOLUME_GROUP_NAMED_MISSING_MAX)
                        continue;
                fprintf(file, "%sPV %s (last at %s)", n_missing > 1 ? ", " : "", LVM_ID_TO_STRING(pv->pvid),
                        pv->device_name ?: "an unknown path");
        }
        if (n_missing > VOLUME_GROUP_NAMED_MISSING_MAX)
                fprintf(file, ", %zu more", n_missing - VOLUME_GROUP_NAMED_MISSING_MAX);
        return memstream_finish(&stream, &text, NULL) < 0 ? NULL : text;
}

bool volume_group_is_untouched(const struct volume_group *volume_group)
{
        struct volume_group_counts n = volume_group_count(volume_group);

        return n.active == 0 && n.autoactivated > 0;
}

bool volume_group_is_settled(const struct volume_group *volume_group)
{
        return volume_group->state != VOLUME_GROUP_COMPLETE && volume_group->state != VOLUME_GROUP_ACTIVATING;
}

int volume_group_update(struct volume_group *volume_group, struct volume_group *newer)
{
        _cleanup_dm_hash_ struct dm_hash_table *lvs = dm_hash_create((unsigned int) volume_group->n_lvs + 1);
        char said[offsetof(struct volume_group, state)];

        if (!lvs)
                return -ENOMEM;
        FOREACH_LV(lv, volume_group)
                if (!dm_hash_insert(lvs, lv->lvid, lv))
                        return -ENOMEM;

        FOREACH_LV(lv, newer) {
                const struct volume_group_lv *known = dm_hash_lookup(lvs, lv->lvid);

                lv->active = known && known->active;
                lv->stranded = known && known->stranded;
        }
        FOREACH_PV(pv, newer) {
                const struct volume_group_pv *known = volume_group_find_pv(volume_group, pv->pvid);

                if (known && known->device_name &&
                        string_replace(&pv->device_name, strdup(known->device_name)) < 0)
                        return -ENOMEM;
                pv->device = known ? known->device : 0;
                pv->late_usec = known ? known->late_usec : 0;
        }

        memcpy(said, volume_group, sizeof(said));
        memcpy(volume_group, newer, sizeof(said));
        memcpy(newer, said, sizeof(said));
        return 0;
}
