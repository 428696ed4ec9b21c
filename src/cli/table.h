/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libsmartcols.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/macro.h"

/* The options of the verbs, and the tables that most of them print. A column is a row of data: its name, where its
 * value is in the struct of a line, and of what type that is. From these come the table, JSON, --output and
 * --list-columns. */

/* Where a column is shown unless --output says otherwise. */
#define COLUMN_IN_TABLE 1U
#define COLUMN_IN_JSON 2U
#define COLUMN_ALWAYS (COLUMN_IN_TABLE | COLUMN_IN_JSON)

/* Of what type the value is: how it looks in a table, and in JSON. Numbers are unsigned, of 1, 4 or 8 bytes. */
enum column_type {
        COLUMN_STRING, /* char *, NULL for nothing */
        COLUMN_NAME,   /* the same, of what others have named: what is not printable is escaped */
        /* In JSON an array. */
        COLUMN_LINES,   /* struct string_vector, or a text of several lines: below each other */
        COLUMN_LIST,    /* struct string_vector: "a, b, c, d" */
        COLUMN_SUMMARY, /* a text of several lines, by a getter: "a, b, c and 4 more" */
        COLUMN_BOOL,    /* true or false, in JSON a boolean */
        COLUMN_DATE,    /* int64_t, seconds since 1970: "2026-01-31 12:00:00" */
        /* These are to the right. */
        COLUMN_NUMBER,         /* a number */
        COLUMN_SIZE,           /* bytes: "1.5G", in JSON a number */
        COLUMN_DURATION,       /* microseconds: "4.2s" */
        COLUMN_SHORT_DURATION, /* "146us" */
        COLUMN_MOMENT,         /* "12.345s", for comparison with the journal */
        _COLUMN_TYPE_MAX,
};

/* A number of 64 bits, or a date, that is not known. */
#define COLUMN_UNKNOWN UINT64_MAX

struct column {
        const char *name;        /* the heading; in JSON in small letters, and with _ for - */
        const char *description; /* for --list-columns */
        unsigned int shown;      /* COLUMN_*, 0 for a column that is there on request */
        enum column_type type;
        size_t offset, size; /* of the value in the line: COLUMN_FIELD() */
        /* Where there is no such field: makes the text, to be freed by the caller; NULL without memory. A boolean is
         * 1 or 0. */
        char *(*text)(const void *line);
        /* A colour that libsmartcols knows by name, NULL for none. */
        const char *(*color)(const void *line);
        int flags;            /* libsmartcols' SCOLS_FL_* */
        const char *unknown;  /* for a duration that is not known, NULL for "" */
        const char *no, *yes; /* in a table, for a boolean, NULL for "0" and "1" */
};

#define COLUMN_FIELD(line, field) .offset = offsetof(line, field), .size = sizeof(((line *) NULL)->field)

/* Two columns, of which the second has the microseconds, and is shown in JSON instead. */
#define COLUMNS_OF_TIME(name, description, type, ...)                                                             \
        {name, description, COLUMN_IN_TABLE, type, __VA_ARGS__},                                                  \
        {                                                                                                         \
                name "-USEC", "the same, in microseconds", COLUMN_IN_JSON, COLUMN_NUMBER, __VA_ARGS__             \
        }

/* What a table shows. */
struct table_kind {
        const char *lines; /* their key in JSON */
        const struct column *columns;
        size_t n_columns;
};

/* An option of a verb's own. */
struct table_switch {
        const char *name; /* the long one, without -- */
        char letter;      /* the short one, or '\0' */
        bool *value;      /* set to true if it is given, or NULL: then it wants an argument */
        const char *
                *argument; /* set to that, or to NULL if none follows after a =; NULL for one that takes none */
};

/* A verb, which has either of the first two if it prints a table. */
struct table_verb {
        const struct table_kind *kind;
        /* Which table the verb's own options, and so many names, ask for. Returns NULL, having said what is wrong. */
        const struct table_kind *(*choose)(int n_names);
        void (*help)(void);
        const struct table_switch *switches; /* may be NULL */
        size_t n_switches;
        bool takes_no_names; /* nothing but options; for a verb with a table */
};

struct table_options {
        const struct table_kind *kind;
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

/* Takes the options of the verb, --help, for which `verb->help` is called, and those of a table if it has one: only
 * then is `ret` set, which may be NULL for a verb without. Returns 1 to go on, with what is not an option from
 * argv[optind] on, or an exit status below that, negated, having said what there was to say. */
int table_parse_options(int argc, char *argv[], const struct table_verb *verb, struct table_options *ret)
        _nonnull_(2, 3) _must_check_;
/* The columns that are shown by themselves, in a table. Returns 0 or -ENOMEM. */
int table_default_options(const struct table_kind *kind, struct table_options *ret) _nonnull_(1, 2) _must_check_;
void table_options_done(struct table_options *options) _nonnull_(1);
#define _cleanup_table_options_ _cleanup_(table_options_done)

/* A table that is being made. Starts empty: all zeros. */
struct table {
        struct libscols_table *table;
        const struct table_options *options; /* lives longer than the table */
};

/* Has colours if standard output is a terminal that shows them and $NO_COLOR (see https://no-color.org) is not
 * set. Returns 0 or -ENOMEM. */
int table_new(const struct table_options *options, struct table *ret) _nonnull_(1, 2) _must_check_;
void table_done(struct table *table) _nonnull_(1);
#define _cleanup_table_ _cleanup_(table_done)

/* Adds a line about something, as the columns know it; below `parent`, which may be NULL, where a column is of
 * SCOLS_FL_TREE. `ret` may be NULL. Returns 0 or -ENOMEM. */
int table_add_line(struct table *table, struct libscols_line *parent, const void *line, struct libscols_line **ret)
        _nonnull_(1, 3) _must_check_;
/* Adds a line of which there is only a text in the first column, which it takes over; NULL is -ENOMEM. */
int table_add_title(struct table *table, char *text, struct libscols_line **ret) _nonnull_(1, 3) _must_check_;

/* Prints it on standard output. Returns 0 or a negative errno. */
int table_print(struct table *table) _nonnull_(1) _must_check_;
/* The same for a table of the `n` lines of an array, each of `size` bytes. */
int table_print_lines(const struct table_options *options, const void *lines, size_t n, size_t size)
        _nonnull_(1) _must_check_;
