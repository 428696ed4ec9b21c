/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor/machine.h"

#include <fcntl.h>
#include <limits.h>

#include "tree/read.h"

int machine_read(struct machine *machine)
{
        int r;

        *machine = (struct machine){.sources = SOURCES_NONE};
        r = sources_open(&machine->sources);
        if (r >= 0)
                r = sources_read_configuration(&machine->sources);
        if (r < 0)
                return r;
        machine->taken_over = machine->sources.run_error == -ENOENT ? 0
                              : machine->sources.run_error < 0      ? machine->sources.run_error
                                                                    : machine->sources.in_charge;
        machine->snapshot_error = machine->sources.run_fd < 0
                                          ? machine->sources.run_fd
                                          : snapshot_read(&machine->sources, &machine->snapshot);
        machine->units_error = units_read(machine->sources.root_fd, &machine->units);
        machine->tree_error = tree_read(machine->sources.root_fd, &machine->tree);
        return machine->units_error == -ENOMEM || machine->tree_error == -ENOMEM ||
                               machine->snapshot_error == -ENOMEM
                       ? -ENOMEM
                       : 0;
}

void machine_done(struct machine *machine)
{
        sources_done(&machine->sources);
        snapshot_done(&machine->snapshot);
        units_done(&machine->units);
        tree_free(machine->tree);
        *machine = (struct machine){.sources = SOURCES_NONE};
}

bool machine_has(const struct machine *machine, const char *path)
{
        return faccessat(machine->sources.root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0;
}

bool machine_has_mask(const struct machine *machine, const char *path)
{
        char target[PATH_MAX];
        ssize_t length = readlinkat(machine->sources.root_fd, path, target, sizeof(target) - 1);

        target[MAX(length, 0)] = '\0';
        return streq(target, "/dev/null");
}

static int compare_strings(const void *a, const void *b)
{
        return strcmp(*(char *const *) a, *(char *const *) b);
}

int machine_list(int dir_fd, const char *path, struct string_vector *ret)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(dir_fd, path);
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
