/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "view/names.h"

#include "lvm/online.h"
#include "shared/dm.h"
#include "shared/program.h"

#define HASH_SIZE_HINT 1024

struct reading {
        struct dm_hash_table *seen;
        struct string_vector *names;
};

static int add(struct reading *reading, const char *name)
{
        if (!volume_group_name_is_valid(name) || dm_hash_lookup(reading->seen, name))
                return 0;
        if (!dm_hash_insert(reading->seen, name, reading->seen))
                return -ENOMEM;
        return string_vector_add(reading->names, name);
}

/* lvm2 names its files after the VG. */
static int add_file_names(struct reading *reading, int dir_fd, const char *path)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(dir_fd, path);

        if (!directory)
                return errno == ENOMEM ? -errno : 0;
        for (const struct dirent *entry; (entry = readdir(directory));) {
                int r = entry->d_name[0] == '.' ? 0 : add(reading, entry->d_name);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_recorded(struct volume_group *volume_group, void *userdata)
{
        int r = add(userdata, volume_group->name);

        if (r >= 0)
                volume_group_free(volume_group);
        return r;
}

static int add_online(struct reading *reading, int lvm_run_fd)
{
        _cleanup_string_vector_ struct string_vector names = {};
        int r;

        if (lvm_run_fd < 0)
                return 0;
        if (online_list_volume_groups(lvm_run_fd, &names) == -ENOMEM)
                return -ENOMEM;
        for (size_t i = 0; i < names.n; i++) {
                r = add(reading, names.strings[i]);
                if (r < 0)
                        return r;
        }
        return add_file_names(reading, lvm_run_fd, "vgs_online");
}

static int add_active(struct reading *reading, const struct dm_devices *devices)
{
        _cleanup_dm_pool_ struct dm_pool *pool = dm_pool_create("names", 4096);
        int r = pool ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < devices->n; i++) {
                char *vg = NULL, *lv = NULL, *layer = NULL;

                if (!skip_prefix(devices->devices[i].uuid, LVM_UUID_PREFIX))
                        continue;
                r = dm_split_lvm_name(pool, devices->devices[i].name, &vg, &lv, &layer) ? add(reading, vg)
                                                                                        : -ENOMEM;
        }
        return r;
}

static int read_all(struct sources *sources, struct reading *reading)
{
        int r;

        r = sources_read_configuration(sources);
        if (r < 0)
                return r;
        /* What is wrong with the records has been logged. Where headgate is not in charge, they may be stale. */
        if (!sources->records && sources->in_charge && sources_read_records(sources) == -ENOMEM)
                return -ENOMEM;
        r = volume_groups_parse(sources->records, add_recorded, reading);
        if (r < 0)
                return r;
        r = add_online(reading, sources->lvm_run_fd);
        if (r < 0)
                return r;
        r = add_file_names(reading, sources->root_fd, root_relative(sources->configuration.backup_dir));
        if (r < 0)
                return r;
        if (!sources->devices && sources_read_devices(sources) == -ENOMEM)
                return -ENOMEM;
        return sources->devices ? add_active(reading, &sources->devices->list) : 0;
}

int names_read(struct sources *sources, struct string_vector *ret)
{
        _cleanup_string_vector_ struct string_vector names = {};
        _cleanup_dm_hash_ struct dm_hash_table *seen = dm_hash_create(HASH_SIZE_HINT);
        int r;

        if (!seen)
                return -ENOMEM;
        r = read_all(sources, &(struct reading){seen, &names});
        if (r < 0)
                return r;
        *ret = names;
        names = (struct string_vector){};
        return 0;
}

bool names_have(const struct string_vector *names, const char *name)
{
        for (size_t i = 0; i < names->n; i++)
                if (streq(names->strings[i], name))
                        return true;
        return false;
}

void names_log_unknown(const struct string_vector *names, const char *wanted)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = wanted};

        for (size_t i = 0; i < names->n; i++)
                suggestion_consider(&suggestion, names->strings[i]);
        suggestion_log_unknown(&suggestion, "VG", "see \"headgate status\"");
}
