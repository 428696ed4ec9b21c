/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "generator/charge.h"

#include <fcntl.h>
#include <limits.h>

#include "plan/switches.h"
#include "shared/flags.h"
#include "shared/names.h"
#include "shared/util.h"

#define TAKEOVER_UNIT "headgate-takeover.service"

/* Where "systemctl enable" puts them, without and with --runtime, and where a distribution has them that enables
 * units by itself (systemd.unit(5)). */
static const char *const enabling_links[] = {
        "etc/systemd/system/sysinit.target.wants/" TAKEOVER_UNIT,
        "run/systemd/system/sysinit.target.wants/" TAKEOVER_UNIT,
        "usr/lib/systemd/system/sysinit.target.wants/" TAKEOVER_UNIT,
};

/* Where "systemctl mask" puts links to /dev/null. */
static const char *const masking_directories[] = {"etc/systemd/system", "run/systemd/system"};

#define TAKEN_OVER_FILE "run/headgate/" FLAGS_TAKEN_OVER
#define SOFT_REBOOT_FILE "run/headgate/" FLAGS_SOFT_REBOOT

static bool link_exists(int root_fd, const char *path)
{
        return faccessat(root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0;
}

static int is_masked(int root_fd, const char *unit)
{
        for (size_t i = 0; i < ELEMENTSOF(masking_directories); i++) {
                _cleanup_free_ char *path = string_format("%s/%s", masking_directories[i], unit);
                char target[PATH_MAX];
                ssize_t length;

                if (!path)
                        return -ENOMEM;
                length = readlinkat(root_fd, path, target, sizeof(target) - 1);
                target[MAX(length, 0)] = '\0';
                if (streq(target, "/dev/null"))
                        return true;
        }
        return false;
}

static bool is_enabled(int root_fd)
{
        for (size_t i = 0; i < ELEMENTSOF(enabling_links); i++)
                if (link_exists(root_fd, enabling_links[i]))
                        return true;
        return false;
}

/* headgate-takeover.service is started before udev. Only udev goes on over a soft reboot. */
static bool has_booted_without_headgate(int root_fd)
{
        return link_exists(root_fd, UDEVD_STARTED_LINK) && !link_exists(root_fd, TAKEN_OVER_FILE) &&
               !link_exists(root_fd, SOFT_REBOOT_FILE);
}

int is_in_charge_by(int root_fd, const char *unit)
{
        const char *off;
        int r;

        r = switches_describe_headgate_off(root_fd, &off);
        if (r < 0)
                return r;
        if (off || !is_enabled(root_fd) || has_booted_without_headgate(root_fd))
                return 0;
        r = is_masked(root_fd, TAKEOVER_UNIT);
        if (r == 0)
                r = is_masked(root_fd, unit);
        return r < 0 ? r : r == 0;
}
