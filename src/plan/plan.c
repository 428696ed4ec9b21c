/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/plan.h"

#include "plan/backups.h"
#include "plan/command_line.h"
#include "plan/entries.h"
#include "plan/tables.h"
#include "shared/names.h"
#include "shared/util.h"

const char *plan_group_to_string(enum plan_group group)
{
        static const char *const names[] = {
                [PLAN_BOOT] = "boot",
                [PLAN_REST] = "rest",
                [PLAN_NET] = "net",
                [PLAN_NONE] = "-",
        };

        return names[group];
}

void plan_done(struct plan *plan)
{
        for (size_t i = 0; i < plan->n; i++) {
                free(plan->volume_groups[i].name);
                free(plan->volume_groups[i].reason);
                free(plan->volume_groups[i].unit);
        }
        free(plan->volume_groups);
        free(plan->rest_urgent);
        *plan = (struct plan){};
}

/* ------ what boot waits for ------ */

static int read_entries(int root_fd, struct entries *entries, struct problems *problems)
{
        _cleanup_string_vector_ struct string_vector words = {};
        int r;

        r = fstab_add_entries(root_fd, entries, problems);
        if (r < 0)
                return r;
        r = crypttab_add_entries(root_fd, entries, problems);
        if (r < 0)
                return r;

        r = command_line_read(root_fd, &words);
        if (r == -ENOMEM)
                return r;
        if (r < 0 && r != -ENOENT) {
                problems_add(problems, r, "/" COMMAND_LINE_FILE ": %m.");
                entries->unread = "/" COMMAND_LINE_FILE;
        }
        return command_line_add_entries(&words, entries);
}

static int set_rest_urgent(const struct entries *entries, struct plan *plan)
{
        const struct entry *unresolved = NULL;

        for (size_t i = 0; i < entries->n && !unresolved; i++)
                if (entries->entries[i].name.kind == DEVICE_UNRESOLVED && !entries->entries[i].net)
                        unresolved = &entries->entries[i];
        if (unresolved)
                plan->rest_urgent = string_format(
                        "%s names %s, which may be of any VG.", unresolved->source, unresolved->device);
        else if (entries->unread)
                plan->rest_urgent = string_format("%s cannot be read, and may name any VG.", entries->unread);
        else
                return 0;
        return plan->rest_urgent ? 0 : -ENOMEM;
}

/* ------ groups ------ */

/* Puts the VG into `group`, unless something more urgent has, or the same before. `what` of `source` names it. */
static int claim(
        struct planned_volume_group *volume_group, enum plan_group group, const char *source, const char *what)
{
        char *reason;

        if (volume_group->source && (volume_group->group == group || volume_group->group == PLAN_BOOT))
                return 0;
        reason = string_format("%s names %s.", source, what);
        if (!reason)
                return -ENOMEM;
        free(volume_group->reason);
        volume_group->reason = reason;
        volume_group->source = source;
        volume_group->group = group;
        return 0;
}

static int claim_by_entries(
        const struct entries *entries, const struct known_volume_groups *known, struct plan *plan)
{
        for (size_t i = 0; i < entries->n; i++) {
                const struct entry *entry = &entries->entries[i];
                const struct known_volume_group *named = NULL;
                int r;

                if (entry->name.kind == DEVICE_OF_NAME)
                        named = known_volume_groups_find(known, entry->name.volume_group);
                else if (entry->name.kind == DEVICE_OF_ID)
                        named = known_volume_groups_find_id(known, entry->name.volume_group);
                if (!named)
                        continue;
                r = claim(&plan->volume_groups[named->index], entry->net ? PLAN_NET : PLAN_BOOT, entry->source,
                        entry->device);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int claim_by_list(const struct string_vector *names, enum plan_group group, const char *key,
        const struct known_volume_groups *known, struct plan *plan)
{
        for (size_t i = 0; i < names->n; i++) {
                const struct known_volume_group *named = known_volume_groups_find(known, names->strings[i]);
                _cleanup_free_ char *what = string_format("it in %s", key);
                int r;

                if (!what)
                        return -ENOMEM;
                r = named ? claim(&plan->volume_groups[named->index], group, "/" SETTINGS_FILE, what) : 0;
                if (r < 0)
                        return r;
        }
        return 0;
}

/* VGs that are only named in the settings are known, too: the machine may have no backups. */
static int add_configured(
        const struct string_vector *names, struct known_volume_groups *known, struct problems *problems)
{
        for (size_t i = 0; i < names->n; i++) {
                int r = known_volume_groups_add(known, names->strings[i]);

                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        problems_add(
                                problems, r, "/" SETTINGS_FILE ": too many VGs, left out: %s.", names->strings[i]);
        }
        return 0;
}

static int take_known(const struct known_volume_groups *known, struct plan *plan)
{
        /* One more than needed, as calloc() may return NULL for nothing. */
        plan->volume_groups = calloc(known->n + 1, sizeof(*plan->volume_groups));
        if (!plan->volume_groups)
                return -ENOMEM;
        for (size_t i = 0; i < known->n; i++) {
                struct planned_volume_group *volume_group = &plan->volume_groups[plan->n++];

                volume_group->group = PLAN_REST;
                volume_group->name = strdup(known->volume_groups[i]->name);
                if (!volume_group->name)
                        return -ENOMEM;
        }
        return 0;
}

/* What forbids activation comes before any claim; and who is claimed by nobody gets a reason. */
static int settle(const struct known_volume_group *known, struct planned_volume_group *volume_group)
{
        if (known->skip_reason) {
                free(volume_group->reason);
                volume_group->reason = strdup(known->skip_reason);
                volume_group->group = PLAN_NONE;
                volume_group->source = NULL;
        } else if (!volume_group->reason)
                volume_group->reason = strdup("No entry names it.");
        return volume_group->reason ? 0 : -ENOMEM;
}

static int name_unit(struct planned_volume_group *volume_group, struct problems *problems)
{
        int r;

        /* Nobody is to wait for what does not come. */
        if (volume_group->group == PLAN_NONE)
                return 0;
        r = unit_name_of_volume_group(volume_group->name, &volume_group->unit);
        if (r != -ENAMETOOLONG)
                return r;
        problems_add(
                problems, r, "VG %s: its name is too long for a unit headgate-vg@.service.", volume_group->name);
        return 0;
}

static int compare_volume_groups(const void *a, const void *b)
{
        const struct planned_volume_group *first = a, *second = b;

        return strcmp(first->name, second->name);
}

/* Makes the plan of the VGs in `known`, to which those are added that only the settings name. */
static int make(int root_fd, const struct settings *settings, struct known_volume_groups *known, struct plan *ret,
        struct problems *problems)
{
        _cleanup_entries_ struct entries entries = {};
        _cleanup_plan_ struct plan plan = {};
        int r;

        r = add_configured(&settings->boot_volume_groups, known, problems);
        if (r < 0)
                return r;
        r = add_configured(&settings->net_volume_groups, known, problems);
        if (r < 0)
                return r;
        r = take_known(known, &plan);
        if (r < 0)
                return r;

        r = read_entries(root_fd, &entries, problems);
        if (r < 0)
                return r;
        r = set_rest_urgent(&entries, &plan);
        if (r < 0)
                return r;
        r = claim_by_entries(&entries, known, &plan);
        if (r < 0)
                return r;
        r = claim_by_list(&settings->boot_volume_groups, PLAN_BOOT, "boot_volume_groups", known, &plan);
        if (r < 0)
                return r;
        r = claim_by_list(&settings->net_volume_groups, PLAN_NET, "net_volume_groups", known, &plan);
        if (r < 0)
                return r;

        for (size_t i = 0; i < plan.n; i++) {
                r = settle(known->volume_groups[i], &plan.volume_groups[i]);
                if (r < 0)
                        return r;
        }
        /* From here on the indices of what is known are those of the plan no more. */
        qsort(plan.volume_groups, plan.n, sizeof(*plan.volume_groups), compare_volume_groups);
        for (size_t i = 0; i < plan.n; i++) {
                r = name_unit(&plan.volume_groups[i], problems);
                if (r < 0)
                        return r;
        }

        *ret = plan;
        plan = (struct plan){};
        return 0;
}

int plan_make(int root_fd, const struct settings *settings, const struct configuration *configuration,
        struct plan *ret, struct problems *problems)
{
        _cleanup_known_volume_groups_ struct known_volume_groups known = {};
        int r;

        r = known_volume_groups_read(root_fd, configuration, &known, problems);
        return r < 0 ? r : make(root_fd, settings, &known, ret, problems);
}

int plan_make_of_others(int root_fd, const struct settings *settings, const struct configuration *configuration,
        const struct string_vector *seen, struct plan *ret, struct problems *problems)
{
        _cleanup_known_volume_groups_ struct known_volume_groups known = {};
        int r;

        r = known_volume_groups_read_others(root_fd, configuration, seen, &known, problems);
        return r < 0 ? r : make(root_fd, settings, &known, ret, problems);
}

const struct planned_volume_group *plan_find(const struct plan *plan, const char *name)
{
        const struct planned_volume_group wanted = {.name = (char *) name};

        return plan->n == 0 ? NULL
                            : bsearch(&wanted, plan->volume_groups, plan->n, sizeof(*plan->volume_groups),
                                      compare_volume_groups);
}
