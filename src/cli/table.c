/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/table.h"

#include <getopt.h>

#include "cli/verbs.h"

/* Of the terminal's width; what is longer gets what the others leave. */
#define WIDTH_HINT 0.1

int table_parse_options(int argc, char *argv[], void (*help)(void), struct table_options *ret)
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

        *ret = (struct table_options){};
        for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        help();
                        return -EXIT_SUCCESS;
                case OPTION_JSON:
                        ret->json = true;
                        break;
                case OPTION_NO_HEADINGS:
                        ret->no_headings = true;
                        break;
                default:
                        return -EXIT_CANNOT_TELL;
                }
        return 1;
}

struct libscols_table *table_new(const struct table_options *options, const char *name)
{
        _cleanup_table_ struct libscols_table *table = scols_new_table();

        if (!table || scols_table_set_name(table, name) < 0)
                return NULL;
        scols_table_enable_json(table, options->json);
        scols_table_enable_noheadings(table, options->no_headings);
        return TAKE_PTR(table);
}

int table_add_column(
        struct libscols_table *table, const char *name, int flags, int json_type, struct libscols_column **ret)
{
        struct libscols_column *column = scols_table_new_column(table, name, WIDTH_HINT, flags);

        if (!column)
                return -ENOMEM;
        scols_column_set_json_type(column, json_type);
        if (ret)
                *ret = column;
        return 0;
}

int table_set_cell(struct libscols_line *line, size_t column, char *text)
{
        if (!text)
                return -ENOMEM;
        /* libsmartcols takes the string over, unless it fails. */
        if (scols_line_refer_data(line, column, text) < 0) {
                free(text);
                return -ENOMEM;
        }
        return 0;
}
