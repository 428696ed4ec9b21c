/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/stat.h>

#include "shared/log.h"
#include "table/table.h"

/* The verbs of "headgate". Each is a struct verb in a file of its own; main.c parses the options of all verbs. */

/* Exit statuses. Verbs that do not report whether VGs are active return 1 for an unknown name. */
enum {
        EXIT_ALL_UP = 0,
        EXIT_ALL_DOWN = 0,
        EXIT_NOT_ALL_UP = 1,     /* something is missing, has failed or was not ready in time */
        EXIT_NOT_ALL_DOWN = 1,   /* something is in use, or is not known */
        EXIT_CANNOT_TELL = 2,    /* wrong usage, no permission, headgate is not in charge */
        EXIT_LVM2_ACTIVATES = 3, /* wait and activate: headgate is not in charge; a success for units */
};

/* Log an error, the first one with the errno for %m. Return the exit status. */
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

/* Ends a verb that prints a table. If `r` is an exit status, prints the table and returns `r`. If it is a negative errno, logs
 * that headgate failed to do `what`, and returns the exit status of verb_fail(). */
static inline int verb_print(struct table *table, int r, const char *what)
{
        int printed = r < 0 ? r : table_print(table);

        return printed < 0 ? verb_fail(printed, "Failed to %s: %m", what) : r;
}

struct verb_option {
        const char *name;     /* the long one, without -- */
        char letter;          /* the short one, or '\0' */
        const char *argument; /* name of its argument, "N", or "[=N]" if optional; NULL for none */
        const char *help;
        bool *given;        /* set to true if the option is, or NULL */
        const char **value; /* set to its argument, or to NULL if that is omitted; or NULL */
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

        /* The kind of table that it prints; or a function that chooses it by the options, and returns
         * NULL after logging an error; or neither. */
        const struct table_kind *table;
        const struct table_kind *(*choose_table)(void);

        /* Logs errors, and returns the exit status. `table` is empty; a verb without a table must not use it. */
        int (*run)(char *names[], size_t n, struct table *table);

        /* For a verb with subverbs: a list of these that ends with NULL, and their name in messages. */
        const struct verb *const *verbs;
        const char *choice;
};

/* Verbs in deactivate.c, enable.c, metadata.c and wait.c change the machine; the others only read. */
extern const struct verb verb_activate, verb_blame, verb_deactivate, verb_disable, verb_doctor, verb_enable,
        verb_metadata, verb_plan, verb_plan_teardown, verb_plot, verb_report, verb_shutdown_log, verb_status,
        verb_tree, verb_wait, verb_why;
