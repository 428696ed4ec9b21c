/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "shared/util.h"

/* One process of the lvm program, or of another that is started in the same way. */
struct lvm_command {
        pid_t pid;     /* 0 if none was started */
        int output_fd; /* an unnamed file with what it prints, standard output and error */
};

/* The path of lvm; in tests $HEADGATE_LVM. */
const char *lvm_program(void);

/* Starts the program `path` with `arguments`; the first one of lvm's is its subcommand. The output
 * goes to a file in memory, not to a pipe: a pipe whose reader has died would kill lvm in the middle of an
 * activation. Standard input is /dev/null, no other descriptor is open, and the environment is the same whatever
 * our own is, but for LVM_SYSTEM_DIR and LVM_SUPPRESS_LOCKING_FAILURE_MESSAGES, which are passed on. Returns 0 or a
 * negative errno. The caller waits for the process. */
int command_start(
        const char *path, const struct strv *arguments, struct lvm_command *ret) _nonnull_all_ _must_check_;

/* Runs lvm in the same way, in the place of this process, whose standard streams it keeps. Returns a negative errno, or not at
 * all. */
int lvm_command_become(const struct strv *arguments) _nonnull_all_ _must_check_;

/* All that was printed so far, to be freed by the caller, with a NUL at its end. Returns 0 or a negative errno, -EFBIG if that is more
 * than 16 MiB, which a disk may bring about. */
int lvm_command_read_output(const struct lvm_command *command, char **ret) _nonnull_all_ _must_check_;

/* Starts a program, and waits until it has ended. `words` end with NULL. Returns its exit status, -EIO if it was killed, or
 * another negative errno; `*ret_output`, what it has printed, is to be freed by the caller. */
int command_run(const char *path, const char *const *words, char **ret_output) _nonnull_all_ _must_check_;

/* Likewise, for what is worth trying: if it fails, a warning says so, with the first word and what it has printed. Returns whether it
 * has succeeded. */
bool command_try(const char *path, const char *const *words) _nonnull_all_;

void lvm_command_done(struct lvm_command *command) _nonnull_all_;

/* What lvm2 has printed. The line of how many LVs of a VG are active never counts. It prints much as it stands on the disk; what
 * the first and the last of these return is as string_printable() writes it. Strings are to be freed by the caller; NULL without
 * memory. */

/* The first line of `output` in which `word` stands by itself, that is not as a part of a longer name, without its
 * indentation; NULL also if there is none. */
char *lvm_output_find(const char *output, const char *word) _nonnull_all_ _must_check_;

/* All lines that are no warnings. */
char *lvm_output_errors(const char *output) _nonnull_all_ _must_check_;

/* The first lines that differ, joined by semicolons; "" if there is none. */
char *lvm_output_begin(const char *output) _nonnull_all_ _must_check_;

/* One process at work for an event loop, of lvm nearly always, and what it works on. */

enum job_kind {
        JOB_RECORD,            /* pvscan --cache of the devices in stage RECORDING: there is one at a time */
        JOB_ACTIVATE,          /* vgchange -aay of the VGs that point to it */
        JOB_ACTIVATE_DEGRADED, /* the same without the PVs that are missing */
        JOB_ADOPTED,           /* a vgchange that an earlier worker has started */
        JOB_UNMONITOR,         /* vgchange --monitor n */
        JOB_ASK_SYSTEMD,       /* systemctl */
};

/* A program that a process of lvm has run, and for how long it was seen, as exactly as it is looked at: once a second. */
struct program_time {
        char name[16]; /* "" for none */
        uint64_t usec;
};

/* Starts empty, but for `looked_usec`. */
struct program_times {
        uint64_t looked_usec;
        struct program_time last, longest;
};

/* Adds the time since the last look to the program that runs now, NULL for none. */
void program_times_add(struct program_times *times, const char *name, uint64_t now) _nonnull_(1);

struct job {
        struct dm_list list; /* the caller's */
        enum job_kind kind;
        int slot; /* how it counts among others: the caller's */
        size_t n; /* of VGs that it was asked for; 0 if that is not known: likewise */
        uint64_t started_usec;
        uint64_t look_usec; /* when it is worth while to look whether it stands still, and what it */
        uint64_t cpu_usec;  /* had used of the processor at the last look; USEC_INFINITY before the first */
        unsigned int still; /* how many looks in a row have found that it had used no more */
        bool probed;        /* it makes no progress, and its devices are being probed: the caller's, */
        bool waits;         /* and nothing else waits for it */
        struct lvm_command command;
        struct program_times
                programs; /* thin_check for instance: of one that activates, and takes more than a second */
        sd_event_source *source, *look_source;
        void *userdata;
        int (*on_exit)(struct job *job, int exit_status, const char *output, void *userdata);
};

/* Called when the process has ended, with its exit status, or 128 and the signal's number, and what it has printed, "" if that
 * cannot be read; or -1 and NULL if neither can be told (ADOPTED). The job is freed afterwards. */
typedef int (*job_exit_function)(struct job *job, int exit_status, const char *output, void *userdata);

/* Whether such a status says that the process was ended by a signal: by its own fault, unless somebody sent it. */
static inline bool job_was_killed(int exit_status)
{
        return exit_status > 128;
}

/* That a program has ended so, as part of a format, and its arguments. */
#define ENDED "%s %i"
#define ENDED_ARGUMENTS(status)                                                                                   \
        job_was_killed(status) ? "was ended by signal" : "ended with status",                                     \
                job_was_killed(status) ? (status) -128 : (status)

/* Starts lvm, or what else the kind of job takes, with `arguments`. Returns 0 and `*ret`, which is
 * freed when it has ended, or by job_free() before; or a negative errno. */
int job_start(sd_event *event, enum job_kind kind, const struct strv *arguments, job_exit_function on_exit,
        void *userdata, struct job **ret) _must_check_;

/* Follows the process `pid`, which is not our child. -ESRCH if there is no such process (any more). */
int job_adopt(
        sd_event *event, pid_t pid, job_exit_function on_exit, void *userdata, struct job **ret) _must_check_;

/* Whether the process has used no processor time since the previous look, 2.5 seconds ago: it waits for something. Does
 * not look before `look_usec`. How long a process takes by the clock tells nothing, while udev has thousands of events to
 * handle. */
bool job_stands_still(struct job *job);

/* Whether it did at two looks in a row. One is not enough if all of its devices respond: one of them may have been slow to,
 * the whole machine may have been stopped, or what it used was too little to be counted. */
static inline bool job_is_stuck(const struct job *job)
{
        return job->still >= 2;
}

/* Does not end the process. */
struct job *job_free(struct job *job);
DEFINE_CLEANUP(struct job *, job_free)
#define _cleanup_job_ _cleanup_(job_freep)
