/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The VGs of the plan, sorted by name, and where they are known from: lvm2's backups of metadata, one file for each VG and
 * named after it (lvm2, lib/format_text/archiver.c), and the PVs that the initrd has recorded. */

#include "boot/known.h"

#include <fcntl.h>

#include "lvm/metadata.h"
#include "lvm/online.h"
#include "shared/program.h"

/* A thousand VGs of one PV make 2 MiB. */
#define BACKUPS_SIZE_MAX (64U * 1024 * 1024)

/* ------ the plan ------ */

void plan_done(struct plan *plan)
{
        FOREACH_ARRAY(volume_group, plan->volume_groups, plan->n) {
                free(volume_group->name);
                free(volume_group->reason);
                free(volume_group->unit);
        }
        free(plan->volume_groups);
        *plan = (struct plan){};
}

struct planned_volume_group *plan_find(const struct plan *plan, const char *name)
{
        if (plan->n == 0)
                return NULL;
        return bsearch(&name, plan->volume_groups, plan->n, sizeof(*plan->volume_groups), compare_strings);
}

int plan_add(struct plan *plan, const char *name, struct planned_volume_group **ret)
{
        _cleanup_free_ char *copy = NULL, *reason = NULL;
        struct planned_volume_group *place;

        *ret = plan_find(plan, name);
        if (*ret)
                return 0;
        if (plan->n == PLAN_VOLUME_GROUPS_MAX)
                return -E2BIG;
        if (!plan->volume_groups)
                plan->volume_groups = calloc(PLAN_VOLUME_GROUPS_MAX, sizeof(*plan->volume_groups));
        copy = strdup(name);
        reason = strdup("No entry names it.");
        if (!plan->volume_groups || !copy || !reason)
                return -ENOMEM;

        /* Backups come in order, so that this is the end for nearly all. */
        place = &plan->volume_groups[plan->n++];
        for (; place > plan->volume_groups && strcmp(place[-1].name, name) > 0; place--)
                *place = place[-1];
        *place = (struct planned_volume_group){
                .name = TAKE_PTR(copy),
                .group = PLAN_REST,
                .reason = TAKE_PTR(reason),
        };
        *ret = place;
        return 0;
}

int plan_claim(
        struct planned_volume_group *volume_group, enum plan_group group, const char *source, const char *what)
{
        _cleanup_free_ char *sentence = NULL;
        int r;

        if (volume_group->group == PLAN_NONE || volume_group->group == PLAN_BOOT || volume_group->group == group)
                return 0;
        sentence = string_format("%s names %s.", source, what);
        r = sentence ? string_replace(&volume_group->reason, string_printable(sentence)) : -ENOMEM;
        if (r < 0)
                return r;
        volume_group->source = source;
        volume_group->group = group;
        return 0;
}

/* ------ what the initrd has left ------ */

static int add_online(int root_fd, struct plan *plan, struct problems *problems)
{
        _cleanup_string_vector_ struct string_vector names = {};
        _cleanup_close_ int lvm_run_fd = openat(root_fd, "run/lvm", O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct planned_volume_group *volume_group;
        int r;

        r = lvm_run_fd < 0 ? -errno : online_list_volume_groups(lvm_run_fd, &names);
        for (size_t i = 0; r >= 0 && i < names.n; i++)
                r = plan_add(plan, names.strings[i], &volume_group);
        if (r == -ENOMEM)
                return r;
        if (r < 0 && r != -ENOENT)
                problems_add(problems, r, "/run/lvm/pvs_online: %m.");
        return 0;
}

/* ------ backups ------ */

struct backups {
        const struct configuration *configuration;
        int fd;
        size_t size_left; /* how much may still be read */
        struct plan *plan;
        struct problems *problems;
};

/* Sets `skip_reason` if it is the host, or the lack of LVs, why the VG is not to be activated. */
static int add_skip_reason(struct volume_group *metadata, const struct system_id *host)
{
        if (metadata->skip_reason)
                return 0;
        if (system_id_is_foreign(host, metadata->system_id))
                return string_replace(&metadata->skip_reason,
                        string_format("the VG belongs to the host with system ID %s.", metadata->system_id));
        if (volume_group_count(metadata).autoactivated == 0)
                return string_replace(
                        &metadata->skip_reason, strdup("the VG has no LVs that are activated by themselves."));
        return 0;
}

/* Returns 0, -ENOMEM, or -E2BIG if nothing more is to be read. */
static int read_backup(struct backups *backups, const char *name)
{
        _cleanup_volume_group_ struct volume_group *metadata = NULL;
        _cleanup_free_ char *text = NULL;
        struct planned_volume_group *volume_group;
        const char *reason;
        size_t size;
        int r;

        r = read_file_at(backups->fd, name, &text, &size);
        /* lvm2 replaces files: this one may just have been removed. */
        if (r == -ENOMEM || r == -ENOENT)
                return r == -ENOENT ? 0 : r;
        if (r < 0) {
                problems_add(backups->problems, r, "%s/%s: %m.", backups->configuration->backup_dir, name);
                return 0;
        }
        if (size > backups->size_left)
                return -E2BIG;
        backups->size_left -= size;

        r = metadata_parse(text, &metadata, &reason);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                problems_add(backups->problems, r, "%s/%s: %s.", backups->configuration->backup_dir, name, reason);
                return 0;
        }
        /* A file with another name is a copy that somebody has made, "vg0.bak", and may be of any age. */
        if (!streq(metadata->name, name))
                return 0;

        r = add_skip_reason(metadata, &backups->configuration->system_id);
        if (r < 0)
                return r;
        r = plan_add(backups->plan, name, &volume_group);
        if (r < 0)
                return r;
        memcpy(volume_group->vgid, metadata->vgid, sizeof(volume_group->vgid));
        if (!metadata->skip_reason)
                return 0;
        volume_group->group = PLAN_NONE;
        return string_replace(&volume_group->reason, TAKE_PTR(metadata->skip_reason));
}

static int is_named_like_volume_group(const struct dirent *entry)
{
        return volume_group_name_is_valid(entry->d_name);
}

/* Not by the locale, as alphasort() has it. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
        return strcmp((*a)->d_name, (*b)->d_name);
}

bool known_is_seen(const struct string_vector *seen, const char *name)
{
        return seen && seen->n > 0 && bsearch(&name, seen->strings, seen->n, sizeof(char *), compare_strings);
}

int known_add(int root_fd, const struct configuration *configuration, const struct string_vector *seen,
        struct plan *plan, struct problems *problems)
{
        _cleanup_close_ int fd =
                openat(root_fd, root_relative(configuration->backup_dir), O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct backups backups = {configuration, fd, BACKUPS_SIZE_MAX, plan, problems};
        struct dirent **entries = NULL;
        int n, r = 0;

        n = fd < 0 ? -1 : scandirat(fd, ".", &entries, is_named_like_volume_group, compare_names);
        if (n < 0 && errno == ENOMEM)
                return -ENOMEM;
        if (n < 0 && errno != ENOENT)
                problems_add(problems, -errno, "%s: %m.", configuration->backup_dir);

        for (int i = 0; i < n; i++) {
                if (r >= 0 && !known_is_seen(seen, entries[i]->d_name)) {
                        r = read_backup(&backups, entries[i]->d_name);
                        if (r == -E2BIG)
                                problems_add(problems, r, "%s: too much, left out from %s on.",
                                        configuration->backup_dir, entries[i]->d_name);
                }
                free(entries[i]);
        }
        free(entries);
        if (r < 0 && r != -E2BIG)
                return r;
        return seen ? 0 : add_online(root_fd, plan, problems);
}
