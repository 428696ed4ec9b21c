/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in for /sbin/lvm in the guest, and in an initrd of it: notes the call in one line and becomes the real lvm.
 * Process accounting would be cheaper still, but records only the name of the program, not its arguments.
 *
 * A line: seconds since boot, process id, name of the parent, cgroup, arguments; separated by tabs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REAL_LVM "/usr/sbin/lvm.real"
#define CALL_DIRECTORY "/run/guest"
#define CALL_LOG CALL_DIRECTORY "/lvm-calls"

/* Read the first line of a /proc file. */
static void read_line(const char *path, char *line, size_t size)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, line, size - 1);

        line[n > 0 ? n : 0] = '\0';
        line[strcspn(line, "\n")] = '\0';
        if (fd >= 0)
                close(fd);
}

int main(int argc, char *argv[])
{
        char path[64], parent[64], cgroup[256], entry[4096];
        struct timespec now;
        int log;

        /* In an initrd nobody has made them before. */
        mkdir(CALL_DIRECTORY, 0755);
        log = open(CALL_LOG, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        if (log >= 0) {
                clock_gettime(CLOCK_MONOTONIC, &now);
                snprintf(path, sizeof path, "/proc/%d/comm", (int) getppid());
                read_line(path, parent, sizeof parent);
                read_line("/proc/self/cgroup", cgroup, sizeof cgroup);

                size_t n = (size_t) snprintf(entry, sizeof entry, "%ld.%06ld\t%d\t%s\t%s\t", (long) now.tv_sec,
                        now.tv_nsec / 1000, (int) getpid(), parent, cgroup);
                /* Called as vgchange or the like, the name is part of the call; "lvm" itself is not. */
                const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
                int first = strcmp(name, "lvm") == 0;

                for (int i = first; i < argc && n < sizeof entry - 2; i++) {
                        n += (size_t) snprintf(
                                entry + n, sizeof entry - 1 - n, "%s%s", i > first ? " " : "", i ? argv[i] : name);
                        if (n > sizeof entry - 2)
                                n = sizeof entry - 2;
                }
                entry[n++] = '\n';
                /* One write with O_APPEND: lines of simultaneous calls do not mix. A lost line must not stop lvm. */
                if (write(log, entry, n) < 0)
                        close(log);
        }

        execv(REAL_LVM, argv);
        return 127;
}
