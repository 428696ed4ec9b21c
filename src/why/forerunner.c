/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/forerunner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "shared/util.h"

/* Somebody sits in front of a terminal. A disk that has to spin up takes longer, and is slow to answer anyway. */
#define PATIENCE_MSEC 3000

_Noreturn static void run_child(void (*read_all)(const char *path), const char *path, int fd)
{
        const char done = '\0';

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        read_all(path);
        if (write(fd, &done, 1) == 1)
                for (;;)
                        pause();
        _exit(EXIT_FAILURE);
}

static int wait_for_child(int fd)
{
        struct pollfd answer = {.fd = fd, .events = POLLIN};
        char done;
        int r;

        do {
                r = poll(&answer, 1, PATIENCE_MSEC);
        } while (r < 0 && errno == EINTR);
        if (r <= 0)
                return r < 0 ? -errno : -ETIMEDOUT;
        return read(fd, &done, 1) == 1 ? 0 : -EIO;
}

int forerunner_start(struct forerunner *forerunner, void (*read_all)(const char *path), const char *path)
{
        _cleanup_close_ int read_fd = -EBADF, write_fd = -EBADF;
        int ends[2];

        *forerunner = (struct forerunner){};
        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        read_fd = ends[0];
        write_fd = ends[1];
        forerunner->pid = fork();
        if (forerunner->pid < 0) {
                forerunner->pid = 0;
                return -errno;
        }
        if (forerunner->pid == 0)
                run_child(read_all, path, write_fd);
        closep(&write_fd);
        write_fd = -EBADF;
        return wait_for_child(read_fd);
}

void forerunner_done(struct forerunner *forerunner)
{
        if (forerunner->pid == 0)
                return;
        (void) kill(forerunner->pid, SIGKILL);
        (void) waitpid(forerunner->pid, NULL, WNOHANG);
        forerunner->pid = 0;
}
