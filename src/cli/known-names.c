/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/known-names.h"

#include <libdevmapper.h>

#include "cli/suggestion.h"
#include "lvm/configuration.h"
#include "lvm/dm_devices.h"
#include "lvm/online.h"
#include "lvm/volume_group.h"
#include "shared/flags.h"
#include "shared/root.h"

/* What lvm2 begins the UUIDs of its devices with (lib/activate/dev_manager.c). */
#define UUID_PREFIX "LVM-"

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

/* Calls a function for each entry of a directory that does not begin with a dot. */
static int walk(int dir_fd, const char *path, int (*function)(struct reading *, int, const char *),
        struct reading *reading)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(dir_fd, path);
        int r = 0;

        if (!directory)
                return errno == ENOMEM ? -errno : 0;
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));)
                if (entry->d_name[0] != '.')
                        r = function(reading, dirfd(directory), entry->d_name);
        return r;
}

/* lvm2 names its files after the VG. */
static int add_file_name(struct reading *reading, int dir_fd _unused_, const char *file)
{
        return add(reading, file);
}

static int add_written_down(struct volume_group *volume_group, void *userdata)
{
        int r = add(userdata, volume_group->name);

        if (r >= 0)
                volume_group_free(volume_group);
        return r;
}

static int read_worker(struct reading *reading)
{
        _cleanup_record_file_ struct record_file *file = NULL;
        _cleanup_close_ int run_fd = flags_open_run_directory();

        if (record_file_read(run_fd, &file) == -ENOMEM)
                return -ENOMEM;
        return volume_groups_parse(file, add_written_down, reading);
}

static int read_backups(int root_fd, struct reading *reading)
{
        _cleanup_configuration_ struct configuration configuration = {};
        _cleanup_problems_ struct problems problems = {};
        int r;

        r = configuration_read(root_fd, &configuration, &problems);
        return r < 0 ? r : walk(root_fd, root_relative(configuration.backup_dir), add_file_name, reading);
}

static int read_online(struct reading *reading)
{
        _cleanup_string_vector_ struct string_vector names = {};
        _cleanup_close_ int lvm_run_fd = online_open_to_look();
        int r;

        if (lvm_run_fd < 0)
                return 0;
        r = online_list_volume_groups(lvm_run_fd, &names);
        if (r == -ENOMEM)
                return r;
        r = 0;
        for (size_t i = 0; r >= 0 && i < names.n; i++)
                r = add(reading, names.strings[i]);
        return r < 0 ? r : walk(lvm_run_fd, "vgs_online", add_file_name, reading);
}

static int add_device(struct dm_pool *pool, const struct dm_device *device, struct reading *reading)
{
        char *volume_group = NULL, *lv = NULL, *layer = NULL;

        if (!skip_prefix(device->uuid, UUID_PREFIX))
                return 0;
        if (!dm_split_lvm_name(pool, device->name, &volume_group, &lv, &layer))
                return -ENOMEM;
        return add(reading, volume_group);
}

static int read_devices(int root_fd, struct reading *reading)
{
        _cleanup_dm_devices_ struct dm_devices devices = {};
        struct dm_pool *pool;
        int r;

        r = dm_devices_get_unprivileged(root_fd, &devices);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        pool = dm_pool_create("names", 4096);
        if (!pool)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < devices.n; i++)
                r = add_device(pool, &devices.devices[i], reading);
        dm_pool_destroy(pool);
        return r;
}

static int read_all(struct reading *reading)
{
        _cleanup_close_ int root_fd = root_open();
        int r;

        r = read_worker(reading);
        if (r >= 0)
                r = read_online(reading);
        if (r >= 0 && root_fd >= 0)
                r = read_backups(root_fd, reading);
        if (r >= 0 && root_fd >= 0)
                r = read_devices(root_fd, reading);
        return r;
}

int known_names_read(struct string_vector *ret)
{
        _cleanup_string_vector_ struct string_vector names = {};
        struct reading reading = {.seen = dm_hash_create(HASH_SIZE_HINT), .names = &names};
        int r;

        if (!reading.seen)
                return -ENOMEM;
        r = read_all(&reading);
        dm_hash_destroy(reading.seen);
        if (r < 0)
                return r;
        *ret = names;
        names = (struct string_vector){};
        return 0;
}

bool known_names_have(const struct string_vector *names, const char *name)
{
        for (size_t i = 0; i < names->n; i++)
                if (streq(names->strings[i], name))
                        return true;
        return false;
}

void known_names_log_unknown(const struct string_vector *names, const char *wanted)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = wanted};

        for (size_t i = 0; i < names->n; i++)
                suggestion_consider(&suggestion, names->strings[i]);
        suggestion_log_unknown(&suggestion, "VG", "see \"headgate status\"");
}
