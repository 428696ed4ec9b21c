/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/journal-sender.h"

#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "shared/util.h"

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
