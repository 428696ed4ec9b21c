/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "lvm/metadata.h"
#include "lvm/pv.h"

/* The child process of a reader, see reader.h: its input and output. */

enum reader_task {
        READER_READ,  /* the label and the metadata */
        READER_PROBE, /* a few bytes, bypassing the page cache, to see whether the device responds */
};

/* A list of devices to read. */
struct reading {
        struct reader_device {
                dev_t number;
                char *name; /* "/dev/sda" */
        } * devices;
        size_t n;
};

/* One of the metadata areas of a PV, two at most. */
struct reader_copy {
        int32_t error; /* 0, or a negative errno: -EBADMSG with a reason */
        struct text_id text;
        uint64_t facts_size;      /* 0 if the text is known already, or unreadable */
        const char *facts;        /* see facts_read() */
        char name[LVM_NAME_SIZE]; /* of the VG, perhaps from a damaged text, or "" */
        char reason[64];
};

struct reader_result {
        dev_t device;
        const char *name; /* of the device, as in the list; set by the parent */
        int32_t error;    /* 0, or a negative errno: -EBADMSG with a reason; if pvid is set, of its metadata */
        uint32_t slow;    /* not 0 if it took more than a tenth of a second; set by the parent */
        char pvid[LVM_ID_SIZE];     /* "" if it is not a PV */
        uint32_t unused;            /* not 0 if the PV is flagged as used by no VG */
        uint32_t empty;             /* not 0 if a metadata area is in use and empty */
        uint32_t n_ignored;         /* metadata areas that lvm2 ignores (vgchange --metadatacopies) */
        uint32_t md_disks, md_role; /* of a member of an md array; else 0 */
        char reason[64];
        uint32_t n_copies; /* metadata copies, without empty and ignored areas */
        struct reader_copy copies[LABEL_METADATA_AREAS_MAX];
};

/* Whether that text is known, and need not be read. May be NULL for none. */
typedef bool (*reader_known_function)(const struct text_id *text, void *userdata);

/* Writes a struct reader_result for each device to `write_fd`, followed by the facts of its copies. Never returns. */
_Noreturn void reader_child_run(reader_known_function is_known, void *userdata, enum reader_task task,
        const struct reading *reading, int write_fd);
