/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "view/sources.h"

#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"

int sources_open(struct sources *ret)
{
        struct sources sources = SOURCES_NONE;
        int r;

        sources.root_fd = root_open();
        if (sources.root_fd < 0)
                return sources.root_fd;
        sources.run_fd = flags_open_run_directory();
        sources.lvm_run_fd = online_open_to_look();
        r = sources.run_fd < 0 ? sources.run_fd : flags_is_set(sources.run_fd, FLAGS_TAKEN_OVER);
        sources.in_charge = r > 0;
        sources.run_error = MIN(r, 0);
        *ret = sources;
        return 0;
}

int sources_open_permitted(struct sources *ret)
{
        int r = sources_open(ret);

        return r < 0 || ret->run_error == -ENOENT ? r : ret->run_error;
}

int sources_open_in_charge(struct sources *ret)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        int r;

        r = sources_open_permitted(&sources);
        if (r < 0)
                return log_error_errno(r == -ENOENT ? -ENOTDIR : r, "Failed to look into /run/headgate: %m");
        if (!sources.in_charge) {
                log_error("headgate is not in charge, lvm2's own udev rule is (see headgate-takeover(8)).");
                return -ENOENT;
        }
        *ret = sources;
        sources = SOURCES_NONE;
        return 0;
}

int sources_read_records(struct sources *sources)
{
        int r;

        if (sources->run_fd < 0)
                return 0;
        r = record_file_read(sources->run_fd, &sources->records);
        if (r == -ENOENT)
                return 0;
        if (r < 0 && r != -ENOMEM)
                record_file_warn(record_file_describe_error(r));
        return r;
}

int sources_read_devices(struct sources *sources)
{
        sources->devices = active_devices_free(sources->devices);
        return active_devices_get(&sources->devices);
}

int sources_read_configuration(struct sources *sources)
{
        int r;

        if (sources->configured)
                return 0;
        r = settings_read(sources->root_fd, &sources->settings, &sources->settings_problems);
        if (r < 0)
                return r;
        r = configuration_read(sources->root_fd, &sources->configuration, &sources->configuration_problems);
        if (r < 0)
                return r;
        sources->configured = true;
        return 0;
}

int sources_read(struct sources *ret)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        int r;

        r = sources_open_permitted(&sources);
        if (r < 0)
                return r;
        if (sources_read_records(&sources) == -ENOMEM)
                return -ENOMEM;
        r = sources_read_configuration(&sources);
        if (r < 0)
                return r;
        if (sources_read_devices(&sources) == -ENOMEM)
                return -ENOMEM;
        *ret = sources;
        sources = SOURCES_NONE;
        return 0;
}

void sources_done(struct sources *sources)
{
        closep(&sources->root_fd);
        closep(&sources->run_fd);
        closep(&sources->lvm_run_fd);
        record_file_free(sources->records);
        active_devices_free(sources->devices);
        settings_done(&sources->settings);
        configuration_done(&sources->configuration);
        problems_done(&sources->settings_problems);
        problems_done(&sources->configuration_problems);
        *sources = SOURCES_NONE;
}

const struct dm_device *sources_find_dm_device(const struct sources *sources, dev_t number)
{
        const struct dm_devices *list = sources->devices ? &sources->devices->list : NULL;

        for (size_t i = 0; list && i < list->n; i++)
                if (list->devices[i].number == number)
                        return &list->devices[i];
        return NULL;
}
