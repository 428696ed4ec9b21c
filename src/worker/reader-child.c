/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/reader-child.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "lvm/metadata_area.h"
#include "shared/util.h"

/* No disk has larger sectors. */
#define PIECE_SIZE 4096U

static void set_reason(char (*ret)[64], const char *reason)
{
        snprintf(*ret, sizeof(*ret), "%s", reason ?: "");
}

/* Reads one metadata area into `copy`. The text is only read if neither the worker nor this child knows it.
 * Returns whether there was any metadata. */
static bool read_copy(
        struct inventory *inventory, int fd, const struct metadata_area *area, struct reader_copy *copy)
{
        /* lvm2 may write while we read: then the checksum does not fit, and a second look shows the new text. */
        for (int attempt = 0; attempt < 2; attempt++) {
                struct metadata_location location;
                const char *reason = NULL;
                char *text = NULL;
                int r;

                *copy = (struct reader_copy){};
                r = metadata_area_read_location(fd, area, &location, &reason);
                if (r == METADATA_AREA_EMPTY || r == METADATA_AREA_IGNORED)
                        return false;
                if (r == METADATA_AREA_FOUND) {
                        copy->size = location.size;
                        copy->checksum = location.checksum;
                        if (inventory_find_text(inventory, location.size, location.checksum))
                                return true;
                        r = metadata_area_read_text(fd, area, &location, &text, &reason);
                }

                copy->error = r;
                copy->text = text; /* never freed: the child lives for one list of devices, and exits */
                copy->text_size = text ? strlen(text) + 1 : 0;
                set_reason(&copy->reason, reason);
                if (r == 0) {
                        inventory_mark_text(inventory, location.size, location.checksum);
                        return true;
                }
                if (r != -EBADMSG)
                        return true;
        }
        return true;
}

static void read_device(
        struct inventory *inventory, const struct reader_device *device, struct reader_result *result)
{
        _cleanup_close_ int fd = -EBADF;
        const char *reason = NULL;
        struct label label;
        uint64_t size;
        int r;

        *result = (struct reader_result){.device = device->number};

        /* Buffered, as blkid in udev's rules has just read the same blocks. */
        fd = open(device->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
                /* Nothing is wrong with the device: the worker has another child look again. */
                _exit(EXIT_FAILURE);
        if (fd < 0) {
                result->error = -errno;
                return;
        }

        /* A loop device without its file, for instance: what was there has gone, and is not another VG's now. */
        if (ioctl(fd, BLKGETSIZE64, &size) >= 0 && size == 0) {
                result->error = -ENOMEDIUM;
                return;
        }

        r = label_read(fd, &label, &reason);
        if (r == LABEL_NONE)
                return;
        if (r < 0) {
                result->error = r;
                set_reason(&result->reason, reason);
                return;
        }

        memcpy(result->pvid, label.pvid, sizeof(result->pvid));
        result->unused = label.unused;
        for (size_t i = 0; i < label.n_metadata_areas; i++)
                if (read_copy(inventory, fd, &label.metadata_areas[i], &result->copies[result->n_copies]))
                        result->n_copies++;
}

/* An error is a response, too. */
static void probe_device(const struct reader_device *device, struct reader_result *result)
{
        _cleanup_close_ int fd = open(device->name, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        _cleanup_free_ char *piece = aligned_alloc(PIECE_SIZE, PIECE_SIZE);

        *result = (struct reader_result){.device = device->number};
        if (fd >= 0 && piece && pread(fd, piece, PIECE_SIZE, 0) < 0)
                result->error = -errno;
}

void reader_child_run(
        struct inventory *inventory, enum reader_task task, const struct reading *reading, int write_fd)
{
        /* The lock on "running" belongs to the worker: its descriptors are not for a child that may outlive it by
         * a read() that hangs. */
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (dup2(write_fd, STDOUT_FILENO) < 0)
                _exit(EXIT_FAILURE);
        (void) close_range(STDERR_FILENO + 1, ~0U, 0);

        for (size_t i = 0; i < reading->n; i++) {
                const struct reader_device *device = &reading->devices[i];
                struct reader_result result;

                if (task == READER_PROBE)
                        probe_device(device, &result);
                else
                        read_device(inventory, device, &result);
                if (write_all(STDOUT_FILENO, &result, sizeof(result)) < 0)
                        _exit(EXIT_FAILURE);
                for (size_t k = 0; k < result.n_copies; k++)
                        if (write_all(STDOUT_FILENO, result.copies[k].text, result.copies[k].text_size) < 0)
                                _exit(EXIT_FAILURE);
        }
        _exit(EXIT_SUCCESS);
}
