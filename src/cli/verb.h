/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/stat.h>

#include "shared/log.h"
#include "table/table.h"

/* The verbs of "headgate". Each is a row of data in a file of its own; main.c parses the options of all of them. */

/* Exit statuses. Verbs for which it makes no sense to say whether all is up return 1 for a name that is not known. */
enum {
        EXIT_ALL_UP = 0,
        EXIT_ALL_DOWN = 0,
        EXIT_NOT_ALL_UP = 1,     /* something is missing, has failed or was not ready in time */
        EXIT_NOT_ALL_DOWN = 1,   /* something is in use, or is not known */
        EXIT_CANNOT_TELL = 2,    /* wrong usage, no permission, headgate is not in charge */
        EXIT_LVM2_ACTIVATES = 3, /* wait and activate: headgate is not in charge; units take that for success */
};

/* Log what is wrong, the first one with the error in place of %m. Return the exit status for it. */
#define verb_fail(error, ...) ((void) log_error_errno(error, __VA_ARGS__), EXIT_CANNOT_TELL)
#define verb_refuse(...) (log_error(__VA_ARGS__), EXIT_CANNOT_TELL)

/* Logs that it does not, if a file put in its place would break something: a device, a pipe, a link such as /dev/stdout. */
static inline bool verb_can_replace(const char *path)
{
        struct stat status;

        if (lstat(path, &status) < 0 || S_ISREG(status.st_mode))
                return true;
        log_error("Refusing to replace %s: not a regular file.", path);
        return false;
}

/* The end of a verb that prints a table. `r` is the exit status, which is returned once the table is printed, or a negative
 * errno, of which is logged that headgate failed to do `what`, and then what verb_fail() says is returned. */
static inline int verb_print(struct table *table, int r, const char *what)
{
        int printed = r < 0 ? r : table_print(table);

        return printed < 0 ? verb_fail(printed, "Failed to %s: %m", what) : r;
}

struct verb_option {
        const char *name;     /* the long one, without -- */
        char letter;          /* the short one, or '\0' */
        const char *argument; /* what it is called, "N", or "[=N]" if it may be left out; NULL for none */
        const char *help;
        bool *given;        /* set to true if the option is, or NULL */
        const char **value; /* set to its argument, to NULL if that is left out; or NULL */
        uint64_t *usec;     /* set to its argument, a time span; or NULL */
};

struct verb {
        const char *name;
        const char *arguments;             /* both for the list of verbs */
        const char *description;           /* likewise */
        const char *help;                  /* before the options */
        const char *footer;                /* and after them, before the manual page; or NULL */
        const char *page;                  /* "enable" for headgate-enable(8); NULL if that is the name */
        const struct verb_option *options; /* beside --help and those of a table; NULL, or ends with {} */
        bool takes_no_names;
        const char *root_only; /* what only root can do, "Only root can ..."; NULL if others can run it as well */

        /* What it prints: one kind of table or, by the options and the number of names, one of several, NULL after
         * logging what is wrong; or none. */
        const struct table_kind *table;
        const struct table_kind *(*choose_table)(size_t n_names);

        /* Returns the exit status, having logged whatever went wrong. `table` is empty, and not to be used by a verb
         * without one. */
        int (*run)(char *names[], size_t n, struct table *table);

        /* For a verb that is only a choice among others, a list that ends with NULL, and what each of these is. */
        const struct verb *const *verbs;
        const char *choice;
};

/* Those of metadata.c, enable.c and wait.c change something, deactivate.c all the more; the others look. */
extern const struct verb verb_activate, verb_blame, verb_deactivate, verb_disable, verb_doctor, verb_enable,
        verb_metadata, verb_plan, verb_plan_teardown, verb_plot, verb_report, verb_shutdown_log, verb_status,
        verb_tree, verb_wait, verb_why;
