/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the worker takes from lvm.conf and headgate.conf. An administrator may change these while a worker is there. */

#include "worker/worker.h"

#include "shared/log.h"
#include "shared/program.h"

/* Below the root. A directory tells of files that are added, removed or replaced. */
static const char *const watched[SETTINGS_FILES] = {
        SETTINGS_FILE,
        "etc/lvm/lvm.conf",
        "etc/lvm/lvmlocal.conf",
        "etc/lvm/profile",
        "etc/lvm/devices",
};

int configuration_refresh(struct worker *worker)
{
        bool first = !worker->configuration.backup_dir, activated = worker->event_activation;
        _cleanup_problems_ struct problems problems = {};
        _cleanup_close_ int root_fd = root_open();
        struct configuration configuration = {};
        struct settings settings = {};

        if (root_fd < 0)
                return log_error_errno(root_fd, "Failed to open /: %m");
        if (!files_have_changed(root_fd, watched, ELEMENTSOF(watched), worker->settings_files) && !first)
                return 0;
        if (settings_read(root_fd, &settings, &problems) < 0)
                return log_oom();
        settings_done(&worker->settings);
        worker->settings = settings;
        if (configuration_read(root_fd, &configuration, &problems) < 0)
                return log_oom();
        FOREACH_ARRAY(line, problems.lines.strings, problems.lines.n)
                log_warning("%s", *line);

        configuration_done(&worker->configuration);
        worker->configuration = configuration;
        worker->shows_links = (configuration.filter.set || configuration.global_filter.set) &&
                              lvm_version_takes_links_from_udev();
        worker->imports_devices = devices_file_is_to_be_made(root_fd, configuration.devicesfile);
        worker->event_activation = configuration_ask("global/event_activation", true);
        if (!first)
                log_info("lvm2's or headgate's configuration has changed, reading it again.");
        if (!worker->event_activation && (first || activated))
                log_notice("event_activation=0 in lvm.conf: nothing is activated.");
        return 0;
}
