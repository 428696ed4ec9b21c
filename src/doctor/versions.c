/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <libdevmapper.h>
#include <sys/utsname.h>

#include "doctor/checks.h"
#include "shared/program.h"

/* At the lower end of what headgate is made for; see README.md. */
#define SYSTEMD_MIN 252
/* Before 5.13 the kernel's list of device-mapper devices has no UUIDs. */
#define KERNEL_MIN_MAJOR 5
#define KERNEL_MIN_MINOR 13

/* Printed as the library does: "1.02.185 (2022-05-18)". */
static char *ask_library_version(void)
{
        char version[64];

        if (!dm_get_library_version(version, sizeof(version)))
                return strdup("unknown");
        version[strcspn(version, " ")] = '\0';
        return strdup(version);
}

/* Only of the running kernel, and only root may ask. */
static char *ask_driver_version(void)
{
        char version[64];

        if (root_is_chosen() || !dm_driver_version(version, sizeof(version)))
                return strdup("unknown");
        return strdup(version);
}

/* In tests, of the machine that is looked at: a file that the kernel has, too (proc(5)). */
static char *read_kernel_release(const struct machine *machine)
{
        _cleanup_free_ char *text = NULL;

        if (read_file_at(machine->sources.root_fd, "proc/sys/kernel/osrelease", &text, NULL) < 0)
                return strdup("unknown");
        text[strcspn(text, "\n")] = '\0';
        return TAKE_PTR(text);
}

void check_versions(const struct machine *machine, struct findings *findings)
{
        _cleanup_free_ char *library = ask_library_version(), *driver = ask_driver_version();
        _cleanup_free_ char *kernel = read_kernel_release(machine);
        const char *systemd = machine->units.systemd_version;
        unsigned int major_number, minor_number, number;

        findings_add(findings, FINDING_OK, NULL,
                "headgate " HEADGATE_VERSION ", libdevmapper %s, device-mapper driver %s, systemd %s, Linux %s.",
                library ?: "unknown", driver ?: "unknown", systemd ?: "unknown", kernel ?: "unknown");
        if (kernel && sscanf(kernel, "%u.%u", &major_number, &minor_number) == 2 &&
                (major_number < KERNEL_MIN_MAJOR ||
                        (major_number == KERNEL_MIN_MAJOR && minor_number < KERNEL_MIN_MINOR)))
                findings_add(findings, FINDING_FAILED, "Boot Linux 5.13 or later.",
                        "Linux %s does not tell which LVs are active; headgate cannot verify or take down.",
                        kernel);
        if (systemd && sscanf(systemd, "%u", &number) == 1 && number < SYSTEMD_MIN)
                findings_add(findings, FINDING_WARNING, "Use systemd 252 or later.",
                        "systemd %s is older than what headgate is made for.", systemd);
        if (!root_is_chosen() && access(LVM_PROGRAM, X_OK) < 0)
                findings_add(findings, FINDING_FAILED, "Install lvm2.", LVM_PROGRAM " cannot be run: %m.");
}
