/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/unseen.h"

#include "cli/evidence.h"
#include "lvm/configuration.h"
#include "shared/root.h"
#include "shared/settings.h"
#include "shared/util.h"

static int list_names(const struct snapshot *snapshot, struct string_vector *names)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < snapshot->n; i++)
                r = string_vector_add(names, snapshot->volume_groups[i]->name);
        return r;
}

int unseen_find(const struct snapshot *seen, struct unseen *ret)
{
        _cleanup_configuration_ struct configuration configuration = {};
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_string_vector_ struct string_vector names = {};
        _cleanup_close_ int root_fd = root_open();
        int r = root_fd;

        if (r >= 0)
                r = list_names(seen, &names);
        if (r >= 0)
                r = settings_read(root_fd, &settings, &problems);
        if (r >= 0)
                r = configuration_read(root_fd, &configuration, &problems);
        if (r >= 0)
                r = plan_make_of_others(root_fd, &settings, &configuration, &names, &ret->plan, &problems);
        return r;
}

void unseen_done(struct unseen *unseen)
{
        plan_done(&unseen->plan);
}

/* Why it is awaited, or not: the plan's reason is a sentence, or the end of one. */
static char *explain(const struct planned_volume_group *planned)
{
        return string_format(
                "None of its PVs was seen%s %s", planned->group == PLAN_NONE ? ";" : ".", planned->reason);
}

/* An LV may be active all the same: the initrd has done it, or somebody by hand, and the worker knows nothing of
 * it. */
static int judge(const struct planned_volume_group *planned, struct volume_group *volume_group)
{
        size_t n_active = volume_group_count_active(volume_group);

        if (n_active == 0 && volume_group_count_seen(volume_group) == 0) {
                volume_group->state = VOLUME_GROUP_ABSENT;
                return string_replace(&volume_group->reason, explain(planned));
        }
        if (volume_group->n_pvs > 0 && n_active == volume_group_count_autoactivated(volume_group))
                volume_group->state = VOLUME_GROUP_ACTIVE;
        return string_replace(&volume_group->reason, strdup("headgate has seen none of its PVs."));
}

static int add(
        const struct planned_volume_group *planned, const struct evidence *evidence, struct snapshot *snapshot)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        int r;

        r = evidence_describe(evidence, planned->name, &volume_group);
        if (r >= 0)
                r = judge(planned, volume_group);
        if (r >= 0)
                r = snapshot_insert(snapshot, volume_group);
        if (r >= 0)
                TAKE_PTR(volume_group);
        return r;
}

static bool is_expected(const struct planned_volume_group *planned)
{
        return planned->group == PLAN_BOOT || planned->group == PLAN_NET;
}

static bool is_not_expected(const struct planned_volume_group *planned)
{
        return !is_expected(planned);
}

static int add_those(const struct unseen *unseen, bool (*filter)(const struct planned_volume_group *),
        struct snapshot *snapshot)
{
        _cleanup_evidence_ struct evidence evidence = EVIDENCE_NONE;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < unseen->plan.n; i++) {
                const struct planned_volume_group *planned = &unseen->plan.volume_groups[i];

                if (!filter(planned))
                        continue;
                /* In most cases there is none. */
                if (evidence.root_fd < 0)
                        r = evidence_gather(&evidence);
                if (r >= 0)
                        r = add(planned, &evidence, snapshot);
        }
        return r;
}

int unseen_add_expected(const struct unseen *unseen, struct snapshot *snapshot)
{
        return add_those(unseen, is_expected, snapshot);
}

void unseen_enumerate_expected(
        const struct unseen *unseen, const struct snapshot *snapshot, struct enumeration *names)
{
        for (size_t i = 0; i < unseen->plan.n; i++) {
                const struct planned_volume_group *planned = &unseen->plan.volume_groups[i];

                if (is_expected(planned) && !snapshot_find(snapshot, planned->name))
                        enumerate(names, planned->name);
        }
}

int unseen_add_others(const struct unseen *unseen, struct snapshot *snapshot)
{
        return add_those(unseen, is_not_expected, snapshot);
}

int unseen_add_named(const struct unseen *unseen, const char *name, struct snapshot *snapshot)
{
        _cleanup_evidence_ struct evidence evidence = EVIDENCE_NONE;
        const struct planned_volume_group *planned = plan_find(&unseen->plan, name);
        int r;

        if (!planned || snapshot_find(snapshot, name))
                return 0;
        r = evidence_gather(&evidence);
        return r < 0 ? r : add(planned, &evidence, snapshot);
}
