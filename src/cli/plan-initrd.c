/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plan initrd: the VGs without which the initrd cannot do its work. src/initrd/initramfs-tools/hook
 * asks. */

#include <getopt.h>

#include "cli/plan.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "initrd/device.h"
#include "initrd/needed.h"
#include "shared/log.h"
#include "shared/root.h"

static struct table_options arg_table;

static void help(void)
{
        printf("Usage: headgate plan initrd [OPTION...] [--] [DEVICE...]\n\n"
               "Show the volume groups that have to be active in the initrd, because /, /usr or the\n"
               "device to resume from lies on them, or one of the given devices, which are named as\n"
               "in fstab.\n\n"
               "      --json        Print JSON\n"
               "      --noheadings  Leave out the line of headings\n"
               "  -h, --help        Show this help\n\n"
               "Exit status: 0, or 2 if it cannot be told.\n\n"
               "See headgate-initrd(8).\n");
}

/* libsmartcols makes an array in JSON of the lines of a cell. NULL without memory. */
static char *join(const struct string_vector *strings)
{
        const char *separator = arg_table.json ? "\n" : ", ";
        size_t size = 1;
        char *text, *end;

        for (size_t i = 0; i < strings->n; i++)
                size += strlen(strings->strings[i]) + strlen(separator);
        text = end = malloc(size);
        if (!text)
                return NULL;
        *end = '\0';
        for (size_t i = 0; i < strings->n; i++) {
                end = stpcpy(end, strings->strings[i]);
                if (i + 1 < strings->n)
                        end = stpcpy(end, separator);
        }
        return text;
}

static int add_columns(struct libscols_table *table)
{
        struct libscols_column *column;
        int r;

        r = table_add_column(table, arg_table.json ? "vg" : "VG", 0, SCOLS_JSON_STRING, NULL);
        if (r >= 0)
                r = table_add_column(table, arg_table.json ? "needed_by" : "NEEDED BY", SCOLS_FL_WRAP,
                        SCOLS_JSON_ARRAY_STRING, &column);
        return r < 0 ? r : scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
}

static int add_line(struct libscols_table *table, const struct needed_volume_group *volume_group)
{
        struct libscols_line *line = scols_table_new_line(table, NULL);
        int r;

        if (!line)
                return -ENOMEM;
        r = table_set_cell(line, 0, strdup(volume_group->name));
        return r < 0 ? r : table_set_cell(line, 1, join(&volume_group->by));
}

static int print(const struct needed *needed)
{
        _cleanup_table_ struct libscols_table *table = table_new(&arg_table, "volumegroups");
        int r = table ? 0 : -ENOMEM;

        if (r >= 0)
                r = add_columns(table);
        for (size_t i = 0; r >= 0 && i < needed->n; i++)
                r = add_line(table, &needed->volume_groups[i]);
        return r < 0 ? r : scols_print_table(table);
}

int plan_initrd(int argc, char *argv[])
{
        _cleanup_needed_ struct needed needed = {};
        _cleanup_close_ int root_fd = -EBADF;
        int r;

        r = table_parse_options(argc, argv, help, &arg_table);
        if (r <= 0)
                return -r;

        root_fd = root_open();
        r = root_fd < 0 ? root_fd : needed_find(root_fd, argv + optind, (size_t) (argc - optind), &needed);
        if (r == -ENXIO) {
                log_error("Cannot tell what the initrd needs: %s.", needed.obstacle);
                return EXIT_CANNOT_TELL;
        }
        if (r >= 0)
                r = print(&needed);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to find out what the initrd needs: %m");
                return EXIT_CANNOT_TELL;
        }
        return EXIT_SUCCESS;
}
