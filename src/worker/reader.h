/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-event.h>

#include "lvm/label.h"
#include "worker/inventory.h"

/* Reads labels and metadata of devices in a child process: a disk that does not answer holds up a read() for
 * minutes, and must not hold up the worker. One child reads a whole list of devices, one after another, and hands
 * each result over as soon as it has it. */

struct reader;

/* One of the at most two metadata areas of a PV. */
struct reader_copy {
        int32_t error; /* 0, or a negative errno: -EBADMSG with a reason */
        uint32_t checksum;
        uint64_t size;
        uint64_t text_size; /* its NUL included; 0 where the text was known already, or could not be read */
        const char *text;   /* also with -EBADMSG, as far as it could be read */
        char reason[64];
};

struct reader_result {
        dev_t device;
        int32_t error; /* 0, or a negative errno: -EBADMSG with a reason; with both, no PV if pvid is "" */
        char pvid[LVM_ID_SIZE];
        bool unused; /* the PV says that no VG has it */
        char reason[64];
        uint32_t n_copies; /* of metadata; areas that are empty or ignored do not count */
        struct reader_copy copies[LABEL_METADATA_AREAS_MAX];
};

/* Called for each device, in the order of the list; `result` and its texts are only valid during the call. A
 * device that did not answer in time comes with the error -ETIMEDOUT, one at which the child has crashed with
 * -EFAULT; those behind such a one are not handed over, but are UNREAD again. -EPIPE tells nothing of the device: the
 * child was killed, or had no memory. */
typedef int (*reader_result_function)(const struct reader_result *result, void *userdata);

/* Called once, when no device is READING any more. */
typedef int (*reader_done_function)(void *userdata);

/* Starts reading all devices of stage READING, which must have their names. `inventory` tells the child which
 * texts are known. The callbacks come from the event loop; one that returns a negative errno ends the loop.
 * Returns 0 or a negative errno. */
int reader_start(sd_event *event, struct inventory *inventory, reader_result_function on_result,
        reader_done_function on_done, void *userdata, struct reader **ret) _must_check_;

/* Ends the child, if it still is at work. */
struct reader *reader_free(struct reader *reader);
