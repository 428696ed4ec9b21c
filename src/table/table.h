/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libsmartcols.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/macro.h"

/* Tables, as libsmartcols prints them. A column is a row of data: its name, where its value is in the struct of a
 * line, and of what type that is. From these come the table, JSON, --output and --list-columns. */

/* Where a column is shown unless --output says otherwise. */
#define COLUMN_ON_REQUEST 0U
#define COLUMN_IN_TABLE 1U
#define COLUMN_IN_JSON 2U
#define COLUMN_ALWAYS (COLUMN_IN_TABLE | COLUMN_IN_JSON)

/* Of what type the value is: how it looks in a table, and in JSON. Numbers are unsigned, of 4 or 8 bytes. */
enum column_type {
        /* What is not printable is escaped: it may be what others have named. */
        COLUMN_STRING, /* char *, NULL for nothing */
        COLUMN_CHARS,  /* char[], ends with a NUL */
        /* struct strv, in JSON an array */
        COLUMN_LINES,   /* below each other */
        COLUMN_LIST,    /* "a, b, c, d" */
        COLUMN_SUMMARY, /* "a, b, c and 4 more" */
        COLUMN_BOOL,    /* true or false, in JSON a boolean */
        COLUMN_DATE,    /* int64_t, seconds since 1970: "2026-01-31 12:00:00", in JSON "2026-01-31T11:00:00Z" */
        /* These are to the right. */
        COLUMN_SIGNED,         /* int64_t */
        COLUMN_NUMBER,         /* a number */
        COLUMN_SIZE,           /* bytes: "1.5G", in JSON a number */
        COLUMN_DURATION,       /* microseconds: "4.2s" */
        COLUMN_SHORT_DURATION, /* "146us" */
        COLUMN_MOMENT,         /* "12.345s", for comparison with the journal */
        _COLUMN_TYPE_MAX,
};

/* A number of 64 bits, or a date, that is not known. */
#define COLUMN_UNKNOWN UINT64_MAX
#define COLUMN_SIGNED_UNKNOWN INT64_MIN

struct column {
        const char *name;        /* the heading; in JSON in small letters, and with _ for - */
        const char *description; /* for --list-columns */
        unsigned int shown;      /* COLUMN_ON_REQUEST and so on */
        enum column_type type;
        size_t offset, size; /* of the value in the line: COLUMN_FIELD() */
        /* For a value that is only looked for if it is shown: makes the text, to be freed by the caller; NULL without
         * memory. A boolean is 1 or 0. */
        char *(*text)(const void *line);
        bool colored;         /* in the colour that the line begins with: a const char *, NULL for none */
        bool below;           /* on a line of its own below the others, on a terminal of less than 100 columns */
        int flags;            /* libsmartcols' SCOLS_FL_* */
        const char *unknown;  /* for a duration that is not known, NULL for "" */
        const char *no, *yes; /* in a table, for a boolean, NULL for "0" and "1" */
};

#define COLUMN_FIELD(line, field) .offset = offsetof(line, field), .size = sizeof(((line *) NULL)->field)

/* A column of the field of a struct line: COLUMN("VG", ALWAYS, STRING, name, "name of the volume group"). */
#define COLUMN(name, shown, type, field, description, ...)                                                        \
        {                                                                                                         \
                name, description, COLUMN_##shown, COLUMN_##type, COLUMN_FIELD(struct line, field), __VA_ARGS__   \
        }

/* Two columns, of which the second has the microseconds, and is shown in JSON instead. */
#define COLUMNS_OF_TIME(name, type, field, description, ...)                                                      \
        COLUMN(name, IN_TABLE, type, field, description, __VA_ARGS__),                                            \
                COLUMN(name "-USEC", IN_JSON, NUMBER, field, "the same, in microseconds", __VA_ARGS__)

/* What a table shows. */
struct table_kind {
        const char *lines; /* their key in JSON */
        const struct column *columns;
        size_t n_columns;
};

#define TABLE_KIND(lines, columns) (&(const struct table_kind){lines, columns, ELEMENTSOF(columns)})

/* How it is printed. All zeros: as a table, with the columns that are in it by default. */
struct table_options {
        const char *columns; /* a list, or +LIST for these in addition; NULL for those by default */
        bool json;
        bool no_headings;
};

struct table {
        struct table_options options;
        struct libscols_table *table;
        const struct column **columns; /* what is shown, in this order */
        size_t n_columns;
        struct libscols_column *below; /* the column of that kind, NULL without one */
        bool by_line; /* it is printed as it grows, see table_print(); to be set before lines are added, without trees */
        int error; /* 0, or the negative errno of what went wrong while lines were added, for table_print() to return */
};

/* Makes an empty table. Has colours if standard output is a terminal that shows them and $NO_COLOR (see
 * https://no-color.org) is not set. Returns 0; -EINVAL, having logged which column is not known; or -ENOMEM. */
int table_new(const struct table_kind *kind, const struct table_options *options,
        struct table *ret) _nonnull_all_ _must_check_;
void table_done(struct table *table) _nonnull_all_;
#define _cleanup_table_ _cleanup_(table_done)

/* Adds a line about something, as the columns know it; below `parent`, which may be NULL, where a column is of
 * SCOLS_FL_TREE. Returns the line, for others below it; or NULL on error. */
struct libscols_line *table_add_line(struct table *table, struct libscols_line *parent, const void *line)
        _nonnull_(1, 3);
/* For who cannot make all of a line: keeps the error, if it is a negative errno and the first one. */
void table_fail(struct table *table, int error) _nonnull_all_;

/* Prints it on standard output. Returns 0 or a negative errno, also of what went wrong before.
 * With `by_line`, prints the lines that were added since the last call, with headings only above the first ones; in JSON an
 * object a line (https://jsonlines.org), which is printed when it is added. */
int table_print(struct table *table) _nonnull_all_ _must_check_;

/* Prints the names of the columns and their descriptions. */
void table_list_columns(const struct table_kind *kind) _nonnull_all_;
