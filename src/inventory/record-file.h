/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/macro.h"
#include "shared/names.h"

/* What headgate knows, written down for the next worker and for all that look on: the file "records" in the run directory.
 * Records are only appended, until most of the file is out of date and it is written anew. Each has a key and a text in the
 * syntax of lvm2's metadata, and replaces earlier ones of its key; an empty text removes them. In the file it is a line
 * "KEY SIZE" and SIZE bytes of text that end with a newline. The first has the key "headgate", with the version and the boot;
 * an empty one with the key "end" is behind what was written at one time. What follows the last of these was not written
 * wholly, and does not count. */

#define RECORD_FILE "records"

/* Of the format: raised when a program of the version before would misunderstand a record. */
#define RECORD_FILE_VERSION 2

struct record_entry {
        struct dm_list list; /* record_file.records; first, as dm_list wants it */
        const char *key;
        const char *text;
        uint64_t size;             /* in the file, with its line */
        struct record_entry *next; /* in its bucket */
};

/* ------ reading ------ */

struct record_file {
        int fd;
        uint64_t size;                 /* up to the last "end" */
        uint64_t live;                 /* of that, the size of the records that were not replaced */
        bool torn;                     /* something follows it */
        struct dm_list records;        /* in the order in which they were written last */
        struct record_entry **buckets; /* by key */
        struct dm_pool *pool;
};

/* Reads what has been added to `*file` since the last call, or all if that is NULL or the file is another one by now; then
 * earlier texts are gone. Returns 0; -ENOENT if there is no file; -EBADMSG if it is damaged; -EPROTONOSUPPORT if it is of
 * another version; -EPERM if others than this user may write to it; or another negative errno. Then `*file` is NULL. */
int record_file_read(int run_fd, struct record_file **file) _nonnull_all_ _must_check_;

/* What is to be said of the records if record_file_read() has returned `error`: "damaged" for instance. */
const char *record_file_describe_error(int error);

/* Says in one line why the records are not used: "damaged" for instance. */
void record_file_warn(const char *fault);

struct record_file *record_file_free(struct record_file *file);
DEFINE_CLEANUP(struct record_file *, record_file_free)
#define _cleanup_record_file_ _cleanup_(record_file_freep)

/* Whether it was written since the machine was started. */
bool record_file_is_of_this_boot(const struct record_file *file) _nonnull_all_;

/* The text of that key, or NULL; `file` may be NULL. */
const char *record_file_find(const struct record_file *file, const char *key) _nonnull_(2);

/* Each record of a file, which may be NULL, in the order of the list. */
#define FOREACH_RECORD(record, file)                                                                              \
        for (const struct record_entry *record = NULL; (record = record_file_next(file, record));)
const struct record_entry *record_file_next(const struct record_file *file, const struct record_entry *record);

/* A device that is a PV; its key is MAJOR:MINOR. */
struct record_device {
        dev_t number;
        char pvid[LVM_ID_SIZE];
        uint64_t diskseq; /* of the disk, see diskseq_read(); 0 if it is not known */
};

/* Whether the record is of a device with that PV, as far as its beginning says. Much cheaper than the next one. */
bool record_entry_has_pv(const struct record_entry *record, const char *pvid) _nonnull_all_;

/* Returns 1 if the record is of a device, 0 if it is not, -EBADMSG if it is damaged, or -ENOMEM. */
int record_entry_parse_device(
        const struct record_entry *record, struct record_device *ret) _nonnull_all_ _must_check_;

/* ------ writing ------ */

struct record_writer;

/* Continues the file as it was read, or with NULL a new one, which replaces what is there with the first commit. Returns 0 or
 * a negative errno. */
int record_writer_new(int run_fd, const struct record_file *file, struct record_writer **ret)
        _nonnull_(3) _must_check_;
struct record_writer *record_writer_free(struct record_writer *writer);
DEFINE_CLEANUP(struct record_writer *, record_writer_free)

/* Adds a record to those that are to be written; "" removes the key. Returns 0 or a negative errno. */
int record_writer_put(struct record_writer *writer, const char *key, const char *text) _nonnull_all_ _must_check_;

/* Adds the record of a device; "" as PVID removes it. Returns likewise. */
int record_writer_put_device(
        struct record_writer *writer, const struct record_device *device) _nonnull_all_ _must_check_;

/* Whether the file exists, so that what is put is appended. */
bool record_writer_appends(const struct record_writer *writer) _nonnull_all_;

/* Whether all records are to be put, and the next commit is to write the file anew: there is none, or most of it is out of
 * date. For after a commit. */
bool record_writer_begin_anew(struct record_writer *writer) _nonnull_all_;

/* Writes what was put. Returns 0 or a negative errno: then what was put is written by the next commit, or if the file does not
 * exist, all is to be put again. That a file cannot be written anew is no error. */
int record_writer_commit(struct record_writer *writer) _nonnull_all_ _must_check_;
