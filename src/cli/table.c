/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/table.h"

#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <strings.h>

#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/util.h"

/* Of the terminal's width; what is longer gets what the others leave. */
#define WIDTH_HINT 0.1

/* ------ which columns ------ */

static const struct column *find_column(const struct table_kind *kind, const char *name)
{
        for (size_t i = 0; i < kind->n_columns; i++)
                if (strcasecmp(kind->columns[i].name, name) == 0)
                        return &kind->columns[i];
        return NULL;
}

static int add_column(struct table_options *options, const struct column *column)
{
        const struct column **larger;

        larger = reallocarray(options->columns, options->n_columns + 1, sizeof(struct column *));
        if (!larger)
                return -ENOMEM;
        options->columns = larger;
        options->columns[options->n_columns++] = column;
        return 0;
}

static int add_default_columns(struct table_options *options)
{
        unsigned int shown = options->json ? COLUMN_IN_JSON : COLUMN_IN_TABLE;

        for (size_t i = 0; i < options->kind->n_columns; i++) {
                const struct column *column = &options->kind->columns[i];

                if (column->shown & shown && add_column(options, column) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static void say_unknown(const struct table_kind *kind, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};

        for (size_t i = 0; i < kind->n_columns; i++)
                suggestion_consider(&suggestion, kind->columns[i].name);
        suggestion_log_unknown(&suggestion, "column", "see --list-columns");
}

/* Returns 0, -EINVAL having said which column is not known, or -ENOMEM. */
static int add_listed_columns(struct table_options *options, const char *list)
{
        _cleanup_free_ char *copy = strdup(list);
        char *rest = copy;

        if (!copy)
                return -ENOMEM;
        for (const char *name; (name = strsep(&rest, ","));) {
                const struct column *column = find_column(options->kind, name);

                if (!column) {
                        say_unknown(options->kind, name);
                        return -EINVAL;
                }
                if (add_column(options, column) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int choose_columns(struct table_options *options, const char *list)
{
        const char *additions = list ? skip_prefix(list, "+") : NULL;

        if ((!list || additions) && add_default_columns(options) < 0)
                return -ENOMEM;
        return list ? add_listed_columns(options, additions ?: list) : 0;
}

static void list_columns(const struct table_kind *kind)
{
        for (size_t i = 0; i < kind->n_columns; i++)
                printf("%-14s %s\n", kind->columns[i].name, kind->columns[i].description);
}

/* ------ options ------ */

/* What getopt_long() returns for the first switch that has no letter; the others follow. */
#define OPTION_SWITCH 256

#define SWITCHES_MAX 16

/* "h", and the letters and long options of switches, as getopt_long() wants them. */
static void make_options(const struct table_switch *switches, size_t n, struct option *options, char *letters)
{
        *options++ = (struct option){"help", no_argument, NULL, 'h'};
        *letters++ = 'h';
        for (size_t i = 0; i < n; i++) {
                bool required = !switches[i].value;

                *options++ = (struct option){
                        .name = switches[i].name,
                        .has_arg = required               ? required_argument
                                   : switches[i].argument ? optional_argument
                                                          : no_argument,
                        .val = OPTION_SWITCH + (int) i,
                };
                if (switches[i].letter != '\0')
                        *letters++ = switches[i].letter;
                if (switches[i].letter != '\0' && required)
                        *letters++ = ':';
        }
}

/* The one of an option that getopt_long() has returned, or NULL. */
static const struct table_switch *find_switch(const struct table_switch *switches, size_t n, int option)
{
        for (size_t i = 0; i < n; i++)
                if (option == OPTION_SWITCH + (int) i || (option != 0 && option == switches[i].letter))
                        return &switches[i];
        return NULL;
}

static int parse_switches(
        int argc, char *argv[], const struct table_switch *switches, size_t n, const struct table_verb *verb)
{
        struct option options[SWITCHES_MAX + 2] = {};
        char letters[2 * SWITCHES_MAX + 2] = "";

        make_options(switches, n, options, letters);
        for (int c; (c = getopt_long(argc, argv, letters, options, NULL)) >= 0;) {
                const struct table_switch *found = find_switch(switches, n, c);

                if (c == 'h')
                        verb->help();
                if (!found)
                        return c == 'h' ? -EXIT_SUCCESS : -EXIT_CANNOT_TELL;
                if (found->value)
                        *found->value = true;
                if (found->argument)
                        *found->argument = optarg;
        }
        return 1;
}

int table_parse_options(int argc, char *argv[], const struct table_verb *verb, struct table_options *ret)
{
        _cleanup_table_options_ struct table_options options = {};
        const char *list = NULL;
        bool lists_columns = false;
        struct table_switch switches[SWITCHES_MAX] = {
                {"json", '\0', &options.json},
                {"output", 'o', NULL, &list},
                {"list-columns", '\0', &lists_columns},
                {"noheadings", '\0', &options.no_headings},
        };
        size_t n_common = verb->kind || verb->choose ? 4 : 0;
        int r;

        assert(n_common + verb->n_switches <= SWITCHES_MAX);
        for (size_t i = 0; i < verb->n_switches; i++)
                switches[n_common + i] = verb->switches[i];
        r = parse_switches(argc, argv, switches, n_common + verb->n_switches, verb);
        if (r <= 0 || n_common == 0)
                return r;

        options.chosen = list;
        options.kind = verb->choose ? verb->choose(argc - optind) : verb->kind;
        if (!options.kind)
                return -EXIT_CANNOT_TELL;
        if (lists_columns) {
                list_columns(options.kind);
                return -EXIT_SUCCESS;
        }
        if (verb->takes_no_names && optind < argc) {
                log_error("Unexpected argument \"%s\", see --help.", argv[optind]);
                return -EXIT_CANNOT_TELL;
        }
        r = choose_columns(&options, list);
        if (r == -ENOMEM)
                log_oom();
        if (r < 0)
                return -EXIT_CANNOT_TELL;
        *ret = options;
        options = (struct table_options){};
        return 1;
}

int table_default_options(const struct table_kind *kind, struct table_options *ret)
{
        *ret = (struct table_options){.kind = kind};
        return add_default_columns(ret);
}

void table_options_done(struct table_options *options)
{
        free(options->columns);
        *options = (struct table_options){};
}

/* ------ cells: texts, NULL without memory ------ */

/* How libsmartcols shows the types. */
static const struct {
        int flags, json_type;
} types[_COLUMN_TYPE_MAX] = {
        [COLUMN_STRING... COLUMN_NAME] = {0, SCOLS_JSON_STRING},
        [COLUMN_LINES... COLUMN_SUMMARY] = {0, SCOLS_JSON_ARRAY_STRING},
        [COLUMN_BOOL] = {0, SCOLS_JSON_BOOLEAN},
        [COLUMN_DATE] = {0, SCOLS_JSON_STRING},
        [COLUMN_NUMBER... COLUMN_SIZE] = {SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER},
        [COLUMN_DURATION... COLUMN_MOMENT] = {SCOLS_FL_RIGHT, SCOLS_JSON_STRING},
};

static char *format_size(uint64_t size)
{
        static const char units[] = "BKMGTPE";
        uint64_t tenths = size > UINT64_MAX / 10 ? UINT64_MAX : size * 10;
        size_t unit = 0;

        while (tenths >= 10240 && unit + 1 < strlen(units)) {
                tenths = (tenths + 512) / 1024;
                unit++;
        }
        if (tenths % 10 == 0 || unit == 0)
                return string_format("%" PRIu64 "%c", tenths / 10, units[unit]);
        return string_format("%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10, units[unit]);
}

static char *format_number(const struct column *column, uint64_t number, bool json)
{
        if (number == COLUMN_UNKNOWN)
                return strdup(column->unknown && column->type != COLUMN_NUMBER ? column->unknown : "");
        switch (column->type) {
        case COLUMN_DATE:
                return format_local_time((int64_t) number);
        case COLUMN_DURATION:
                return format_duration(number);
        case COLUMN_SHORT_DURATION:
                return format_short_duration(number);
        case COLUMN_MOMENT:
                return string_format("%" PRIu64 ".%03" PRIu64 "s", number / USEC_PER_SEC,
                        number % USEC_PER_SEC / USEC_PER_MSEC);
        case COLUMN_SIZE:
                return json ? string_format("%" PRIu64, number) : format_size(number);
        default:
                return string_format("%" PRIu64, number);
        }
}

static uint64_t number_at(const void *field, size_t size)
{
        return size == sizeof(uint64_t)   ? *(const uint64_t *) field
               : size == sizeof(uint32_t) ? *(const uint32_t *) field
                                          : *(const uint8_t *) field;
}

/* "a, b, c and 4 more" of a text of several lines. */
static char *summarize(char *lines)
{
        _cleanup_enumeration_ struct enumeration names = {};
        char *rest = lines;

        for (const char *name; (name = strsep(&rest, "\n"));)
                if (*name != '\0')
                        enumeration_add(&names, name);
        enumeration_end(&names);
        return names.text ? TAKE_PTR(names.text) : strdup("");
}

static char *make_text(const struct column *column, const void *line, bool json)
{
        const void *field = (const char *) line + column->offset;
        _cleanup_free_ char *text = column->text ? column->text(line) : NULL;
        const char *string;

        if (column->text)
                return text && column->type == COLUMN_SUMMARY && !json ? summarize(text) : TAKE_PTR(text);
        switch (column->type) {
        case COLUMN_STRING:
        case COLUMN_NAME:
                string = *(char *const *) field ?: "";
                return column->type == COLUMN_NAME ? string_printable(string) : strdup(string);
        case COLUMN_LINES:
        case COLUMN_LIST:
                return string_vector_join(field, json || column->type == COLUMN_LINES ? "\n" : ", ");
        case COLUMN_BOOL:
                if (!json && column->yes)
                        return strdup(*(const bool *) field ? column->yes : column->no);
                return strdup(*(const bool *) field ? "1" : "0");
        default:
                return format_number(column, number_at(field, column->size), json);
        }
}

/* ------ the table ------ */

static bool shows_colors(void)
{
        const char *no_color = secure_getenv("NO_COLOR"), *terminal = secure_getenv("TERM");

        return isatty(STDOUT_FILENO) && (!no_color || no_color[0] == '\0') && terminal && !streq(terminal, "dumb");
}

static char *json_name(const char *name)
{
        char *copy = strdup(name);

        for (char *c = copy; c && *c != '\0'; c++)
                *c = *c == '-' ? '_' : (char) tolower(*c);
        return copy;
}

static int begin_column(struct libscols_table *table, const struct column *column, bool json)
{
        int flags = column->flags | types[column->type].flags, json_type = types[column->type].json_type;
        _cleanup_free_ char *name = json ? json_name(column->name) : strdup(column->name);
        bool array = json && json_type == SCOLS_JSON_ARRAY_STRING;
        struct libscols_column *made;

        made = name ? scols_table_new_column(table, name, WIDTH_HINT, flags | (array ? SCOLS_FL_WRAP : 0)) : NULL;
        if (!made || scols_column_set_json_type(made, json_type) < 0)
                return -ENOMEM;
        /* Names are escaped already, and names of units have backslashes. */
        if (scols_column_set_safechars(made, array ? "\\\n" : "\\") < 0)
                return -ENOMEM;
        if (array && scols_column_set_wrapfunc(made, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) < 0)
                return -ENOMEM;
        return 0;
}

int table_new(const struct table_options *options, struct table *ret)
{
        _cleanup_table_ struct table table = {.table = scols_new_table(), .options = options};
        int r;

        if (!table.table || scols_table_set_name(table.table, options->kind->lines) < 0)
                return -ENOMEM;
        scols_table_enable_json(table.table, options->json);
        scols_table_enable_noheadings(table.table, options->no_headings);
        scols_table_enable_colors(table.table, !options->json && shows_colors());
        for (size_t i = 0; i < options->n_columns; i++) {
                r = begin_column(table.table, options->columns[i], options->json);
                if (r < 0)
                        return r;
        }
        *ret = table;
        table = (struct table){};
        return 0;
}

void table_done(struct table *table)
{
        scols_unref_table(table->table);
        *table = (struct table){};
}

static int set_cell(struct libscols_line *line, size_t column, char *text)
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

int table_add_line(struct table *table, struct libscols_line *parent, const void *line, struct libscols_line **ret)
{
        const struct table_options *options = table->options;
        struct libscols_line *made = scols_table_new_line(table->table, parent);

        if (!made)
                return -ENOMEM;
        for (size_t i = 0; i < options->n_columns; i++) {
                const struct column *column = options->columns[i];
                const char *color = column->color ? column->color(line) : NULL;

                if (set_cell(made, i, make_text(column, line, options->json)) < 0 ||
                        (color && scols_cell_set_color(scols_line_get_cell(made, i), color) < 0))
                        return -ENOMEM;
        }
        if (ret)
                *ret = made;
        return 0;
}

int table_add_title(struct table *table, char *text, struct libscols_line **ret)
{
        *ret = scols_table_new_line(table->table, NULL);
        if (!*ret) {
                free(text);
                return -ENOMEM;
        }
        return set_cell(*ret, 0, text);
}

int table_print(struct table *table)
{
        return scols_print_table(table->table);
}

int table_print_lines(const struct table_options *options, const void *lines, size_t n, size_t size)
{
        _cleanup_table_ struct table table = {};
        int r;

        r = table_new(options, &table);
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = table_add_line(&table, NULL, (const char *) lines + i * size, NULL);
        return r < 0 ? r : table_print(&table);
}
