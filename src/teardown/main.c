/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-teardown: removes storage at shutdown, while systemd unmounts. Two units run it: one for storage on network disks,
 * before the network is stopped, and one for the rest. It does nothing unless systemd is shutting down. Devices that it leaves
 * are removed by systemd-shutdown. */

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "boot/switches.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/settings.h"
#include "teardown/scope.h"
#include "teardown/systemd.h"
#include "teardown/teardown.h"
#include "timeline/journal.h"
#include "tree/order.h"
#include "tree/read.h"

/* Long enough for a udev process that opens a device for a moment; costs at most a second. */
#define IN_USE_USEC (300 * USEC_PER_MSEC)

/* Time for the child to exit, unless one of its threads hangs. */
#define END_TIMEOUT_MSEC 500

static enum teardown_scope arg_scope;
static bool arg_serial;

static const char usage[] = "Usage: headgate-teardown [OPTION...] local|net\n\n"
                            "Remove storage at shutdown. Started by systemd, see headgate-teardown.service.\n\n"
                            "      --serial   Remove one device after another\n"
                            "  -h, --help     Show this help\n"
                            "      --version  Show the version\n\n"
                            "See headgate-teardown(8).\n";

/* Returns 1 to go on, 0 if the program is done, or a negative errno. */
static int parse_arguments(int argc, char *argv[])
{
        int r = arguments_parse(argc, argv, usage, "serial", &arg_serial);
        const char *scope;

        if (r <= 0)
                return r;
        scope = argc - optind == 1 ? argv[optind] : "";
        if (streq(scope, "local"))
                arg_scope = TEARDOWN_LOCAL;
        else if (streq(scope, "net"))
                arg_scope = TEARDOWN_NETWORK;
        else
                return log_error_errno(-EINVAL, "Expected \"local\" or \"net\", see --help.");
        return 1;
}

/* Reads the tree, and removes it once `parent_fd` is readable. Adds removed devices to `timeline`. */
static int take_down(int root_fd, int parent_fd, struct timeline *timeline)
{
        _cleanup_tree_ struct tree *tree = NULL;
        _cleanup_teardown_ struct teardown teardown = {};
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};
        char go;
        int r;

        if (root_fd < 0)
                return log_error_errno(root_fd, "Failed to open /: %m");
        r = settings_read(root_fd, &settings, &problems);
        if (r < 0)
                return log_oom();
        STRV_FOREACH(line, &problems.lines)
                log_warning("%s", *line);
        r = tree_read(root_fd, &tree) ?: teardown_scope_apply(tree, arg_scope) ?: tree_order(tree);
        if (r < 0)
                return log_error_errno(r, "Failed to read the storage tree: %m");
        if (read(parent_fd, &go, 1) != 1)
                return 0; /* nothing has been changed yet */
        /* After a soft reboot, headgate or lvm2 activates all VGs again. This comes first, in case that this program is killed. */
        teardown_withdraw_claims(tree, tree_node_is_ours);

        r = teardown_init(&teardown, tree,
                &(struct teardown_options){
                        .n_threads = arg_serial || !settings.parallel_teardown ? 1 : TEARDOWN_THREADS_DEFAULT,
                        .deadline_usec = settings.teardown_deadline_usec,
                        .in_use_usec = IN_USE_USEC,
                        .at_shutdown = true,
                        .timeline = timeline,
                });
        if (r < 0)
                return log_error_errno(r, "Failed to prepare: %m");
        timeline_describe_machine(timeline, now_usec());
        r = teardown_run(&teardown);
        timeline_log(timeline);
        return r < 0 ? log_error_errno(r, "Failed to remove storage: %m") : 0;
}

/* systemd warns about processes that are left in a unit, so the child gets some time to exit. */
static void wait_for_end(pid_t pid)
{
        _cleanup_close_ int fd = (int) syscall(SYS_pidfd_open, pid, 0);
        struct pollfd ended = {.fd = fd, .events = POLLIN};

        if (fd >= 0)
                (void) poll(&ended, 1, END_TIMEOUT_MSEC);
}

/* A process with a thread that hangs in the kernel never exits. So a child does the work and reports its end, whether it can exit
 * or not. It reads the tree while the parent asks systemd for its state, and changes nothing before the parent tells it to. */
static int take_down_in_child(void)
{
        _cleanup_timeline_ struct timeline timeline = {.kind = TIMELINE_SHUTDOWN};
        _cleanup_close_ int root_fd = root_open();
        char status = EXIT_SUCCESS;
        int ends[2], r;
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return log_error_errno(-errno, "Failed to create sockets: %m");
        pid = fork();
        if (pid < 0)
                return log_error_errno(-errno, "Failed to fork: %m");
        if (pid == 0) {
                /* If systemd's timeout ends first, the child still reports the devices that are left. */
                (void) prctl(PR_SET_PDEATHSIG, SIGTERM);
                close(ends[0]);
                status = take_down(root_fd, ends[1], &timeline) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
                (void) send(ends[1], &status, 1, MSG_NOSIGNAL);
                log_close();
                _exit(status);
        }

        close(ends[1]);
        r = systemd_is_stopping();
        if (r < 0) {
                (void) log_error_errno(r, "Failed to ask systemd for its state: %m");
        } else if (r == 0) {
                log_notice("The system is not shutting down, leaving storage as it is.");
        } else if (root_fd >= 0 && takeover_is_withdrawn(root_fd)) {
                log_notice("headgate was disabled, leaving storage to lvm2 and systemd.");
        } else if (send(ends[0], &status, 1, MSG_NOSIGNAL) != 1) {
                /* The child waits for this, so waiting for the child would be a deadlock. */
                r = log_error_errno(-errno, "Failed to start removing storage: %m");
        } else {
                if (arg_scope == TEARDOWN_LOCAL)
                        systemd_announce_devices_again();
                if (read(ends[0], &status, 1) != 1)
                        r = log_error_errno(-ECHILD, "The process that removes storage has died.");
                else if (status != EXIT_SUCCESS)
                        r = -EIO;
        }
        close(ends[0]);
        wait_for_end(pid);
        return r;
}

int main(int argc, char *argv[])
{
        int r;

        log_open("headgate-teardown", log_target_of_stderr());

        r = parse_arguments(argc, argv);
        if (r > 0)
                r = take_down_in_child();
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
