/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Child processes that read devices, in an event loop: handles their results, unresponsive devices and crashes. */

#include "reader/reader.h"

#include <fcntl.h>
#include <libdevmapper.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "inventory/vg-record.h"
#include "shared/kernel.h"
#include "shared/log.h"
#include "shared/util.h"

/* A healthy disk responds within milliseconds. A disk that blocks a reader for longer is slow. */
#define SLOW_USEC (100 * USEC_PER_MSEC)
#define STALL_USEC (500 * USEC_PER_MSEC)

/* When to warn, and when to ignore the device. Spinning up takes ten seconds or so; the kernel's own timeout of a SCSI
 * command is 30 s, and it retries several times. */
#define WARN_USEC (5 * USEC_PER_SEC)
#define TIMEOUT_USEC (25 * USEC_PER_SEC)

/* For commands, as a user waits at the terminal. A disk that has to spin up takes longer, but that is reported, too. */
#define COMMAND_TIMEOUT_USEC (3 * USEC_PER_SEC)

/* As many devices can be unresponsive at the same time without delaying others. */
#define READERS_MAX 128U

/* A pipe holds as many bytes. */
#define READ_SIZE 65536

/* Results that follow each other faster are handled together, with one step. */
#define RESULTS_INTERVAL_USEC (10 * USEC_PER_MSEC)

/* Most time from the end of the pipe to the exit of the process. */
#define ENDING_MAX_MSEC 1000

struct readers {
        sd_event *event;
        reader_known_function is_known;
        reader_result_function on_result;
        reader_progress_function on_progress;
        void *userdata;
        uint64_t timeout_usec;
        struct dm_list list;
};

enum delay { FRESH, BUSY, SLOW, STALLED, WARNED };

/* A child that reads `reading`, now the device at `next`. */
struct reader {
        struct dm_list list; /* readers.list; first, as dm_list requires */
        struct readers *readers;
        enum reader_task task;
        struct reading reading;
        size_t next;
        uint64_t since_usec; /* when it started on the current device */
        enum delay delay;    /* for the current device */
        bool is_retry;       /* a reader crashed on the device before */
        bool unsound;        /* its output is invalid */

        sd_event_source *io_source;
        sd_event_source *timer_source;
        pid_t pid;
        int fd; /* the reading end of the pipe to the child */

        char *buffer; /* an incomplete result of the child */
        size_t size;
};

int reading_add(struct reading *reading, dev_t number, const char *name)
{
        _cleanup_free_ char *copy = strdup(name);

        if (!copy || !GREEDY_REALLOC(reading->devices, reading->n + 1))
                return -ENOMEM;
        reading->devices[reading->n++] = (struct reader_device){.number = number, .name = TAKE_PTR(copy)};
        return 0;
}

/* Drops the devices from `n` on. */
static void reading_cut(struct reading *reading, size_t n)
{
        while (reading->n > n)
                free(reading->devices[--reading->n].name);
}

void reading_done(struct reading *reading)
{
        reading_cut(reading, 0);
        free(reading->devices);
        *reading = (struct reading){};
}

/* The event loop has reaped the child; the source is not needed any longer. */
static int on_child(sd_event_source *source, _unused_ const siginfo_t *info, _unused_ void *userdata)
{
        return sd_event_source_set_floating(source, false);
}

static void reader_free(struct reader *reader)
{
        sd_event_source_disable_unref(reader->io_source);
        sd_event_source_disable_unref(reader->timer_source);
        if (reader->pid > 0) {
                /* A child that is blocked in read() exits once the kernel allows it. */
                (void) kill(reader->pid, SIGKILL);
                (void) sd_event_add_child(reader->readers->event, NULL, reader->pid, WEXITED, on_child, NULL);
        }
        closep(&reader->fd);
        free(reader->buffer);
        reading_done(&reader->reading);
        dm_list_del(&reader->list);
        free(reader);
}
DEFINE_CLEANUP(struct reader *, reader_free)

static int report(const struct reader *reader, const struct reader_result *result)
{
        return reader->task == READER_PROBE ? 0 : reader->readers->on_result(result, reader->readers->userdata);
}

static int report_error(struct reader *reader, int error)
{
        const struct reader_device *device = &reader->reading.devices[reader->next++];
        const struct reader_result result = {.device = device->number, .name = device->name, .error = error};

        return report(reader, &result);
}

/* ------ output of the child ------ */

/* A child may be compromised by disk contents: validates its result. */
static bool is_sound(const struct reader *reader, const struct reader_result *result)
{
        if (result->n_copies > ELEMENTSOF(result->copies) || !memchr(result->pvid, '\0', sizeof(result->pvid)) ||
                !memchr(result->reason, '\0', sizeof(result->reason)) ||
                result->device != reader->reading.devices[reader->next].number)
                return false;
        FOREACH_ARRAY(copy, result->copies, result->n_copies)
                if (copy->facts_size > FACTS_SIZE_MAX || !memchr(copy->name, '\0', sizeof(copy->name)) ||
                        !memchr(copy->reason, '\0', sizeof(copy->reason)))
                        return false;
        return isempty(result->pvid) || lvm_id_is_valid(result->pvid);
}

/* Passes on the result at `done` in the buffer if it is complete. Returns its size, 0 if more bytes are needed or
 * the result is invalid, or a negative errno. */
static ssize_t hand_over_one(struct reader *reader, size_t done)
{
        size_t left = reader->size - done, size = sizeof(struct reader_result);
        struct reader_result result;
        int r;

        if (reader->next == reader->reading.n || left < size)
                return 0;
        memcpy(&result, reader->buffer + done, size);
        reader->unsound = !is_sound(reader, &result);
        if (reader->unsound)
                return 0;

        FOREACH_ARRAY(copy, result.copies, result.n_copies) {
                copy->facts = copy->facts_size > 0 ? reader->buffer + done + size : NULL;
                size += copy->facts_size;
        }
        if (left < size)
                return 0;

        result.name = reader->reading.devices[reader->next++].name;
        result.slow = reader->delay >= SLOW;
        reader->since_usec = now_usec();
        reader->delay = FRESH;
        r = report(reader, &result);
        return r < 0 ? r : (ssize_t) size;
}

static int hand_over(struct reader *reader)
{
        size_t done = 0;
        ssize_t n;

        while ((n = hand_over_one(reader, done)) > 0)
                done += (size_t) n;
        reader->size -= done;
        memmove(reader->buffer, reader->buffer + done, reader->size);
        return (int) n;
}

/* ------ the rest of the list ------ */

static int start(struct readers *readers, enum reader_task task, struct reading *reading, bool is_retry);

/* Starts another reader for the devices from `from` to before `to`. */
static int start_for_part(struct reader *reader, size_t from, size_t to, bool is_retry)
{
        _cleanup_reading_ struct reading passed = {};

        for (size_t i = from; i < to; i++) {
                int r = reading_add(&passed, reader->reading.devices[i].number, reader->reading.devices[i].name);

                if (r < 0)
                        return r;
        }
        return start(reader->readers, reader->task, &passed, is_retry);
}

/* Two other readers take half of the rest each: that finds many unresponsive devices in few steps. */
static int split_rest(struct reader *reader)
{
        size_t from = reader->next + 1, to = reader->reading.n, middle = from + (to - from) / 2;
        int r;

        if (dm_list_size(&reader->readers->list) >= READERS_MAX)
                return 0;
        r = start_for_part(reader, from, middle, false) ?: start_for_part(reader, middle, to, false);
        reading_cut(&reader->reading, from);
        return r;
}

/* Ends the reader and frees it: its device failed with `error`. Another reader takes the rest. */
static int fail_current_device(struct reader *reader, int error)
{
        _cleanup_(reader_freep) struct reader *owned = reader;
        struct readers *readers = reader->readers;
        int r = report_error(reader, error);

        if (r >= 0)
                r = start_for_part(reader, reader->next, reader->reading.n, false);
        return r < 0 ? r : readers->on_progress(readers->userdata);
}

/* Likewise if the child crashed, or its output is invalid. The device may not be the cause, so it gets another
 * reader of its own first. */
static int retry_current_device(struct reader *reader)
{
        _cleanup_(reader_freep) struct reader *owned = NULL;

        if (reader->is_retry)
                return fail_current_device(reader, -EFAULT);
        owned = reader;
        log_warning("Reader crashed on %s; retrying.", reader->reading.devices[reader->next].name);
        return start_for_part(reader, reader->next, reader->next + 1, true)
                       ?: start_for_part(reader, reader->next + 1, reader->reading.n, false);
}

/* Ends the reader and frees it, without results for its remaining devices. */
static int fail_all_devices(struct reader *reader)
{
        _cleanup_(reader_freep) struct reader *owned = reader;
        int r = 0;

        while (r >= 0 && reader->next < reader->reading.n)
                r = report_error(reader, -EPIPE);
        return r < 0 ? r : reader->readers->on_progress(reader->readers->userdata);
}

/* The child closed its pipe before it had read all devices, and will exit, unless it is compromised. */
static int on_early_end(struct reader *reader)
{
        _cleanup_close_ int fd = (int) syscall(SYS_pidfd_open, reader->pid, 0);
        struct pollfd end = {.fd = fd, .events = POLLIN};
        bool ending = poll(&end, 1, ENDING_MAX_MSEC) > 0;
        int status = 0;

        (void) kill(reader->pid, SIGKILL);
        (void) waitpid(reader->pid, &status, 0);
        reader->pid = 0;
        /* SIGKILL is not a crash: another process sent it, or the kernel, out of memory. */
        if (!ending || (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL))
                return retry_current_device(reader);
        return fail_all_devices(reader);
}

/* ------ events ------ */

/* Sets the timer to the next timeout of the current device. */
static int set_timer(struct reader *reader)
{
        uint64_t timeout = reader->readers->timeout_usec;
        const uint64_t usec[] = {SLOW_USEC, STALL_USEC, STALL_USEC, MIN(WARN_USEC, timeout), timeout};

        return sd_event_source_set_time(reader->timer_source, reader->since_usec + usec[reader->delay])
                       ?: sd_event_source_set_enabled(reader->timer_source, SD_EVENT_ONESHOT);
}

static int on_timer(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
        struct reader *reader = userdata;
        int r = 0;

        if (reader->delay == WARNED || (reader->delay == STALLED && reader->readers->timeout_usec <= WARN_USEC))
                return fail_current_device(reader, -ETIMEDOUT);
        /* Probing expects unresponsive devices, and does not warn. */
        if (reader->delay == FRESH)
                reader->delay = reader->task == READER_READ && process_waits_for_disk(reader->pid) ? SLOW : BUSY;
        else
                reader->delay = reader->delay == STALLED ? WARNED : STALLED;
        /* The rest may not have been split, because of READERS_MAX. */
        if (reader->delay >= SLOW)
                r = split_rest(reader);
        if (reader->delay == WARNED && reader->task == READER_READ)
                log_warning("%s unresponsive for %u seconds; reading other devices meanwhile.",
                        reader->reading.devices[reader->next].name, (unsigned int) (WARN_USEC / USEC_PER_SEC));
        if (r >= 0)
                r = set_timer(reader);
        return r < 0 ? r : reader->readers->on_progress(reader->readers->userdata);
}

static int on_readable(_unused_ sd_event_source *source, int fd, _unused_ uint32_t events, void *userdata)
{
        struct reader *reader = userdata;
        struct readers *readers = reader->readers;
        char *buffer = realloc(reader->buffer, reader->size + READ_SIZE);
        ssize_t n;
        int r;

        if (!buffer)
                return log_oom();
        reader->buffer = buffer;
        n = read(fd, reader->buffer + reader->size, READ_SIZE);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        /* The child may still be busy or blocked: do not wait for it. */
        if (n < 0)
                return fail_all_devices(reader);
        if (n == 0)
                return on_early_end(reader);
        reader->size += (size_t) n;

        r = hand_over(reader);
        if (r < 0)
                return r;
        if (reader->unsound)
                return retry_current_device(reader);
        if (reader->next < reader->reading.n)
                return set_timer(reader);
        reader_free(reader);
        return readers->on_progress(readers->userdata);
}

/* ------ starting and ending ------ */

static int add_sources(struct reader *reader)
{
        sd_event *event = reader->readers->event;
        int r = sd_event_add_io(event, &reader->io_source, reader->fd, EPOLLIN, on_readable, reader)
                        ?: sd_event_source_set_ratelimit(reader->io_source, RESULTS_INTERVAL_USEC, 1)
                        ?: sd_event_add_time(event, &reader->timer_source, CLOCK_MONOTONIC,
                                reader->since_usec + SLOW_USEC, SLOW_USEC / 10, on_timer, reader);

        if (r < 0)
                return r;
        (void) sd_event_source_set_exit_on_failure(reader->io_source, true);
        (void) sd_event_source_set_exit_on_failure(reader->timer_source, true);
        /* If the worker itself was delayed, handle pending replies before timeouts. */
        return sd_event_source_set_priority(reader->timer_source, SD_EVENT_PRIORITY_NORMAL + 1);
}

static int start(struct readers *readers, enum reader_task task, struct reading *reading, bool is_retry)
{
        _cleanup_(reader_freep) struct reader *reader = NULL;
        _cleanup_close_ int write_fd = -EBADF;
        int fds[2], r;

        if (reading->n == 0)
                return 0;
        reader = malloc(sizeof(*reader));
        if (!reader)
                return -ENOMEM;
        *reader = (struct reader){
                .readers = readers,
                .task = task,
                .reading = TAKE_STRUCT(*reading),
                .since_usec = now_usec(),
                .is_retry = is_retry,
                .fd = -EBADF,
        };
        dm_list_add(&readers->list, &reader->list);

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        reader->fd = fds[0];
        write_fd = fds[1];
        reader->pid = fork();
        if (reader->pid == 0)
                reader_child_run(readers->is_known, readers->userdata, task, &reader->reading, write_fd);
        if (reader->pid < 0 || fcntl(reader->fd, F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        r = add_sources(reader);
        if (r >= 0)
                TAKE_PTR(reader);
        return r;
}

int readers_start(struct readers *readers, enum reader_task task, struct reading *reading)
{
        return start(readers, task, reading, false);
}

static bool any_is_before(const struct readers *readers, enum delay delay)
{
        return ANY(FOREACH_LISTED(const struct reader, reader, &readers->list), reader->delay < delay);
}

bool readers_are_busy(const struct readers *readers)
{
        return any_is_before(readers, STALLED);
}

bool readers_are_quick(const struct readers *readers)
{
        return any_is_before(readers, SLOW);
}

bool readers_wait_for(const struct readers *readers, dev_t device)
{
        return ANY(FOREACH_LISTED(const struct reader, reader, &readers->list),
                reader->delay >= STALLED && reader->reading.devices[reader->next].number == device);
}

int readers_new(sd_event *event, reader_known_function is_known, reader_result_function on_result,
        reader_progress_function on_progress, void *userdata, struct readers **ret)
{
        struct readers *readers = malloc(sizeof(*readers));

        if (!readers)
                return -ENOMEM;
        *readers = (struct readers){
                .event = event,
                .is_known = is_known,
                .on_result = on_result,
                .on_progress = on_progress,
                .userdata = userdata,
                .timeout_usec = TIMEOUT_USEC,
        };
        dm_list_init(&readers->list);
        *ret = readers;
        return 0;
}

struct readers *readers_free(struct readers *readers)
{
        if (!readers)
                return NULL;
        FOREACH_LISTED(struct reader, reader, &readers->list)
                reader_free(reader);
        free(readers);
        return NULL;
}

/* ------ for commands ------ */

static int on_command_progress(_unused_ void *userdata)
{
        return 0;
}

int devices_read(char *const paths[], size_t n, reader_result_function on_result, void *userdata)
{
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        _cleanup_(readers_freep) struct readers *readers = NULL;
        _cleanup_reading_ struct reading reading = {};
        int code = 0, r = sd_event_new(&event);

        for (size_t i = 0; r >= 0 && i < n; i++) {
                struct stat status;

                /* The reader reports a missing device. */
                r = reading_add(&reading, stat(paths[i], &status) < 0 ? 0 : status.st_rdev, paths[i]);
        }
        r = r ?: readers_new(event, NULL, on_result, on_command_progress, userdata, &readers);
        if (r < 0)
                return r;
        readers->timeout_usec = COMMAND_TIMEOUT_USEC;
        r = readers_start(readers, READER_READ, &reading);
        /* A negative errno of `on_result` ends the event loop. */
        while (r >= 0 && sd_event_get_exit_code(event, &code) < 0 && !dm_list_empty(&readers->list))
                r = sd_event_run(event, UINT64_MAX);
        return r < 0 ? r : code;
}
