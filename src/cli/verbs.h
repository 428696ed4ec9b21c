/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "shared/log.h"

/* The verbs of "headgate". Each gets the arguments from its own name on, and returns the program's exit status,
 * having said on standard error whatever went wrong. */

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

struct verb {
        const char *name;
        int (*function)(int argc, char *argv[]);
        const char *arguments; /* for the help text */
        const char *description;
};

/* What is chosen from, and how it is spoken of. */
struct verb_choice {
        const struct verb *verbs;
        size_t n;
        const char *what;         /* "verb" */
        const char *help_command; /* what shows the help text */
        void (*help)(void);
};

/* Takes the options before the verb, and runs it. Returns its exit status, or EXIT_CANNOT_TELL for wrong usage. */
int verb_run(const struct verb_choice *choice, int argc, char *argv[]);

int verb_status(int argc, char *argv[]);
int verb_why(int argc, char *argv[]);
int verb_tree(int argc, char *argv[]);
int verb_blame(int argc, char *argv[]);
int verb_plot(int argc, char *argv[]);
int verb_shutdown_log(int argc, char *argv[]);
int verb_doctor(int argc, char *argv[]);
int verb_activate(int argc, char *argv[]);
int verb_wait(int argc, char *argv[]);
int verb_deactivate(int argc, char *argv[]);

/* Changes something only with --balance. */
int verb_metadata(int argc, char *argv[]);

/* One of these plans. */
int verb_plan(int argc, char *argv[]);
int plan_activate(int argc, char *argv[]);
int plan_initrd(int argc, char *argv[]);
int plan_teardown(int argc, char *argv[]);

/* headgate-takeover.service and what goes with it, by systemctl. */
int verb_enable(int argc, char *argv[]);
int verb_disable(int argc, char *argv[]);

/* The same for initrds, by a link in /etc/initramfs-tools/hooks. */
int enable_initrd(void);
int disable_initrd(void);
