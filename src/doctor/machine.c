/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor/machine.h"

#include <fcntl.h>
#include <limits.h>

#include "lvm/active.h"
#include "shared/flags.h"
#include "tree/read.h"
#include "tree/sysfs.h"

#define RUN_DIRECTORY "run/headgate"

static int add_volume_group(struct volume_group *volume_group, void *userdata)
{
        struct machine *machine = userdata;
        struct volume_group **larger;

        larger = reallocarray(machine->volume_groups, machine->n_volume_groups + 1, sizeof(*larger));
        if (!larger)
                return -ENOMEM;
        machine->volume_groups = larger;
        machine->volume_groups[machine->n_volume_groups++] = volume_group;
        return 0;
}

static int compare_volume_groups(const void *a, const void *b)
{
        const struct volume_group *const *first = a, *const *second = b;

        return strcmp((*first)->name, (*second)->name);
}

static int read_volume_groups(struct machine *machine)
{
        _cleanup_record_file_ struct record_file *file = NULL;
        _cleanup_active_devices_ struct active_devices *devices = NULL;
        int r;

        r = machine->run_fd < 0 ? machine->run_fd : record_file_read(machine->run_fd, &file);
        if (r >= 0)
                r = volume_groups_parse(file, add_volume_group, machine);
        if (r < 0)
                return r;
        if (active_devices_get(&devices) < 0)
                devices = NULL;
        for (size_t i = 0; devices && i < machine->n_volume_groups; i++)
                active_devices_mark(devices, machine->volume_groups[i]);
        if (machine->n_volume_groups > 1)
                qsort(machine->volume_groups, machine->n_volume_groups, sizeof(*machine->volume_groups),
                        compare_volume_groups);
        return 0;
}

static int ask_taken_over(const struct machine *machine)
{
        if (machine->run_fd < 0)
                return machine->run_fd == -ENOENT ? 0 : machine->run_fd;
        return flags_is_set(machine->run_fd, FLAGS_TAKEN_OVER);
}

int machine_read(struct machine *machine, int root_fd)
{
        int r;

        *machine = (struct machine){.root_fd = root_fd};
        machine->run_fd = openat(root_fd, RUN_DIRECTORY, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (machine->run_fd < 0)
                machine->run_fd = -errno;
        machine->taken_over = ask_taken_over(machine);

        r = settings_read(root_fd, &machine->settings, &machine->settings_problems);
        if (r >= 0)
                r = configuration_read(root_fd, &machine->configuration, &machine->configuration_problems);
        if (r < 0)
                return r;
        machine->units_error = units_read(root_fd, &machine->units);
        machine->tree_error = tree_read(root_fd, &machine->tree);
        machine->volume_groups_error = read_volume_groups(machine);
        return machine->units_error == -ENOMEM || machine->tree_error == -ENOMEM ||
                               machine->volume_groups_error == -ENOMEM
                       ? -ENOMEM
                       : 0;
}

void machine_done(struct machine *machine)
{
        closep(&machine->run_fd);
        settings_done(&machine->settings);
        problems_done(&machine->settings_problems);
        configuration_done(&machine->configuration);
        problems_done(&machine->configuration_problems);
        units_done(&machine->units);
        tree_free(machine->tree);
        for (size_t i = 0; i < machine->n_volume_groups; i++)
                volume_group_free(machine->volume_groups[i]);
        free(machine->volume_groups);
        *machine = (struct machine){.run_fd = -EBADF};
}

bool machine_has(const struct machine *machine, const char *path)
{
        return faccessat(machine->root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0;
}

bool machine_has_mask(const struct machine *machine, const char *path)
{
        char target[PATH_MAX];
        ssize_t length = readlinkat(machine->root_fd, path, target, sizeof(target) - 1);

        target[MAX(length, 0)] = '\0';
        return streq(target, "/dev/null");
}

static int compare_strings(const void *a, const void *b)
{
        return strcmp(*(char *const *) a, *(char *const *) b);
}

int machine_list(const struct machine *machine, const char *path, struct string_vector *ret)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(machine->root_fd, path);
        int r = 0;

        if (!directory)
                return errno == ENOENT ? 0 : -errno;
        for (const struct dirent *entry; r >= 0 && (entry = readdir(directory));)
                if (entry->d_name[0] != '.')
                        r = string_vector_add(ret, entry->d_name);
        if (ret->n > 1)
                qsort(ret->strings, ret->n, sizeof(*ret->strings), compare_strings);
        return r;
}

bool machine_has_active(const struct machine *machine, const char *vg)
{
        for (size_t i = 0; machine->tree && i < machine->tree->nodes.n; i++) {
                const struct tree_node *node = machine->tree->nodes.nodes[i];

                if (node->vg && streq(node->vg, vg))
                        return true;
        }
        return false;
}
