/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate enable and headgate disable: run systemctl for headgate-takeover.service and headgate-fast-dm-rules.service, so that
 * each undoes the other. disable also removes the hints of earlier boots. With --initrd they create or remove the file by which
 * dracut or initramfs-tools includes headgate's module. */

#include <fcntl.h>

#include "boot/known.h"
#include "boot/switches.h"
#include "cli/verb.h"
#include "fast-rules/rules.h"
#include "initrd/maker.h"
#include "lvm/command.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"

#define FAST_DM_RULES "headgate-fast-dm-rules.service"

static bool arg_initrd;
static bool arg_now;
static bool arg_stock_dm_rules;

/* ------ initrds ------ */

/* Logs an error of enabling or disabling for that maker. Returns the exit status. */
static int check_initrd_error(int r, enum initrd_maker maker, const char *what)
{
        if (r == -EEXIST)
                log_error("%s is not headgate's, ignoring it.", initrd_maker_get(maker)->file);
        else if (r < 0)
                log_error_errno(r, "Failed to %s %s: %m", what, initrd_maker_get(maker)->file);
        return r < 0 ? EXIT_CANNOT_TELL : EXIT_SUCCESS;
}

static int enable_initrd(int root_fd)
{
        struct initrd_makers makers = initrd_find_makers(root_fd);
        enum initrd_maker maker = makers.maker;
        int r;

        if (maker == INITRD_MAKER_NONE)
                return verb_refuse(
                        "Neither dracut nor initramfs-tools is installed; headgate supports no other initrds.");
        if (makers.several)
                log_notice("Both dracut and initramfs-tools are installed; %s makes the initrds of new kernels.",
                        initrd_maker_get(maker)->name);
        r = check_initrd_error(initrd_enable(maker), maker, "make");
        if (r == EXIT_SUCCESS)
                log_info("The next initrd will activate only the VGs it needs; \"%s\" makes one.",
                        initrd_maker_get(maker)->command);
        return r;
}

/* For both makers: the current one may not be the one that was enabled. */
static int disable_initrd(int root_fd)
{
        static const enum initrd_maker makers[] = {INITRD_MAKER_INITRAMFS_TOOLS, INITRD_MAKER_DRACUT};
        enum initrd_maker maker = initrd_find_makers(root_fd).maker;
        int r = EXIT_SUCCESS;

        FOREACH_ELEMENT(other, makers)
                r = MAX(r, check_initrd_error(initrd_disable(*other), *other, "remove"));
        if (r == EXIT_SUCCESS && maker != INITRD_MAKER_NONE)
                log_info("The next initrd will be the distribution's own; \"%s\" makes one.",
                        initrd_maker_get(maker)->command);
        return r;
}

/* ------ the system ------ */

/* One unit, or two. Returns the exit status of systemctl, or EXIT_CANNOT_TELL. */
static int call_systemctl(const char *action, const char *unit, const char *other_unit)
{
        const char *words[] = {arg_now ? "--now" : "--system", action, unit, other_unit, NULL};
        _cleanup_free_ char *output = NULL;
        int r = command_run("/bin/systemctl", words, &output);

        if (r < 0)
                return verb_fail(r, "Failed to start systemctl: %m");
        fputs(output, stderr);
        return r;
}

/* headgate had masked the unit, so it is not active. It deactivates only when it is stopped. */
static void restore_lvm_teardown(void)
{
        static const char *const ask[] = {"is-enabled", BLK_AVAILABILITY_UNIT, NULL};
        static const char *const start[] = {"start", BLK_AVAILABILITY_UNIT, NULL};
        _cleanup_free_ char *answer = NULL;

        if (command_run("/bin/systemctl", ask, &answer) == 0)
                command_try("/bin/systemctl", start);
}

/* Resets failures of the worker, of headgate and of systemd, so that headgate can take over again. */
static int forget_failures(void)
{
        static const char *const words[] = {"reset-failed", "headgate.service", "headgate.socket", NULL};
        _cleanup_close_ int run_fd = flags_open_run_directory();
        _cleanup_free_ char *output = NULL;
        int r = run_fd < 0 ? run_fd : flags_clear(run_fd, FLAGS_GIVEN_UP);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        /* This fails for units that systemd has not loaded; they have no failures. */
        r = command_run("/bin/systemctl", words, &output);
        return MIN(r, 0);
}

static int prepare_to_take_over(int root_fd)
{
        const char *off = NULL;
        int r = switches_describe_headgate_off(root_fd, &off);

        if (r >= 0 && off)
                return log_error_errno(-EPERM, "%s", off);
        r = r ?: forget_failures();
        return r < 0 ? log_error_errno(r, "Failed to prepare taking over: %m") : 0;
}

static bool has_taken_over(void)
{
        _cleanup_close_ int run_fd = flags_open_run_directory();

        return run_fd >= 0 && flags_is_set(run_fd, FLAGS_TAKEN_OVER) > 0;
}

static bool cannot_be_done(void)
{
        if (arg_initrd && (arg_now || arg_stock_dm_rules))
                log_error("--initrd and %s are mutually exclusive.", arg_now ? "--now" : "--stock-dm-rules");
        else if (root_is_chosen())
                log_error("Nothing can be enabled or disabled with HEADGATE_ROOT set.");
        else
                return false;
        return true;
}

/* Reports device-mapper's rules that headgate does not support, and uses unchanged. */
static void say_obstacles(int root_fd)
{
        _cleanup_rules_ struct rules rules = {};

        if (HAVE_FAST_DM_RULES && rules_read(&rules, root_fd) >= 0)
                STRV_FOREACH(obstacle, &rules.obstacles)
                        log_notice("%s", *obstacle);
}

static int run_enable(char *names[] _unused_, size_t n _unused_, struct table *table _unused_)
{
        const char *fast = HAVE_FAST_DM_RULES && !arg_stock_dm_rules ? FAST_DM_RULES : NULL;
        _cleanup_close_ int root_fd = root_open();
        int r = 0;

        if (cannot_be_done())
                return EXIT_CANNOT_TELL;
        if (arg_initrd)
                return enable_initrd(root_fd);
        if (arg_now && prepare_to_take_over(root_fd) < 0)
                return EXIT_CANNOT_TELL;
        if (fast)
                say_obstacles(root_fd);
        /* It may have been enabled before. */
        else if (HAVE_FAST_DM_RULES)
                r = call_systemctl("disable", FAST_DM_RULES, NULL);
        r = r ?: call_systemctl("enable", TAKEOVER_UNIT, fast);
        if (r == 0 && arg_now) {
                /* headgate-generator masks lvm2's blk-availability.service only when headgate is in charge. It was not yet when
                 * systemctl reloaded. */
                command_try("/bin/systemctl", (const char *const[]){"daemon-reload", NULL});
                log_info("%s", has_taken_over() ? "headgate has taken over."
                                                : "headgate has not taken over; \"headgate doctor\" says why.");
        } else if (r == 0 && takeover_is_at_next_boot(root_fd))
                log_info("headgate takes over at the next boot; \"headgate enable --now\" does so at once.");
        return r;
}

/* systemctl does not tell whether a unit was enabled before, so this runs in any case. */
static int run_disable(char *names[] _unused_, size_t n _unused_, struct table *table _unused_)
{
        _cleanup_close_ int root_fd = root_open();
        int r;

        if (cannot_be_done())
                return EXIT_CANNOT_TELL;
        if (arg_initrd)
                return disable_initrd(root_fd);
        /* Removes the directory only if it is empty. */
        if (unlink(HINTS_FILE) >= 0)
                (void) rmdir("/etc/headgate");
        else if (errno != ENOENT)
                log_warning("Failed to remove " HINTS_FILE ": %s", strerror(errno));
        if (arg_now)
                log_notice("udev handles all disks again, and lvm2 may activate VGs that were deactivated.");
        r = call_systemctl("disable", TAKEOVER_UNIT, HAVE_FAST_DM_RULES ? FAST_DM_RULES : NULL);
        if (r == 0 && arg_now)
                restore_lvm_teardown();
        else if (r == 0)
                log_info("%s",
                        has_taken_over()
                                ? "lvm2's udev rule takes over at the next boot; \"headgate disable --now\" does so at once."
                                : "headgate is disabled; lvm2's udev rule activates VGs.");
        return r;
}

/* ------ the verbs ------ */

#define INITRD_HELP "Change initrds (dracut, initramfs-tools), not the system"

static const struct verb_option enable_options[] = {
        {"initrd", '\0', NULL, INITRD_HELP, &arg_initrd},
        {"now", '\0', NULL, "Also take over at once", &arg_now},
        {"stock-dm-rules", '\0', NULL, "Use the distribution's device-mapper udev rules", &arg_stock_dm_rules},
        {},
};

const struct verb verb_enable = {"enable", "[--initrd]",
        "Let headgate activate volume groups from the next boot on",
        .help = "Usage: headgate enable [OPTION...]\n\n"
                "Let headgate activate volume groups from the next boot on.\n\n",
        .page = "enable(8) and headgate-initrd", .options = enable_options, .takes_no_names = true,
        .root_only = "enable headgate", .run = run_enable};

static const struct verb_option disable_options[] = {
        {"initrd", '\0', NULL, INITRD_HELP, &arg_initrd},
        {"now", '\0', NULL, "Also restore lvm2's rule at once", &arg_now},
        {},
};

const struct verb verb_disable = {"disable", "[--initrd]",
        "Return activation to lvm2's udev rule from the next boot on",
        .help = "Usage: headgate disable [OPTION...]\n\n"
                "Return activation to lvm2's own udev rule from the next boot on.\n\n",
        .page = "enable(8) and headgate-initrd", .options = disable_options, .takes_no_names = true,
        .root_only = "disable headgate", .run = run_disable};
