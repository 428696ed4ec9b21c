/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/wakeup.h"

#include <sys/socket.h>

#include "shared/flags.h"
#include "shared/log.h"

/* Whether the kernel vouches for root as the sender. The socket is only for root as it is; this holds should
 * somebody change its mode. */
static bool is_from_root(struct msghdr *message)
{
        for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
                struct ucred credentials;

                if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS)
                        continue;
                memcpy(&credentials, CMSG_DATA(header), sizeof(credentials));
                return credentials.uid == 0;
        }
        return false;
}

static bool is_text(const char *data, size_t size, const char *text)
{
        return size == strlen(text) && memcmp(data, text, size) == 0;
}

int wakeup_receive(int fd, unsigned int *n_ignored)
{
        int result = WAKEUP_PLAIN;

        for (;;) {
                char data[sizeof(FLAGS_WAKE_RESYNC)];
                union {
                        struct cmsghdr header;
                        char space[CMSG_SPACE(sizeof(struct ucred))];
                } control;
                struct iovec vector = {.iov_base = data, .iov_len = sizeof(data)};
                struct msghdr message = {
                        .msg_iov = &vector,
                        .msg_iovlen = 1,
                        .msg_control = &control,
                        .msg_controllen = sizeof(control),
                };
                bool from_root, is_resync;
                ssize_t n;

                /* With MSG_TRUNC, n is the size that was sent, which no text of ours has if it is longer than the
                 * buffer. */
                n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC);
                if (n < 0)
                        return errno == EAGAIN || errno == EINTR ? result : -errno;

                from_root = is_from_root(&message);
                is_resync = is_text(data, (size_t) n, FLAGS_WAKE_RESYNC);
                if (from_root && is_resync)
                        result = WAKEUP_RESYNC;
                else if ((!from_root || !is_text(data, (size_t) n, FLAGS_WAKE)) && (*n_ignored)++ == 0)
                        log_warning(
                                "Ignoring a datagram that is %s.", from_root ? "not a request" : "not from root");
        }
}
