/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fake-journald.h"

#include <check.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "own-namespace.h"

int fake_journald_new(void)
{
        static const struct sockaddr_un address = {
                .sun_family = AF_UNIX, .sun_path = "/run/systemd/journal/socket"};
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        own_namespace_enter(CLONE_NEWNS);
        ck_assert_int_ge(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
        ck_assert_int_ge(mount("tmpfs", "/run", "tmpfs", 0, NULL), 0);
        ck_assert_int_ge(mkdir("/run/systemd", 0755), 0);
        ck_assert_int_ge(mkdir("/run/systemd/journal", 0755), 0);
        ck_assert_int_ge(bind(fd, (const struct sockaddr *) &address, sizeof(address)), 0);
        return fd;
}
