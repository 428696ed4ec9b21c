/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate plan initrd: the VGs without which the initrd cannot do its work. src/initrd/initramfs-tools/hook
 * asks. */

#include <getopt.h>
#include <libsmartcols.h>

#include "cli/plan.h"
#include "cli/verbs.h"
#include "initrd/device.h"
#include "initrd/needed.h"
#include "shared/log.h"
#include "shared/root.h"

DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)

static bool arg_json;
static bool arg_no_headings;

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
        const char *separator = arg_json ? "\n" : ", ";
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

        /* A width hint of 0.1 of the terminal; what is longer gets what the others leave. */
        if (!scols_table_new_column(table, arg_json ? "vg" : "VG", 0.1, 0))
                return -ENOMEM;
        column = scols_table_new_column(table, arg_json ? "needed_by" : "NEEDED BY", 0.1, SCOLS_FL_WRAP);
        if (!column)
                return -ENOMEM;
        scols_column_set_json_type(column, SCOLS_JSON_ARRAY_STRING);
        return scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
}

static int add_line(struct libscols_table *table, const struct needed_volume_group *volume_group)
{
        struct libscols_line *line = scols_table_new_line(table, NULL);
        _cleanup_free_ char *by = join(&volume_group->by);

        if (!line || !by)
                return -ENOMEM;
        if (scols_line_set_data(line, 0, volume_group->name) < 0)
                return -ENOMEM;
        return scols_line_set_data(line, 1, by);
}

static int print(const struct needed *needed)
{
        _cleanup_(scols_unref_tablep) struct libscols_table *table = scols_new_table();
        int r;

        if (!table || scols_table_set_name(table, "volumegroups") < 0)
                return -ENOMEM;
        scols_table_enable_json(table, arg_json);
        scols_table_enable_noheadings(table, arg_no_headings);
        r = add_columns(table);
        for (size_t i = 0; r >= 0 && i < needed->n; i++)
                r = add_line(table, &needed->volume_groups[i]);
        return r < 0 ? r : scols_print_table(table);
}

/* 1 to go on, or an exit status below that, negated. */
static int parse_arguments(int argc, char *argv[])
{
        enum {
                OPTION_JSON = 256,
                OPTION_NO_HEADINGS,
        };
        static const struct option options[] = {
                {"help", no_argument, NULL, 'h'},
                {"json", no_argument, NULL, OPTION_JSON},
                {"noheadings", no_argument, NULL, OPTION_NO_HEADINGS},
                {},
        };

        for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        help();
                        return -EXIT_SUCCESS;
                case OPTION_JSON:
                        arg_json = true;
                        break;
                case OPTION_NO_HEADINGS:
                        arg_no_headings = true;
                        break;
                default:
                        return -EXIT_CANNOT_TELL;
                }
        return 1;
}

int plan_initrd(int argc, char *argv[])
{
        _cleanup_needed_ struct needed needed = {};
        _cleanup_close_ int root_fd = -EBADF;
        int r;

        r = parse_arguments(argc, argv);
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
