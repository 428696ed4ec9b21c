/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The time before headgate saw a disk, from systemd, udev and the nodes in /dev. */

#include "view/disk-times.h"

#include <fcntl.h>
#include <systemd/sd-device.h>

#include "shared/kernel.h"
#include "shared/program.h"
#include "shared/util.h"

struct milestones milestones_read(const struct systemd *systemd)
{
        return (struct milestones){unit_get_usec(systemd, NULL, "InitRDTimestampMonotonic"),
                unit_get_usec(systemd, NULL, "UserspaceTimestampMonotonic"),
                unit_began_usec(systemd, "systemd-udev-trigger.service")};
}

struct disk_times disk_times_read(dev_t number, uint64_t clock_usec)
{
        _cleanup_(sd_device_unrefp) sd_device *device = NULL;
        struct disk_times times = {};
        const char *path;

        if (root_is_chosen() || sd_device_new_from_devnum(&device, 'b', number) < 0 ||
                sd_device_get_usec_initialized(device, &times.handled_usec) < 0)
                return times;
        if (sd_device_get_devname(device, &path) >= 0 && read_birth_at(AT_FDCWD, path, 0, &times.made_usec) >= 0)
                times.made_usec -= clock_usec;
        /* The clock was set since. */
        if (times.made_usec > times.handled_usec + FILE_TIME_TICK_USEC)
                times.made_usec = 0;
        return times;
}

const struct vg_pv *disk_times_read_last(const struct vg *vg, struct disk_times *ret)
{
        const struct vg_pv *last = NULL;

        *ret = (struct disk_times){};
        FOREACH_PV(pv, vg) {
                struct disk_times times = disk_times_read(pv->device, vg->clock_usec);

                if (pv->device == 0 || (last && times.handled_usec <= ret->handled_usec))
                        continue;
                last = pv;
                *ret = times;
        }
        return last;
}

uint64_t udev_began_usec(const struct milestones *milestones, const struct disk_times *times)
{
        if (times->made_usec == 0 || milestones->coldplug_usec == 0 ||
                times->handled_usec < milestones->coldplug_usec)
                return 0;
        return MIN(MAX(times->made_usec, milestones->coldplug_usec), times->handled_usec);
}

uint64_t initrd_took_usec(const struct milestones *milestones, uint64_t until_usec)
{
        return milestones->userspace_usec <= until_usec
                       ? usec_between(milestones->initrd_usec, milestones->userspace_usec)
                       : 0;
}

const struct vg_pv *timeline_bar_add_origin(
        struct timeline_bar *bar, const struct vg *vg, const struct milestones *milestones)
{
        struct disk_times times;
        const struct vg_pv *last = disk_times_read_last(vg, &times);

        bar->driver_usec = times.made_usec;
        bar->disk_udev_usec = usec_between(udev_began_usec(milestones, &times), times.handled_usec);
        bar->initrd_usec = initrd_took_usec(milestones, bar->first_usec);
        return last;
}
