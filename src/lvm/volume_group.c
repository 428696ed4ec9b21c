/* SPDX-License-Identifier: LGPL-2.1-or-later */

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

static void free_pvs(struct volume_group_pv *pvs, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(pvs[i].device_name);
        free(pvs);
}

static void free_lvs(struct volume_group_lv *lvs, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(lvs[i].name);
        free(lvs);
}

struct volume_group *volume_group_free(struct volume_group *volume_group)
{
        if (!volume_group)
                return NULL;

        free(volume_group->name);
        free(volume_group->reason);
        free(volume_group->skip_reason);
        if (volume_group->pvs_by_pvid)
                dm_hash_destroy(volume_group->pvs_by_pvid);
        free_pvs(volume_group->pvs, volume_group->n_pvs);
        free_lvs(volume_group->lvs, volume_group->n_lvs);
        free(volume_group);
        return NULL;
}

/* Of several with one identifier, which only a forged text has, the first counts. `*ret` is NULL for a few. */
static int index_pvs(struct volume_group_pv *pvs, size_t n, struct dm_hash_table **ret)
{
        _cleanup_dm_hash_ struct dm_hash_table *table = NULL;

        if (n >= INDEXED_MIN && !(table = dm_hash_create((unsigned int) n)))
                return -ENOMEM;
        for (size_t i = n; table && i-- > 0;)
                if (!dm_hash_insert(table, pvs[i].pvid, &pvs[i]))
                        return -ENOMEM;
        *ret = TAKE_PTR(table);
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

int volume_group_index_pvs(struct volume_group *volume_group)
{
        return index_pvs(volume_group->pvs, volume_group->n_pvs, &volume_group->pvs_by_pvid);
}

static struct dm_hash_table *index_lvs(const struct volume_group *volume_group)
{
        _cleanup_dm_hash_ struct dm_hash_table *table = dm_hash_create((unsigned int) volume_group->n_lvs + 1);

        for (size_t i = 0; table && i < volume_group->n_lvs; i++)
                if (!dm_hash_insert(table, volume_group->lvs[i].lvid, &volume_group->lvs[i]))
                        return NULL;
        return TAKE_PTR(table);
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
        char *text = NULL;
        const char *separator = "";
        size_t size, n_missing = 0;
        FILE *file;

        file = open_memstream(&text, &size);
        if (!file)
                return NULL;
        for (size_t i = 0; i < volume_group->n_pvs; i++) {
                const struct volume_group_pv *pv = &volume_group->pvs[i];
                char pvid[LVM_ID_FORMATTED_SIZE];

                if (pv->device != 0 || ++n_missing > VOLUME_GROUP_NAMED_MISSING_MAX)
                        continue;
                lvm_id_format(pv->pvid, pvid);
                fprintf(file, "%sPV %s (last at %s)", separator, pvid, pv->device_name ?: "an unknown path");
                separator = ", ";
        }
        if (n_missing > VOLUME_GROUP_NAMED_MISSING_MAX)
                fprintf(file, ", %zu more", n_missing - VOLUME_GROUP_NAMED_MISSING_MAX);
        if (fclose(file) == 0)
                return text;
        free(text);
        return NULL;
}

bool volume_group_is_settled(const struct volume_group *volume_group)
{
        return volume_group->state != VOLUME_GROUP_COMPLETE && volume_group->state != VOLUME_GROUP_ACTIVATING;
}

int volume_group_update(struct volume_group *volume_group, const struct metadata *metadata)
{
        _cleanup_free_ char *name = strdup(metadata->name);
        _cleanup_free_ char *skip_reason = NULL;
        struct volume_group_pv *pvs = calloc(metadata->n_pvs + 1, sizeof(*pvs));
        struct volume_group_lv *lvs = calloc(metadata->n_lvs + 1, sizeof(*lvs));
        _cleanup_dm_hash_ struct dm_hash_table *known_lvs = index_lvs(volume_group);
        struct dm_hash_table *index = NULL;
        bool complete = name && pvs && lvs && known_lvs && metadata_describe_skip(metadata, &skip_reason) >= 0;

        for (size_t i = 0; complete && i < metadata->n_pvs; i++) {
                const struct metadata_pv *source = &metadata->pvs[i];
                const struct volume_group_pv *known = volume_group_find_pv(volume_group, source->pvid);
                const char *device_name = known && known->device_name ? known->device_name : source->device_hint;

                memcpy(pvs[i].pvid, source->pvid, sizeof(pvs[i].pvid));
                pvs[i].device = known ? known->device : 0;
                pvs[i].flagged = source->missing;
                pvs[i].late_usec = known ? known->late_usec : 0;
                pvs[i].device_name = device_name ? strdup(device_name) : NULL;
                complete = pvs[i].device_name || !device_name;
        }

        for (size_t i = 0; complete && i < metadata->n_lvs; i++) {
                const struct metadata_lv *source = &metadata->lvs[i];
                const struct volume_group_lv *known = dm_hash_lookup(known_lvs, source->lvid);

                lvs[i].name = strdup(source->name);
                memcpy(lvs[i].lvid, source->lvid, sizeof(lvs[i].lvid));
                lvs[i].autoactivated = source->autoactivated;
                lvs[i].active = known && known->active;
                lvs[i].stranded = known && known->stranded;
                complete = lvs[i].name;
        }

        if (!complete || index_pvs(pvs, metadata->n_pvs, &index) < 0) {
                if (pvs)
                        free_pvs(pvs, metadata->n_pvs);
                if (lvs)
                        free_lvs(lvs, metadata->n_lvs);
                return -ENOMEM;
        }

        free(volume_group->name);
        volume_group->name = TAKE_PTR(name);
        free(volume_group->skip_reason);
        volume_group->skip_reason = TAKE_PTR(skip_reason);
        memcpy(volume_group->vgid, metadata->vgid, sizeof(volume_group->vgid));
        volume_group->seqno = metadata->seqno;
        volume_group->slow = metadata->slow;
        if (volume_group->pvs_by_pvid)
                dm_hash_destroy(volume_group->pvs_by_pvid);
        volume_group->pvs_by_pvid = index;
        free_pvs(volume_group->pvs, volume_group->n_pvs);
        volume_group->pvs = pvs;
        volume_group->n_pvs = metadata->n_pvs;
        free_lvs(volume_group->lvs, volume_group->n_lvs);
        volume_group->lvs = lvs;
        volume_group->n_lvs = metadata->n_lvs;
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
