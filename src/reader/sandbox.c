/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "reader/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "shared/util.h"

/* libdevmapper makes some 350 MiB of nodes of the largest text. */
#define MEMORY_MORE (UINT64_C(1) << 30)

/* The largest text takes a second. A usual disk takes less than a tenth of one, on the slowest machine. */
#define CPU_SEC 20
#define DEVICES_PER_CPU_SEC 10

#if defined(__x86_64__) && defined(__LP64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCHITECTURE AUDIT_ARCH_I386
#elif defined(__aarch64__) && defined(__LP64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define ARCHITECTURE AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#elif defined(__s390x__)
#define ARCHITECTURE AUDIT_ARCH_S390X
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCHITECTURE AUDIT_ARCH_PPC64LE
#endif

/* What libc and libdevmapper need besides; also to abort(). */
static const int allowed_calls[] = {
        SYS_read,
        SYS_pread64,
        SYS_write,
        SYS_close,
        SYS_lseek,
        SYS_brk,
        SYS_munmap,
        SYS_mremap,
        SYS_madvise,
        SYS_futex,
        SYS_getrandom,
        SYS_getpid,
        SYS_gettid,
        SYS_tgkill,
        SYS_rt_sigaction,
        SYS_rt_sigprocmask,
        SYS_rt_sigreturn,
        SYS_clock_gettime,
        SYS_exit,
        SYS_exit_group,
#ifdef SYS_mmap
        SYS_mmap,
#endif
#ifdef SYS_mmap2
        SYS_mmap2,
#endif
#ifdef SYS_fstat
        SYS_fstat,
#endif
#ifdef SYS_newfstatat
        SYS_newfstatat,
#endif
#ifdef SYS_fstat64
        SYS_fstat64,
#endif
#ifdef SYS_fstatat64
        SYS_fstatat64,
#endif
#ifdef SYS_statx
        SYS_statx,
#endif
#ifdef SYS_clock_gettime64
        SYS_clock_gettime64,
#endif
#ifdef SYS_fadvise64
        SYS_fadvise64,
#endif
#ifdef SYS_fadvise64_64
        SYS_fadvise64_64,
#endif
#ifdef SYS_arm_fadvise64_64
        SYS_arm_fadvise64_64,
#endif
#ifdef SYS__llseek
        SYS__llseek,
#endif
        SYS_restart_syscall,
};

#ifdef ARCHITECTURE
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The half of an argument that has the flags of openat(). */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOAD_FLAGS BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]) + 4)
#else
#define LOAD_FLAGS LOAD(args[2])
#endif
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
/* A call that a later libc makes besides must not lose all disks. */
#define REFUSE RETURN(SECCOMP_RET_ERRNO | ENOSYS)
#define ALLOW RETURN(SECCOMP_RET_ALLOW)
#define SKIP_UNLESS(condition, number, n) BPF_JUMP(BPF_JMP | (condition) | BPF_K, number, 0, n)

static void limit_calls(void)
{
        static const struct sock_filter first[] = {
                LOAD(arch),
                SKIP_UNLESS(BPF_JEQ, ARCHITECTURE, 5),
                LOAD(nr),
                SKIP_UNLESS(BPF_JEQ, SYS_openat, 4),
                LOAD_FLAGS,
                BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC, 1, 0),
                ALLOW,
                REFUSE,
        };
        struct sock_filter filter[ELEMENTSOF(first) + 2 * ELEMENTSOF(allowed_calls) + 1];
        struct sock_fprog program = {.len = ELEMENTSOF(filter), .filter = filter};
        size_t n = ELEMENTSOF(first);

        memcpy(filter, first, sizeof(first));
        for (size_t i = 0; i < ELEMENTSOF(allowed_calls); i++) {
                filter[n++] = (struct sock_filter) SKIP_UNLESS(BPF_JEQ, allowed_calls[i], 1);
                filter[n++] = (struct sock_filter) ALLOW;
        }
        filter[n++] = (struct sock_filter) REFUSE;
        (void) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static void limit_calls(void)
{
}
#endif

/* All but the one to read disks whose owner a rule of udev has changed. */
static void drop_capabilities(void)
{
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

        if (syscall(SYS_capget, &header, data) < 0)
                return;
        data[0].permitted &= 1U << CAP_DAC_OVERRIDE;
        data[1].permitted = 0;
        for (size_t i = 0; i < ELEMENTSOF(data); i++) {
                data[i].effective &= data[i].permitted;
                data[i].inheritable = 0;
        }
        (void) syscall(SYS_capset, &header, data);
}

/* What the process has already is not counted, which a sanitizer makes much of. */
static void limit_memory(void)
{
        _cleanup_free_ char *text = NULL;
        uint64_t bytes;

        if (read_file_at(AT_FDCWD, "/proc/self/statm", &text, NULL) < 0)
                return;
        bytes = strtoull(text, NULL, 10) * (uint64_t) sysconf(_SC_PAGESIZE) + MEMORY_MORE;
        (void) setrlimit(RLIMIT_AS, &(struct rlimit){.rlim_cur = bytes, .rlim_max = bytes});
}

void sandbox_enter(size_t n_devices)
{
        rlim_t seconds = CPU_SEC + n_devices / DEVICES_PER_CPU_SEC;

        limit_memory();
        /* At the hard limit the kernel sends SIGKILL, which says nothing about the disk. */
        (void) setrlimit(RLIMIT_CPU, &(struct rlimit){.rlim_cur = seconds, .rlim_max = seconds + 1});
        (void) setrlimit(RLIMIT_CORE, &(struct rlimit){});
        drop_capabilities();
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        limit_calls();
}
