/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reader's child process: it drops privileges, then reads and parses one device after another. */

#include "reader/child.h"

#include <endian.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "inventory/vg-record.h"
#include "lvm/pv.h"
#include "shared/log.h"
#include "shared/util.h"

/* The nodes of the largest text take some 350 MiB in libdevmapper. */
#define MEMORY_MORE (UINT64_C(1) << 30)

/* The largest text takes a second; a usual disk takes less than a tenth of one, even on a slow machine. */
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

#ifdef ARCHITECTURE
/* System calls that libc and libdevmapper need, also for abort(). */
static const int allowed_calls[] = {
        SYS_read,
        SYS_pread64,
        SYS_write,
        SYS_writev,
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
        SYS_fstat,
        SYS_statx,
        SYS_restart_syscall,
#ifdef __LP64__
        SYS_mmap,
        SYS_newfstatat,
#else
        SYS_mmap2,
        SYS_fstat64,
        SYS_fstatat64,
        SYS_clock_gettime64,
        SYS__llseek,
#endif
};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The half of the argument with the flags of openat(). */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOAD_FLAGS BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]) + 4)
#else
#define LOAD_FLAGS LOAD(args[2])
#endif
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
/* An additional system call of a later libc must not make all disks unreadable. */
#define REFUSE RETURN(SECCOMP_RET_ERRNO | ENOSYS)
#define ALLOW RETURN(SECCOMP_RET_ALLOW)
#define SKIP_UNLESS(number, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, n)

static void limit_calls(void)
{
        static const struct sock_filter first[] = {
                LOAD(arch),
                SKIP_UNLESS(ARCHITECTURE, 5),
                LOAD(nr),
                SKIP_UNLESS(SYS_openat, 4),
                LOAD_FLAGS,
                BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC, 1, 0),
                ALLOW,
                REFUSE,
        };
        struct sock_filter filter[ELEMENTSOF(first) + 2 * ELEMENTSOF(allowed_calls) + 1];
        struct sock_fprog program = {.len = ELEMENTSOF(filter), .filter = filter};
        size_t n = ELEMENTSOF(first);

        memcpy(filter, first, sizeof(first));
        FOREACH_ELEMENT(call, allowed_calls) {
                filter[n++] = (struct sock_filter) SKIP_UNLESS(*call, 1);
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

/* Keeps only the capability to read disks whose owner was changed by udev rules. */
static void drop_capabilities(void)
{
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

        if (syscall(SYS_capget, &header, data) < 0)
                return;
        data[0].permitted &= 1U << CAP_DAC_OVERRIDE;
        data[1].permitted = 0;
        FOREACH_ELEMENT(set, data) {
                set->effective &= set->permitted;
                set->inheritable = 0;
        }
        (void) syscall(SYS_capset, &header, data);
}

/* Memory that the process has already does not count; with sanitizers that is much. */
static void limit_memory(void)
{
        _cleanup_free_ char *text = NULL;
        uint64_t bytes;

        if (read_file_at(AT_FDCWD, "/proc/self/statm", &text, NULL) < 0)
                return;
        bytes = strtoull(text, NULL, 10) * (uint64_t) sysconf(_SC_PAGESIZE) + MEMORY_MORE;
        (void) setrlimit(RLIMIT_AS, &(struct rlimit){.rlim_cur = bytes, .rlim_max = bytes});
}

/* Enters the sandbox before reading the first disk, whose contents may be hostile. It limits memory to 1 GiB more
 * than now, CPU time to what `n_devices` may take, capabilities to CAP_DAC_OVERRIDE, and system calls. Allowed are
 * opening for reading, reading, getting memory, writing to open descriptors, and exiting. Limits that the kernel
 * does not support are skipped. */
static void enter_sandbox(size_t n_devices)
{
        rlim_t seconds = CPU_SEC + n_devices / DEVICES_PER_CPU_SEC;

        limit_memory();
        /* A lower hard limit would cause SIGKILL, which does not count as a crash on the disk. */
        (void) setrlimit(RLIMIT_CPU, &(struct rlimit){.rlim_cur = seconds, .rlim_max = seconds + 1});
        (void) setrlimit(RLIMIT_CORE, &(struct rlimit){});
        drop_capabilities();
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        limit_calls();
}

/* The largest sector size of disks. */
#define PIECE_SIZE 4096U

/* State of the child, for one list of devices. */
struct child {
        reader_known_function is_known;
        void *userdata;
        struct dm_hash_table *texts; /* that were read, by struct text_id */
};

static bool knows(const struct child *child, const struct text_id *text)
{
        return (child->is_known && child->is_known(text, child->userdata)) ||
               dm_hash_lookup_binary(child->texts, text, sizeof(*text));
}

/* Parses the text. */
static int take_text(const char *text, struct reader_copy *copy, const char **reterr_reason)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        _cleanup_free_ char *facts = NULL;
        int r = metadata_parse(text, &metadata, reterr_reason) ?: vg_print(metadata, &facts);

        if (r < 0)
                return r;
        if (strlen(facts) > FACTS_SIZE_MAX)
                return damaged(reterr_reason, "the metadata is too large");
        copy->facts_size = strlen(facts);
        copy->facts = TAKE_PTR(facts);
        return 0;
}

/* Reads one metadata area into `copy`. The text is only read if neither the parent nor this child knows it.
 * Adds it to the result if there is any metadata. */
static void read_copy(struct child *child, int fd, const struct metadata_area *area, struct reader_result *result)
{
        struct reader_copy *copy = &result->copies[result->n_copies];

        /* lvm2 may write meanwhile: then the checksum is wrong, and a second attempt reads the new text. */
        for (int attempt = 0; attempt < 2; attempt++) {
                _cleanup_free_ char *text = NULL, *name = NULL;
                struct metadata_location location = {};
                const char *reason = NULL;
                int r;

                *copy = (struct reader_copy){};
                r = metadata_area_read_location(fd, area, &location, &reason);
                if (r > METADATA_AREA_FOUND) {
                        result->empty |= r == METADATA_AREA_EMPTY;
                        result->n_ignored += r == METADATA_AREA_IGNORED;
                        return;
                }
                if (r == METADATA_AREA_FOUND) {
                        copy->text = (struct text_id){location.size, location.checksum};
                        if (knows(child, &copy->text))
                                break;
                        r = metadata_area_read_text(fd, area, &location, &text, &reason);
                }
                if (r >= 0)
                        r = take_text(text, copy, &reason);

                copy->error = r;
                snprintf(copy->reason, sizeof(copy->reason), "%s", reason ?: "");
                if (r >= 0) {
                        (void) dm_hash_insert_binary(child->texts, &copy->text, sizeof(copy->text), child);
                        break;
                }
                if (text && metadata_guess_name(text, &name) >= 0)
                        snprintf(copy->name, sizeof(copy->name), "%s", name);
                if (r != -EBADMSG)
                        break;
        }
        result->n_copies++;
}

/* md superblock of version 1.2, mdadm's default: include/uapi/linux/raid/md_p.h of the kernel. Little-endian. */
#define MD_OFFSET 4096
#define MD_MAGIC 0xa92b4efcU
#define MD_N_DISKS 92
#define MD_NUMBER 160
#define MD_ROLES 256

/* A device without label may be a member of an array that contains a PV. */
static void read_md_role(int fd, struct reader_result *result)
{
        uint32_t super[PIECE_SIZE / sizeof(uint32_t)], number;
        uint16_t role;

        if (pread(fd, super, PIECE_SIZE, MD_OFFSET) != PIECE_SIZE || le32toh(super[0]) != MD_MAGIC)
                return;
        number = le32toh(super[MD_NUMBER / sizeof(*super)]);
        if (number >= (PIECE_SIZE - MD_ROLES) / sizeof(role))
                return;
        memcpy(&role, (uint8_t *) super + MD_ROLES + number * sizeof(role), sizeof(role));
        result->md_role = le16toh(role);
        result->md_disks = le32toh(super[MD_N_DISKS / sizeof(*super)]);
}

static void read_device(struct child *child, const struct reader_device *device, struct reader_result *result)
{
        _cleanup_close_ int fd = -EBADF;
        const char *reason = NULL;
        struct stat status;
        struct label label;
        int r;

        *result = (struct reader_result){.device = device->number};

        /* Buffered, as blkid in udev's rules has just read the same blocks. */
        fd = open(device->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
                /* The device is not at fault: the worker retries with another child. */
                _exit(EXIT_FAILURE);
        if (fd < 0 || fstat(fd, &status) < 0)
                result->error = -errno;
        /* Another device has this name now. */
        else if (S_ISBLK(status.st_mode) && status.st_rdev != device->number)
                result->error = -ENXIO;
        /* For example a loop device that was detached: its PV was removed, but has not left its VG. */
        else if (S_ISBLK(status.st_mode) && lseek(fd, 0, SEEK_END) == 0)
                result->error = -ENOMEDIUM;
        if (result->error < 0)
                return;

        r = label_read(fd, &label, &reason);
        if (r != LABEL_FOUND) {
                result->error = MIN(r, 0);
                snprintf(result->reason, sizeof(result->reason), "%s", reason ?: "");
                if (r == LABEL_NONE)
                        read_md_role(fd, result);
                return;
        }

        memcpy(result->pvid, label.pvid, sizeof(result->pvid));
        result->unused = label.unused;
        FOREACH_ARRAY(area, label.metadata_areas, label.n_metadata_areas)
                read_copy(child, fd, area, result);
        /* lvm2 needs one good copy. Without one, a copy that cannot be read may be good. */
        FOREACH_ARRAY(copy, result->copies, result->n_copies)
                if (copy->error != -EBADMSG && (result->error = copy->error) == 0)
                        break;
}

/* An error counts as a response. */
static void probe_device(const struct reader_device *device, struct reader_result *result)
{
        _cleanup_close_ int fd = open(device->name, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        _cleanup_free_ char *piece = aligned_alloc(PIECE_SIZE, PIECE_SIZE);

        *result = (struct reader_result){.device = device->number};
        if (fd >= 0 && piece && pread(fd, piece, PIECE_SIZE, 0) < 0)
                result->error = -errno;
}

/* One write, so that the parent wakes up once. The pipe accepts all of it, as no signal handler interrupts. */
static int write_result(const struct reader_result *result)
{
        struct iovec parts[1 + LABEL_METADATA_AREAS_MAX] = {{(void *) result, sizeof(*result)}};
        size_t size = sizeof(*result);
        ssize_t written;

        for (size_t i = 0; i < result->n_copies; i++) {
                parts[i + 1] = (struct iovec){(void *) result->copies[i].facts, result->copies[i].facts_size};
                size += result->copies[i].facts_size;
        }
        written = writev(STDOUT_FILENO, parts, (int) result->n_copies + 1);
        FOREACH_ARRAY(copy, result->copies, result->n_copies)
                free((void *) copy->facts);
        return written == (ssize_t) size ? 0 : -EPIPE;
}

void reader_child_run(reader_known_function is_known, void *userdata, enum reader_task task,
        const struct reading *reading, int write_fd)
{
        struct child child = {is_known, userdata, dm_hash_create(64)};
        char *ignored = NULL;

        /* Closes all descriptors of the parent: the worker's lock on "running", its journal, terminals and pipes.
         * The child may outlive the parent in a blocked read(), or be compromised by a disk. */
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!child.texts || dup2(write_fd, STDOUT_FILENO) < 0)
                _exit(EXIT_FAILURE);
        (void) close(STDIN_FILENO);
        (void) close_range(STDERR_FILENO, ~0U, 0);
        /* The reason of the result replaces libdevmapper's message. */
        log_divert_libdevmapper(&ignored);
        enter_sandbox(reading->n);

        FOREACH_ARRAY(device, reading->devices, reading->n) {
                struct reader_result result;

                if (task == READER_PROBE)
                        probe_device(device, &result);
                else
                        read_device(&child, device, &result);
                if (write_result(&result) < 0)
                        _exit(EXIT_FAILURE);
        }
        _exit(EXIT_SUCCESS);
}
