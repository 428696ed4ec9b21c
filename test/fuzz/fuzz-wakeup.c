/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The worker's socket. Each line of the input is a datagram. */

#include <sys/socket.h>

#include "fuzz.h"
#include "shared/flags.h"
#include "shared/util.h"
#include "worker/worker.h"

/* As many as wait at a socket at most (net.unix.max_dgram_qlen). */
#define DATAGRAMS_MAX 10

static bool is(const char *text, const char *data, size_t size)
{
        return size == strlen(text) && memcmp(data, text, size) == 0;
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = fuzz_text(data, size);
        unsigned int n_ignored = 0, n_strange = 0;
        bool resync = false;
        int fds[2], r;

        (void) fuzz_root();
        fuzz_check(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) == 0);
        fuzz_check(setsockopt(fds[1], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) == 0);
        for (char *line = text, *end = text + size; line <= end;) {
                char *newline = memchr(line, '\n', (size_t) (end - line)) ?: end;
                size_t length = (size_t) (newline - line);

                if (n_strange == DATAGRAMS_MAX || send(fds[0], line, length, MSG_DONTWAIT) < 0)
                        break;
                resync |= is(FLAGS_WAKE_RESYNC, line, length);
                n_strange += !is(FLAGS_WAKE_RESYNC, line, length) && !is(FLAGS_WAKE, line, length);
                line = newline + 1;
        }

        r = flags_receive_wakeups(fds[1], &n_ignored);
        if (geteuid() == 0) {
                fuzz_check(r == (resync ? FLAGS_WOKEN_TO_RESYNC : FLAGS_WOKEN));
                fuzz_check(n_ignored == n_strange);
        } else
                fuzz_check(r == FLAGS_WOKEN);
        close(fds[0]);
        close(fds[1]);
        return 0;
}
