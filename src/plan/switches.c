/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/switches.h"

#include <fcntl.h>

#include "plan/command_line.h"
#include "shared/util.h"

static bool exists(int root_fd, const char *path)
{
        return faccessat(root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0;
}

static bool is_initrd(int root_fd)
{
        const char *in_initrd = secure_getenv("SYSTEMD_IN_INITRD");

        return in_initrd ? streq(in_initrd, "1") : exists(root_fd, "etc/initrd-release");
}

static bool is_container(int root_fd)
{
        const char *virtualization = secure_getenv("SYSTEMD_VIRTUALIZATION");

        return virtualization ? strncmp(virtualization, "container:", strlen("container:")) == 0
                              : exists(root_fd, "run/systemd/container");
}

int switches_describe_headgate_off(int root_fd, const char **ret)
{
        _cleanup_string_vector_ struct string_vector words = {};

        if (command_line_read(root_fd, &words) == -ENOMEM)
                return -ENOMEM;

        /* In the initrd headgate has no worker, so this is off whatever is set. */
        if (is_initrd(root_fd))
                *ret = command_line_has(&words, "rd.headgate=0")
                               ? "rd.headgate=0 leaves activation in the initrd to lvm2."
                               : "In the initrd nothing is activated directly.";
        else if (is_container(root_fd))
                *ret = "In a container nothing is activated.";
        else if (command_line_has(&words, "headgate=0"))
                *ret = "headgate=0 on the kernel's command line leaves activation to lvm2.";
        else
                *ret = NULL;
        return 0;
}

int switches_describe_off(
        int root_fd, const struct settings *settings, const struct configuration *configuration, const char **ret)
{
        int r;

        r = switches_describe_headgate_off(root_fd, ret);
        if (r < 0 || *ret)
                return r;
        if (!settings->direct_activation)
                *ret = "direct_activation=0 is set in headgate.conf.";
        else if (!configuration->event_activation)
                *ret = "event_activation=0 is set in lvm.conf: nothing is activated by itself.";
        return 0;
}
