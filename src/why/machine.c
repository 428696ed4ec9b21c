/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/machine.h"

#include <fcntl.h>
#include <time.h>

#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/root.h"
#include "tree/sysfs.h"

static int read_flags(struct machine *machine)
{
        int r;

        machine->run_fd = flags_open_run_directory();
        if (machine->run_fd == -ENOENT)
                return 0;
        r = machine->run_fd < 0 ? machine->run_fd : flags_is_set(machine->run_fd, FLAGS_TAKEN_OVER);
        if (r < 0)
                return r;
        machine->in_charge = r > 0;
        return 0;
}

int machine_read(struct machine *ret)
{
        _cleanup_machine_ struct machine machine = {
                .root_fd = -EBADF,
                .run_fd = -EBADF,
                .lvm_run_fd = -EBADF,
        };
        int r;

        machine.root_fd = root_open();
        if (machine.root_fd < 0)
                return machine.root_fd;
        r = read_flags(&machine);
        if (r >= 0)
                r = settings_read(machine.root_fd, &machine.settings, &machine.problems);
        if (r >= 0)
                r = configuration_read(machine.root_fd, &machine.configuration, &machine.problems);
        if (r >= 0)
                r = dm_devices_get(machine.root_fd, &machine.devices);
        if (r < 0)
                return r;
        /* Where it is missing, nothing was recorded. */
        machine.lvm_run_fd = online_open_to_look();

        *ret = machine;
        machine = (struct machine){.root_fd = -EBADF, .run_fd = -EBADF, .lvm_run_fd = -EBADF};
        return 0;
}

void machine_done(struct machine *machine)
{
        closep(&machine->root_fd);
        closep(&machine->run_fd);
        closep(&machine->lvm_run_fd);
        settings_done(&machine->settings);
        configuration_done(&machine->configuration);
        dm_devices_done(&machine->devices);
        problems_done(&machine->problems);
        *machine = (struct machine){.root_fd = -EBADF, .run_fd = -EBADF, .lvm_run_fd = -EBADF};
}

bool machine_has_device(const struct machine *machine, dev_t number)
{
        _cleanup_free_ char *path = sysfs_path(number, "");

        return path && faccessat(machine->root_fd, path, F_OK, 0) >= 0;
}

const struct dm_device *machine_find_dm_device(const struct machine *machine, dev_t number)
{
        for (size_t i = 0; i < machine->devices.n; i++)
                if (machine->devices.devices[i].number == number)
                        return &machine->devices.devices[i];
        return NULL;
}

char *describe_date(int64_t seconds)
{
        time_t when = (time_t) seconds;
        struct tm local;
        char text[sizeof("2026-01-01 00:00:00")];

        if (!localtime_r(&when, &local) || strftime(text, sizeof(text), "%F %T", &local) == 0)
                return strdup("a time that nobody knows");
        return strdup(text);
}

char *describe_time(uint64_t usec)
{
        uint64_t now = now_usec(), age = now > usec ? now - usec : 0;
        _cleanup_free_ char *date = describe_date(time(NULL) - (int64_t) (age / USEC_PER_SEC));
        _cleanup_free_ char *duration = format_duration(age);

        return date && duration ? string_format("%s, %s ago", date, duration) : NULL;
}
