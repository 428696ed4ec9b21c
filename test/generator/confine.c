/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* confine PROGRAM ARGUMENT...: runs a program that is killed (SIGSYS) when it does what a systemd generator
 * must not do: start a process, speak to one, ask or change a device, change the system. */

#include <errno.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/macro.h"

static const int forbidden[] = {
        /* processes */
        SCMP_SYS(fork),
        SCMP_SYS(vfork),
        SCMP_SYS(clone),
        SCMP_SYS(clone3),
        SCMP_SYS(execveat),
        SCMP_SYS(kill),
        SCMP_SYS(tkill),
        SCMP_SYS(ptrace),
        SCMP_SYS(process_vm_readv),
        SCMP_SYS(process_vm_writev),
        SCMP_SYS(pidfd_open),
        SCMP_SYS(pidfd_send_signal),
        /* whatever listens: the journal, the bus, udev, names of users and hosts */
        SCMP_SYS(socket),
        SCMP_SYS(socketpair),
        SCMP_SYS(connect),
        SCMP_SYS(bind),
        SCMP_SYS(listen),
        SCMP_SYS(accept),
        SCMP_SYS(accept4),
        SCMP_SYS(sendto),
        SCMP_SYS(sendmsg),
        SCMP_SYS(sendmmsg),
        SCMP_SYS(recvfrom),
        SCMP_SYS(recvmsg),
        SCMP_SYS(semget),
        SCMP_SYS(semop),
        SCMP_SYS(shmget),
        SCMP_SYS(msgget),
        SCMP_SYS(mq_open),
        /* devices and file systems */
        SCMP_SYS(ioctl),
        SCMP_SYS(mount),
        SCMP_SYS(umount2),
        SCMP_SYS(move_mount),
        SCMP_SYS(open_tree),
        SCMP_SYS(fsopen),
        SCMP_SYS(pivot_root),
        SCMP_SYS(chroot),
        SCMP_SYS(swapon),
        SCMP_SYS(swapoff),
        SCMP_SYS(mknod),
        SCMP_SYS(mknodat),
        SCMP_SYS(quotactl),
        SCMP_SYS(io_setup),
        SCMP_SYS(io_uring_setup),
        SCMP_SYS(sync),
        SCMP_SYS(syncfs),
        /* the system */
        SCMP_SYS(init_module),
        SCMP_SYS(finit_module),
        SCMP_SYS(delete_module),
        SCMP_SYS(kexec_load),
        SCMP_SYS(reboot),
        SCMP_SYS(sethostname),
        SCMP_SYS(settimeofday),
        SCMP_SYS(clock_settime),
        SCMP_SYS(setns),
        SCMP_SYS(unshare),
        SCMP_SYS(bpf),
        SCMP_SYS(keyctl),
        SCMP_SYS(add_key),
        SCMP_SYS(request_key),
        SCMP_SYS(syslog),
        SCMP_SYS(perf_event_open),
        /* to wait for what may not come */
        SCMP_SYS(alarm),
        SCMP_SYS(setitimer),
        SCMP_SYS(nanosleep),
        SCMP_SYS(clock_nanosleep),
        SCMP_SYS(poll),
        SCMP_SYS(ppoll),
        SCMP_SYS(select),
        SCMP_SYS(pselect6),
        SCMP_SYS(epoll_wait),
        SCMP_SYS(epoll_pwait),
        SCMP_SYS(wait4),
        SCMP_SYS(waitid),
        SCMP_SYS(flock),
};

/* A program has one call of execve() to be started with, which it is told by: the path is this process' own
 * string, at an address that means nothing to what comes after it. */
static int forbid(scmp_filter_ctx filter, const char *program)
{
        int r;

        for (size_t i = 0; i < ELEMENTSOF(forbidden); i++) {
                r = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, forbidden[i], 0);
                if (r < 0)
                        return r;
        }
        r = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(execve), 1,
                SCMP_A0(SCMP_CMP_NE, (scmp_datum_t) (uintptr_t) program));
        return r < 0 ? r : seccomp_load(filter);
}

int main(int argc, char *argv[])
{
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
        int r;

        if (argc < 2 || !filter) {
                fputs("Usage: confine PROGRAM ARGUMENT...\n", stderr);
                return EXIT_FAILURE;
        }
        r = forbid(filter, argv[1]);
        if (r < 0) {
                fprintf(stderr, "confine: no filter: %s\n", strerror(-r));
                return EXIT_FAILURE;
        }
        execv(argv[1], argv + 1);
        fprintf(stderr, "confine: %s: %s\n", argv[1], strerror(errno));
        return EXIT_FAILURE;
}
