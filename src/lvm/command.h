/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "shared/util.h"

/* A process of lvm, or of another program that is started in the same way. */
struct lvm_command {
        pid_t pid;     /* 0 if none was started */
        int output_fd; /* an unnamed file for standard output and error */
};

/* The path of lvm; in tests $HEADGATE_LVM. */
const char *lvm_program(void);

/* Starts the program `path` with `arguments`; the first one of lvm is its subcommand. Its output goes to a file in
 * memory: a pipe whose reader has died would kill lvm in the middle of an activation. Standard input is /dev/null,
 * and no other descriptor is open. The environment is fixed, except LVM_SYSTEM_DIR and
 * LVM_SUPPRESS_LOCKING_FAILURE_MESSAGES. Returns 0 or a negative errno. The caller waits for the process. */
int command_start(
        const char *path, const struct strv *arguments, struct lvm_command *ret) _nonnull_all_ _must_check_;

/* Replaces this process by lvm, started likewise but with the present standard streams. Returns only on error, with
 * a negative errno. */
int lvm_command_become(const struct strv *arguments) _nonnull_all_ _must_check_;

/* Reads the output so far, terminated by NUL; the caller frees it. Returns 0 or a negative errno, -EFBIG for more
 * than 16 MiB, which a disk may cause. */
int lvm_command_read_output(const struct lvm_command *command, char **ret) _nonnull_all_ _must_check_;

/* Runs a program until it ends. `words` end with NULL. Returns its exit status, -EIO if it was killed, or another
 * negative errno. The caller frees `*ret_output`. */
int command_run(const char *path, const char *const *words, char **ret_output) _nonnull_all_ _must_check_;

/* Likewise, but a failure is only logged as a warning, with the first word and the output. Returns whether it
 * succeeded. */
bool command_try(const char *path, const char *const *words) _nonnull_all_;

void lvm_command_done(struct lvm_command *command) _nonnull_all_;

/* Messages in lvm2's output. The line with the number of active LVs of a VG never counts. lvm2 prints names as they
 * are on disk; the first and the last of these functions return them as string_printable() does. The caller frees
 * the strings; NULL without memory. */

/* Returns the first line with `word` as a whole name, without indentation; NULL also if there is none. */
char *lvm_output_find(const char *output, const char *word) _nonnull_all_ _must_check_;

/* Returns all lines that are not warnings. */
char *lvm_output_errors(const char *output) _nonnull_all_ _must_check_;

/* Returns the first distinct lines, joined by semicolons; "" if there are none. */
char *lvm_output_begin(const char *output) _nonnull_all_ _must_check_;

/* A job: a process, nearly always of lvm, that an event loop follows. */

enum job_kind {
        JOB_RECORD,            /* pvscan --cache of devices in stage RECORDING */
        JOB_ACTIVATE,          /* vgchange -aay of the VGs whose `job` it is */
        JOB_ACTIVATE_DEGRADED, /* likewise, without missing PVs */
        JOB_ADOPTED,           /* a vgchange of an earlier worker */
        JOB_ASK_SYSTEMD,       /* systemctl */
};

/* A child process of lvm, and for how long it was seen, measured once a second. */
struct program_time {
        char name[16]; /* "" for none */
        uint64_t usec;
};

/* Initialize with zeros, except `looked_usec`. */
struct program_times {
        uint64_t looked_usec;
        struct program_time last, longest;
};

/* Adds the time since the last call to the program that runs now, NULL for none. */
void program_times_add(struct program_times *times, const char *name, uint64_t now) _nonnull_(1);

struct job {
        struct dm_list list; /* for the caller */
        enum job_kind kind;
        int slot; /* kind of slot, for the caller */
        size_t n; /* number of VGs, 0 if unknown, for the caller */
        uint64_t started_usec;
        uint64_t look_usec; /* when to check its progress again */
        uint64_t cpu_usec;  /* CPU time at the last check; USEC_INFINITY before the first */
        unsigned int still; /* checks in a row that found no progress */
        bool probed;        /* it makes no progress, its devices are probed; for the caller */
        bool waits;         /* it waits for a lock or a disk, so nothing must wait for it; for the caller */
        struct lvm_command command;
        struct program_times programs; /* such as thin_check, of an activation that takes more than a second */
        sd_event_source *source, *look_source;
        void *userdata;
        int (*on_exit)(struct job *job, int exit_status, const char *output, void *userdata);
};

/* Called when the process has ended. `exit_status` is its exit status, or 128 and the number of a signal; `output`
 * is "" if it cannot be read. For an adopted process, they are -1 and NULL. The job is freed afterwards. */
typedef int (*job_exit_function)(struct job *job, int exit_status, const char *output, void *userdata);

/* Whether the process was ended by a signal, for example after a crash. */
static inline bool job_was_killed(int exit_status)
{
        return exit_status > 128;
}

/* Describes such an exit status: part of a format, and its arguments. */
#define ENDED "%s %i"
#define ENDED_ARGUMENTS(status)                                                                                   \
        job_was_killed(status) ? "was ended by signal" : "exited with status",                                    \
                job_was_killed(status) ? (status) -128 : (status)

/* Starts lvm, or another program for some kinds, with `arguments`. Returns 0 and `*ret`, which is freed when the
 * process has ended, or before by job_free(); or a negative errno. */
int job_start(sd_event *event, enum job_kind kind, const struct strv *arguments, job_exit_function on_exit,
        void *userdata, struct job **ret) _must_check_;

/* Follows a process that is not a child. -ESRCH if it has ended. */
int job_adopt(
        sd_event *event, pid_t pid, job_exit_function on_exit, void *userdata, struct job **ret) _must_check_;

/* Whether the process used no CPU time since the last check, 2.5 seconds ago, so that it waits for something. Does
 * not check before `look_usec`. Elapsed time means nothing while udev has thousands of events to handle. */
bool job_stands_still(struct job *job);

/* Whether two checks in a row found no progress. If all devices respond, one is not enough: a device may have been
 * slow, the machine stopped, or the CPU time too short to be counted. */
static inline bool job_is_stuck(const struct job *job)
{
        return job->still >= 2;
}

/* Does not kill the process. */
struct job *job_free(struct job *job);
DEFINE_CLEANUP(struct job *, job_free)
#define _cleanup_job_ _cleanup_(job_freep)
