/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "view/snapshot.h"

#include "lvm/active.h"
#include "lvm/online.h"
#include "view/judgement.h"

static int compare(const void *a, const void *b)
{
        const struct volume_group *const *first = a, *const *second = b;

        return strcmp((*first)->name, (*second)->name);
}

static int add(struct volume_group *volume_group, void *userdata)
{
        struct snapshot *snapshot = userdata;
        struct volume_group **larger;

        larger = reallocarray(snapshot->volume_groups, snapshot->n + 1, sizeof(*larger));
        if (!larger)
                return -ENOMEM;
        snapshot->volume_groups = larger;
        snapshot->volume_groups[snapshot->n++] = volume_group;
        return 0;
}

/* What costs a system call is asked only for the states that depend on it. */
void snapshot_judge(const struct sources *sources, struct volume_group *volume_group)
{
        enum volume_group_state recorded = volume_group->state;
        struct judgement_facts facts = {
                .n_wanted = volume_group_count_autoactivated(volume_group),
                .n_active_before = volume_group_count_active(volume_group),
                .lost_pv = volume_group->lost_pv,
        };

        if (!sources->devices)
                return;
        active_devices_mark(sources->devices, volume_group);
        facts.n_active = volume_group_count_active(volume_group);
        facts.stranded = volume_group_count_stranded(volume_group) > 0;
        /* If it cannot be told, it counts as claimed. Without a directory there are no claims. */
        if (recorded == VOLUME_GROUP_ACTIVE && facts.n_active < facts.n_wanted && sources->lvm_run_fd != -ENOENT)
                facts.claimed = online_is_claimed(sources->lvm_run_fd, volume_group->name) != 0;
        if (recorded == VOLUME_GROUP_DEGRADED)
                facts.whole_again = raid_is_whole_again(volume_group);

        volume_group->state = judge_recorded(recorded, &facts);
        if (volume_group->state == recorded)
                return;
        /* Without memory for it, there is no reason. */
        free(volume_group->reason);
        volume_group->reason =
                volume_group->state == VOLUME_GROUP_DEACTIVATED ? strdup("LVs were deactivated since.") : NULL;
}

int snapshot_read(struct sources *sources, struct snapshot *ret)
{
        _cleanup_snapshot_ struct snapshot snapshot = {};
        int r;

        /* The worker makes the directory when it starts, which may be later. */
        closep(&sources->lvm_run_fd);
        sources->lvm_run_fd = online_open_to_look();
        r = sources_read_records(sources);
        if (r < 0)
                return r;
        r = volume_groups_parse(sources->records, add, &snapshot);
        if (r < 0)
                return r;
        if (snapshot.n > 1)
                qsort(snapshot.volume_groups, snapshot.n, sizeof(*snapshot.volume_groups), compare);
        if (sources_read_devices(sources) == -ENOMEM)
                return -ENOMEM;
        for (size_t i = 0; i < snapshot.n; i++)
                snapshot_judge(sources, snapshot.volume_groups[i]);

        *ret = snapshot;
        snapshot = (struct snapshot){};
        return 0;
}

int snapshot_insert(struct snapshot *snapshot, struct volume_group *volume_group)
{
        size_t place = 0;
        int r;

        r = add(volume_group, snapshot);
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
        const struct volume_group *found = NULL;
        size_t low = 0, high = snapshot->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (strcmp(snapshot->volume_groups[middle]->name, name) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (size_t i = low; i < snapshot->n && streq(snapshot->volume_groups[i]->name, name); i++)
                if (i == low || (!volume_group_has_active_lv(found) &&
                                        volume_group_has_active_lv(snapshot->volume_groups[i])))
                        found = snapshot->volume_groups[i];
        return found;
}
