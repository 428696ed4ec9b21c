/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All VGs at one moment: what is on record or known otherwise, compared with what is active. */

#include "view/snapshot.h"

#include "lvm/online.h"
#include "shared/kernel.h"

/* ------ judgement ------ */

/* lvm2 withdraws its claim on a VG of which LVs are deactivated. A program that removes devices without lvm2, as teardown
 * does, leaves it; but then fewer LVs are active than the worker saw. What it never saw active is not wanted. */
static bool was_deactivated(const struct judgement_facts *facts)
{
        return facts->now.active < facts->now.autoactivated &&
               (facts->now.active < facts->before.active || !facts->claimed);
}

enum volume_group_state judge_recorded(enum volume_group_state recorded, const struct judgement_facts *facts)
{
        bool all_active = facts->now.active >= facts->now.autoactivated;

        switch (facts->exported && recorded > VOLUME_GROUP_ACTIVATING ? VOLUME_GROUP_SKIPPED : recorded) {
        case VOLUME_GROUP_ACTIVE:
                return was_deactivated(facts) ? VOLUME_GROUP_DEACTIVATED : VOLUME_GROUP_ACTIVE;
        case VOLUME_GROUP_DEGRADED:
                if (facts->now.active < facts->before.active)
                        return VOLUME_GROUP_DEACTIVATED;
                return facts->whole_again ? VOLUME_GROUP_ACTIVE : VOLUME_GROUP_DEGRADED;
        case VOLUME_GROUP_FAILED:
                /* Somebody has activated by hand what failed. */
                if (all_active && facts->now.autoactivated > 0)
                        return VOLUME_GROUP_ACTIVE;
                /* LVs on removed disks were in the way, and are not any more. */
                if (!all_active && facts->lost_pv && facts->now.stranded == 0)
                        return VOLUME_GROUP_DEACTIVATED;
                return VOLUME_GROUP_FAILED;
        case VOLUME_GROUP_SKIPPED:
                return !facts->exported && all_active && facts->now.autoactivated > 0 ? VOLUME_GROUP_ACTIVE
                                                                                      : VOLUME_GROUP_SKIPPED;
        default:
                return recorded;
        }
}

enum volume_group_state judge_unrecorded(const struct volume_group *volume_group)
{
        struct volume_group_counts n = volume_group_count(volume_group);

        if (volume_group->n_pvs > 0 && n.autoactivated > 0 && n.active == n.autoactivated)
                return VOLUME_GROUP_ACTIVE;
        return !n.any_active && n.seen == 0 ? VOLUME_GROUP_ABSENT : VOLUME_GROUP_UNKNOWN;
}

/* What costs a system call is asked only for the states that depend on it. */
void snapshot_judge(const struct sources *sources, struct volume_group *volume_group)
{
        enum volume_group_state recorded = volume_group->state;
        struct judgement_facts facts = {
                .before = volume_group_count(volume_group),
                .exported = volume_group->skip_reason && streq(volume_group->skip_reason, VOLUME_GROUP_EXPORTED),
                .lost_pv = volume_group->lost_pv,
        };
        const char *reason, *unmet = plan_find_unmet(&sources->entries, volume_group->name);

        if (!sources->devices)
                return;
        dm_devices_mark_active(sources->devices, volume_group);
        facts.now = volume_group_count(volume_group);
        /* If it cannot be told, it counts as claimed. Without a directory there are no claims. */
        if (recorded == VOLUME_GROUP_ACTIVE && facts.now.active < facts.now.autoactivated &&
                sources->lvm_run_fd != -ENOENT)
                facts.claimed = online_is_claimed(sources->lvm_run_fd, volume_group->name) != 0;
        if (recorded == VOLUME_GROUP_DEGRADED)
                facts.whole_again = raid_is_whole_again(sources->devices, volume_group);

        volume_group->state = judge_recorded(recorded, &facts);
        if (unmet && volume_group->state == VOLUME_GROUP_ACTIVE && !volume_group->reason)
                volume_group->reason = strdup(unmet);
        if (volume_group->state == recorded)
                return;
        reason = volume_group->state == VOLUME_GROUP_DEACTIVATED ? "LVs were deactivated since."
                 : volume_group->state == VOLUME_GROUP_SKIPPED   ? volume_group->skip_reason
                                                                 : NULL;
        /* The time of an activation by hand is not known. */
        if (volume_group->state == VOLUME_GROUP_ACTIVE && recorded != VOLUME_GROUP_DEGRADED)
                volume_group->settled_usec = 0;
        /* Without memory for it, there is no reason. */
        free(volume_group->reason);
        volume_group->reason = reason ? strdup(reason) : NULL;
}

/* ------ VGs with a record ------ */

static int compare(const void *a, const void *b)
{
        const struct volume_group *const *first = a, *const *second = b;

        return strcmp((*first)->name, (*second)->name);
}

static int add(struct volume_group *volume_group, void *userdata)
{
        struct sources *sources = userdata;

        return APPEND(sources->volume_groups, sources->n_volume_groups, volume_group);
}

int snapshot_read(struct sources *sources)
{
        int r;

        sources_forget_volume_groups(sources);
        /* The worker makes the directory when it starts, which may be later. */
        if (sources->lvm_run_fd < 0)
                sources->lvm_run_fd = online_open_to_look();
        sources->devices = dm_devices_free(sources->devices);
        r = sources_read_records(sources)
                ?: sources_read_devices(sources)
                ?: volume_groups_parse(sources->records, add, sources);
        if (r < 0)
                return r;
        SORT(sources->volume_groups, sources->n_volume_groups, compare);
        FOREACH_ARRAY(volume_group, sources->volume_groups, sources->n_volume_groups)
                snapshot_judge(sources, *volume_group);
        return 0;
}

const struct volume_group *snapshot_find(const struct sources *sources, const char *name)
{
        const struct volume_group *found = NULL;

        FOREACH_ARRAY(vg, sources->volume_groups, sources->n_volume_groups)
                if (streq((*vg)->name, name) &&
                        (!found || (!volume_group_count(found).any_active && volume_group_count(*vg).any_active)))
                        found = *vg;
        return found;
}

/* ------ VGs without a record ------ */

/* Sets which PVs of the VG are there: lvm2 has them on record, and the kernel has the device. */
static int find_pvs(const struct sources *sources, struct volume_group *volume_group)
{
        FOREACH_PV(pv, volume_group) {
                _cleanup_free_ char *name = NULL, *owner = NULL;
                dev_t number;
                int r = online_read_pv(sources->lvm_run_fd, pv->pvid, &number, &owner);

                if (r == -ENOMEM)
                        return r;
                /* The backup of a VG that was merged into another one stays. */
                if (r != ONLINE_FOUND || (sources->in_charge && owner && !streq(owner, volume_group->name)))
                        continue;
                r = sysfs_read_name(sources->root_fd, number, &name);
                if (r > 0)
                        r = string_replace(&pv->device_name, string_format("/dev/%s", name));
                if (r < 0)
                        return r;
                if (name)
                        pv->device = number;
        }
        return 0;
}

int unrecorded_judge(const struct sources *sources, struct volume_group *volume_group)
{
        int r = sources->lvm_run_fd < 0 ? 0 : find_pvs(sources, volume_group);

        if (r < 0)
                return r;
        if (sources->devices)
                dm_devices_mark_active(sources->devices, volume_group);
        volume_group->state = judge_unrecorded(volume_group);
        return 0;
}

int unrecorded_read(const struct sources *sources, const char *name, struct volume_group **ret)
{
        return sources_read_backup(sources, name, ret) ?: unrecorded_judge(sources, *ret);
}

/* Without a backup only the LVs that are active are known, and not which are to be activated. */
static int new_of_devices(const struct sources *sources, const char *name, struct volume_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = calloc(1, sizeof(*volume_group));
        const struct dm_devices none = {}, *list = sources->devices ?: &none;

        if (!volume_group)
                return -ENOMEM;
        volume_group->name = strdup(name);
        volume_group->lvs = calloc(list->n + 1, sizeof(*volume_group->lvs));
        if (!volume_group->name || !volume_group->lvs)
                return -ENOMEM;
        FOREACH_ARRAY(device, list->devices, list->n) {
                const char *ids = device->uuid + strlen(LVM_UUID_PREFIX);
                struct volume_group_lv *added = &volume_group->lvs[volume_group->n_lvs];

                /* Hidden LVs have a suffix. */
                if (!device->vg || strlen(device->uuid) != LVM_UUID_LENGTH || !streq(device->vg, name))
                        continue;
                *added = (struct volume_group_lv){
                        .name = strdup(device->lv), .autoactivated = true, .active = true};
                if (!added->name)
                        return -ENOMEM;
                memcpy(volume_group->vgid, ids, LVM_ID_LENGTH);
                memcpy(added->lvid, ids + LVM_ID_LENGTH, LVM_ID_LENGTH);
                volume_group->n_lvs++;
        }
        volume_group->state = judge_unrecorded(volume_group);
        *ret = TAKE_PTR(volume_group);
        return 0;
}

static const char *explain(const struct volume_group *volume_group)
{
        struct volume_group_counts n = volume_group_count(volume_group);

        if (volume_group->n_pvs == 0)
                return n.active > 0 ? "No backup can be read that would tell how many LVs it has."
                                    : "Its name is all that is known of it.";
        if (n.active > 0)
                return "Not all of its LVs are active.";
        return n.seen > 0 ? "None of its LVs is active."
                          : "None of its LVs is active, and lvm2 has recorded none of its PVs.";
}

/* The initrd, or somebody by hand, may have activated a VG that the worker was not told of. */
static int describe(struct volume_group *volume_group, const struct planned_volume_group *planned)
{
        if (!planned && volume_group->state == VOLUME_GROUP_ACTIVE)
                return 0;
        if (!planned) {
                /* Only a planned VG is reported as absent. */
                volume_group->state = VOLUME_GROUP_UNKNOWN;
                volume_group->reason = strdup(explain(volume_group));
        } else if (volume_group->state == VOLUME_GROUP_ABSENT)
                /* The plan's reason is a sentence, or the end of one. */
                volume_group->reason = string_format(
                        "None of its PVs was seen%s %s", planned->group == PLAN_NONE ? ";" : ".", planned->reason);
        else
                volume_group->reason = strdup("headgate has seen none of its PVs.");
        return volume_group->reason ? 0 : -ENOMEM;
}

static int insert(struct sources *sources, struct volume_group *volume_group)
{
        int r = add(volume_group, sources);

        if (r < 0)
                return r;
        for (struct volume_group **place = &sources->volume_groups[sources->n_volume_groups - 1];
                place > sources->volume_groups && strcmp(place[-1]->name, volume_group->name) > 0; place--)
                SWAP(place[-1], place[0]);
        return 0;
}

void unrecorded_add(struct sources *sources, const char *name, const struct planned_volume_group *planned)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        int r;

        if (snapshot_find(sources, name))
                return;
        r = sources_read_configuration(sources)
                ?: sources_read_devices(sources)
                ?: unrecorded_read(sources, name, &volume_group);
        if (r == -ENOENT)
                r = new_of_devices(sources, name, &volume_group);
        if (r >= 0 && volume_group)
                r = describe(volume_group, planned) ?: insert(sources, volume_group);
        if (r >= 0)
                TAKE_PTR(volume_group);
        else
                sources->unrecorded_error = r;
}

void unrecorded_add_all(struct sources *sources)
{
        struct dm_hash_node *node;

        sources->unrecorded_error = sources_read_names(sources);
        if (sources->unrecorded_error < 0)
                return;
        dm_hash_iterate(node, sources->names)
                unrecorded_add(sources, dm_hash_get_key(sources->names, node), NULL);
}

/* ------ VGs that are expected ------ */

int expected_find(struct sources *sources, struct plan *ret)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_string_vector_ struct string_vector names = {};
        int r = sources_read_configuration(sources);

        FOREACH_ARRAY(volume_group, sources->volume_groups, sources->n_volume_groups)
                r = r ?: string_vector_add(&names, (*volume_group)->name);
        if (r < 0)
                return r;
        return plan_make(sources->root_fd, &sources->settings, &sources->configuration, &names, ret, &problems);
}
