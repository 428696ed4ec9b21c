/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <syslog.h>

#include "shared/util.h"

/* Logging, with three targets: services write to the journal, commands to standard error, and generators, which
 * must not use sockets, to the kernel log. A function either logs or returns its error, never both; the code in
 * src/lvm and src/shared returns. */

enum log_target {
        LOG_TARGET_STDERR,
        LOG_TARGET_JOURNAL, /* waits for journald for a second in all, then drops and counts lines */
        LOG_TARGET_KMSG,    /* /dev/kmsg, one write for each line; shared and small, so log little */
};

/* Called once, before anything is logged. `identifier` is kept, not copied. $HEADGATE_LOG_LEVEL ("debug", or a
 * number as in syslog(3)) sets the lowest priority that is logged, LOG_INFO by default. Also logs libdevmapper's
 * messages, as LOG_DEBUG. */
void log_open(const char *identifier, enum log_target target) _nonnull_all_;

/* Reports lines that the journal did not accept, to the kernel log if necessary. Call before _exit(); otherwise it
 * runs at exit. */
void log_close(void);

/* Keeps libdevmapper's first error message in `*first`, which is NULL before, and to be freed by the caller; logs none. Until called
 * with NULL. */
void log_divert_libdevmapper(char **first);

/* The target of programs that both people and units start: the journal if standard error leads there, by
 * $JOURNAL_STREAM (systemd.exec(5)), so that lines keep their levels. */
enum log_target log_target_of_stderr(void);

/* From now on, log_event() writes to the journal in addition to standard error: for commands whose result may be
 * looked up later. */
void log_record_events(void);

/* `error` is a negative errno, for %m in `format`, or 0. Returns `error`, so that a caller can log and return in
 * one line. The message is logged as by string_printable(), without newlines at its end. */
int log_full(int level, int error, const char *format, ...) _printf_(3, 4);

#define log_debug(...) ((void) log_full(LOG_DEBUG, 0, __VA_ARGS__))
#define log_info(...) ((void) log_full(LOG_INFO, 0, __VA_ARGS__))
#define log_notice(...) ((void) log_full(LOG_NOTICE, 0, __VA_ARGS__))
#define log_warning(...) ((void) log_full(LOG_WARNING, 0, __VA_ARGS__))
#define log_error(...) ((void) log_full(LOG_ERR, 0, __VA_ARGS__))
#define log_error_errno(error, ...) log_full(LOG_ERR, error, __VA_ARGS__)
#define log_warning_errno(error, ...) ((void) log_full(LOG_WARNING, error, __VA_ARGS__))
#define log_oom() log_full(LOG_ERR, -ENOMEM, "Out of memory.")

/* The journal drops an entry with more than 1024 fields (ENTRY_FIELD_COUNT_MAX in src/shared/journal-importer.h of
 * systemd). log_event() and the journal add some. */
#define FIELDS_MAX 1000

/* Logs an event: `message` is one like those of log_full(), and `fields` are at most FIELDS_MAX complete journal fields,
 * "HEADGATE_VG=vg0", without MESSAGE= and PRIORITY=. `message_id` is one of messages.h, or NULL. Standard error
 * gets only the message; see also log_record_events(). If `message` is NULL, for want of memory, nothing is logged. */
void log_event(int level, const char *message_id, const char *message, const struct strv *fields) _nonnull_(4);

/* Adds a field, such as "HEADGATE_VG=vg0". Without memory it is dropped; the line is logged without it. */
void fields_add(struct strv *fields, const char *format, ...) _printf_(2, 3) _nonnull_(1, 2);
