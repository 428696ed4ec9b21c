/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Expected VGs, and absent ones that lvm2's backups name. */

#include "inventory/expectations.h"

#include <fcntl.h>

#include "lvm/metadata.h"
#include "shared/util.h"

/* A VG that never appears must not delay the rest of the machine. */
#define NEAR_USEC (5 * USEC_PER_SEC)

static void expectation_free(struct expectation *expectation)
{
        free(expectation->name);
        free(expectation);
}
DEFINE_CLEANUP(struct expectation *, expectation_free)

void expectations_done(struct dm_list *expectations)
{
        FOREACH_LISTED(struct expectation, expectation, expectations)
                expectation_free(expectation);
}

int expectations_add(struct dm_list *expectations, const char *name, struct expectation **ret)
{
        _cleanup_(expectation_freep) struct expectation *expectation = NULL;

        *ret = expectations_find(expectations, name);
        if (*ret)
                return 0;

        expectation = calloc(1, sizeof(*expectation));
        if (!expectation)
                return -ENOMEM;
        expectation->since_usec = now_usec();
        expectation->name = strdup(name);
        if (!expectation->name)
                return -ENOMEM;
        dm_list_add(expectations, &expectation->list);
        *ret = TAKE_PTR(expectation);
        return 0;
}

struct expectation *expectations_find(const struct dm_list *expectations, const char *name)
{
        FOREACH_LISTED(struct expectation, expectation, expectations)
                if (streq(expectation->name, name))
                        return expectation;
        return NULL;
}

bool expectations_are_near(const struct dm_list *expectations, uint64_t first_device_usec, uint64_t now)
{
        FOREACH_LISTED(const struct expectation, expectation, expectations) {
                const struct vg *vg = expectation->group ? expectation->group->vg : NULL;
                uint64_t complete = vg ? vg->complete_usec : 0;

                /* A PV may stay missing although the initrd has activated all LVs of its VG. */
                if (!expectation->overdue && now < MAX(first_device_usec, complete) + NEAR_USEC &&
                        !(vg && vg_count(vg).all_active))
                        return true;
        }
        return false;
}

void expectation_drop(struct expectation *expectation)
{
        if (expectation->group)
                expectation->group->awaited = false;
        dm_list_del(&expectation->list);
        expectation_free(expectation);
}

/* ------ absent VGs ------ */

int absent_list(struct inventory *inventory, const struct config *config, const struct settings *settings,
        struct strv *names)
{
        _cleanup_closedir_ DIR *backups = open_directory_at(AT_FDCWD, config->backup_dir);

        if (!backups)
                return errno == ENOMEM ? -ENOMEM : 0;
        FOREACH_ENTRY(name, backups) {
                _cleanup_vg_ struct vg *backup = NULL;
                int r;

                inventory_ping(inventory);
                if (!vg_name_is_valid(name) || inventory_find_named(inventory, name) ||
                        !settings_get_policy(settings, name).expected)
                        continue;
                r = backup_read(AT_FDCWD, config->backup_dir, name, &backup, NULL, NULL)
                            ?: vg_compare_host(backup, &config->system_id);
                if (r == -ENOMEM)
                        return r;
                /* It may have been renamed. */
                if (r >= 0 && !backup->skip_reason && vg_count(backup).autoactivated > 0 &&
                        !inventory_find_group(inventory, backup->vgid) && strv_add(names, name) < 0)
                        return -ENOMEM;
        }
        return 0;
}

size_t absent_count(const struct inventory *inventory, const struct strv *names)
{
        size_t n = 0;

        STRV_FOREACH(name, names)
                n += !inventory_find_named(inventory, *name);
        return n;
}

int absent_read_backup(
        const struct inventory *inventory, const struct config *config, const char *name, struct vg **ret)
{
        int r = backup_read(AT_FDCWD, config->backup_dir, name, ret, NULL, NULL);

        if (r < 0)
                return r;
        FOREACH_PV(pv, *ret) {
                const struct device *device = inventory_find_device_of_pv(inventory, pv->pvid);

                if (device)
                        pv->device = device->number;
        }
        return 0;
}

bool absent_has_foreign_device(const char *name)
{
        _cleanup_closedir_ DIR *mapper = open_directory_at(AT_FDCWD, "/dev/mapper");

        FOREACH_ENTRY(entry, mapper) {
                const char *rest = skip_prefix(entry, name);

                if (rest && *rest == '-')
                        return true;
        }
        return access(path_format("/dev/%s", name).text, F_OK) >= 0;
}
