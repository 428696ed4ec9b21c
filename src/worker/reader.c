/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/reader.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lvm/metadata_area.h"
#include "shared/log.h"
#include "shared/util.h"

/* How long one device may take, at first and when it is read once more after the others. A disk that is well answers
 * in milliseconds, one that spins up in ten seconds or so; the kernel itself gives up after 30 s (the time-out of a SCSI
 * command) and tries again several times. */
#define DEVICE_TIMEOUT_USEC (5 * USEC_PER_SEC)
#define SUSPECT_TIMEOUT_USEC (20 * USEC_PER_SEC)

struct reader {
        sd_event *event;
        sd_event_source *io_source;
        sd_event_source *timeout_source;
        struct inventory *inventory;
        reader_result_function on_result;
        reader_done_function on_done;
        void *userdata;
        pid_t pid;
        int fd; /* the reading end of the pipe to the child */

        char *buffer; /* what came from the child and is no complete result yet */
        size_t size;
        size_t allocated;
};

/* ------ in the child: nothing here returns to the event loop ------ */

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

static void read_device(struct inventory *inventory, const struct device *device, struct reader_result *result)
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

_Noreturn static void run_child(struct inventory *inventory, int fd)
{
        const struct device *device;

        /* The lock on "running" belongs to the worker: its descriptors are not for a child that may outlive it by
         * a read() that hangs. */
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (dup2(fd, STDOUT_FILENO) < 0)
                _exit(EXIT_FAILURE);
        (void) close_range(STDERR_FILENO + 1, ~0U, 0);

        dm_list_iterate_items(device, &inventory->devices[DEVICE_READING]) {
                struct reader_result result;

                read_device(inventory, device, &result);
                if (write_all(STDOUT_FILENO, &result, sizeof(result)) < 0)
                        _exit(EXIT_FAILURE);
                for (size_t i = 0; i < result.n_copies; i++)
                        if (write_all(STDOUT_FILENO, result.copies[i].text, result.copies[i].text_size) < 0)
                                _exit(EXIT_FAILURE);
        }
        _exit(EXIT_SUCCESS);
}

/* ------ in the worker ------ */

struct reader *reader_free(struct reader *reader)
{
        if (!reader)
                return NULL;

        sd_event_source_disable_unref(reader->io_source);
        sd_event_source_disable_unref(reader->timeout_source);
        if (reader->pid > 0) {
                (void) kill(reader->pid, SIGKILL);
                /* A child in a read() that hangs goes when the kernel lets it; it is not waited for. */
                (void) waitpid(reader->pid, NULL, WNOHANG);
        }
        closep(&reader->fd);
        free(reader->buffer);
        free(reader);
        return NULL;
}

/* A child that has come to harm by what stands on a disk is not to harm the worker. */
static bool is_sound(const struct reader_result *result)
{
        if (result->n_copies > ELEMENTSOF(result->copies) || result->pvid[sizeof(result->pvid) - 1] != '\0' ||
                result->reason[sizeof(result->reason) - 1] != '\0')
                return false;
        for (size_t i = 0; i < result->n_copies; i++)
                if (result->copies[i].text_size > METADATA_TEXT_SIZE_MAX + 1 ||
                        result->copies[i].reason[sizeof(result->copies[i].reason) - 1] != '\0')
                        return false;
        return true;
}

/* Hands over the first result in the buffer if all of it is there. Returns the bytes that it took, 0 if more are
 * needed, or a negative errno. */
static ssize_t hand_over_one(struct reader *reader)
{
        struct reader_result result;
        size_t size = sizeof(result);
        int r;

        if (reader->size < sizeof(result))
                return 0;
        memcpy(&result, reader->buffer, sizeof(result));
        if (!is_sound(&result))
                return log_error_errno(-EBADMSG, "What reads the disks has said what makes no sense.");

        for (size_t i = 0; i < result.n_copies; i++) {
                result.copies[i].text = result.copies[i].text_size > 0 ? reader->buffer + size : NULL;
                size += result.copies[i].text_size;
        }
        if (reader->size < size)
                return 0;
        for (size_t i = 0; i < result.n_copies; i++)
                if (result.copies[i].text && result.copies[i].text[result.copies[i].text_size - 1] != '\0')
                        return log_error_errno(-EBADMSG, "What reads the disks has sent a text without an end.");

        r = reader->on_result(&result, reader->userdata);
        return r < 0 ? r : (ssize_t) size;
}

static int hand_over(struct reader *reader)
{
        size_t done = 0;
        char *whole = reader->buffer;
        size_t whole_size = reader->size;
        ssize_t n;

        while ((n = hand_over_one(reader)) > 0) {
                done += (size_t) n;
                reader->buffer += n;
                reader->size -= (size_t) n;
        }
        reader->buffer = whole;
        reader->size = whole_size - done;
        memmove(whole, whole + done, reader->size);
        return n < 0 ? (int) n : 0;
}

/* How long the device may take that the child is at now. */
static uint64_t get_timeout(const struct inventory *inventory)
{
        const struct dm_list *first = dm_list_first(&inventory->devices[DEVICE_READING]);

        return first && dm_list_item(first, struct device)->suspect ? SUSPECT_TIMEOUT_USEC : DEVICE_TIMEOUT_USEC;
}

/* All devices have been handed over, or the child has ended before: those that are left failed with `error`. */
static int finish(struct reader *reader, int error)
{
        struct device *device, *next;
        int r;

        dm_list_iterate_items_safe(device, next, &reader->inventory->devices[DEVICE_READING]) {
                const struct reader_result result = {.device = device->number, .error = error};

                r = reader->on_result(&result, reader->userdata);
                if (r < 0)
                        return r;
        }

        /* May free the reader. */
        return reader->on_done(reader->userdata);
}

/* The first device that was not handed over is the one that the child has not got over. The others get a child of their
 * own, in the next round. */
static int blame_first(struct reader *reader, int error)
{
        struct dm_list *reading = &reader->inventory->devices[DEVICE_READING];
        struct device *device, *next;
        int r;

        if (dm_list_empty(reading))
                return finish(reader, error);

        device = dm_list_item(dm_list_first(reading), struct device);
        const struct reader_result result = {.device = device->number, .error = error};

        r = reader->on_result(&result, reader->userdata);
        if (r < 0)
                return r;
        dm_list_iterate_items_safe(device, next, reading)
                inventory_move_device(reader->inventory, device, DEVICE_UNREAD);
        return finish(reader, 0);
}

static int on_timeout(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
        return blame_first(userdata, -ETIMEDOUT);
}

/* The pipe was the last that the child had open: it is gone, or about to be. If devices are left over, then it ended
 * early. */
static int on_end(struct reader *reader)
{
        int status = 0;

        (void) waitpid(reader->pid, &status, 0);
        reader->pid = 0;
        /* SIGKILL comes from outside: of somebody, or of the kernel, which had no memory left. */
        if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
                return blame_first(reader, -EFAULT);
        return finish(reader, -EPIPE);
}

static int on_readable(sd_event_source *source, int fd, _unused_ uint32_t events, void *userdata)
{
        struct reader *reader = userdata;
        ssize_t n;
        int r;

        if (reader->allocated - reader->size < 65536) {
                size_t allocated = MAX(reader->allocated * 2, (size_t) 131072);
                char *larger = realloc(reader->buffer, allocated);

                if (!larger)
                        return sd_event_exit(sd_event_source_get_event(source), log_oom());
                reader->buffer = larger;
                reader->allocated = allocated;
        }

        n = read(fd, reader->buffer + reader->size, reader->allocated - reader->size);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n < 0)
                return finish(reader, -EPIPE);
        if (n == 0)
                return on_end(reader);
        reader->size += (size_t) n;

        r = hand_over(reader);
        if (r < 0)
                return r;
        return sd_event_source_set_time_relative(reader->timeout_source, get_timeout(reader->inventory));
}

int reader_start(sd_event *event, struct inventory *inventory, reader_result_function on_result,
        reader_done_function on_done, void *userdata, struct reader **ret)
{
        struct device *device, *next;
        struct reader *reader;
        int fds[2], r;

        reader = calloc(1, sizeof(*reader));
        if (!reader)
                return -ENOMEM;
        *reader = (struct reader){
                .event = event,
                .inventory = inventory,
                .on_result = on_result,
                .on_done = on_done,
                .userdata = userdata,
                .fd = -EBADF,
        };

        if (pipe2(fds, O_CLOEXEC) < 0) {
                r = -errno;
                goto fail;
        }
        reader->fd = fds[0];

        reader->pid = fork();
        if (reader->pid == 0)
                run_child(inventory, fds[1]);
        r = reader->pid < 0 ? -errno : 0;
        close(fds[1]);
        if (r < 0)
                goto fail;

        if (fcntl(reader->fd, F_SETFL, O_NONBLOCK) < 0) {
                r = -errno;
                goto fail;
        }
        r = sd_event_add_io(event, &reader->io_source, reader->fd, EPOLLIN, on_readable, reader);
        if (r < 0)
                goto fail;
        r = sd_event_add_time_relative(
                event, &reader->timeout_source, CLOCK_MONOTONIC, get_timeout(inventory), 0, on_timeout, reader);
        if (r < 0)
                goto fail;
        /* A worker that was held up for that long itself hears first what the devices have answered meanwhile. */
        r = sd_event_source_set_priority(reader->timeout_source, SD_EVENT_PRIORITY_NORMAL + 1);
        if (r < 0)
                goto fail;

        (void) sd_event_source_set_exit_on_failure(reader->io_source, true);
        (void) sd_event_source_set_exit_on_failure(reader->timeout_source, true);
        *ret = reader;
        return 0;

fail:
        dm_list_iterate_items_safe(device, next, &inventory->devices[DEVICE_READING])
                inventory_move_device(inventory, device, DEVICE_UNREAD);
        reader_free(reader);
        return r;
}
