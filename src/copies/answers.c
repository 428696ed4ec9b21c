/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "copies/answers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Somebody sits in front of a terminal. */
#define PATIENCE_MSEC 3000

/* No disk has larger sectors. */
#define PIECE_SIZE 4096U

/* So many disks turn at the same time. */
#define READERS 8U

/* Those who read, and what comes from them: the places of devices that are done, 32 bits each. */
struct readers {
        pid_t pids[READERS];
        size_t n;
        int fd;
};

/* The device at `first`, and each one as many places further as there are readers. */
_Noreturn static void run_child(char *const paths[], size_t n, uint32_t first, int write_fd)
{
        _cleanup_free_ char *piece = aligned_alloc(PIECE_SIZE, PIECE_SIZE);

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint32_t i = first; piece && i < n; i += READERS) {
                _cleanup_close_ int fd = open(paths[i], O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

                /* Whatever comes of it. */
                if (fd >= 0 && pread(fd, piece, PIECE_SIZE, 0) < 0)
                        errno = 0;
                if (write(write_fd, &i, sizeof(i)) != sizeof(i))
                        break;
        }
        _exit(EXIT_SUCCESS);
}

static int start(struct readers *readers, char *const paths[], size_t n)
{
        int ends[2], r = 0;

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        readers->fd = ends[0];
        while (r >= 0 && readers->n < MIN(n, (size_t) READERS)) {
                pid_t pid = fork();

                if (pid == 0)
                        run_child(paths, n, (uint32_t) readers->n, ends[1]);
                if (pid < 0)
                        r = -errno;
                else
                        readers->pids[readers->n++] = pid;
        }
        close(ends[1]);
        return r;
}

/* Notes which have answered until all have. */
static int take_answers(const struct readers *readers, bool *answered, size_t n)
{
        size_t n_answered = 0;

        while (n_answered < n) {
                struct pollfd answer = {.fd = readers->fd, .events = POLLIN};
                uint32_t places[64];
                ssize_t size;
                int r;

                r = poll(&answer, 1, PATIENCE_MSEC);
                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0)
                        return r < 0 ? -errno : -ETIMEDOUT;
                size = read(readers->fd, places, sizeof(places));
                if (size <= 0)
                        return size < 0 ? -errno : -EIO;
                for (size_t i = 0; i < (size_t) size / sizeof(*places); i++, n_answered++)
                        answered[places[i]] = true;
        }
        return 0;
}

static void end(struct readers *readers, int error)
{
        for (size_t i = 0; i < readers->n; i++) {
                if (error < 0)
                        (void) kill(readers->pids[i], SIGKILL);
                /* One in a read() that hangs ends when the kernel lets it. */
                (void) waitpid(readers->pids[i], NULL, error < 0 ? WNOHANG : 0);
        }
        closep(&readers->fd);
}

int devices_answer(char *const paths[], size_t n, size_t *ret_silent)
{
        _cleanup_free_ bool *answered = calloc(n + 1, sizeof(*answered));
        struct readers readers = {.fd = -EBADF};
        int r;

        *ret_silent = 0;
        if (!answered)
                return -ENOMEM;
        r = start(&readers, paths, n);
        if (r >= 0)
                r = take_answers(&readers, answered, n);
        end(&readers, r);
        while (*ret_silent < n && answered[*ret_silent])
                ++*ret_silent;
        return r;
}
