/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* The four system calls that headgate-dmsetup.static makes, and its entry point.
 *
 * The start-up of a C library takes several times as long as the work of this program, which udev starts for each event of each
 * device. With HEADGATE_FREESTANDING it is entered from the kernel, and calls the kernel itself. Elsewhere, and in tests,
 * the C library does that. Each function returns the kernel's result: a negative errno, or not less than 0. */

/* The program; returns the exit status. */
int run(int argc, char *argv[]);

#ifdef HEADGATE_FREESTANDING

#ifndef __x86_64__
#error "Only with a C library on this machine."
#endif

#include <linux/sem.h>
#include <sys/syscall.h>

/* The calling convention is described in syscall(2). */
static inline long system_call(long number, long first, long second, long third)
{
        long result;

        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(number), "D"(first), "S"(second), "d"(third)
                         : "rcx", "r11", "memory");
        return result;
}

static inline long system_write(int fd, const char *data, size_t size)
{
        return system_call(SYS_write, fd, (long) data, (long) size);
}

/* For a set of one semaphore; it is never created. */
static inline long system_semget(int key)
{
        return system_call(SYS_semget, key, 1, 0);
}

static inline long system_semop(int id, struct sembuf *operation)
{
        return system_call(SYS_semop, id, (long) operation, 1);
}

/* Entered by the code below, with the stack as the kernel has left it: argc, the arguments, NULL, the environment. */
__attribute__((noreturn, used)) static void enter(long *stack)
{
        int status = run((int) stack[0], (char **) (stack + 1));

        for (;;)
                (void) system_call(SYS_exit_group, status, 0, 0);
}

__asm__(".globl _start\n"
        "_start:\n"
        "        xor %ebp, %ebp\n"
        "        mov %rsp, %rdi\n"
        "        and $-16, %rsp\n"
        "        call enter\n");

#else

#include <errno.h>
#include <sys/sem.h>
#include <unistd.h>

static inline long system_write(int fd, const char *data, size_t size)
{
        ssize_t n = write(fd, data, size);

        return n < 0 ? -errno : n;
}

static inline long system_semget(int key)
{
        int id = semget(key, 1, 0);

        return id < 0 ? -errno : id;
}

static inline long system_semop(int id, struct sembuf *operation)
{
        return semop(id, operation, 1) < 0 ? -errno : 0;
}

int main(int argc, char *argv[])
{
        return run(argc, argv);
}

#endif
