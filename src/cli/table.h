/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libsmartcols.h>
#include <stdbool.h>
#include <stddef.h>

#include "shared/macro.h"

/* What the verbs that print a table have in common: the same options, and the same look. A verb describes its
 * columns once; from that come the table, JSON, --output and --list-columns. */

/* Where a column is shown unless --output says otherwise. */
#define COLUMN_IN_TABLE 1U
#define COLUMN_IN_JSON 2U
#define COLUMN_ALWAYS (COLUMN_IN_TABLE | COLUMN_IN_JSON)

struct column {
        const char *name;        /* the heading; in JSON in small letters, and with _ for - */
        const char *description; /* for --list-columns */
        unsigned int shown;      /* COLUMN_*, 0 for a column that is there on request */
        int flags;               /* libsmartcols' SCOLS_FL_* */
        int json_type;           /* libsmartcols' SCOLS_JSON_*; one line of a cell is one element of an array */
        /* Make the cell of what a line is about, to be freed by the caller; NULL without memory. `format_json` is
         * NULL where JSON has the same. */
        char *(*format)(const void *line);
        char *(*format_json)(const void *line);
        /* A colour that libsmartcols knows by name, NULL for none; `color` may be NULL, too. */
        const char *(*color)(const void *line);
};

/* An option of a verb's own. */
struct table_switch {
        const char *name; /* the long one, without -- */
        char letter;      /* the short one, or '\0'; only if it has no argument */
        bool *value;      /* set to true if it is given, or NULL: then it wants an argument */
        const char *
                *argument; /* set to that, or to NULL if none follows after a =; NULL for one that takes none */
};

/* The table of a verb. */
struct table_verb {
        void (*help)(void);
        const char *lines; /* the key of the lines in JSON */
        const struct column *columns;
        size_t n_columns;
        const struct table_switch *switches; /* may be NULL */
        size_t n_switches;
        bool takes_no_names; /* nothing but options */
};

struct table_options {
        bool json;
        bool no_headings;
        bool chosen;                   /* --output was given */
        const struct column **columns; /* what is to be shown, in this order */
        size_t n_columns;
};

/* The part of a help text that is the same for all tables. */
#define TABLE_HELP                                                                                                \
        "      --json           Print JSON\n"                                                                     \
        "  -o, --output LIST    Show these columns, or with +LIST these, too\n"                                   \
        "      --list-columns   List the columns, and leave\n"                                                    \
        "      --noheadings     Leave out the line of headings\n"                                                 \
        "  -h, --help           Show this help\n"

/* Takes the options of a table, those of the verb, and --help, for which `verb->help` is called. Returns 1 to go
 * on, with what is not an option from argv[optind] on, or an exit status below that, negated, having said what
 * there was to say. */
int table_parse_options(int argc, char *argv[], const struct table_verb *verb, struct table_options *ret)
        _nonnull_(2, 3, 4) _must_check_;
/* The columns that are shown by themselves, in a table. Returns 0 or -ENOMEM. */
int table_default_options(const struct table_verb *verb, struct table_options *ret) _nonnull_(1, 2) _must_check_;
void table_options_done(struct table_options *options) _nonnull_(1);
#define _cleanup_table_options_ _cleanup_(table_options_done)

/* A table that is being made. Starts empty: all zeros. */
struct table {
        struct libscols_table *table;
        const struct table_options *options; /* lives longer than the table */
};

/* Has colours if standard output is a terminal that shows them and $NO_COLOR (see https://no-color.org) is not
 * set. Returns 0 or -ENOMEM. */
int table_new(const struct table_verb *verb, const struct table_options *options, struct table *ret)
        _nonnull_(1, 2, 3) _must_check_;
void table_done(struct table *table) _nonnull_(1);
#define _cleanup_table_ _cleanup_(table_done)

/* Adds a line about something, as the verb's columns know it; below `parent`, which may be NULL, where a column is
 * of SCOLS_FL_TREE. `ret` may be NULL. Returns 0 or -ENOMEM. */
int table_add_line(struct table *table, struct libscols_line *parent, const void *line, struct libscols_line **ret)
        _nonnull_(1, 3) _must_check_;
/* Adds a line of which there is only a text in the first column, which it takes over; NULL is -ENOMEM. */
int table_add_title(struct table *table, char *text, struct libscols_line **ret) _nonnull_(1, 3) _must_check_;

/* Prints it on standard output. Returns 0 or a negative errno. */
int table_print(struct table *table) _nonnull_(1) _must_check_;
