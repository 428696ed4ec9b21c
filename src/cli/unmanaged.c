/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/unmanaged.h"

#include "cli/evidence.h"
#include "cli/known-names.h"
#include "lvm/online.h"

static const char *explain(const struct volume_group *volume_group)
{
        size_t n_active = volume_group_count_active(volume_group);

        if (volume_group->n_pvs == 0)
                return n_active > 0 ? "No backup can be read that would tell how many LVs it has."
                                    : "Its name is all that is known of it.";
        if (n_active > 0)
                return "Not all of its LVs are active.";
        return volume_group_count_seen(volume_group) > 0
                       ? "None of its LVs is active."
                       : "None of its LVs is active, and lvm2 has recorded none of its PVs.";
}

static int judge(struct volume_group *volume_group)
{
        size_t n_wanted = volume_group_count_autoactivated(volume_group);

        if (volume_group->n_pvs > 0 && n_wanted > 0 && volume_group_count_active(volume_group) == n_wanted) {
                volume_group->state = VOLUME_GROUP_ACTIVE;
                return 0;
        }
        return string_replace(&volume_group->reason, strdup(explain(volume_group)));
}

/* What tells of the VGs, and those of which lvm2 has recorded a PV. */
struct sources {
        struct evidence evidence;
        struct string_vector recorded;
};

static int sources_gather(struct sources *ret)
{
        int r = evidence_gather(&ret->evidence);

        if (r < 0)
                return r;
        /* Where it cannot be read, there is none. */
        if (ret->evidence.lvm_run_fd >= 0)
                r = online_list_volume_groups(ret->evidence.lvm_run_fd, &ret->recorded);
        return r == -ENOMEM ? r : 0;
}

static void sources_done(struct sources *sources)
{
        evidence_done(&sources->evidence);
        string_vector_done(&sources->recorded);
}

static bool is_present(const struct sources *sources, const struct volume_group *volume_group)
{
        return volume_group_count_seen(volume_group) > 0 || volume_group_count_active(volume_group) > 0 ||
               known_names_have(&sources->recorded, volume_group->name);
}

static bool is_anything(const struct sources *sources _unused_, const struct volume_group *volume_group _unused_)
{
        return true;
}

static int add(const struct sources *sources, const char *name,
        bool (*filter)(const struct sources *, const struct volume_group *), struct snapshot *snapshot)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        int r;

        if (snapshot_find(snapshot, name))
                return 0;
        r = evidence_describe(&sources->evidence, name, &volume_group);
        if (r >= 0)
                r = judge(volume_group);
        if (r < 0 || !filter(sources, volume_group))
                return r;
        r = snapshot_insert(snapshot, volume_group);
        if (r >= 0)
                TAKE_PTR(volume_group);
        return r;
}

static int add_those(const struct string_vector *names,
        bool (*filter)(const struct sources *, const struct volume_group *), struct snapshot *snapshot)
{
        _cleanup_(sources_done) struct sources sources = {.evidence = EVIDENCE_NONE};
        int r;

        r = sources_gather(&sources);
        for (size_t i = 0; r >= 0 && i < names->n; i++)
                r = add(&sources, names->strings[i], filter, snapshot);
        return r;
}

int unmanaged_add_present(const struct string_vector *names, struct snapshot *snapshot)
{
        return add_those(names, is_present, snapshot);
}

int unmanaged_add_all(const struct string_vector *names, struct snapshot *snapshot)
{
        return add_those(names, is_anything, snapshot);
}

int unmanaged_add_named(const char *name, struct snapshot *snapshot)
{
        _cleanup_(sources_done) struct sources sources = {.evidence = EVIDENCE_NONE};
        int r;

        r = sources_gather(&sources);
        return r < 0 ? r : add(&sources, name, is_anything, snapshot);
}
