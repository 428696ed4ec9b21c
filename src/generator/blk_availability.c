/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "generator/blk_availability.h"

#include <fcntl.h>
#include <limits.h>

#include "plan/switches.h"
#include "shared/flags.h"
#include "shared/util.h"

/* Where "systemctl enable" puts them, without and with --runtime, and where a distribution has them that enables
 * units by itself (systemd.unit(5)). */
static const char *const enabling_links[] = {
        "etc/systemd/system/sysinit.target.wants/headgate-takeover.service",
        "run/systemd/system/sysinit.target.wants/headgate-takeover.service",
        "usr/lib/systemd/system/sysinit.target.wants/headgate-takeover.service",
};

/* Where "systemctl mask" puts them. */
static const char *const masking_links[] = {
        "etc/systemd/system/headgate-takeover.service",
        "etc/systemd/system/headgate-teardown.service",
        "run/systemd/system/headgate-takeover.service",
        "run/systemd/system/headgate-teardown.service",
};

/* systemd has a link of that name, for the journal, from when a process of the unit was started until the unit is
 * stopped (systemd, src/core/unit.c). lvm2's unit starts none. */
#define UDEV_STARTED_LINK "run/systemd/units/invocation:systemd-udevd.service"
#define TAKEN_OVER_FILE "run/headgate/" FLAGS_TAKEN_OVER

static bool link_exists(int root_fd, const char *path)
{
        return faccessat(root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0;
}

static bool is_masking(int root_fd, const char *path)
{
        char target[PATH_MAX];
        ssize_t length = readlinkat(root_fd, path, target, sizeof(target) - 1);

        target[MAX(length, 0)] = '\0';
        return streq(target, "/dev/null");
}

static bool is_enabled(int root_fd)
{
        bool enabled = false;

        for (size_t i = 0; i < ELEMENTSOF(enabling_links); i++)
                enabled = enabled || link_exists(root_fd, enabling_links[i]);
        for (size_t i = 0; i < ELEMENTSOF(masking_links); i++)
                enabled = enabled && !is_masking(root_fd, masking_links[i]);
        return enabled;
}

/* headgate-takeover.service is started before udev. */
static bool has_booted_without_headgate(int root_fd)
{
        return link_exists(root_fd, UDEV_STARTED_LINK) && !link_exists(root_fd, TAKEN_OVER_FILE);
}

int blk_availability_mask(int root_fd, const char *early_directory)
{
        _cleanup_close_ int unit_fd = -EBADF;
        const char *off;
        int r;

        r = switches_describe_headgate_off(root_fd, &off);
        if (r < 0)
                return r;
        if (off || !is_enabled(root_fd) || has_booted_without_headgate(root_fd))
                return 0;
        unit_fd = open(early_directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (unit_fd < 0)
                return -errno;
        return symlinkat("/dev/null", unit_fd, BLK_AVAILABILITY_UNIT) < 0 ? -errno : 0;
}
