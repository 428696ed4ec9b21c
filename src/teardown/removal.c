/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/removal.h"

#include <fcntl.h>
#include <libdevmapper.h>
#include <linux/dm-ioctl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>

#include "shared/util.h"

#define CONTROL "/dev/" DM_DIR "/" DM_CONTROL_NODE

int removal_job_new(struct tree_node *node, struct removal_job **ret)
{
        _cleanup_removal_job_ struct removal_job *job = calloc(1, sizeof(*job));

        if (!job)
                return -ENOMEM;
        *job = (struct removal_job){
                .pool_job.run = removal_job_run,
                .node = node,
                .kind = node->kind,
                .number = node->number,
                .kernel_name = strdup(node->kernel_name),
                .uuid = node->uuid ? strdup(node->uuid) : NULL,
        };
        if (!job->kernel_name || (node->uuid && !job->uuid))
                return -ENOMEM;

        *ret = TAKE_PTR(job);
        return 0;
}

struct removal_job *removal_job_free(struct removal_job *job)
{
        if (!job)
                return NULL;
        free(job->kernel_name);
        free(job->uuid);
        free(job);
        return NULL;
}

static int remove_dm(const struct removal_job *job)
{
        struct dm_ioctl request = {
                .version = {DM_VERSION_MAJOR, 0, 0},
                .data_size = sizeof(request),
                .data_start = sizeof(request),
        };
        _cleanup_close_ int control_fd = open(CONTROL, O_RDWR | O_CLOEXEC);

        if (control_fd < 0)
                return -errno;
        /* The kernel wants one or the other. A number may have been given to another device since. */
        if (*job->uuid != '\0' && strlen(job->uuid) < sizeof(request.uuid))
                strcpy(request.uuid, job->uuid);
        else
                request.dev = job->number;
        if (ioctl(control_fd, DM_DEV_REMOVE, &request) < 0)
                return errno == ENXIO ? 0 : -errno;
        return 0;
}

static int remove_md(const struct removal_job *job)
{
        _cleanup_free_ char *path = string_format("/sys/block/%s/md/array_state", job->kernel_name);
        _cleanup_close_ int fd = -EBADF;

        if (!path)
                return -ENOMEM;
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? 0 : -errno;
        return write_all(fd, "clear", strlen("clear"));
}

static bool loop_has_file(const char *kernel_name)
{
        _cleanup_free_ char *path = string_format("/sys/block/%s/loop/backing_file", kernel_name);

        return path && access(path, F_OK) == 0;
}

/* The kernel does not refuse to clear a loop device that is open: it sets this flag, and detaches the file when the device is
 * closed. */
static void forbid_autoclear(int fd)
{
        struct loop_info64 info;

        if (ioctl(fd, LOOP_GET_STATUS64, &info) < 0 || !(info.lo_flags & LO_FLAGS_AUTOCLEAR))
                return;
        info.lo_flags &= ~(uint32_t) LO_FLAGS_AUTOCLEAR;
        (void) ioctl(fd, LOOP_SET_STATUS64, &info);
}

static int clear_loop(const struct removal_job *job)
{
        _cleanup_free_ char *path = string_format("/dev/%s", job->kernel_name);
        _cleanup_close_ int fd = -EBADF;
        struct loop_info64 before = {};

        if (!path)
                return -ENOMEM;
        /* Exclusively, so that one that is mounted or lies below another device is refused. */
        fd = open(path, O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT || errno == ENXIO ? 0 : -errno;
        if (ioctl(fd, LOOP_GET_STATUS64, &before) < 0 || ioctl(fd, LOOP_CLR_FD) < 0)
                return errno == ENXIO ? 0 : -errno;
        if (!job->at_shutdown && !(before.lo_flags & LO_FLAGS_AUTOCLEAR))
                forbid_autoclear(fd);
        return 0;
}

static int remove_loop(const struct removal_job *job)
{
        int r = clear_loop(job);

        if (r < 0)
                return r;
        /* Whoever has it open, without claiming it, keeps its file until it closes it. */
        return loop_has_file(job->kernel_name) ? -EBUSY : 0;
}

int removal_job_run(struct pool_job *pool_job)
{
        const struct removal_job *job = (const struct removal_job *) pool_job;

        switch (job->kind) {
        case TREE_MD:
                return remove_md(job);
        case TREE_LOOP:
                return remove_loop(job);
        default:
                return remove_dm(job);
        }
}

bool removal_is_possible(const struct removal *removal)
{
        return removal->node->cycle || removal->node->n_holders == 0;
}
