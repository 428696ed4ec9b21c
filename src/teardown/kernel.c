/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Teardown's requests to the kernel by ioctl, sysfs and libdevmapper. They remove a device, which may block for long, and make a
 * multipath map without paths fail I/O. */

#include "teardown/kernel.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>

#include "shared/dm.h"
#include "shared/log.h"
#include "shared/util.h"

#define CONTROL "/dev/" DM_DIR "/" DM_CONTROL_NODE

/* ------ removal ------ */

static int remove_dm(const struct removal *removal)
{
        struct dm_ioctl request = {
                .version = {DM_VERSION_MAJOR, 0, 0},
                .data_size = sizeof(request),
                .data_start = sizeof(request),
        };
        _cleanup_close_ int control_fd = open(CONTROL, O_RDWR | O_CLOEXEC);

        if (control_fd < 0)
                return -errno;
        /* The kernel accepts only one of them. The number may belong to another device by now. */
        if (*removal->uuid != '\0')
                strcpy(request.uuid, removal->uuid);
        else
                request.dev = removal->number;
        if (ioctl(control_fd, DM_DEV_REMOVE, &request) < 0)
                return errno == ENXIO ? 0 : -errno;
        return 0;
}

static int remove_md(const struct removal *removal)
{
        struct path path = path_format("/sys/block/%s/md/array_state", removal->kernel_name);
        _cleanup_close_ int fd = open(path.text, O_WRONLY | O_CLOEXEC);

        if (fd < 0)
                return errno == ENOENT ? 0 : -errno;
        return write_all(fd, "clear", strlen("clear"));
}

static int clear_loop(const struct removal *removal)
{
        struct path path = path_format("/dev/%s", removal->kernel_name);
        /* O_EXCL fails if the device is mounted or below another device. */
        _cleanup_close_ int fd = open(path.text, O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC);
        struct loop_info64 before = {}, after = {};

        if (fd < 0)
                return errno == ENOENT || errno == ENXIO ? 0 : -errno;
        if (ioctl(fd, LOOP_GET_STATUS64, &before) < 0 || ioctl(fd, LOOP_CLR_FD) < 0)
                return errno == ENXIO ? 0 : -errno;
        /* The kernel accepts clearing an open loop device: it sets this flag, and detaches the file when the device is closed. */
        if (!removal->at_shutdown && !(before.lo_flags & LO_FLAGS_AUTOCLEAR) &&
                ioctl(fd, LOOP_GET_STATUS64, &after) >= 0 && (after.lo_flags & LO_FLAGS_AUTOCLEAR)) {
                after.lo_flags &= ~(uint32_t) LO_FLAGS_AUTOCLEAR;
                (void) ioctl(fd, LOOP_SET_STATUS64, &after);
        }
        return 0;
}

static int remove_loop(const struct removal *removal)
{
        struct path path = path_format("/sys/block/%s/loop/backing_file", removal->kernel_name);
        int r = clear_loop(removal);

        if (r < 0)
                return r;
        /* A process that has the device open keeps its file until it closes the device. */
        return access(path.text, F_OK) == 0 ? -EBUSY : 0;
}

int kernel_remove(const struct removal *removal)
{
        if (removal->kind == TREE_MD)
                return remove_md(removal);
        return removal->kind == TREE_LOOP ? remove_loop(removal) : remove_dm(removal);
}

unsigned int kernel_count_opens(const struct tree_node *node)
{
        return node->kind >= TREE_MULTIPATH ? (unsigned int) MAX(dm_open_count(node->number), 0) : 0;
}

/* ------ multipath ------ */

bool multipath_status_is_dead(const char *status)
{
        /* Only paths have a colon. */
        for (const char *colon = status; (colon = strchr(colon, ':')); colon++) {
                char state;

                if (sscanf(colon, ":%*u %c", &state) == 1 && state == 'A')
                        return false;
        }
        return true;
}

static bool is_dead(const struct tree_node *node)
{
        _cleanup_dm_task_ struct dm_task *task = dm_task_new(DM_DEVICE_STATUS, node->number);
        char *target = NULL, *status = NULL;
        uint64_t start, length;

        /* Without flushing, since there is no path. */
        if (!task || !dm_task_no_flush(task) || !dm_task_run(task))
                return false;
        (void) dm_get_next_target(task, NULL, &start, &length, &target, &status);
        return target && status && streq(target, "multipath") && multipath_status_is_dead(status);
}

static bool stop_queueing(const struct tree_node *node)
{
        _cleanup_dm_task_ struct dm_task *task = dm_task_new(DM_DEVICE_TARGET_MSG, node->number);

        return task && dm_task_set_sector(task, 0) && dm_task_set_message(task, "fail_if_no_path") &&
               dm_task_no_open_count(task) && dm_task_run(task);
}

void multipath_stop_queueing(const struct tree *tree)
{
        FOREACH_NODE(node, &tree->nodes)
                if (node->kind == TREE_MULTIPATH && tree_node_is_ours(node) && node->state != TREE_GONE &&
                        is_dead(node) && stop_queueing(node))
                        log_warning("%s has no path left and fails I/O from now on, instead of keeping it.",
                                node->name);
}
