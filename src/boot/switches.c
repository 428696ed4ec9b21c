/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether headgate is on for this boot. This depends on the kernel's command line, initrd or container, settings,
 * and links of systemctl enable and mask. */

#include "boot/switches.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "shared/flags.h"
#include "shared/names.h"
#include "shared/program.h"

#define WHITE_SPACE " \t\n\r"

static bool exists(int root_fd, const char *path)
{
        return faccessat(root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0;
}

/* ------ the kernel's command line ------ */

int command_line_split(const char *text, struct strv *words)
{
        _cleanup_free_ char *word = malloc(strlen(text) + 1);

        if (!word)
                return -ENOMEM;
        for (text += strspn(text, WHITE_SPACE); *text; text += strspn(text, WHITE_SPACE)) {
                char *end = word;
                char quote = '\0';
                int r;

                /* An unterminated quote extends to the end. */
                for (; *text && (quote || !strchr(WHITE_SPACE, *text)); text++)
                        if (quote ? *text == quote : (*text == '\'' || *text == '"'))
                                quote = quote ? '\0' : *text;
                        else
                                *end++ = *text;
                *end = '\0';
                r = strv_add(words, word);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ off switches ------ */

static bool is_initrd(int root_fd)
{
        const char *in_initrd = secure_getenv("SYSTEMD_IN_INITRD");

        return in_initrd ? streq(in_initrd, "1") : exists(root_fd, "etc/initrd-release");
}

static bool is_container(int root_fd)
{
        const char *virtualization = secure_getenv("SYSTEMD_VIRTUALIZATION");

        return virtualization ? skip_prefix(virtualization, "container:") != NULL
                              : exists(root_fd, "run/systemd/container");
}

int switches_describe_headgate_off(int root_fd, const char **ret)
{
        _cleanup_strv_ struct strv words = {};
        _cleanup_free_ char *text = NULL;
        int r = read_file_at(root_fd, root_relative(COMMAND_LINE_FILE), &text, NULL)
                        ?: command_line_split(text, &words);

        if (r == -ENOMEM)
                return r;

        /* headgate has no worker in the initrd, so direct activation is always off there. */
        if (is_initrd(root_fd))
                *ret = strv_has(&words, "rd.headgate=0") ? "rd.headgate=0 leaves activation in the initrd to lvm2."
                                                         : "There is no direct activation in the initrd.";
        else if (is_container(root_fd))
                *ret = "headgate is off in containers.";
        else if (strv_has(&words, "headgate=0"))
                *ret = "headgate=0 on the kernel's command line leaves activation to lvm2.";
        else
                *ret = NULL;
        return 0;
}

int switches_describe_off(
        int root_fd, const struct settings *settings, const struct config *config, const char **ret)
{
        int r = switches_describe_headgate_off(root_fd, ret);

        if (r < 0 || *ret)
                return r;
        if (!settings->direct_activation)
                *ret = "direct_activation=0 is set in headgate.conf.";
        else if (!config->event_activation)
                *ret = "event_activation=0 is set in lvm.conf, which disables autoactivation.";
        return 0;
}

/* ------ enabled units ------ */

static bool is_masked(int root_fd, const char *unit)
{
        static const char *const directories[] = {"etc/systemd/system", "run/systemd/system"};

        return ANY(FOREACH_ELEMENT(directory, directories),
                is_masked_at(root_fd, path_format("%s/%s", *directory, unit).text));
}

/* Enabled by "systemctl enable", with or without --runtime, or by the distribution's own links (systemd.unit(5)). */
static bool is_enabled(int root_fd)
{
        return exists(root_fd, "etc/systemd/system/sysinit.target.wants/" TAKEOVER_UNIT) ||
               exists(root_fd, "run/systemd/system/sysinit.target.wants/" TAKEOVER_UNIT) ||
               exists(root_fd, "usr/lib/systemd/system/sysinit.target.wants/" TAKEOVER_UNIT);
}

/* headgate-takeover.service starts before udev. After a soft reboot udev may still run. */
static bool has_booted_without_headgate(int root_fd)
{
        return exists(root_fd, UDEVD_STARTED_LINK) && !exists(root_fd, "run/headgate/" FLAGS_TAKEN_OVER) &&
               !exists(root_fd, "run/headgate/" FLAGS_SOFT_REBOOT);
}

int takeover_is_enabled(int root_fd, const char *unit)
{
        const char *off;
        int r = switches_describe_headgate_off(root_fd, &off);

        if (r < 0)
                return r;
        return !off && is_enabled(root_fd) && !has_booted_without_headgate(root_fd) &&
               !is_masked(root_fd, TAKEOVER_UNIT) && !is_masked(root_fd, unit);
}

bool takeover_is_withdrawn(int root_fd)
{
        return !is_enabled(root_fd) && !exists(root_fd, "run/headgate/" FLAGS_TAKEN_OVER);
}

bool takeover_is_at_next_boot(int root_fd)
{
        struct stat link;
        struct sysinfo system;

        return fstatat(root_fd, "etc/systemd/system/sysinit.target.wants/" TAKEOVER_UNIT, &link,
                       AT_SYMLINK_NOFOLLOW) >= 0 &&
               sysinfo(&system) >= 0 && link.st_mtime >= time(NULL) - system.uptime &&
               !exists(root_fd, "run/headgate/" FLAGS_TAKEN_OVER) &&
               !exists(root_fd, "run/headgate/" FLAGS_BOOT_FINISHED) &&
               !exists(root_fd, "run/headgate/" FLAGS_GIVEN_UP);
}
