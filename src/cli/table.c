/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/table.h"

#include <ctype.h>
#include <getopt.h>
#include <strings.h>

#include "cli/verbs.h"
#include "shared/log.h"
#include "shared/suggestion.h"

/* Of the terminal's width; what is longer gets what the others leave. */
#define WIDTH_HINT 0.1

/* ------ which columns ------ */

static const struct column *find_column(const struct table_verb *verb, const char *name)
{
        for (size_t i = 0; i < verb->n_columns; i++)
                if (strcasecmp(verb->columns[i].name, name) == 0)
                        return &verb->columns[i];
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

static int add_default_columns(const struct table_verb *verb, struct table_options *options)
{
        unsigned int shown = options->json ? COLUMN_IN_JSON : COLUMN_IN_TABLE;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < verb->n_columns; i++)
                if (verb->columns[i].shown & shown)
                        r = add_column(options, &verb->columns[i]);
        return r;
}

static void say_unknown(const struct table_verb *verb, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};

        for (size_t i = 0; i < verb->n_columns; i++)
                suggestion_consider(&suggestion, verb->columns[i].name);
        suggestion_log_unknown(&suggestion, "column", "see --list-columns");
}

/* Returns 0, -EINVAL having said which column is not known, or -ENOMEM. */
static int add_listed_columns(const struct table_verb *verb, const char *list, struct table_options *options)
{
        _cleanup_free_ char *copy = strdup(list);
        char *rest = copy;
        int r = copy ? 0 : -ENOMEM;

        for (char *name; r >= 0 && (name = strsep(&rest, ","));) {
                const struct column *column = find_column(verb, name);

                if (column) {
                        r = add_column(options, column);
                } else {
                        say_unknown(verb, name);
                        r = -EINVAL;
                }
        }
        return r;
}

static int choose_columns(const struct table_verb *verb, const char *list, struct table_options *options)
{
        const char *additions = list ? skip_prefix(list, "+") : NULL;
        int r = 0;

        if (!list || additions)
                r = add_default_columns(verb, options);
        if (r >= 0 && list)
                r = add_listed_columns(verb, additions ?: list, options);
        return r;
}

static void list_columns(const struct table_verb *verb)
{
        for (size_t i = 0; i < verb->n_columns; i++)
                printf("%-14s %s\n", verb->columns[i].name, verb->columns[i].description);
}

/* ------ options ------ */

enum {
        OPTION_JSON = 256,
        OPTION_NO_HEADINGS,
        OPTION_LIST_COLUMNS,
        OPTION_SWITCH, /* and following numbers */
};

static const struct option common_options[] = {
        {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, OPTION_JSON},
        {"output", required_argument, NULL, 'o'},
        {"list-columns", no_argument, NULL, OPTION_LIST_COLUMNS},
        {"noheadings", no_argument, NULL, OPTION_NO_HEADINGS},
};

/* The option that getopt_long() has returned, or NULL. */
static const struct table_switch *find_switch(const struct table_verb *verb, int option)
{
        for (size_t i = 0; i < verb->n_switches; i++)
                if (option == OPTION_SWITCH + (int) i || (option != 0 && option == verb->switches[i].letter))
                        return &verb->switches[i];
        return NULL;
}

/* The options with the verb's own, as getopt_long() wants them. */
static int make_options(const struct table_verb *verb, struct option **ret_options, char **ret_letters)
{
        size_t n_common = ELEMENTSOF(common_options);
        _cleanup_free_ struct option *options = calloc(n_common + verb->n_switches + 1, sizeof(struct option));
        _cleanup_free_ char *letters = calloc(strlen("ho:") + verb->n_switches + 1, sizeof(char));

        if (!options || !letters)
                return -ENOMEM;
        memcpy(options, common_options, sizeof(common_options));
        strcpy(letters, "ho:");
        for (size_t i = 0; i < verb->n_switches; i++) {
                options[n_common + i] = (struct option){
                        .name = verb->switches[i].name,
                        .has_arg = !verb->switches[i].argument ? no_argument
                                   : verb->switches[i].value   ? optional_argument
                                                               : required_argument,
                        .val = OPTION_SWITCH + (int) i,
                };
                if (verb->switches[i].letter != '\0')
                        letters[strlen(letters)] = verb->switches[i].letter;
        }
        *ret_options = TAKE_PTR(options);
        *ret_letters = TAKE_PTR(letters);
        return 0;
}

int table_parse_options(int argc, char *argv[], const struct table_verb *verb, struct table_options *ret)
{
        _cleanup_table_options_ struct table_options options = {};
        _cleanup_free_ struct option *long_options = NULL;
        _cleanup_free_ char *letters = NULL;
        const struct table_switch *own;
        const char *list = NULL;
        int r;

        r = make_options(verb, &long_options, &letters);
        for (int c; r >= 0 && (c = getopt_long(argc, argv, letters, long_options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        verb->help();
                        return -EXIT_SUCCESS;
                case OPTION_LIST_COLUMNS:
                        list_columns(verb);
                        return -EXIT_SUCCESS;
                case OPTION_JSON:
                        options.json = true;
                        break;
                case OPTION_NO_HEADINGS:
                        options.no_headings = true;
                        break;
                case 'o':
                        list = optarg;
                        options.chosen = true;
                        break;
                default:
                        own = find_switch(verb, c);
                        if (!own)
                                return -EXIT_CANNOT_TELL;
                        if (own->value)
                                *own->value = true;
                        if (own->argument)
                                *own->argument = optarg;
                }
        if (verb->takes_no_names && optind < argc) {
                log_error("Unexpected argument \"%s\", see --help.", argv[optind]);
                return -EXIT_CANNOT_TELL;
        }
        if (r >= 0)
                r = choose_columns(verb, list, &options);
        if (r < 0) {
                if (r != -EINVAL)
                        (void) log_error_errno(r, "Failed to read the options: %m");
                return -EXIT_CANNOT_TELL;
        }
        *ret = options;
        options = (struct table_options){};
        return 1;
}

int table_default_options(const struct table_verb *verb, struct table_options *ret)
{
        *ret = (struct table_options){};
        return add_default_columns(verb, ret);
}

void table_options_done(struct table_options *options)
{
        free(options->columns);
        *options = (struct table_options){};
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
        _cleanup_free_ char *name = json ? json_name(column->name) : strdup(column->name);
        bool array = json && column->json_type == SCOLS_JSON_ARRAY_STRING;
        struct libscols_column *made;

        made = name ? scols_table_new_column(table, name, WIDTH_HINT, column->flags | (array ? SCOLS_FL_WRAP : 0))
                    : NULL;
        if (!made || scols_column_set_json_type(made, column->json_type) < 0)
                return -ENOMEM;
        /* Names are escaped already, and names of units have backslashes. */
        if (scols_column_set_safechars(made, array ? "\\\n" : "\\") < 0)
                return -ENOMEM;
        if (array && scols_column_set_wrapfunc(made, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) < 0)
                return -ENOMEM;
        return 0;
}

int table_new(const struct table_verb *verb, const struct table_options *options, struct table *ret)
{
        _cleanup_table_ struct table table = {.table = scols_new_table(), .options = options};
        int r;

        if (!table.table || scols_table_set_name(table.table, verb->lines) < 0)
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
        int r = made ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < options->n_columns; i++) {
                const struct column *column = options->columns[i];
                const char *color = column->color ? column->color(line) : NULL;

                r = set_cell(made, i,
                        (options->json && column->format_json ? column->format_json : column->format)(line));
                if (r >= 0 && color && scols_cell_set_color(scols_line_get_cell(made, i), color) < 0)
                        r = -ENOMEM;
        }
        if (ret)
                *ret = made;
        return r;
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
