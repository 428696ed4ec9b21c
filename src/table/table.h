/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libsmartcols.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/macro.h"

/* Tables, printed by libsmartcols. A column is a row of data: its name, the place of its value in the struct of a
 * line, and its type. The table, JSON, --output and --list-columns are made from these. */

/* Where a column is shown without --output. */
#define COLUMN_ON_REQUEST 0U
#define COLUMN_IN_TABLE 1U
#define COLUMN_IN_JSON 2U
#define COLUMN_ALWAYS (COLUMN_IN_TABLE | COLUMN_IN_JSON)

/* The type of the value, in a table and in JSON. Numbers are unsigned, of 4 or 8 bytes. */
enum column_type {
        /* Unprintable bytes are escaped, as names may come from disks. */
        COLUMN_STRING, /* char *, NULL for nothing */
        COLUMN_CHARS,  /* char[], ends with a NUL */
        /* struct strv, in JSON an array */
        COLUMN_LINES,   /* below each other */
        COLUMN_LIST,    /* "a, b, c, d" */
        COLUMN_SUMMARY, /* "a, b, c and 4 more" */
        COLUMN_BOOL,    /* true or false, in JSON a boolean */
        COLUMN_DATE,    /* int64_t, seconds since 1970: "2026-01-31 12:00:00", in JSON "2026-01-31T11:00:00Z" */
        /* The following ones are right-aligned. */
        COLUMN_NUMBER,         /* a number */
        COLUMN_SIZE,           /* bytes: "1.5G", in JSON a number */
        COLUMN_DURATION,       /* microseconds: "4.2s" */
        COLUMN_SHORT_DURATION, /* "146us" */
        COLUMN_MOMENT,         /* "12.345s", for comparison with the journal */
        _COLUMN_TYPE_MAX,
};

/* An unknown 64-bit number or date. */
#define COLUMN_UNKNOWN UINT64_MAX

struct column {
        const char *name;        /* the heading; in JSON in small letters, and with _ for - */
        const char *description; /* for --list-columns */
        unsigned int shown;      /* COLUMN_ON_REQUEST and so on */
        enum column_type type;
        size_t offset, size; /* of the value in the line */
        /* For a value that is only computed if it is shown: makes the text, to be freed by the caller; NULL without
         * memory. A boolean is 1 or 0. */
        char *(*text)(const void *line);
        bool colored;         /* in the colour of the line, its first member: a const char *, NULL for none */
        bool below;           /* on a line of its own below the others, on a terminal of less than 100 columns */
        int flags;            /* libsmartcols' SCOLS_FL_* */
        const char *unknown;  /* for an unknown duration, NULL for "" */
        const char *no, *yes; /* in a table, for a boolean, NULL for "0" and "1" */
};

/* A column of the field of a struct line: COLUMN("VG", ALWAYS, STRING, name, "name of the volume group"). */
#define COLUMN(name, shown, type, field, description, ...)                                                        \
        {                                                                                                         \
                name, description, COLUMN_##shown, COLUMN_##type, offsetof(struct line, field),                   \
                        sizeof(((struct line *) NULL)->field), __VA_ARGS__                                        \
        }

/* Two columns; the second one has microseconds, and replaces the first one in JSON. */
#define COLUMNS_OF_TIME(name, type, field, description, ...)                                                      \
        COLUMN(name, IN_TABLE, type, field, description, __VA_ARGS__),                                            \
                COLUMN(name "-USEC", IN_JSON, NUMBER, field, "likewise, in microseconds", __VA_ARGS__)

/* The kind of a table. */
struct table_kind {
        const char *lines; /* their key in JSON */
        const struct column *columns;
        size_t n_columns;
};

#define TABLE_KIND(lines, columns) (&(const struct table_kind){lines, columns, ELEMENTSOF(columns)})

/* Options of printing. Zeros mean a table with the default columns. */
struct table_options {
        const char *columns; /* a list, or +LIST to add to the default columns; NULL for these */
        bool json;
        bool no_headings;
};

struct table {
        struct table_options options;
        struct libscols_table *table;
        const struct column **columns; /* the columns to show, in this order */
        size_t n_columns;
        struct libscols_column *below; /* the column of that kind, NULL without one */
        bool by_line; /* printed incrementally, see table_print(); set before lines are added; without trees */
        int error;    /* 0, or the negative errno of adding lines, returned by table_print() */
};

/* Creates an empty table. It has colours if standard output is a terminal that supports them and $NO_COLOR (see
 * https://no-color.org) is not set. Returns 0; -EINVAL, after logging an unknown column; or -ENOMEM. */
int table_new(const struct table_kind *kind, const struct table_options *options,
        struct table *ret) _nonnull_all_ _must_check_;
void table_done(struct table *table) _nonnull_all_;
#define _cleanup_table_ _cleanup_(table_done)

/* Adds a line for an object of the columns' struct, as a child of `parent`, which may be NULL, if a column has
 * SCOLS_FL_TREE. Returns the line, or NULL on error. */
struct libscols_line *table_add_line(struct table *table, struct libscols_line *parent, const void *line)
        _nonnull_(1, 3);
/* Records the first error of a caller that cannot complete a line; ignores other values than a negative errno. */
void table_fail(struct table *table, int error) _nonnull_all_;

/* Prints the table to standard output. Returns 0 or a negative errno, also of adding lines. With `by_line`, prints
 * the lines that were added since the last call; only the first ones have headings. In JSON each line is an object
 * (https://jsonlines.org), printed when it is added. */
int table_print(struct table *table) _nonnull_all_ _must_check_;

/* Prints the names of the columns and their descriptions. */
void table_list_columns(const struct table_kind *kind) _nonnull_all_;
