/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shrink-buffer PID: make the buffers of a process's netlink sockets as small as the kernel allows, so that a few events
 * of udev's that it does not read in time are more than it will ever hear of.
 */
#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_netlink(int fd)
{
        int domain;
        socklen_t size = sizeof domain;

        return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_NETLINK;
}

int main(int argc, char *argv[])
{
        char path[64];
        const struct dirent *entry;
        int pidfd, n = 0;
        DIR *directory;

        if (argc != 2)
                errx(2, "usage: shrink-buffer PID");
        pidfd = (int) syscall(SYS_pidfd_open, atoi(argv[1]), 0);
        snprintf(path, sizeof path, "/proc/%d/fd", atoi(argv[1]));
        directory = opendir(path);
        if (pidfd < 0 || !directory)
                err(1, "process %s", argv[1]);
        while ((entry = readdir(directory))) {
                int fd = entry->d_name[0] == '.' ? -1
                                                 : (int) syscall(SYS_pidfd_getfd, pidfd, atoi(entry->d_name), 0);

                if (fd >= 0 && is_netlink(fd) &&
                        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){1}, sizeof(int)) == 0)
                        n++;
                if (fd >= 0)
                        close(fd);
        }
        printf("%d sockets\n", n);
        return n == 0;
}
