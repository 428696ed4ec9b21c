/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-monitor: starts or stops lvm2's monitoring of LVs, in place of lvm2-monitor.service's own commands,
 * which read all disks in any case. It executes vgchange for the VGs with LVs that may be monitored, and does
 * nothing if there are none. */

#include "lvm/command.h"
#include "lvm/dm-devices.h"
#include "shared/dm.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

static const char usage[] = "Usage: headgate-monitor [OPTION...] y|n\n\n"
                            "Start (y) or stop (n) monitoring of active LVs. Run by lvm2-monitor.service.\n\n"
                            "  -h, --help     Show this help\n"
                            "      --version  Show the version\n\n"
                            "See headgate-monitor(8).\n";

/* Each VG once, in the order of their devices. */
static int add_vgs(const struct dm_devices *devices, struct strv *arguments)
{
        _cleanup_dm_hash_ struct dm_hash_table *known = dm_hash_create(64);

        if (!known)
                return -ENOMEM;
        /* A device may look like an LV of VG "@a", which lvm2 would take for all VGs with a tag. */
        FOREACH_DM_DEVICE(device, devices)
                if (device->vg && dm_target_may_be_monitored(device->target) && vg_name_is_valid(device->vg) &&
                        !dm_hash_lookup(known, device->vg) &&
                        (!dm_hash_insert(known, device->vg, known) || strv_add(arguments, device->vg) < 0))
                        return -ENOMEM;
        return 0;
}

static int run(const char *value)
{
        const char *const words[] = {"vgchange", "--monitor", value, "--"};
        _cleanup_strv_ struct strv arguments = {};
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;
        int r = dm_devices_get(&devices) ?: dm_devices_read_details(devices);

        if (r < 0)
                return log_error_errno(r, "Failed to list the device-mapper devices: %m");

        r = strv_add_all(&arguments, words, ELEMENTSOF(words)) ?: add_vgs(devices, &arguments);
        if (r < 0)
                return log_oom();
        if (arguments.n == ELEMENTSOF(words)) {
                log_debug("No active LV needs monitoring.");
                return 0;
        }
        r = lvm_command_become(&arguments);
        return log_error_errno(r, "Failed to start lvm: %m");
}

int main(int argc, char *argv[])
{
        int r;

        log_open("headgate-monitor", log_target_of_stderr());

        r = arguments_parse_plain(argc, argv, usage);
        if (r > 0 && argc - optind == 1 && (streq(argv[optind], "y") || streq(argv[optind], "n")))
                r = run(argv[optind]);
        else if (r > 0)
                r = log_error_errno(-EINVAL, "Expected y or n, see --help.");
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
