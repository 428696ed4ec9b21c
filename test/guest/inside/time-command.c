/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * time-command SECONDS LOG COMMAND...: run a command that takes block devices down, and print "BEGIN GONE END KIB": when
 * it was started, when the last device went while it ran, and when it had ended, in microseconds of the monotonic clock;
 * and the largest resident set that any of its processes ever had. What the command prints is appended to LOG. The exit
 * status is the command's. After so many seconds it is killed, with all that it has started.
 *
 * Devices are counted by the links that sysfs says the directory of all virtual ones has, one for each: a single call,
 * as everything that is done more often than now and then slows down what is being measured.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEVICES "/sys/devices/virtual/block"
#define INTERVAL_MS 5

static long long now_us(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

/* One for each device, and two more. Without any, there is no such directory. */
static nlink_t count_devices(void)
{
        struct stat status;

        return stat(DEVICES, &status) < 0 ? 0 : status.st_nlink;
}

static pid_t start(char *words[], int log)
{
        pid_t pid = fork();

        if (pid < 0)
                err(1, "fork");
        if (pid == 0) {
                setpgid(0, 0);
                dup2(log, STDOUT_FILENO);
                dup2(log, STDERR_FILENO);
                execvp(words[0], words);
                err(127, "%s", words[0]);
        }
        return pid;
}

/* Until the process has ended, or at the time `limit`. There were `least` devices before it. */
static void watch(pid_t pid, nlink_t least, long long limit, long long *ret_gone, long long *ret_end)
{
        struct pollfd process = {.fd = pidfd_open(pid, 0), .events = POLLIN};
        int ended;

        if (process.fd < 0)
                err(1, "pidfd_open");
        *ret_gone = now_us();
        do {
                ended = poll(&process, 1, INTERVAL_MS);
                *ret_end = now_us();
                nlink_t n = count_devices();
                if (n < least) {
                        least = n;
                        *ret_gone = *ret_end;
                }
        } while (ended == 0 && *ret_end < limit);
        if (ended == 0)
                kill(-pid, SIGKILL);
}

int main(int argc, char *argv[])
{
        long long begin, gone, end;
        struct rusage usage;
        long most_kib = 0;
        int status;

        if (argc < 4)
                errx(2, "usage: time-command SECONDS LOG COMMAND...");
        int log = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (log < 0)
                err(1, "%s", argv[2]);
        /* The command may leave a child behind that it has not waited for: that becomes ours. */
        if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
                err(1, "prctl");

        nlink_t n_devices = count_devices();
        begin = now_us();
        pid_t pid = start(argv + 3, log);
        watch(pid, n_devices, begin + atoll(argv[1]) * 1000000, &gone, &end);

        if (wait4(pid, &status, 0, &usage) < 0)
                err(1, "wait4");
        /* Of a process, this includes the children that it has waited for. */
        do
                most_kib = usage.ru_maxrss > most_kib ? usage.ru_maxrss : most_kib;
        while (wait4(-1, NULL, 0, &usage) > 0);

        printf("%lld %lld %lld %ld\n", begin, gone, end, most_kib);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
