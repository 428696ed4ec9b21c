/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The running/pending protocol, described in the header. Libc only, for headgate-request. */

#include "shared/flags.h"

#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "shared/util.h"

#define RUN_DIRECTORY "/run/headgate"

static const char *run_directory(void)
{
        return secure_getenv("HEADGATE_RUN_DIRECTORY") ?: RUN_DIRECTORY;
}

int flags_open_run_directory(void)
{
        int fd = open(run_directory(), O_PATH | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

int flags_prepare(int run_fd)
{
        if (mkdirat(run_fd, FLAGS_PENDING_DIRECTORY, 0700) < 0 && errno != EEXIST)
                return -errno;
        return mkdirat(run_fd, FLAGS_WORKING_DIRECTORY, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int flags_post(int run_fd, const char *entry)
{
        /* On the stack, since the first malloc() of a program costs three system calls. */
        return flags_set(run_fd, path_format(FLAGS_PENDING_DIRECTORY "/%s", entry).text) /* R1 */
                       ?: flags_set(run_fd, FLAGS_PENDING);                              /* R2 */
}

int flags_ask_running(int run_fd)
{
        _cleanup_close_ int fd = openat(run_fd, FLAGS_RUNNING, O_RDONLY | O_CLOEXEC);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

        if (fd < 0)
                return errno == ENOENT ? FLAGS_NOT_RUNNING : -errno;

        if (fcntl(fd, F_OFD_GETLK, &lock) < 0)
                return -errno;
        return lock.l_type == F_UNLCK ? FLAGS_NOT_RUNNING : FLAGS_IS_RUNNING;
}

/* Returns a socket, and the address to send to. */
static int open_wakeup(struct sockaddr_un *ret_address)
{
        int fd, n;

        *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
        n = snprintf(ret_address->sun_path, sizeof(ret_address->sun_path), "%s/wakeup", run_directory());
        if (n < 0 || (size_t) n >= sizeof(ret_address->sun_path))
                return -ENAMETOOLONG;

        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        return fd < 0 ? -errno : fd;
}

/* Does not wait for the result, and does not cancel jobs of systemd, such as a shutdown. */
static int ask_systemd(const char *verb, const char *unit)
{
        const char *const arguments[] = {"systemctl", "--no-block", "--job-mode=fail", verb, "--", unit, NULL};
        char *const environment[] = {NULL};
        posix_spawn_file_actions_t actions;
        int r, status;
        pid_t pid;

        /* In tests no unit belongs to the directory. */
        if (!streq(run_directory(), RUN_DIRECTORY))
                return -ECONNREFUSED;

        r = posix_spawn_file_actions_init(&actions);
        if (r != 0)
                return -r;
        r = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
                    ?: posix_spawn(&pid, "/bin/systemctl", &actions, NULL, (char *const *) arguments, environment);
        posix_spawn_file_actions_destroy(&actions);
        if (r != 0)
                return -r;
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECONNREFUSED;
}

int flags_wake(const char *datagram)
{
        struct sockaddr_un address;
        _cleanup_close_ int fd = open_wakeup(&address);

        if (fd < 0)
                return fd;
        if (sendto(fd, datagram, strlen(datagram), MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *) &address,
                    sizeof(address)) >= 0 ||
                errno == EAGAIN)
                return 0;
        if (errno != ECONNREFUSED || !streq(datagram, FLAGS_WAKE))
                return -errno;
        /* The worker finds pending requests without the socket. */
        return ask_systemd("start", "headgate.service");
}

int flags_restart_socket(void)
{
        return ask_systemd("restart", "headgate.socket");
}

int flags_take_running(int run_fd, int *ret_fd)
{
        _cleanup_close_ int fd = openat(run_fd, FLAGS_RUNNING, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

        if (fd < 0)
                return -errno;

        if (fcntl(fd, F_OFD_SETLK, &lock) < 0)
                return errno == EAGAIN || errno == EACCES ? FLAGS_IS_RUNNING : -errno;

        *ret_fd = TAKE_FD(fd);
        return FLAGS_NOT_RUNNING;
}

/* Calls `function` for each entry of a directory. If `working_fd` is a directory, moves the entry there first. */
static int for_each_entry(
        int run_fd, const char *directory, int working_fd, flags_entry_function function, void *userdata)
{
        _cleanup_closedir_ DIR *dir = open_directory_at(run_fd, directory);
        int r;

        if (!dir)
                return errno == ENOENT ? 0 : -errno;
        for (const char *name; errno = 0, (name = directory_read(dir));) {
                if (*name == '.')
                        continue;
                if (working_fd >= 0 && renameat(dirfd(dir), name, working_fd, name) < 0)
                        return -errno;
                r = function(name, userdata);
                if (r < 0)
                        return r;
        }
        return -errno;
}

int flags_take_requests(int run_fd, flags_entry_function function, void *userdata)
{
        _cleanup_close_ int working_fd = -EBADF;
        int r;

        /* W2 before W3: an entry that is made after its directory was read has set "pending" again. */
        r = flags_clear(run_fd, FLAGS_PENDING);
        if (r < 0)
                return r;

        working_fd = openat(run_fd, FLAGS_WORKING_DIRECTORY, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (working_fd < 0)
                return -errno;
        return for_each_entry(run_fd, FLAGS_PENDING_DIRECTORY, working_fd, function, userdata);
}

int flags_take_left_over(int run_fd, flags_entry_function function, void *userdata)
{
        return for_each_entry(run_fd, FLAGS_WORKING_DIRECTORY, -EBADF, function, userdata);
}

int flags_walk_requests(int run_fd, flags_entry_function function, void *userdata)
{
        /* In this order, in which entries move, so that none is missed. */
        int r = for_each_entry(run_fd, FLAGS_PENDING_DIRECTORY, -EBADF, function, userdata);

        return r < 0 ? r : for_each_entry(run_fd, FLAGS_WORKING_DIRECTORY, -EBADF, function, userdata);
}

int flags_finish(int run_fd, const char *entry)
{
        return flags_clear(run_fd, path_format(FLAGS_WORKING_DIRECTORY "/%s", entry).text);
}

static int stop_at_first(_unused_ const char *entry, _unused_ void *userdata)
{
        return -EEXIST;
}

int flags_ask_pending(int run_fd)
{
        int r = flags_is_set(run_fd, FLAGS_PENDING);

        if (r != 0)
                return r;
        /* A requester that was killed between R1 and R2 leaves an entry without "pending". */
        r = for_each_entry(run_fd, FLAGS_PENDING_DIRECTORY, -EBADF, stop_at_first, NULL);
        return r == -EEXIST ? 1 : r;
}

int flags_end_listening(int run_fd)
{
        return renameat(run_fd, FLAGS_LISTENING, run_fd, FLAGS_RESYNC) < 0 && errno != ENOENT ? -errno : 0;
}

int flags_set(int run_fd, const char *flag)
{
        /* One system call creates an empty file; open() would need a second one to close it. */
        return mknodat(run_fd, flag, S_IFREG | 0600, 0) < 0 && errno != EEXIST ? -errno : 0;
}

int flags_clear(int run_fd, const char *flag)
{
        return unlinkat(run_fd, flag, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int flags_is_set(int run_fd, const char *flag)
{
        return faccessat(run_fd, flag, F_OK, 0) >= 0 ? 1 : errno == ENOENT ? 0 : -errno;
}

/* ------ datagrams ------ */

/* Whether the sender is root, by the kernel's credentials. The mode of the socket admits root only, but might be
 * changed. */
static bool is_from_root(struct msghdr *message)
{
        for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
                struct ucred credentials;

                if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS)
                        continue;
                memcpy(&credentials, CMSG_DATA(header), sizeof(credentials));
                return credentials.uid == 0;
        }
        return false;
}

static bool is_text(const char *data, size_t size, const char *text)
{
        return size == strlen(text) && memcmp(data, text, size) == 0;
}

int flags_receive_wakeups(int fd, unsigned int *n_ignored)
{
        int result = FLAGS_WOKEN;

        for (;;) {
                char data[sizeof(FLAGS_WAKE_RESYNC)];
                union {
                        struct cmsghdr header;
                        char space[CMSG_SPACE(sizeof(struct ucred))];
                } control;
                struct iovec vector = {.iov_base = data, .iov_len = sizeof(data)};
                struct msghdr message = {
                        .msg_iov = &vector,
                        .msg_iovlen = 1,
                        .msg_control = &control,
                        .msg_controllen = sizeof(control),
                };
                bool from_root;
                ssize_t n;

                /* With MSG_TRUNC, n is the size that was sent; a longer text than the buffer is invalid. */
                n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC);
                if (n < 0)
                        return errno == EAGAIN || errno == EINTR ? result : -errno;

                from_root = is_from_root(&message);
                if (from_root && is_text(data, (size_t) n, FLAGS_WAKE_RESYNC))
                        result = FLAGS_WOKEN_TO_RESYNC;
                else
                        *n_ignored += !from_root || !is_text(data, (size_t) n, FLAGS_WAKE);
        }
}
