/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/label.h"
#include "worker/inventory.h"

/* The child process of a reader, see reader.h: what it is given, and what it writes. */

enum reader_task {
        READER_READ,  /* the label and the metadata */
        READER_PROBE, /* a few bytes, bypassing the kernel's cache: only to see if the device responds */
};

/* A list of devices to be read. */
struct reading {
        struct reader_device {
                dev_t number;
                char *name; /* "/dev/sda" */
        } * devices;
        size_t n;
};

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

/* Writes a struct reader_result for each device to `write_fd`, followed by the texts of its copies. Never frees memory and
 * never returns. */
_Noreturn void reader_child_run(
        struct inventory *inventory, enum reader_task task, const struct reading *reading, int write_fd);
