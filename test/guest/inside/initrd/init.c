/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The initrd of a guest in qemu: load the modules that reach the base image, in the order of their names (the harness
 * has numbered them), and run stage-one from it. Kernel command line words like guest_root= come as environment.
 *
 * With guest_trial= it only says that it lives and powers off: this is how the harness finds out if KVM works.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULES "/modules"
#define STAGE_ONE "/usr/lib/guest/stage-one"
#define WAIT_US 20000
#define WAITS 3000

/* Ends process 1, which makes the kernel panic, which ends the guest. */
static _Noreturn void fail(const char *what)
{
        printf("GUEST: initrd: %s: %s\n", what, strerror(errno));
        exit(1);
}

static int is_module(const struct dirent *entry)
{
        return entry->d_name[0] != '.';
}

static void load_modules(void)
{
        struct dirent **entries;
        int n = scandir(MODULES, &entries, is_module, alphasort);

        if (n < 0)
                fail(MODULES);
        for (int i = 0; i < n; i++) {
                char path[512];

                snprintf(path, sizeof path, MODULES "/%s", entries[i]->d_name);
                int fd = open(path, O_RDONLY | O_CLOEXEC);
                if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST))
                        fail(path);
                close(fd);
        }
}

int main(void)
{
        const char *device = getenv("guest_root");

        setvbuf(stdout, NULL, _IONBF, 0);
        load_modules();
        if (getenv("guest_trial")) {
                puts("GUEST: alive");
                reboot(RB_POWER_OFF);
        }

        if (!device)
                fail("no guest_root= on the kernel's command line");
        if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) < 0)
                fail("/dev");
        for (int i = 0; i < WAITS && access(device, F_OK) < 0; i++)
                usleep(WAIT_US);
        mkdir("/root", 0700);
        if (mount(device, "/root", "ext4", 0, NULL) < 0)
                fail(device);
        if (mount("/dev", "/root/dev", NULL, MS_MOVE, NULL) < 0 || chdir("/root") < 0 ||
                mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0)
                fail("switching to the root file system");
        execl(STAGE_ONE, STAGE_ONE, (char *) NULL);
        fail(STAGE_ONE);
}
