/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tables and JSON from the same lines: this file formats each cell, libsmartcols prints. */

#include "table/table.h"

#include <inttypes.h>
#include <locale.h>
#include <strings.h>

#include "shared/log.h"
#include "shared/names.h"
#include "shared/util.h"

/* A terminal with fewer columns is narrow. */
#define NARROW 100U
#define BELOW_INDENT 4U

/* The width of libsmartcols' indentation of each tree level. */
#define TREE_INDENT 2U

/* ------ cells: texts, NULL without memory ------ */

/* Types in libsmartcols. */
static const struct {
        int flags, json_type;
} types[_COLUMN_TYPE_MAX] = {
        [COLUMN_STRING... COLUMN_CHARS] = {0, SCOLS_JSON_STRING},
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

/* In ISO 8601. */
static char *format_utc(int64_t seconds)
{
        time_t when = (time_t) seconds;
        char text[TIME_SIZE];
        struct tm utc;

        if (!gmtime_r(&when, &utc) || strftime(text, sizeof("2026-01-01T00:00:00Z"), "%FT%TZ", &utc) == 0)
                *text = '\0';
        return strdup(text);
}

static char *format_number(const struct column *column, uint64_t number, bool json)
{
        if (number == COLUMN_UNKNOWN)
                return strdup(column->unknown && column->type != COLUMN_NUMBER ? column->unknown : "");
        switch (column->type) {
        case COLUMN_DATE:
                return json ? format_utc((int64_t) number) : strdup(LOCAL_TIME_TO_STRING((int64_t) number));
        case COLUMN_DURATION:
                return strdup(DURATION_TO_STRING(number));
        case COLUMN_SHORT_DURATION:
                return strdup(SHORT_DURATION_TO_STRING(number));
        case COLUMN_MOMENT:
                return string_format("%" PRIu64 ".%03" PRIu64 "s", number / USEC_PER_SEC,
                        number % USEC_PER_SEC / USEC_PER_MSEC);
        case COLUMN_SIZE:
                return json ? string_format("%" PRIu64, number) : format_size(number);
        default:
                return string_format("%" PRIu64, number);
        }
}

static char *format_summary(const struct strv *names)
{
        _cleanup_enumeration_ struct enumeration enumeration = {};

        STRV_FOREACH(name, names)
                enumeration_add(&enumeration, *name);
        return enumeration.text ? TAKE_PTR(enumeration.text) : strdup("");
}

static char *make_text(const struct column *column, const void *line, bool json)
{
        const void *field = (const char *) line + column->offset;

        if (column->text)
                return column->text(line);
        switch (column->type) {
        case COLUMN_STRING:
                return string_printable(*(char *const *) field ?: "");
        case COLUMN_CHARS:
                return string_printable(field);
        case COLUMN_LINES:
                return strv_join(field, "\n");
        case COLUMN_LIST:
                return strv_join(field, json ? "\n" : ", ");
        case COLUMN_SUMMARY:
                return json ? strv_join(field, "\n") : format_summary(field);
        case COLUMN_BOOL:
                if (!json && column->yes)
                        return strdup(*(const bool *) field ? column->yes : column->no);
                return strdup(*(const bool *) field ? "1" : "0");
        default:
                return format_number(column,
                        column->size == sizeof(uint32_t) ? *(const uint32_t *) field : *(const uint64_t *) field,
                        json);
        }
}

/* ------ columns ------ */

/* Returns the length of the first line of the text wrapped at words. A word that is longer than the width is not
 * split. */
static size_t first_line_length(const char *text, size_t width)
{
        size_t length = strcspn(text, " \n");

        while (text[length] == ' ') {
                size_t next = length + 1 + strcspn(text + length + 1, " \n");

                if (next > width)
                        break;
                length = next;
        }
        return length;
}

/* Inserts a newline after each such line. */
static void wrap_text(char *text, size_t width)
{
        for (text += first_line_length(text, width); *text != '\0'; text += 1 + first_line_length(text + 1, width))
                *text = '\n';
}

static int add_column(struct table *table, const struct column *column)
{
        int json_type = types[column->type].json_type;
        bool json = table->options.json, array = json && json_type == SCOLS_JSON_ARRAY_STRING;
        bool wraps = array || (!json && column->flags & SCOLS_FL_WRAP);
        int flags = column->flags | types[column->type].flags | (array ? SCOLS_FL_WRAP : 0);
        _cleanup_free_ char *name = strdup(column->name);
        struct libscols_column *made;

        /* Only "-", which jq does not accept in names; libsmartcols makes them lower case. */
        for (char *c = json ? name : NULL; c && (c = strchr(c, '-'));)
                *c = '_';
        made = name ? scols_table_new_column(table->table, name, 0, flags) : NULL;
        if (!made || scols_column_set_json_type(made, json_type) < 0)
                return -ENOMEM;
        if (wraps && scols_column_set_wrapfunc(made, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) < 0)
                return -ENOMEM;
        if (column->below)
                table->below = made;
        /* The locale determines the characters of a tree. */
        if (column->flags & SCOLS_FL_TREE)
                (void) setlocale(LC_CTYPE, "");
        return APPEND(table->columns, table->n_columns, column);
}

/* Returns NULL, after logging it, if there is no such column. */
static const struct column *find_column(const struct table_kind *kind, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};

        FOREACH_ARRAY(column, kind->columns, kind->n_columns) {
                if (strcasecmp(column->name, name) == 0)
                        return column;
                suggestion_consider(&suggestion, column->name);
        }
        suggestion_log_unknown(&suggestion, "column", "see --list-columns");
        return NULL;
}

static int add_listed_columns(struct table *table, const struct table_kind *kind, const char *list)
{
        _cleanup_free_ char *copy = strdup(list);

        if (!copy)
                return -ENOMEM;
        for (char *name, *rest = copy; (name = strsep(&rest, ","));) {
                const struct column *column = find_column(kind, name);

                if (!column)
                        return -EINVAL;
                /* An object of JSON has each key once. */
                if (table->options.json &&
                        ANY(FOREACH_ARRAY(other, table->columns, table->n_columns), *other == column))
                        continue;
                if (add_column(table, column) < 0)
                        return -ENOMEM;
        }
        return 0;
}

void table_list_columns(const struct table_kind *kind)
{
        FOREACH_ARRAY(column, kind->columns, kind->n_columns)
                printf("%-14s %s\n", column->name, column->description);
}

/* ------ the table ------ */

static bool shows_colors(void)
{
        const char *no_color = secure_getenv("NO_COLOR"), *terminal = secure_getenv("TERM");

        return isatty(STDOUT_FILENO) && isempty(no_color) && terminal && !streq(terminal, "dumb");
}

int table_new(const struct table_kind *kind, const struct table_options *options, struct table *ret)
{
        const char *list = options->columns, *additions = list ? skip_prefix(list, "+") : NULL;
        unsigned int shown = options->json ? COLUMN_IN_JSON : COLUMN_IN_TABLE;
        _cleanup_table_ struct table table = {
                .options = *options,
                .table = scols_new_table(),
        };
        int r = 0;

        if (!table.table || scols_table_set_name(table.table, kind->lines) < 0)
                return -ENOMEM;
        /* Names are escaped already, and names of units have backslashes, which libsmartcols would count several times. */
        scols_table_enable_noencoding(table.table, true);
        scols_table_enable_json(table.table, options->json);
        scols_table_enable_noheadings(table.table, options->no_headings);
        scols_table_enable_colors(table.table, !options->json && shows_colors());
        for (size_t i = 0; (!list || additions) && i < kind->n_columns; i++)
                if (kind->columns[i].shown & shown && add_column(&table, &kind->columns[i]) < 0)
                        return -ENOMEM;
        if (list)
                r = add_listed_columns(&table, kind, additions ?: list);
        if (r < 0)
                return r;
        *ret = TAKE_STRUCT(table);
        return 0;
}

void table_done(struct table *table)
{
        scols_unref_table(table->table);
        free(table->columns);
}

void table_fail(struct table *table, int error)
{
        if (error < 0 && table->error == 0)
                table->error = error;
}

/* libsmartcols before 2.42 prints [null] for an empty array. A newline is never part of a value, so a bracket at
 * the end of a line opens an array. */
static void empty_arrays(char *json)
{
        char *to = json;

        for (const char *from = json; *from != '\0';) {
                const char *element = from[0] == '[' && from[1] == '\n' ? from + 2 + strspn(from + 2, " ") : NULL;
                const char *end = element ? skip_prefix(element, "null\n") : NULL;

                *to++ = *from++;
                if (end)
                        from = end + strspn(end, " ");
        }
        *to = '\0';
}

/* Returns a string to be freed by the caller, or NULL; the error is kept then. */
static char *make_json(struct table *table)
{
        char *json = NULL;

        if (scols_print_table_to_string(table->table, &json) < 0)
                table_fail(table, -ENOMEM);
        else
                empty_arrays(json);
        return json;
}

/* Prints a JSON object as one line. In libsmartcols' output a newline is never part of a value, and is followed by
 * indentation. */
static void print_object(struct table *table)
{
        _cleanup_free_ char *text = make_json(table);
        const char *begin, *end;

        if (!text)
                return;
        scols_table_remove_lines(table->table);
        begin = strchr(text, '[');
        end = strrchr(text, ']');
        for (const char *c = begin; c && ++c < end;)
                if (*c == '\n')
                        c += strspn(c + 1, " ");
                else
                        putchar(*c);
        putchar('\n');
}

struct libscols_line *table_add_line(struct table *table, struct libscols_line *parent, const void *line)
{
        struct libscols_line *made = scols_table_new_line(table->table, parent);

        if (!made)
                table_fail(table, -ENOMEM);
        for (size_t i = 0; made && i < table->n_columns; i++) {
                const struct column *column = table->columns[i];
                const char *color = column->colored ? *(const char *const *) line : NULL;
                _cleanup_free_ char *text = make_text(column, line, table->options.json);

                if (text && scols_line_refer_data(made, i, text) >= 0)
                        TAKE_PTR(text);
                else
                        table_fail(table, -ENOMEM);
                if (color && scols_cell_set_color(scols_line_get_cell(made, i), color) < 0)
                        table_fail(table, -ENOMEM);
        }
        if (!table->by_line || !table->options.json || table->error < 0)
                return made;
        print_object(table);
        return NULL;
}

/* ------ on a terminal: columns are wrapped here, as libsmartcols splits words ------ */

DEFINE_CLEANUP(struct libscols_iter *, scols_free_iter)

static char *get_text(struct libscols_line *line, size_t i)
{
        /* make_text() has allocated it. */
        return (char *) scols_cell_get_data(scols_line_get_cell(line, i));
}

static size_t measure(const struct table *table, struct libscols_line *line, size_t i)
{
        const struct libscols_column *column = scols_table_get_column(table->table, i);
        size_t width = scols_wrapnl_chunksize(column, get_text(line, i), NULL);

        while (scols_column_is_tree(column) && (line = scols_line_get_parent(line)))
                width += TREE_INDENT;
        return width;
}

static bool can_shrink(const struct column *column, size_t width)
{
        return column->flags & SCOLS_FL_WRAP && width > strlen(column->name);
}

/* Wraps columns, the widest first, until all of them fit. */
static int wrap_columns(struct table *table, size_t terminal)
{
        _cleanup_(scols_free_iterp) struct libscols_iter *iter = scols_new_iter(SCOLS_ITER_FORWARD);
        _cleanup_free_ size_t *widths = calloc(table->n_columns, sizeof(*widths));
        size_t total = table->n_columns - 1;
        struct libscols_line *line = NULL;

        if (!iter || !widths)
                return -ENOMEM;
        for (size_t i = 0; i < table->n_columns; i++) {
                widths[i] = strlen(table->columns[i]->name);
                scols_reset_iter(iter, SCOLS_ITER_FORWARD);
                while (scols_table_next_line(table->table, iter, &line) == 0)
                        widths[i] = MAX(widths[i], measure(table, line, i));
                total += widths[i];
        }
        for (; total > terminal; total--) {
                size_t *widest = NULL;

                for (size_t i = 0; i < table->n_columns; i++)
                        if (can_shrink(table->columns[i], widths[i]) && (!widest || widths[i] > *widest))
                                widest = &widths[i];
                if (!widest)
                        break;
                (*widest)--;
        }
        scols_reset_iter(iter, SCOLS_ITER_FORWARD);
        while (scols_table_next_line(table->table, iter, &line) == 0)
                for (size_t i = 0; i < table->n_columns; i++)
                        if (table->columns[i]->flags & SCOLS_FL_WRAP)
                                wrap_text(get_text(line, i), widths[i]);
        return 0;
}

/* Prints each line without the column, and the column's text below. */
static int print_below(struct table *table, size_t width)
{
        _cleanup_(scols_free_iterp) struct libscols_iter *iter = scols_new_iter(SCOLS_ITER_FORWARD);
        bool is_heading = !scols_table_is_noheadings(table->table);
        struct libscols_line *line = NULL;
        _cleanup_free_ char *text = NULL;

        scols_column_set_flags(table->below, scols_column_get_flags(table->below) | SCOLS_FL_HIDDEN);
        if (!iter || scols_print_table_to_string(table->table, &text) < 0)
                return -ENOMEM;
        FOREACH_LINE(printed, text) {
                const char *below = "";

                if (!is_heading && scols_table_next_line(table->table, iter, &line) == 0)
                        below = scols_line_get_column_data(line, table->below) ?: "";
                is_heading = false;
                puts(printed);
                for (size_t length; *below != '\0'; below += length + (below[length] != '\0')) {
                        length = first_line_length(below, width);
                        printf("%*s%.*s\n", (int) BELOW_INDENT, "", (int) length, below);
                }
        }
        return 0;
}

static int print_on_terminal(struct table *table)
{
        size_t width = scols_table_get_termwidth(table->table);

        if (table->below && table->n_columns > 1 && width < NARROW)
                return print_below(table, MAX(width, BELOW_INDENT) - BELOW_INDENT);
        return wrap_columns(table, width) ?: scols_print_table(table->table);
}

int table_print(struct table *table)
{
        _cleanup_free_ char *text = table->options.json && !table->by_line ? make_json(table) : NULL;
        int r = table->error;

        if (r == 0 && text)
                puts(text);
        if (r == 0 && !table->options.json && scols_table_get_nlines(table->table) > 0)
                r = isatty(STDOUT_FILENO) ? print_on_terminal(table) : scols_print_table(table->table);
        if (r < 0 || !table->by_line)
                return r;
        if (scols_table_get_nlines(table->table) > 0)
                scols_table_enable_noheadings(table->table, true);
        scols_table_remove_lines(table->table);
        return fflush(stdout) == 0 ? 0 : -errno;
}
