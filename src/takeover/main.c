/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-takeover: puts headgate in the place of lvm2's udev rule, takes it out again, and watches over the
 * worker's failures. Started by units only; it does one small thing and ends. */

#include <fcntl.h>
#include <sys/stat.h>

#include "shared/arguments.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/messages.h"
#include "shared/util.h"

/* Where udev lets a link to /dev/null mask a rule of the distribution for this boot. /etc/udev/rules.d would do
 * the same, and be copied into the next initrd, where the root file system's VG would then not be activated. */
#define RULES_DIRECTORY "/run/udev/rules.d"

/* What lvm2's rule is called: by Debian, and by lvm2 itself. */
static const char *const rules[] = {
        RULES_DIRECTORY "/69-lvm.rules",
        RULES_DIRECTORY "/69-dm-lvm.rules",
};

/* One failure can be bad luck. After this many the machine must not wait for headgate any longer. */
#define FAILURES_MAX 3

static void help(void)
{
        printf("Usage: headgate-takeover [OPTION...] take|worker-stopped\n\n"
               "Put headgate in the place of lvm2's udev rule, and watch over its worker. Called by units.\n\n"
               "  take            Mask lvm2's rule\n"
               "  worker-stopped  Count a failure of the worker, and give up after three\n\n"
               "  -h, --help      Show this help\n"
               "      --version   Show the version\n\n"
               "See headgate-takeover(8).\n");
}

/* As stopping the unit does. */
static void unmask_rules(void)
{
        for (size_t i = 0; i < ELEMENTSOF(rules); i++)
                (void) unlink(rules[i]);
}

static int mask_rules(void)
{
        if ((mkdir("/run/udev", 0755) < 0 && errno != EEXIST) ||
                (mkdir(RULES_DIRECTORY, 0755) < 0 && errno != EEXIST))
                return -errno;

        for (size_t i = 0; i < ELEMENTSOF(rules); i++)
                if (symlink("/dev/null", rules[i]) < 0 && errno != EEXIST)
                        return -errno;
        return 0;
}

static int take(int run_fd)
{
        /* What the rule and the socket would start. A package that is half removed must not cost a boot. */
        static const char *const programs[] = {LIBEXECDIR "/headgated", LIBEXECDIR "/headgate-request"};
        int r;

        for (size_t i = 0; i < ELEMENTSOF(programs); i++)
                if (access(programs[i], X_OK) < 0)
                        return log_error_errno(
                                -errno, "%s cannot be run, leaving activation to lvm2: %m", programs[i]);

        r = flags_prepare(run_fd);
        /* A new beginning. */
        if (r >= 0)
                r = flags_clear(run_fd, FLAGS_FAILURES);
        /* In this order: if it ends in between, both rules act, and not none. */
        if (r >= 0)
                r = flags_set(run_fd, FLAGS_TAKEN_OVER);
        if (r >= 0)
                r = mask_rules();
        if (r < 0) {
                (void) log_error_errno(r, "Failed to take the place of lvm2's udev rule: %m");
                unmask_rules();
                (void) flags_clear(run_fd, FLAGS_TAKEN_OVER);
                return r;
        }
        log_info("Activation of VGs is headgate's.");
        return 0;
}

static int hand_over(const char *why)
{
        _cleanup_free_ char *message = string_format("%s Handing over to lvm2's own activation.", why);

        log_event(LOG_ERR, MESSAGE_HANDED_OVER, message ?: "Handing over to lvm2's own activation.", NULL, 0);
        execl("/bin/systemctl", "systemctl", "--no-block", "start", "headgate-fallback.service", NULL);
        return log_error_errno(-errno, "Failed to start headgate-fallback.service: %m");
}

static int read_failures(int run_fd, uint32_t *ret)
{
        _cleanup_free_ char *text = NULL;
        int r;

        r = read_file_at(run_fd, FLAGS_FAILURES, &text, NULL);
        if (r == -ENOENT) {
                *ret = 0;
                return 0;
        }
        return r < 0 ? r : parse_u32(text, ret);
}

/* systemd says in the environment how the worker ended, see systemd.exec(5). */
static int worker_stopped(int run_fd)
{
        const char *result = getenv("SERVICE_RESULT") ?: "unknown";
        const char *status = getenv("EXIT_STATUS") ?: "unknown";
        _cleanup_free_ char *text = NULL;
        uint32_t n_failures;
        int r;

        /* A worker that leaves removes the flag itself. What udev has told one that did not is lost. */
        if (renameat(run_fd, FLAGS_LISTENING, run_fd, FLAGS_RESYNC) < 0 && errno != ENOENT)
                log_warning("Failed to note that devices may have been missed: %s", strerror(errno));

        if (streq(result, "success")) {
                (void) flags_clear(run_fd, FLAGS_FAILURES);
                return 0;
        }
        /* Killed from outside, by a person: nothing is wrong with headgate. systemd's own kills, and the kernel's
         * for want of memory, have other results. */
        if (streq(result, "signal") && streq(status, "KILL")) {
                log_notice("The worker was killed; another one takes its place.");
                return 0;
        }

        r = read_failures(run_fd, &n_failures);
        if (r >= 0) {
                n_failures++;
                text = string_format("%u", n_failures);
                r = text ? write_file_atomic_at(run_fd, FLAGS_FAILURES, text) : -ENOMEM;
        }
        if (r < 0) {
                (void) log_error_errno(r, "Failed to count the worker's failures: %m");
                return hand_over("The worker has failed, and /run/headgate cannot be written.");
        }

        log_warning("The worker has failed (%s, %s), %u of %u times without having got anything done.", result,
                status, n_failures, FAILURES_MAX);
        return n_failures >= FAILURES_MAX ? hand_over("The worker fails again and again.") : 0;
}

static int run(const char *verb)
{
        _cleanup_close_ int run_fd = -EBADF;

        run_fd = flags_open_run_directory();
        if (run_fd < 0)
                return log_error_errno(run_fd, "Failed to open /run/headgate: %m");

        if (streq(verb, "take"))
                return take(run_fd);
        if (streq(verb, "worker-stopped"))
                return worker_stopped(run_fd);
        log_error("Unknown verb \"%s\", see --help.", verb);
        return -EINVAL;
}

int main(int argc, char *argv[])
{
        int r;

        log_open("headgate-takeover", getenv("INVOCATION_ID") ? LOG_TARGET_JOURNAL : LOG_TARGET_STDERR);

        r = arguments_parse_plain(argc, argv, help);
        if (r <= 0)
                return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

        if (argc - optind != 1) {
                log_error("Expected one verb, see --help.");
                return EXIT_FAILURE;
        }
        return run(argv[optind]) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
