/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/sources.h"

#include <fcntl.h>

#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/root.h"
#include "tree/sysfs.h"

static int read_flags(struct sources *sources)
{
        int r;

        sources->run_fd = flags_open_run_directory();
        if (sources->run_fd == -ENOENT)
                return 0;
        r = sources->run_fd < 0 ? sources->run_fd : flags_is_set(sources->run_fd, FLAGS_TAKEN_OVER);
        if (r < 0)
                return r;
        sources->in_charge = r > 0;
        r = record_file_read(sources->run_fd, &sources->records);
        if (r < 0 && r != -ENOENT && r != -ENOMEM)
                record_file_warn(record_file_describe_error(r));
        return r == -ENOMEM ? r : 0;
}

int sources_read(struct sources *ret)
{
        _cleanup_sources_ struct sources sources = {
                .root_fd = -EBADF,
                .run_fd = -EBADF,
                .lvm_run_fd = -EBADF,
        };
        int r;

        sources.root_fd = root_open();
        if (sources.root_fd < 0)
                return sources.root_fd;
        r = read_flags(&sources);
        if (r >= 0)
                r = settings_read(sources.root_fd, &sources.settings, &sources.problems);
        if (r >= 0)
                r = configuration_read(sources.root_fd, &sources.configuration, &sources.problems);
        if (r >= 0)
                r = dm_devices_get(sources.root_fd, &sources.devices);
        if (r < 0)
                return r;
        /* Where it is missing, nothing was recorded. */
        sources.lvm_run_fd = online_open_to_look();

        *ret = sources;
        sources = (struct sources){.root_fd = -EBADF, .run_fd = -EBADF, .lvm_run_fd = -EBADF};
        return 0;
}

void sources_done(struct sources *sources)
{
        closep(&sources->root_fd);
        closep(&sources->run_fd);
        closep(&sources->lvm_run_fd);
        record_file_free(sources->records);
        settings_done(&sources->settings);
        configuration_done(&sources->configuration);
        dm_devices_done(&sources->devices);
        problems_done(&sources->problems);
        *sources = (struct sources){.root_fd = -EBADF, .run_fd = -EBADF, .lvm_run_fd = -EBADF};
}

bool sources_has_device(const struct sources *sources, dev_t number)
{
        _cleanup_free_ char *path = sysfs_path(number, "");

        return path && faccessat(sources->root_fd, path, F_OK, 0) >= 0;
}

const struct dm_device *sources_find_dm_device(const struct sources *sources, dev_t number)
{
        for (size_t i = 0; i < sources->devices.n; i++)
                if (sources->devices.devices[i].number == number)
                        return &sources->devices.devices[i];
        return NULL;
}

char *describe_date(int64_t seconds)
{
        _cleanup_free_ char *text = format_local_time(seconds);

        if (!text || text[0] != '\0')
                return TAKE_PTR(text);
        return strdup("a time that nobody knows");
}

char *describe_time(const struct volume_group *volume_group, uint64_t usec)
{
        uint64_t now = now_usec(), age = now > usec ? now - usec : 0;
        _cleanup_free_ char *date = describe_date(volume_group_to_realtime(volume_group, usec));
        _cleanup_free_ char *duration = format_duration(age);

        return date && duration ? string_format("%s, %s ago", date, duration) : NULL;
}
