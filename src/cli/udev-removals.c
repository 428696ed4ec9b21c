/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/udev-removals.h"

#include <libdevmapper.h>
#include <libudev.h>
#include <poll.h>

#include "shared/util.h"

/* While udevd runs (systemd, src/udev/udev-ctrl.c). */
#define UDEVD_SOCKET "/run/udev/control"

/* Nobody reads while devices are removed, and each message takes about 2 KiB in the kernel. */
#define RECEIVE_BUFFER_SIZE (32 * 1024 * 1024)

/* How often udev's queue is looked at, should messages be lost all the same. */
#define QUEUE_PAUSE_USEC (50 * USEC_PER_MSEC)

struct udev_removals {
        struct udev *udev;
        struct udev_monitor *monitor;
        struct dm_hash_table *expected; /* by number */
};

struct udev_removals *udev_removals_free(struct udev_removals *removals)
{
        if (!removals)
                return NULL;
        if (removals->expected)
                dm_hash_destroy(removals->expected);
        udev_monitor_unref(removals->monitor);
        udev_unref(removals->udev);
        free(removals);
        return NULL;
}

int udev_removals_new(struct udev_removals **ret)
{
        _cleanup_udev_removals_ struct udev_removals *removals = NULL;
        int r;

        *ret = NULL;
        if (access(UDEVD_SOCKET, F_OK) < 0)
                return 0;
        removals = calloc(1, sizeof(*removals));
        if (!removals)
                return -ENOMEM;
        removals->expected = dm_hash_create(1024);
        removals->udev = udev_new();
        if (!removals->expected || !removals->udev)
                return -ENOMEM;
        errno = 0;
        removals->monitor = udev_monitor_new_from_netlink(removals->udev, "udev");
        if (!removals->monitor)
                return errno != 0 ? -errno : -ENOMEM;
        r = udev_monitor_filter_add_match_subsystem_devtype(removals->monitor, "block", NULL);
        if (r < 0)
                return r;
        (void) udev_monitor_set_receive_buffer_size(removals->monitor, RECEIVE_BUFFER_SIZE);
        r = udev_monitor_enable_receiving(removals->monitor);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(removals);
        return 0;
}

int udev_removals_expect(struct udev_removals *removals, dev_t number)
{
        return dm_hash_insert_binary(removals->expected, &number, sizeof(number), removals) ? 0 : -ENOMEM;
}

static void note(struct udev_removals *removals, struct udev_device *device)
{
        const char *action = udev_device_get_action(device);
        dev_t number = udev_device_get_devnum(device);

        if (action && streq(action, "remove"))
                dm_hash_remove_binary(removals->expected, &number, sizeof(number));
}

/* Messages were lost: when udev has nothing to do, it is done with all. */
static int wait_for_queue(struct udev_removals *removals, uint64_t until_usec)
{
        struct udev_queue *queue = udev_queue_new(removals->udev);
        int r = queue ? 0 : -ENOMEM;

        while (r >= 0 && !udev_queue_get_queue_is_empty(queue)) {
                if (now_usec() >= until_usec)
                        r = -ETIMEDOUT;
                else
                        usleep(QUEUE_PAUSE_USEC);
        }
        udev_queue_unref(queue);
        return r;
}

/* Returns 0 or a negative errno. */
static int wait_for_message(struct udev_removals *removals, uint64_t until_usec)
{
        struct pollfd fd = {.fd = udev_monitor_get_fd(removals->monitor), .events = POLLIN};
        uint64_t now = now_usec();
        int r;

        if (now >= until_usec)
                return -ETIMEDOUT;
        r = poll(&fd, 1, (int) ((until_usec - now) / USEC_PER_MSEC) + 1);
        return r < 0 && errno != EINTR ? -errno : 0;
}

int udev_removals_wait(struct udev_removals *removals, uint64_t timeout_usec)
{
        uint64_t until_usec = now_usec() + timeout_usec;

        while (dm_hash_get_num_entries(removals->expected) > 0) {
                struct udev_device *device;
                int r;

                errno = 0;
                device = udev_monitor_receive_device(removals->monitor);
                if (device) {
                        note(removals, device);
                        udev_device_unref(device);
                        continue;
                }
                if (errno == ENOBUFS)
                        return wait_for_queue(removals, until_usec);
                r = wait_for_message(removals, until_usec);
                if (r < 0)
                        return r;
        }
        return 0;
}
