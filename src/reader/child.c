/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "reader/child.h"

#include <fcntl.h>
#include <libdevmapper.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "lvm/pv.h"
#include "reader/facts.h"
#include "reader/sandbox.h"
#include "shared/log.h"
#include "shared/util.h"

/* No disk has larger sectors. */
#define PIECE_SIZE 4096U

/* What the child knows, which lives for one list of devices. */
struct child {
        reader_known_function is_known;
        void *userdata;
        enum reader_task task;
        struct dm_hash_table *texts; /* size and checksum of those that it has read */
};

static void set_reason(char (*ret)[64], const char *reason)
{
        snprintf(*ret, sizeof(*ret), "%s", reason ?: "");
}

static bool knows(const struct child *child, const struct text_id *key)
{
        return child->is_known(key->size, (uint32_t) key->checksum, child->userdata) ||
               dm_hash_lookup_binary(child->texts, key, sizeof(*key));
}

/* Parses the text. Without memory for it, it is as one that cannot be read. */
static int take_text(const char *text, struct reader_copy *copy, const char **reterr_reason)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        size_t size;
        char *facts;
        int r;

        r = metadata_parse(text, &metadata, reterr_reason);
        if (r >= 0)
                r = facts_write(metadata, &facts, &size);
        if (r < 0)
                return r;
        if (size > FACTS_SIZE_MAX) {
                free(facts);
                return -EFBIG;
        }
        copy->facts = facts;
        copy->facts_size = size;
        return 0;
}

static void guess_name(const char *text, struct reader_copy *copy)
{
        _cleanup_free_ char *name = NULL;

        if (text && metadata_guess_name(text, &name) >= 0)
                snprintf(copy->name, sizeof(copy->name), "%s", name);
}

/* Reads one metadata area into `copy`. The text is only read if neither the parent nor this child knows it.
 * Adds it to the result if there is any metadata. */
static void read_copy(struct child *child, int fd, const struct metadata_area *area, struct reader_result *result)
{
        struct reader_copy *copy = &result->copies[result->n_copies];

        /* lvm2 may write while we read: then the checksum does not fit, and a second look shows the new text. */
        for (int attempt = 0; attempt < 2; attempt++) {
                _cleanup_free_ char *text = NULL;
                struct metadata_location location = {};
                const char *reason = NULL;
                struct text_id key;
                int r;

                *copy = (struct reader_copy){};
                r = metadata_area_read_location(fd, area, &location, &reason);
                if (r == METADATA_AREA_EMPTY || r == METADATA_AREA_IGNORED) {
                        result->empty |= r == METADATA_AREA_EMPTY;
                        result->n_ignored += r == METADATA_AREA_IGNORED;
                        return;
                }
                key = (struct text_id){location.size, location.checksum};
                if (r == METADATA_AREA_FOUND) {
                        copy->size = location.size;
                        copy->checksum = location.checksum;
                        if (knows(child, &key))
                                break;
                        r = metadata_area_read_text(fd, area, &location, &text, &reason);
                }
                if (r >= 0)
                        r = take_text(text, copy, &reason);

                copy->error = r;
                set_reason(&copy->reason, reason);
                if (r >= 0) {
                        (void) dm_hash_insert_binary(child->texts, &key, sizeof(key), child);
                        break;
                }
                guess_name(text, copy);
                if (r != -EBADMSG)
                        break;
        }
        result->n_copies++;
}

static void measure_copy(int fd, const struct metadata_area *area, struct reader_result *result)
{
        struct reader_copy *copy = &result->copies[result->n_copies];
        struct metadata_location location;
        _cleanup_free_ char *text = NULL;
        uint64_t begin = now_usec();
        const char *reason;
        int r;

        r = metadata_area_read_location(fd, area, &location, &reason);
        result->usec += now_usec() - begin;
        if (r != METADATA_AREA_FOUND)
                return;
        begin = now_usec();
        copy->error = metadata_area_read_text(fd, area, &location, &text, &reason);
        copy->usec = now_usec() - begin;
        result->n_copies++;
}

/* Without reading ahead, which would bring the text with the header. */
static void drop_cache(int fd)
{
        (void) posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
        (void) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static void read_device(struct child *child, const struct reader_device *device, struct reader_result *result)
{
        _cleanup_close_ int fd = -EBADF;
        const char *reason = NULL;
        struct stat status;
        uint64_t begin;
        struct label label;
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

        /* Another device has the name by now. */
        if (fstat(fd, &status) < 0 || (S_ISBLK(status.st_mode) && status.st_rdev != device->number)) {
                result->error = -ENXIO;
                return;
        }

        /* A loop device without its file, for instance: what was there has gone, and is not another VG's now. */
        if (S_ISBLK(status.st_mode) && lseek(fd, 0, SEEK_END) == 0) {
                result->error = -ENOMEDIUM;
                return;
        }

        if (child->task == READER_MEASURE)
                drop_cache(fd);
        begin = now_usec();
        r = label_read(fd, &label, &reason);
        result->usec = now_usec() - begin;
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
                if (child->task == READER_MEASURE)
                        measure_copy(fd, &label.metadata_areas[i], result);
                else
                        read_copy(child, fd, &label.metadata_areas[i], result);
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

static int write_result(const struct reader_result *result)
{
        int r = write_all(STDOUT_FILENO, result, sizeof(*result));

        for (size_t i = 0; i < result->n_copies && r >= 0; i++) {
                r = write_all(STDOUT_FILENO, result->copies[i].facts, result->copies[i].facts_size);
                free((void *) result->copies[i].facts);
        }
        return r;
}

/* What libdevmapper says of a text is told by the reason for which it is not used. */
static void ignore_message(_unused_ const char *message, _unused_ void *userdata)
{
}

void reader_child_run(reader_known_function is_known, void *userdata, enum reader_task task,
        const struct reading *reading, int write_fd)
{
        struct child child = {is_known, userdata, task, dm_hash_create(64)};

        /* No descriptor of the parent is for a child that may outlive it by a read() that hangs, or has come to harm: not
         * the worker's lock on "running", nor a journal, or a terminal or pipe of whoever runs headgate. */
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!child.texts || dup2(write_fd, STDOUT_FILENO) < 0)
                _exit(EXIT_FAILURE);
        (void) close(STDIN_FILENO);
        (void) close_range(STDERR_FILENO, ~0U, 0);
        log_divert_libdevmapper(ignore_message, NULL);
        sandbox_enter(reading->n);

        for (size_t i = 0; i < reading->n; i++) {
                struct reader_result result;

                if (task == READER_PROBE)
                        probe_device(&reading->devices[i], &result);
                else
                        read_device(&child, &reading->devices[i], &result);
                if (write_result(&result) < 0)
                        _exit(EXIT_FAILURE);
        }
        _exit(EXIT_SUCCESS);
}
