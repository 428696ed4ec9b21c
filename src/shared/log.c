/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The log: standard error, the kernel log, or the journal.
 *
 * sd_journal_sendv() blocks while systemd-journald does not read its socket, and boot and shutdown wait for
 * headgate. So this file sends lines itself, by the documented protocol
 * (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). A process waits for a second in all, and a little more for each
 * line that is accepted; further lines are lost and counted. */

#include "shared/log.h"

#include <endian.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* How long a process waits for journald in all, and how much each accepted line adds to that. A line takes 0.4 ms
 * in a guest, so a journald that is only slow loses none of thousands of lines. */
#define WAIT_MAX_USEC USEC_PER_SEC
#define LINE_USEC (2 * USEC_PER_MSEC)

/* The kernel accepts 976 bytes or less (LOG_LINE_MAX in kernel/printk/printk.c), and refuses longer lines. */
#define KMSG_TEXT_MAX 900

static const char *log_identifier = "headgate";
static enum log_target log_target = LOG_TARGET_STDERR;
static int log_level_max = LOG_INFO;
static bool log_events_recorded = false;
static unsigned int log_n_lost = 0; /* lines that the journal did not accept */

static int socket_fd = -EBADF;
static uint64_t waited_usec;

/* ------ the journal's socket ------ */

static int connect_socket(void)
{
        static const struct sockaddr_un address = {
                .sun_family = AF_UNIX, .sun_path = "/run/systemd/journal/socket"};
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0 || connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;
        closep(&socket_fd);
        socket_fd = TAKE_FD(fd);
        return 0;
}

/* Waits for room in journald's queue. Returns false once the time is used up. */
static bool wait_for_room(void)
{
        struct pollfd room = {.fd = socket_fd, .events = POLLOUT};
        uint64_t begin = now_usec();
        int r;

        if (waited_usec >= WAIT_MAX_USEC)
                return false;
        r = poll(&room, 1, (int) ((WAIT_MAX_USEC - waited_usec) / USEC_PER_MSEC) + 1);
        waited_usec += now_usec() - begin;
        /* After a signal there may be room. */
        return r != 0;
}

static int send_message(const struct msghdr *message)
{
        int r = socket_fd < 0 ? connect_socket() : 0;

        if (r < 0)
                return r;
        for (bool reconnected = false;;) {
                if (sendmsg(socket_fd, message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
                        waited_usec -= MIN(waited_usec, LINE_USEC);
                        return 0;
                }
                if (errno == EAGAIN && wait_for_room())
                        continue;
                if ((errno != ECONNREFUSED && errno != ENOTCONN) || reconnected)
                        return -errno;
                /* systemd has created a new socket. */
                r = connect_socket();
                if (r < 0)
                        return r;
                reconnected = true;
        }
}

/* ------ one line ------ */

/* A value with newlines is preceded by its size. */
static void write_field(FILE *file, const char *field)
{
        const char *value = strchr(field, '=') + 1;
        uint64_t size = htole64(strlen(value));

        if (!strchr(value, '\n')) {
                fprintf(file, "%s\n", field);
                return;
        }
        fprintf(file, "%.*s\n", (int) (value - 1 - field), field);
        fwrite(&size, sizeof(size), 1, file);
        fprintf(file, "%s\n", value);
}

static const struct strv no_fields;

/* `message` is one line. Without an event, `message_id` is NULL and there are no fields. */
static int write_journal(int level, const char *message, const char *message_id, const struct strv *fields)
{
        _cleanup_memstream_ struct memstream stream = {};
        _cleanup_free_ char *text = NULL;
        FILE *file = memstream_open(&stream);
        int r;

        if (!file)
                return -ENOMEM;
        fprintf(file, "MESSAGE=%s\nPRIORITY=%i\nSYSLOG_IDENTIFIER=%s\n", message, level, log_identifier);
        if (message_id)
                fprintf(file, "MESSAGE_ID=%s\n", message_id);
        STRV_FOREACH(field, fields)
                write_field(file, *field);
        text = memstream_finish(&stream);
        if (!text)
                return -ENOMEM;
        r = send_message(&(struct msghdr){.msg_iov = &(struct iovec){text, stream.size}, .msg_iovlen = 1});
        if ((r != -EMSGSIZE && r != -ENOBUFS) || fields->n == 0)
                return r;
        /* The fields are too large for a datagram; the message alone is not. */
        return write_journal(level, message, message_id, &no_fields);
}

static void write_kmsg(int level, const char *message)
{
        _cleanup_close_ int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC | O_NOCTTY);
        _cleanup_free_ char *line = string_format(
                "<%d>%s[%d]: %.*s\n", LOG_DAEMON | level, log_identifier, (int) getpid(), KMSG_TEXT_MAX, message);

        /* If the kernel log fails, nothing is left to report to. */
        if (fd >= 0 && line)
                (void) !write(fd, line, strlen(line));
}

/* Reports lost lines; to the kernel log if `last` and the journal does not accept it. Returns whether the journal
 * has all reports. */
static bool write_lost(bool last)
{
        _cleanup_free_ char *message = NULL;

        if (log_n_lost == 0)
                return true;
        message = string_format("systemd-journald did not read its socket; %u line%s lost.", log_n_lost,
                log_n_lost == 1 ? " was" : "s were");
        if (!message)
                return false;
        if (write_journal(LOG_WARNING, message, NULL, &no_fields) < 0) {
                if (last)
                        write_kmsg(LOG_WARNING, message);
                return false;
        }
        log_n_lost = 0;
        return true;
}

void log_close(void)
{
        (void) write_lost(true);
        log_n_lost = 0;
}

void log_event(int level, const char *message_id, const char *message, const struct strv *fields)
{
        _cleanup_free_ char *copy = NULL, *printable = NULL;
        size_t length = message ? strlen(message) : 0;

        if (!message || level > log_level_max)
                return;
        /* The message may contain names from disks and output of programs. It must stay one line, without control
         * characters, in all targets. */
        while (length > 0 && message[length - 1] == '\n')
                length--;
        copy = strndup(message, length);
        printable = copy ? string_printable(copy) : NULL;
        if (!printable)
                return;

        if (log_target == LOG_TARGET_KMSG)
                write_kmsg(level, printable);
        if (log_target == LOG_TARGET_STDERR)
                fprintf(stderr, "%s: %s\n", log_identifier, printable);
        if (log_target != LOG_TARGET_JOURNAL &&
                !(log_target == LOG_TARGET_STDERR && log_events_recorded && message_id))
                return;
        if (!write_lost(false) || write_journal(level, printable, message_id, fields) < 0)
                log_n_lost++;
}

/* If set, gets libdevmapper's first message instead. */
static char **diversion;

void log_divert_libdevmapper(char **first)
{
        diversion = first;
}

_printf_(5, 6) static void log_from_libdevmapper(
        int level, _unused_ const char *file, _unused_ int line, _unused_ int error_class, const char *format, ...)
{
        _cleanup_free_ char *message = NULL;

        /* libdevmapper sets bits above the level for standard error and "once". Its errors are not headgate's: the
         * caller decides whether they matter. */
        if ((!diversion && log_level_max < LOG_DEBUG) || (level & 7) > LOG_ERR)
                return;

        message = FORMAT_ARGUMENTS(string_format_list, format);
        if (diversion)
                *diversion = *diversion ?: TAKE_PTR(message);
        else
                log_event(LOG_DEBUG, NULL, message, &no_fields);
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

        errno = -error;
        message = FORMAT_ARGUMENTS(string_format_list, format);
        log_event(level, NULL, message, &no_fields);
        return error;
}

void fields_add(struct strv *fields, const char *format, ...)
{
        (void) !strv_take(fields, FORMAT_ARGUMENTS(string_format_list, format));
}
