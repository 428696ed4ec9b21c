/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What headgate knows of one VG: its metadata's facts, which of its PVs have been seen, and how far its activation is. */

#include "lvm/volume_group.h"

#include <libdevmapper.h>

#include "shared/dm.h"
#include "shared/util.h"

/* A few are found faster by looking at each. */
#define INDEXED_MIN 32

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

/* The worker's states, and the public state of each. */
static const struct {
        const char *words;
        enum volume_group_state state;
        bool overdue;
        bool lost_after_active;
} worker_states[] = {
        {"waiting", VOLUME_GROUP_WAITING},
        {"waiting, overdue", VOLUME_GROUP_WAITING, .overdue = true},
        {"waiting, lost", VOLUME_GROUP_WAITING, .lost_after_active = true},
        {"waiting, lost and overdue", VOLUME_GROUP_WAITING, .overdue = true, .lost_after_active = true},
        {"complete", VOLUME_GROUP_COMPLETE},
        {"complete, alone", VOLUME_GROUP_COMPLETE},
        {"complete, due", VOLUME_GROUP_COMPLETE, .overdue = true},
        {"complete, due again", VOLUME_GROUP_COMPLETE, .overdue = true},
        {"activating", VOLUME_GROUP_ACTIVATING},
        {"activating degraded", VOLUME_GROUP_ACTIVATING, .overdue = true},
        {"active", VOLUME_GROUP_ACTIVE},
        {"degraded", VOLUME_GROUP_DEGRADED, .overdue = true},
        {"degraded, retry", VOLUME_GROUP_DEGRADED},
        {"degraded, complete", VOLUME_GROUP_DEGRADED},
        {"skipped", VOLUME_GROUP_SKIPPED},
        {"failed", VOLUME_GROUP_FAILED},
};

int volume_group_enter(struct volume_group *volume_group, const char *worker_state)
{
        for (size_t i = 0; i < ELEMENTSOF(worker_states); i++) {
                if (!streq(worker_states[i].words, worker_state))
                        continue;
                volume_group->worker_state = worker_states[i].words;
                volume_group->state = worker_states[i].state;
                volume_group->overdue = worker_states[i].overdue;
                volume_group->lost_after_active = worker_states[i].lost_after_active;
                return 0;
        }
        return -EBADMSG;
}

uint64_t volume_group_since_usec(const struct volume_group *volume_group)
{
        switch (volume_group->state) {
        case VOLUME_GROUP_WAITING:
                return volume_group->first_seen_usec;
        case VOLUME_GROUP_COMPLETE:
                return volume_group->complete_usec;
        case VOLUME_GROUP_ACTIVATING:
                return volume_group->activating_usec;
        case VOLUME_GROUP_DEGRADED:
                return volume_group->degraded_usec;
        case VOLUME_GROUP_ABSENT:
        case VOLUME_GROUP_UNKNOWN:
                return 0;
        default:
                return volume_group->settled_usec;
        }
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

        for (size_t i = 0; i < volume_group->n_pvs; i++)
                free(volume_group->pvs[i].device_name);
        for (size_t i = 0; i < volume_group->n_lvs; i++)
                free(volume_group->lvs[i].name);
        if (volume_group->pvs_by_pvid)
                dm_hash_destroy(volume_group->pvs_by_pvid);
        free(volume_group->pvs);
        free(volume_group->lvs);
        free(volume_group->name);
        free(volume_group->reason);
        free(volume_group->skip_reason);
        free(volume_group);
        return NULL;
}

int volume_group_index_pvs(struct volume_group *volume_group)
{
        size_t n = volume_group->n_pvs;

        if (n < INDEXED_MIN)
                return 0;
        volume_group->pvs_by_pvid = dm_hash_create((unsigned int) n);
        if (!volume_group->pvs_by_pvid)
                return -ENOMEM;
        /* Of several with one identifier, which only a forged text has, the first counts. */
        while (n-- > 0)
                if (!dm_hash_insert(volume_group->pvs_by_pvid, volume_group->pvs[n].pvid, &volume_group->pvs[n]))
                        return -ENOMEM;
        return 0;
}

struct volume_group_pv *volume_group_find_pv(const struct volume_group *volume_group, const char *pvid)
{
        if (volume_group->pvs_by_pvid)
                return dm_hash_lookup(volume_group->pvs_by_pvid, pvid);
        for (size_t i = 0; i < volume_group->n_pvs; i++)
                if (streq(volume_group->pvs[i].pvid, pvid))
                        return &volume_group->pvs[i];
        return NULL;
}

size_t volume_group_count_seen(const struct volume_group *volume_group)
{
        size_t n = 0;

        for (size_t i = 0; i < volume_group->n_pvs; i++)
                n += volume_group->pvs[i].device != 0;
        return n;
}

size_t volume_group_count_autoactivated(const struct volume_group *volume_group)
{
        size_t n = 0;

        for (size_t i = 0; i < volume_group->n_lvs; i++)
                n += volume_group->lvs[i].autoactivated;
        return n;
}

size_t volume_group_count_active(const struct volume_group *volume_group)
{
        size_t n = 0;

        for (size_t i = 0; i < volume_group->n_lvs; i++)
                n += volume_group->lvs[i].autoactivated && volume_group->lvs[i].active;
        return n;
}

size_t volume_group_count_stranded(const struct volume_group *volume_group)
{
        size_t n = 0;

        for (size_t i = 0; i < volume_group->n_lvs; i++)
                n += volume_group->lvs[i].stranded;
        return n;
}

bool volume_group_has_active_lv(const struct volume_group *volume_group)
{
        for (size_t i = 0; i < volume_group->n_lvs; i++)
                if (volume_group->lvs[i].active)
                        return true;
        return false;
}

char *volume_group_describe_missing(const struct volume_group *volume_group)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        size_t n_missing = 0;
        char *text;

        if (!file)
                return NULL;
        for (size_t i = 0; i < volume_group->n_pvs; i++) {
                const struct volume_group_pv *pv = &volume_group->pvs[i];
                char pvid[LVM_ID_FORMATTED_SIZE];

                if (pv->device != 0 || n_missing++ >= VOLUME_GROUP_NAMED_MISSING_MAX)
                        continue;
                lvm_id_format(pv->pvid, pvid);
                fprintf(file, "%sPV %s (last at %s)", n_missing > 1 ? ", " : "", pvid,
                        pv->device_name ?: "an unknown path");
        }
        if (n_missing > VOLUME_GROUP_NAMED_MISSING_MAX)
                fprintf(file, ", %zu more", n_missing - VOLUME_GROUP_NAMED_MISSING_MAX);
        return memstream_finish(&stream, &text, NULL) < 0 ? NULL : text;
}

bool volume_group_is_settled(const struct volume_group *volume_group)
{
        return volume_group->state != VOLUME_GROUP_COMPLETE && volume_group->state != VOLUME_GROUP_ACTIVATING;
}

/* Makes the PVs of the metadata, with what is known of those that `former` has. */
static int make_pvs(
        const struct metadata *metadata, const struct volume_group *former, struct volume_group *updated)
{
        updated->pvs = calloc(metadata->n_pvs + 1, sizeof(*updated->pvs));
        if (!updated->pvs)
                return -ENOMEM;
        for (size_t i = 0; i < metadata->n_pvs; i++) {
                struct volume_group_pv *pv = &updated->pvs[updated->n_pvs++];
                const struct metadata_pv *source = &metadata->pvs[i];
                const struct volume_group_pv *known = volume_group_find_pv(former, source->pvid);
                const char *device_name = known && known->device_name ? known->device_name : source->device_hint;

                if (known)
                        *pv = *known;
                memcpy(pv->pvid, source->pvid, sizeof(pv->pvid));
                pv->flagged = source->missing;
                pv->device_name = device_name ? strdup(device_name) : NULL;
                if (device_name && !pv->device_name)
                        return -ENOMEM;
        }
        return volume_group_index_pvs(updated);
}

/* Likewise the LVs. */
static int make_lvs(
        const struct metadata *metadata, const struct volume_group *former, struct volume_group *updated)
{
        _cleanup_dm_hash_ struct dm_hash_table *known_lvs = dm_hash_create((unsigned int) former->n_lvs + 1);

        updated->lvs = calloc(metadata->n_lvs + 1, sizeof(*updated->lvs));
        if (!known_lvs || !updated->lvs)
                return -ENOMEM;
        for (size_t i = 0; i < former->n_lvs; i++)
                if (!dm_hash_insert(known_lvs, former->lvs[i].lvid, &former->lvs[i]))
                        return -ENOMEM;
        for (size_t i = 0; i < metadata->n_lvs; i++) {
                struct volume_group_lv *lv = &updated->lvs[updated->n_lvs++];
                const struct metadata_lv *source = &metadata->lvs[i];
                const struct volume_group_lv *known = dm_hash_lookup(known_lvs, source->lvid);

                if (known)
                        *lv = *known;
                memcpy(lv->lvid, source->lvid, sizeof(lv->lvid));
                lv->autoactivated = source->autoactivated;
                lv->name = strdup(source->name);
                if (!lv->name)
                        return -ENOMEM;
        }
        return 0;
}

int volume_group_update(struct volume_group *volume_group, const struct metadata *metadata)
{
        _cleanup_volume_group_ struct volume_group *updated = malloc(sizeof(*updated));
        struct volume_group former;
        int r;

        if (!updated)
                return -ENOMEM;
        *updated = *volume_group;
        updated->name = updated->reason = updated->skip_reason = NULL;
        updated->pvs_by_pvid = NULL;
        updated->pvs = NULL;
        updated->lvs = NULL;
        updated->n_pvs = updated->n_lvs = 0;

        memcpy(updated->vgid, metadata->vgid, sizeof(updated->vgid));
        updated->seqno = metadata->seqno;
        updated->slow = metadata->slow;
        updated->name = strdup(metadata->name);
        r = updated->name ? metadata_describe_skip(metadata, &updated->skip_reason) : -ENOMEM;
        if (r >= 0)
                r = make_pvs(metadata, volume_group, updated);
        if (r >= 0)
                r = make_lvs(metadata, volume_group, updated);
        if (r < 0)
                return r;

        updated->reason = TAKE_PTR(volume_group->reason);
        former = *volume_group;
        *volume_group = *updated;
        *updated = former;
        return 0;
}

int volume_group_new(const struct metadata *metadata, struct volume_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = calloc(1, sizeof(*volume_group));
        int r;

        if (!volume_group)
                return -ENOMEM;
        r = volume_group_update(volume_group, metadata);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(volume_group);
        return 0;
}
