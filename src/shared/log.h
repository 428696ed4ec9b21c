/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/uio.h>
#include <syslog.h>

#include "shared/macro.h"

/* One family of functions, three places: services write to the journal, what people type writes to standard
 * error, and generators, which must talk to nobody, to the kernel's log. A function either logs or returns its
 * error, never both; the code under src/lvm and src/shared returns. */

enum log_target {
        LOG_TARGET_STDERR,
        LOG_TARGET_JOURNAL, /* waits for journald for a second in all, then loses lines and counts them */
        LOG_TARGET_KMSG,    /* /dev/kmsg, one write for each line. Everybody shares it: say little */
};

/* Chosen once, before anything is logged. `identifier` is kept, not copied. $HEADGATE_LOG_LEVEL ("debug", or a
 * number as in syslog(3)) sets the least important level that is written; without it that is LOG_INFO. Also sends
 * libdevmapper's own messages here, as LOG_DEBUG. */
void log_open(const char *identifier, enum log_target target) _nonnull_all_;

/* Reports lines that the journal has not taken, to the kernel's log if the journal does not take that either. For
 * processes that end by _exit(); for others it is called when they end. */
void log_close(void);

/* Has `function` get libdevmapper's error messages instead of the log, until it is called with NULL. */
void log_divert_libdevmapper(void (*function)(const char *message, void *userdata), void *userdata);

/* Where a program writes that both people and units start: to the journal if that is where standard error
 * leads, by $JOURNAL_STREAM (systemd.exec(5)), so that lines keep their levels. */
enum log_target log_target_of_stderr(void);

/* What log_event() says on standard error goes to the journal, too, from now on: for what people type and others
 * may look for later. */
void log_record_events(void);

/* `error` is a negative errno, for %m in `format`, or 0. Returns `error`, so that a caller can log and forward in
 * one line. What is said may have anything in it: it is logged as string_printable() writes it, without newlines at
 * its end. */
int log_full(int level, int error, const char *format, ...) _printf_(3, 4);

#define log_debug(...) ((void) log_full(LOG_DEBUG, 0, __VA_ARGS__))
#define log_info(...) ((void) log_full(LOG_INFO, 0, __VA_ARGS__))
#define log_notice(...) ((void) log_full(LOG_NOTICE, 0, __VA_ARGS__))
#define log_warning(...) ((void) log_full(LOG_WARNING, 0, __VA_ARGS__))
#define log_error(...) ((void) log_full(LOG_ERR, 0, __VA_ARGS__))
#define log_error_errno(error, ...) log_full(LOG_ERR, error, __VA_ARGS__)
#define log_warning_errno(error, ...) ((void) log_full(LOG_WARNING, error, __VA_ARGS__))
#define log_oom() log_full(LOG_ERR, -ENOMEM, "Out of memory.")

/* The journal takes 1024 fields in one entry, and drops one that has more (ENTRY_FIELD_COUNT_MAX in
 * src/shared/journal-importer.h of systemd). log_event() and the journal add some. */
#define FIELDS_MAX 1000

/* The fields of one line of the journal, while it is put together for log_event(). Starts empty: all zeros. */
struct fields {
        struct iovec *vector;
        size_t n;
};

/* An event with fields of its own, and a message like those of log_full(): `fields` are complete journal fields,
 * "HEADGATE_VG=vg0", without MESSAGE= and PRIORITY=. `message_id` is one of messages.h, or NULL. On standard error only
 * the message is seen, but see log_record_events(). `message` is NULL where there was no memory for it: nothing is said then. */
void log_event(int level, const char *message_id, const char *message, const struct fields *fields) _nonnull_(4);

/* A field like "HEADGATE_VG=vg0". One for which there is no memory, and one that is too many, is left out: the line is said all the
 * same. */
void fields_add(struct fields *fields, const char *format, ...) _printf_(2, 3) _nonnull_(1, 2);

void fields_done(struct fields *fields) _nonnull_all_;
#define _cleanup_fields_ _cleanup_(fields_done)
