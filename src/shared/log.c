/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The log: standard error, the kernel's log, or the journal, which is sent lines without ever waiting long for it. */

#include "shared/log.h"

#include <endian.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "shared/util.h"

void fields_add(struct fields *fields, char *field)
{
        if (field && fields->n == fields->n_allocated) {
                size_t n = MAX(fields->n_allocated * 2, (size_t) 8);
                struct iovec *larger = reallocarray(fields->vector, n, sizeof(*larger));

                if (larger) {
                        fields->vector = larger;
                        fields->n_allocated = n;
                }
        }
        if (field && fields->n < MIN(fields->n_allocated, (size_t) FIELDS_MAX))
                fields->vector[fields->n++] = (struct iovec){.iov_base = field, .iov_len = strlen(field)};
        else
                free(field);
}

void fields_done(struct fields *fields)
{
        for (size_t i = 0; i < fields->n; i++)
                free(fields->vector[i].iov_base);
        free(fields->vector);
        *fields = (struct fields){};
}

#define SOCKET "/run/systemd/journal/socket"

/* How long a process waits for journald, in all. */
#define WAIT_MAX_USEC USEC_PER_SEC

static int socket_fd = -EBADF;
static uint64_t waited_usec;

static int connect_socket(void)
{
        static const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0 || connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;
        if (socket_fd >= 0)
                close(socket_fd);
        socket_fd = TAKE_FD(fd);
        return 0;
}

/* A value with newlines is preceded by its size. */
static void write_field(FILE *file, const struct iovec *field)
{
        const char *text = field->iov_base, *equals = memchr(text, '=', field->iov_len);
        uint64_t size;

        if (!equals)
                return;
        if (!memchr(text, '\n', field->iov_len)) {
                fwrite(text, field->iov_len, 1, file);
        } else {
                size = htole64(field->iov_len - (size_t) (equals + 1 - text));
                fwrite(text, (size_t) (equals - text), 1, file);
                fputc('\n', file);
                fwrite(&size, sizeof(size), 1, file);
                fwrite(equals + 1, le64toh(size), 1, file);
        }
        fputc('\n', file);
}

static int serialize(const struct iovec *fields, size_t n_fields, struct iovec *ret)
{
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);

        if (!file)
                return -ENOMEM;
        for (size_t i = 0; i < n_fields; i++)
                write_field(file, &fields[i]);
        if (fclose(file) != 0) {
                free(text);
                return -ENOMEM;
        }
        *ret = (struct iovec){.iov_base = text, .iov_len = size};
        return 0;
}

/* A line that is too large for a datagram is sent as a file, sealed against changes as journald requires. */
static int make_file(const struct iovec *text)
{
        _cleanup_close_ int fd = memfd_create("headgate-line", MFD_ALLOW_SEALING | MFD_CLOEXEC);
        int r;

        if (fd < 0)
                return -errno;
        r = write_all(fd, text->iov_base, text->iov_len);
        if (r < 0)
                return r;
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
                return -errno;
        return TAKE_FD(fd);
}

/* Waits for room in journald's queue. Returns false once all the time is used. */
static bool wait_for_room(void)
{
        struct pollfd room = {.fd = socket_fd, .events = POLLOUT};
        uint64_t begin = now_usec();

        if (waited_usec >= WAIT_MAX_USEC)
                return false;
        (void) poll(&room, 1, (int) ((WAIT_MAX_USEC - waited_usec) / USEC_PER_MSEC) + 1);
        waited_usec += now_usec() - begin;
        return room.revents & POLLOUT;
}

static int send_message(const struct msghdr *message)
{
        int r;

        if (socket_fd < 0) {
                r = connect_socket();
                if (r < 0)
                        return r;
        }
        for (bool reconnected = false;;) {
                if (sendmsg(socket_fd, message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
                        return 0;
                if (errno == EAGAIN && wait_for_room())
                        continue;
                if ((errno != ECONNREFUSED && errno != ENOTCONN) || reconnected)
                        return -errno;
                /* systemd has made the socket anew. */
                r = connect_socket();
                if (r < 0)
                        return r;
                reconnected = true;
        }
}

static int send_file(const struct iovec *text)
{
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int))];
        } control = {};
        struct msghdr message = {.msg_control = &control, .msg_controllen = sizeof(control.space)};
        _cleanup_close_ int fd = make_file(text);

        if (fd < 0)
                return fd;
        control.header = (struct cmsghdr){
                .cmsg_level = SOL_SOCKET,
                .cmsg_type = SCM_RIGHTS,
                .cmsg_len = CMSG_LEN(sizeof(fd)),
        };
        memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
        return send_message(&message);
}

int journal_send(const struct iovec *fields, size_t n_fields)
{
        struct iovec text = {};
        int r;

        r = serialize(fields, n_fields, &text);
        if (r < 0)
                return r;
        r = send_message(&(struct msghdr){.msg_iov = &text, .msg_iovlen = 1});
        if (r == -EMSGSIZE || r == -ENOBUFS)
                r = send_file(&text);
        free(text.iov_base);
        return r;
}

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
