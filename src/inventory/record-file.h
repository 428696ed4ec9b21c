/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/macro.h"
#include "shared/names.h"

/* The file "records" in the run directory: headgate's state, for the next worker and for commands. Records are
 * appended; when most of the file is out of date, a new one replaces it.
 *
 * Each record has a key and a text in the syntax of lvm2's metadata, and replaces earlier ones with its key; an
 * empty text removes them. It is stored as a line "KEY SIZE" and SIZE bytes of text that end with a newline. The
 * first record has the key "headgate", with version and boot ID. Each commit ends with an empty record with the key
 * "end"; anything after the last "end" is an incomplete commit, and ignored. */

#define RECORD_FILE "records"

/* Version of the format, incremented if a program of the last version would misread a record. */
#define RECORD_FILE_VERSION 3

struct record_entry {
        struct dm_list list; /* record_file.records; first, as dm_list wants it */
        const char *key;
        const char *text;
        uint64_t size;             /* in the file, including its line */
        struct record_entry *next; /* in its bucket */
};

/* ------ reading ------ */

struct record_file {
        uint64_t size;                 /* up to the last "end" */
        uint64_t live;                 /* the size of records that were not replaced */
        bool torn;                     /* an incomplete commit follows */
        struct dm_list records;        /* in the order of their last commit */
        struct record_entry **buckets; /* by key */
        struct dm_pool *pool;
};

/* Frees `*file`, which may be NULL, and reads the file. Returns 0; -ENOENT if there is no file; -EBADMSG if it is
 * damaged; -EPROTONOSUPPORT for another version; -EPERM if other users may write to it; or another negative errno.
 * On error, `*file` is NULL. */
int record_file_read(int run_fd, struct record_file **file) _nonnull_all_ _must_check_;

/* Logs that the records are not used: an error of record_file_read(), or -ESTALE if they are of another boot. */
void record_file_warn(int error);

struct record_file *record_file_free(struct record_file *file);
DEFINE_CLEANUP(struct record_file *, record_file_free)
#define _cleanup_record_file_ _cleanup_(record_file_freep)

/* Whether it was written during this boot. */
bool record_file_is_of_this_boot(const struct record_file *file) _nonnull_all_;

/* Returns the text of that key, or NULL; `file` may be NULL. */
const char *record_file_find(const struct record_file *file, const char *key) _nonnull_(2);

/* Walks over the records of a file, which may be NULL. */
#define FOREACH_RECORD(record, file)                                                                              \
        for (const struct record_entry *record = NULL; (record = record_file_next(file, record));)
const struct record_entry *record_file_next(const struct record_file *file, const struct record_entry *record);

/* A device that is a PV; its key is MAJOR:MINOR. */
struct record_device {
        dev_t number;
        char pvid[LVM_ID_SIZE];
        uint64_t diskseq; /* of the disk, see diskseq_read(); 0 if it is not known */
};

/* Returns 1 if the record is of a device, 0 if it is not, -EBADMSG if it is damaged, or -ENOMEM. */
int record_entry_parse_device(
        const struct record_entry *record, struct record_device *ret) _nonnull_all_ _must_check_;

/* ------ writing ------ */

struct record_writer;

/* Continues the file as it was read; with NULL, the first commit replaces the file. Returns 0 or a negative errno. */
int record_writer_new(int run_fd, const struct record_file *file, struct record_writer **ret)
        _nonnull_(3) _must_check_;
struct record_writer *record_writer_free(struct record_writer *writer);
DEFINE_CLEANUP(struct record_writer *, record_writer_free)

/* Adds a record to the next commit; the text "" removes the key. Returns 0 or a negative errno. */
int record_writer_put(struct record_writer *writer, const char *key, const char *text) _nonnull_all_ _must_check_;

/* Adds the record of a device; the PVID "" removes it. Returns likewise. */
int record_writer_put_device(
        struct record_writer *writer, const struct record_device *device) _nonnull_all_ _must_check_;

/* Whether the file exists, so that the next commit appends to it. */
bool record_writer_appends(const struct record_writer *writer) _nonnull_all_;

/* Returns whether the next commit has to write a new file, with all records: there is none, or most of it is out of
 * date. Call after a commit. */
bool record_writer_begin_anew(struct record_writer *writer) _nonnull_all_;

/* Writes the added records. Returns 0 or a negative errno: the next commit writes them, or if the file does not
 * exist, all have to be added again. Failing to replace an existing file is not an error. */
int record_writer_commit(struct record_writer *writer) _nonnull_all_ _must_check_;
