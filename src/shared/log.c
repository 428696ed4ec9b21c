/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/log.h"

#include <fcntl.h>
#include <libdevmapper.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "shared/journal-sender.h"
#include "shared/util.h"

static const char *log_identifier = "headgate";
static enum log_target log_target = LOG_TARGET_STDERR;
static int log_level_max = LOG_INFO;
static bool log_events_recorded = false;
static unsigned int log_n_lost = 0; /* lines that the journal has not taken */

/* The kernel takes 976 bytes or less (LOG_LINE_MAX in kernel/printk/printk.c), and refuses what is longer. */
#define KMSG_TEXT_MAX 900

static void log_write_kmsg(int level, const char *message)
{
        _cleanup_free_ char *line = NULL;
        _cleanup_close_ int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC | O_NOCTTY);

        line = string_format(
                "<%d>%s[%d]: %.*s\n", LOG_DAEMON | level, log_identifier, (int) getpid(), KMSG_TEXT_MAX, message);
        /* There is nobody left to tell where the kernel cannot be told. */
        if (fd >= 0 && line)
                (void) !write(fd, line, strlen(line));
}

/* What is said may have names in it that anybody has chosen, and what other programs have printed. It is one line,
 * and no command to a terminal, on all three ways. */
static char *make_line(const char *message)
{
        _cleanup_free_ char *copy = strdup(message);

        if (!copy)
                return NULL;
        for (size_t length = strlen(copy); length > 0 && copy[length - 1] == '\n'; length--)
                copy[length - 1] = '\0';
        return string_printable(copy);
}

static char *describe_lost(void)
{
        return string_format("systemd-journald did not read its socket; %u line%s lost.", log_n_lost,
                log_n_lost == 1 ? " was" : "s were");
}

static int log_write_journal(int level, const char *message, const struct iovec *fields, size_t n_fields)
{
        _cleanup_free_ char *text = string_format("MESSAGE=%s", message);
        _cleanup_free_ char *priority = string_format("PRIORITY=%i", level);
        _cleanup_free_ char *identifier = string_format("SYSLOG_IDENTIFIER=%s", log_identifier);
        _cleanup_free_ struct iovec *all = calloc(n_fields + 3, sizeof(*all));

        if (!text || !priority || !identifier || !all)
                return -ENOMEM;

        all[0] = (struct iovec){.iov_base = text, .iov_len = strlen(text)};
        all[1] = (struct iovec){.iov_base = priority, .iov_len = strlen(priority)};
        all[2] = (struct iovec){.iov_base = identifier, .iov_len = strlen(identifier)};
        if (n_fields > 0)
                memcpy(all + 3, fields, n_fields * sizeof(*fields));
        return journal_send(all, n_fields + 3);
}

/* Returns whether the journal knows of all lines that were lost. */
static bool log_write_lost(void)
{
        _cleanup_free_ char *message = log_n_lost > 0 ? describe_lost() : NULL;

        if (message && log_write_journal(LOG_WARNING, message, NULL, 0) >= 0)
                log_n_lost = 0;
        return log_n_lost == 0;
}

void log_close(void)
{
        _cleanup_free_ char *message = NULL;

        if (log_write_lost())
                return;
        message = describe_lost();
        if (message)
                log_write_kmsg(LOG_WARNING, message);
        log_n_lost = 0;
}

static void log_write(int level, const char *raw, const struct iovec *fields, size_t n_fields)
{
        _cleanup_free_ char *message = NULL;

        if (level > log_level_max)
                return;
        message = make_line(raw);
        if (!message)
                return;

        if (log_target == LOG_TARGET_STDERR) {
                fprintf(stderr, "%s: %s\n", log_identifier, message);
                /* Nothing but events has fields. */
                if (n_fields == 0 || !log_events_recorded)
                        return;
        }

        if (log_target == LOG_TARGET_KMSG) {
                log_write_kmsg(level, message);
                return;
        }

        if (!log_write_lost() || log_write_journal(level, message, fields, n_fields) < 0)
                log_n_lost++;
}

/* Where libdevmapper's messages go instead. */
static void (*diversion)(const char *message, void *userdata);
static void *diversion_userdata;

void log_divert_libdevmapper(void (*function)(const char *message, void *userdata), void *userdata)
{
        diversion = function;
        diversion_userdata = userdata;
}

_printf_(5, 6) static void log_from_libdevmapper(
        int level, _unused_ const char *file, _unused_ int line, _unused_ int error_class, const char *format, ...)
{
        _cleanup_free_ char *message = NULL;
        va_list arguments;

        /* libdevmapper marks messages for standard error and "once" with bits above the level. What it calls an
         * error is one for its caller, who knows whether it matters. */
        if ((!diversion && log_level_max < LOG_DEBUG) || (level & 7) > LOG_ERR)
                return;

        va_start(arguments, format);
        if (vasprintf(&message, format, arguments) < 0)
                message = NULL;
        va_end(arguments);
        if (message && diversion)
                diversion(message, diversion_userdata);
        else if (message)
                log_write(LOG_DEBUG, message, NULL, 0);
}

void log_open(const char *identifier, enum log_target target)
{
        const char *level = secure_getenv("HEADGATE_LOG_LEVEL");
        uint32_t number;

        log_identifier = identifier;
        log_target = target;
        if (level && streq(level, "debug"))
                log_level_max = LOG_DEBUG;
        else if (level && parse_u32(level, &number) >= 0 && number <= LOG_DEBUG)
                log_level_max = (int) number;

        dm_log_with_errno_init(log_from_libdevmapper);
        if (target == LOG_TARGET_JOURNAL)
                (void) atexit(log_close);
}

void log_record_events(void)
{
        log_events_recorded = true;
}

enum log_target log_target_of_stderr(void)
{
        const char *stream = secure_getenv("JOURNAL_STREAM");
        _cleanup_free_ char *own = NULL;
        struct stat status;

        if (!stream || fstat(STDERR_FILENO, &status) < 0)
                return LOG_TARGET_STDERR;
        own = string_format("%ju:%ju", (uintmax_t) status.st_dev, (uintmax_t) status.st_ino);
        return own && streq(own, stream) ? LOG_TARGET_JOURNAL : LOG_TARGET_STDERR;
}

int log_full(int level, int error, const char *format, ...)
{
        _cleanup_free_ char *message = NULL;
        va_list arguments;
        int r;

        errno = -error;
        va_start(arguments, format);
        r = vasprintf(&message, format, arguments);
        va_end(arguments);
        if (r < 0)
                message = NULL;
        else
                log_write(level, message, NULL, 0);
        return error;
}

void log_event(int level, const char *message_id, const char *message, const struct iovec *fields, size_t n_fields)
{
        _cleanup_free_ char *id = string_format("MESSAGE_ID=%s", message_id);
        _cleanup_free_ struct iovec *all = calloc(n_fields + 1, sizeof(*all));

        if (!id || !all) {
                log_write(level, message, fields, n_fields);
                return;
        }

        all[0] = (struct iovec){.iov_base = id, .iov_len = strlen(id)};
        if (n_fields > 0)
                memcpy(all + 1, fields, n_fields * sizeof(*fields));
        log_write(level, message, all, n_fields + 1);
}
