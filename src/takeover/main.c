/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-takeover: overrides lvm2's udev rule, counts failures of the worker, and installs optimized
 * device-mapper rules. Run by units; each verb does one small thing and exits. */

#include <fcntl.h>
#include <sys/stat.h>

#include "fast-rules/cookies.h"
#include "fast-rules/rules.h"
#include "lvm/command.h"
#include "lvm/config.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/messages.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/udev.h"
#include "shared/util.h"

/* Restores lvm2's rule if headgate's files are removed; copied to /run, where it is not removed with them. */
#define REMOVED_RULE "68-headgate-removed.rules"

/* A single failure may be temporary. After this many, boot must no longer wait for headgate. */
#define FAILURES_MAX 3

static const char usage[] = "Usage: headgate-takeover [OPTION...] take|worker-stopped|dm-rules\n\n"
                            "Override lvm2's udev rule, and count failures of the worker. Run by units.\n\n"
                            "  take            Mask lvm2's rule\n"
                            "  worker-stopped  Count a failure of the worker, and hand over to lvm2 after three\n"
                            "  dm-rules        Install optimized device-mapper udev rules\n\n"
                            "  -h, --help      Show this help\n"
                            "      --version   Show the version\n\n"
                            "See headgate-takeover(8).\n";

/* As headgate-takeover.service does when it is stopped. */
static void unmask_rules(void)
{
        _cleanup_close_ int rules_fd = rule_directory_open();

        FOREACH_ARRAY(rule, stock_rules, STOCK_RULES_N)
                (void) unlinkat(rules_fd, *rule, 0);
        (void) unlinkat(rules_fd, REMOVED_RULE, 0);
}

/* For udev a link to /dev/null masks a rule. It is in /run, for this boot only: in /etc/udev/rules.d it would be
 * copied to the next initrd, where the root file system's VG would not be activated. */
static int mask_rules(void)
{
        _cleanup_close_ int rules_fd = rule_directory_open();
        _cleanup_free_ char *text = NULL;

        if (rules_fd < 0)
                return rules_fd;
        FOREACH_ARRAY(rule, stock_rules, STOCK_RULES_N)
                if (symlinkat("/dev/null", rules_fd, *rule) < 0 && errno != EEXIST)
                        return -errno;
        return read_file_at(AT_FDCWD, LIBEXECDIR "/" REMOVED_RULE, &text, NULL)
                       ?: write_file_atomic_at(rules_fd, REMOVED_RULE, text);
}

/* headgate's rule follows the installed lvm2 rule. It handles PVs on LVs only if that does and lvm.conf has
 * scan_lvs=1. It sets SYSTEMD_READY only if that does: with SYSTEMD_READY=0, systemd would not start units of md
 * arrays, such as mdmonitor.service. */
static int note_stock_rule(int run_fd)
{
        _cleanup_close_ int root_fd = root_open();
        int takes_lvs = root_fd < 0 ? root_fd : rule_file_stock_takes_lvs(root_fd);
        int sets_ready = takes_lvs < 0 ? takes_lvs : rule_file_stock_sets_ready(root_fd);

        if (sets_ready < 0)
                return sets_ready;
        return (takes_lvs > 0 && config_ask("devices/scan_lvs", false) ? flags_set : flags_clear)(
                       run_fd, FLAGS_PVS_ON_LVS)
                       ?: (sets_ready ? flags_clear : flags_set)(run_fd, FLAGS_NO_SYSTEMD_READY);
}

/* At boot udevd starts later, and no disk has been handled yet. On a running system lvm2's rule has handled all
 * disks. After a soft reboot systemd triggers all devices. */
static bool is_running_system(int run_fd)
{
        return faccessat(AT_FDCWD, "/" UDEVD_STARTED_LINK, F_OK, AT_SYMLINK_NOFOLLOW) >= 0 &&
               flags_is_set(run_fd, FLAGS_SOFT_REBOOT) <= 0;
}

/* If this fails, new disks are still activated. Without a reload, lvm2's rule would handle all disks. */
static void announce_disks(void)
{
        static const char *const reload[] = {"control", "--reload", "--timeout=3", NULL};
        static const char *const trigger[] = {"trigger", "--action=add", "--subsystem-match=block", NULL};

        if (command_try("/bin/udevadm", reload))
                command_try("/bin/udevadm", trigger);
}

static int take(int run_fd)
{
        /* Programs that the rule and the socket start. A partly removed package must not prevent booting. */
        static const char *const programs[] = {LIBEXECDIR "/headgated", LIBEXECDIR "/headgate-request"};
        static const char *const request[] = {LIBEXECDIR "/headgate-request", NULL};
        bool late = is_running_system(run_fd);
        int r;

        FOREACH_ELEMENT(program, programs)
                if (access(*program, X_OK) < 0)
                        return log_error_errno(
                                -errno, "%s is not executable, lvm2 keeps activating VGs: %m", *program);

        /* headgate's rule first: if this is interrupted, both rules act, rather than none. */
        r = flags_prepare(run_fd)
                ?: flags_clear(run_fd, FLAGS_FAILURES)
                ?: note_stock_rule(run_fd)
                ?: (late ? write_file_atomic_at(run_fd, FLAGS_TAKEN_OVER_LATE, path_format("%" PRIu64, now_usec()).text)
                         : 0)
                ?: flags_set(run_fd, FLAGS_TAKEN_OVER)
                ?: (access("/sys/fs/selinux/enforce", F_OK) < 0 || command_try(LIBEXECDIR "/selinux-check", request) ? 0 : -EACCES)
                ?: mask_rules();
        if (r < 0) {
                (void) log_error_errno(r, "Failed to override lvm2's udev rule: %m");
                unmask_rules();
                (void) flags_clear(run_fd, FLAGS_TAKEN_OVER);
                return r;
        }
        log_info("Took over activation of VGs.");
        if (late)
                announce_disks();
        return 0;
}

static int hand_over(const char *why)
{
        _cleanup_free_ char *message = string_format("%s Handing over to lvm2's own activation.", why);

        log_event(LOG_ERR, MESSAGE_HANDED_OVER, message ?: "Handing over to lvm2's own activation.",
                &(struct strv){});
        execl("/bin/systemctl", "systemctl", "--no-block", "start", "headgate-fallback.service", NULL);
        return log_error_errno(-errno, "Failed to start headgate-fallback.service: %m");
}

/* A worker that leaves does this itself; events for one that died are lost. The lock is needed, as another worker
 * may have started: it has its own flag, and has seen the old one. A requester that finds the lock takes this for a
 * worker. */
static int end_listening(int run_fd)
{
        _cleanup_close_ int running_fd = -EBADF;
        int r = flags_is_set(run_fd, FLAGS_LISTENING);

        if (r <= 0)
                return r;
        r = flags_take_running(run_fd, &running_fd);
        if (r < 0 || r == FLAGS_IS_RUNNING)
                return MIN(r, 0);
        r = flags_end_listening(run_fd);       /* L2 */
        close(TAKE_FD(running_fd));            /* W5 */
        if (flags_ask_pending(run_fd) > 0)     /* W6 */
                (void) flags_wake(FLAGS_WAKE); /* R4 */
        return r;
}

/* systemd passes the worker's result in the environment, see systemd.exec(5). */
static int worker_stopped(int run_fd)
{
        const char *result = secure_getenv("SERVICE_RESULT") ?: "unknown";
        const char *status = secure_getenv("EXIT_STATUS") ?: "unknown";
        _cleanup_free_ char *text = NULL;
        uint32_t n_failures = 0;
        int r = end_listening(run_fd);

        if (r < 0)
                log_warning_errno(r, "Failed to clear /run/headgate/listening, devices may be missed: %m");

        r = cookies_adopt(run_fd);
        if (r < 0)
                log_warning_errno(r, "Failed to complete the worker's cookies: %m");

        if (streq(result, "success")) {
                (void) flags_clear(run_fd, FLAGS_FAILURES);
                return 0;
        }
        /* An administrator killed it, which is not a failure. systemd's watchdog and the kernel's OOM killer cause
         * other results. */
        if (streq(result, "signal") && streq(status, "KILL")) {
                log_notice("Worker was killed; systemd restarts it.");
                return 0;
        }

        r = read_file_at(run_fd, FLAGS_FAILURES, &text, NULL) ?: parse_u32(text, &n_failures);
        if (r >= 0 || r == -ENOENT)
                r = write_file_atomic_at(run_fd, FLAGS_FAILURES, path_format("%u", ++n_failures).text);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to count the worker's failures: %m");
                return hand_over("Worker failed, and /run/headgate is not writable.");
        }

        log_warning("Worker failed (%s, %s), %u of %u times without success.", result, status, n_failures,
                FAILURES_MAX);
        return n_failures >= FAILURES_MAX ? hand_over("Worker failed repeatedly.") : 0;
}

static int run(const char *verb)
{
        _cleanup_close_ int run_fd = -EBADF;

        if (streq(verb, "dm-rules"))
                return install_rule_overrides();

        run_fd = flags_open_run_directory();
        if (run_fd < 0)
                return log_error_errno(run_fd, "Failed to open /run/headgate: %m");

        if (streq(verb, "take"))
                return take(run_fd);
        if (streq(verb, "worker-stopped"))
                return worker_stopped(run_fd);
        return log_error_errno(-EINVAL, "Unknown verb \"%s\", see --help.", verb);
}

int main(int argc, char *argv[])
{
        int r;

        log_open("headgate-takeover", secure_getenv("INVOCATION_ID") ? LOG_TARGET_JOURNAL : LOG_TARGET_STDERR);

        r = arguments_parse_plain(argc, argv, usage);
        if (r > 0)
                r = argc - optind == 1 ? run(argv[optind])
                                       : log_error_errno(-EINVAL, "Expected one verb, see --help.");
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
