/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plan initrd: the VGs without which the initrd cannot do its work. src/initrd/initramfs-tools/hook
 * asks. */

#include "cli/table.h"
#include "cli/verbs.h"
#include "initrd/device.h"
#include "initrd/needed.h"
#include "shared/log.h"
#include "shared/program.h"

static struct table_options arg_table;

static void help(void)
{
        printf("Usage: headgate plan initrd [OPTION...] [--] [DEVICE...]\n\n"
               "Show the volume groups that have to be active in the initrd, because /, /usr or the\n"
               "device to resume from lies on them, or one of the given devices, which are named as\n"
               "in fstab.\n\n" TABLE_HELP "\n"
               "Exit status: 0, or 2 if it cannot be told.\n\n"
               "See headgate-initrd(8).\n");
}

static const struct column columns[] = {
        {"VG", "name of the volume group", COLUMN_ALWAYS, COLUMN_STRING,
                COLUMN_FIELD(struct needed_volume_group, name)},
        {"NEEDED-BY", "what lies on it", COLUMN_ALWAYS, COLUMN_LIST, COLUMN_FIELD(struct needed_volume_group, by),
                .flags = SCOLS_FL_WRAP},
};

static const struct table_kind kind = {"volumegroups", columns, ELEMENTSOF(columns)};
static const struct table_verb verb = {&kind, .help = help};

int plan_initrd(int argc, char *argv[])
{
        _cleanup_needed_ struct needed needed = {};
        _cleanup_close_ int root_fd = -EBADF;
        int r;

        r = table_parse_options(argc, argv, &verb, &arg_table);
        if (r <= 0)
                return -r;

        root_fd = root_open();
        r = root_fd < 0 ? root_fd : needed_find(root_fd, argv + optind, (size_t) (argc - optind), &needed);
        if (r == -ENXIO)
                return verb_refuse("Cannot tell what the initrd needs: %s.", needed.obstacle);
        if (r >= 0)
                r = table_print_lines(&arg_table, needed.volume_groups, needed.n, sizeof(*needed.volume_groups));
        if (r < 0)
                return verb_fail(r, "Failed to find out what the initrd needs: %m");
        return EXIT_SUCCESS;
}
