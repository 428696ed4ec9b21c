/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The file of records: reading, appending, and replacing it when most of it is out of date. */

#include "inventory/record-file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <systemd/sd-id128.h>

#include "shared/dm.h"
#include "shared/log.h"
#include "shared/util.h"

#define NEW_FILE "." RECORD_FILE ".new"
#define HEAD "headgate"
#define END "end"
#define END_MARK END " 0\n"
#define VERSION_LINE "version = " STRINGIFY(RECORD_FILE_VERSION) "\n"
#define PVID_KEY "pvid = \""

/* No record has a longer key. */
#define KEY_SIZE_MAX 64

/* A smaller file is never replaced. A larger one is when half of it, or as much as this, is out of date. */
#define REWRITE_SIZE_MIN (512 * 1024)
#define OUTDATED_SIZE_MAX (4 * 1024 * 1024)

#define N_BUCKETS 4096

/* ------ reading ------ */

struct record_file *record_file_free(struct record_file *file)
{
        if (!file)
                return NULL;
        dm_pool_destroyp(&file->pool);
        free(file);
        return NULL;
}

/* Returns the place of the record with that key. libdevmapper's hash table would cost ten times as much: each
 * reader needs a few records, but indexes all. */
static struct record_entry **find_place(const struct record_file *file, const char *key)
{
        struct record_entry **place;
        uint32_t hash = 2166136261U; /* FNV-1a */

        for (const char *at = key; *at != '\0'; at++)
                hash = (hash ^ (unsigned char) *at) * 16777619U;
        place = &file->buckets[hash % N_BUCKETS];
        while (*place && !streq((*place)->key, key))
                place = &(*place)->next;
        return place;
}

/* Adds the record, replacing an earlier one with its key. */
static void replace(struct record_file *file, struct record_entry *record)
{
        struct record_entry **place = find_place(file, record->key), *former = *place;

        dm_list_del(&record->list);
        if (former) {
                file->live -= former->size;
                dm_list_del(&former->list);
                *place = former->next;
        }
        if (isempty(record->text))
                return;
        file->live += record->size;
        dm_list_add(&file->records, &record->list);
        record->next = *place;
        *place = record;
}

/* Parses the record at `*position`, and moves that behind it; terminates key and text with NUL. Returns 1; 0 if it
 * is incomplete; or -EBADMSG. */
static int parse_record(char **position, const char *end, struct record_entry *ret)
{
        size_t n = MIN((size_t) (end - *position), (size_t) KEY_SIZE_MAX);
        char *newline = memchr(*position, '\n', n), *space, *text;
        uint64_t size;

        if (!newline)
                return n < KEY_SIZE_MAX ? 0 : -EBADMSG;
        *newline = '\0';
        space = strchr(*position, ' ');
        if (!space || parse_u64(space + 1, &size) < 0)
                return -EBADMSG;
        *space = '\0';
        text = newline + 1;
        if (size > (uint64_t) (end - text))
                return 0;
        ret->key = *position;
        ret->text = "";
        ret->size = (uint64_t) (text - *position) + size;
        *position = text + size;
        if (size == 0)
                return 1;
        ret->text = text;
        if (text[size - 1] != '\n' || memchr(text, '\0', size))
                return -EBADMSG;
        text[size - 1] = '\0';
        return 1;
}

/* Adds the complete records of `n` bytes that were read. */
static int parse(struct record_file *file, char *buffer, size_t n)
{
        char *position = buffer, *end = buffer + n;
        struct record_entry *record;
        struct dm_list step;
        int r;

        dm_list_init(&step);
        for (;;) {
                record = dm_pool_alloc(file->pool, sizeof(*record));
                if (!record)
                        return -ENOMEM;
                r = parse_record(&position, end, record);
                if (r <= 0)
                        break;
                dm_list_add(&step, &record->list);
                if (!streq(record->key, END))
                        continue;
                FOREACH_LISTED(struct record_entry, whole, &step)
                        replace(file, whole);
                file->size += (uint64_t) (position - buffer);
                buffer = position;
        }
        file->torn = buffer < end;
        return r;
}

/* Makes the text of the first record; to be freed by the caller, NULL without memory. */
static char *make_head(void)
{
        char boot[SD_ID128_STRING_MAX] = "";
        sd_id128_t id;

        if (sd_id128_get_boot(&id) >= 0)
                sd_id128_to_string(id, boot);
        return string_format(VERSION_LINE "boot = \"%s\"", boot);
}

static int read_records(int fd, struct record_file *file)
{
        struct stat status;
        const char *head;
        char *buffer;
        ssize_t n;
        int r;

        if (fstat(fd, &status) < 0)
                return -errno;
        if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022))
                return -EPERM;
        buffer = dm_pool_alloc(file->pool, (size_t) status.st_size + 1);
        if (!buffer)
                return -ENOMEM;
        n = read_at(fd, buffer, (size_t) status.st_size, 0);
        if (n < 0)
                return (int) n;
        r = parse(file, buffer, (size_t) n);
        if (r < 0)
                return r;
        head = record_file_find(file, HEAD);
        if (!head)
                return -EBADMSG;
        return skip_prefix(head, VERSION_LINE) ? 0 : -EPROTONOSUPPORT;
}

int record_file_read(int run_fd, struct record_file **file)
{
        _cleanup_close_ int fd = -EBADF;
        _cleanup_record_file_ struct record_file *read = calloc(1, sizeof(*read));
        int r;

        *file = record_file_free(*file);
        if (!read)
                return -ENOMEM;
        dm_list_init(&read->records);
        read->pool = dm_pool_create("records", 65536);
        if (read->pool)
                read->buckets = dm_pool_zalloc(read->pool, N_BUCKETS * sizeof(struct record_entry *));
        if (!read->buckets)
                return -ENOMEM;
        fd = openat(run_fd, RECORD_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        r = fd < 0 ? -errno : read_records(fd, read);
        if (r >= 0)
                *file = TAKE_PTR(read);
        return r;
}

void record_file_warn(int error)
{
        log_warning("Records in /run/headgate/" RECORD_FILE " are %s, ignoring them.",
                error == -ENOENT            ? "missing"
                : error == -ESTALE          ? "of another boot"
                : error == -EPROTONOSUPPORT ? "of another version"
                : error == -EPERM           ? "writable by other users"
                : error == -EBADMSG         ? "damaged"
                                            : "not readable");
}

bool record_file_is_of_this_boot(const struct record_file *file)
{
        _cleanup_free_ char *head = make_head();

        return head && streq(record_file_find(file, HEAD), head);
}

const char *record_file_find(const struct record_file *file, const char *key)
{
        const struct record_entry *record = file ? *find_place(file, key) : NULL;

        return record ? record->text : NULL;
}

const struct record_entry *record_file_next(const struct record_file *file, const struct record_entry *record)
{
        const struct dm_list *next =
                file ? dm_list_next(&file->records, record ? &record->list : &file->records) : NULL;

        return next ? dm_list_item(next, const struct record_entry) : NULL;
}

/* There is one for each disk, and each reader parses all: a tree of libdevmapper would cost fifty times as much. */
int record_entry_parse_device(const struct record_entry *record, struct record_device *ret)
{
        const char *pvid = skip_prefix(record->text, PVID_KEY), *rest;
        int r = parse_device_number(record->key, &ret->number);

        if (r < 0)
                return r == -EINVAL ? 0 : r;
        if (!pvid)
                return -EBADMSG;
        snprintf(ret->pvid, sizeof(ret->pvid), "%s", pvid);
        if (!lvm_id_is_valid(ret->pvid) || pvid[LVM_ID_LENGTH] != '"')
                return -EBADMSG;
        rest = skip_prefix(pvid + LVM_ID_LENGTH, "\"\ndiskseq = ");
        ret->diskseq = rest ? strtoull(rest, NULL, 10) : 0;
        return 1;
}

/* ------ writing ------ */

struct record_writer {
        int run_fd; /* not owned */
        int fd;     /* the file; < 0 if there is none */
        bool anew;  /* the next commit writes a new file */
        uint64_t size;
        uint64_t rewrite_size; /* replace the file above this size */
        struct memstream step; /* added since the last commit */
};

static uint64_t find_rewrite_size(uint64_t live)
{
        return MAX(live + MIN(live, (uint64_t) OUTDATED_SIZE_MAX), (uint64_t) REWRITE_SIZE_MIN);
}

struct record_writer *record_writer_free(struct record_writer *writer)
{
        if (!writer)
                return NULL;
        memstream_done(&writer->step);
        closep(&writer->fd);
        free(writer);
        return NULL;
}

int record_writer_new(int run_fd, const struct record_file *file, struct record_writer **ret)
{
        struct record_writer *writer = malloc(sizeof(*writer));

        if (!writer)
                return -ENOMEM;
        *writer = (struct record_writer){.run_fd = run_fd, .fd = -EBADF};
        /* A killed writer may have left it. */
        (void) unlinkat(run_fd, NEW_FILE, 0);
        if (file) {
                writer->fd = openat(run_fd, RECORD_FILE, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
                if (file->torn && ftruncate(writer->fd, (off_t) file->size) < 0) {
                        closep(&writer->fd);
                        writer->fd = -EBADF;
                }
                writer->size = file->size;
                writer->rewrite_size = find_rewrite_size(file->live);
        }
        *ret = writer;
        return 0;
}

int record_writer_put(struct record_writer *writer, const char *key, const char *text)
{
        size_t size = strlen(text);

        if (!writer->step.file && !memstream_open(&writer->step))
                return -ENOMEM;
        /* The reader replaces the newline by NUL. */
        return fprintf(writer->step.file, "%s %zu\n%s%s", key, size > 0 ? size + 1 : 0, text,
                       size > 0 ? "\n" : "") < 0
                       ? -ENOMEM
                       : 0;
}

int record_writer_put_device(struct record_writer *writer, const struct record_device *device)
{
        _cleanup_free_ char *key = string_format("%u:%u", major(device->number), minor(device->number));
        _cleanup_free_ char *text = isempty(device->pvid) ? strdup("")
                                                          : string_format(PVID_KEY "%s\"\ndiskseq = %" PRIu64,
                                                                    device->pvid, device->diskseq);

        return key && text ? record_writer_put(writer, key, text) : -ENOMEM;
}

bool record_writer_appends(const struct record_writer *writer)
{
        return writer->fd >= 0;
}

bool record_writer_begin_anew(struct record_writer *writer)
{
        if (writer->fd >= 0 && writer->size <= writer->rewrite_size)
                return false;
        memstream_done(&writer->step);
        writer->anew = true;
        return true;
}

static int write_head(int fd)
{
        _cleanup_free_ char *head = make_head();
        _cleanup_free_ char *text = head ? string_format(HEAD " %zu\n%s\n", strlen(head) + 1, head) : NULL;

        return text ? write_all(fd, text, strlen(text)) : -ENOMEM;
}

/* If there is no room, it removes the new file. */
static int write_new_file(struct record_writer *writer)
{
        _cleanup_close_ int fd = openat(
                writer->run_fd, NEW_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        int r = fd < 0 ? -errno : write_head(fd) ?: write_all(fd, writer->step.text, writer->step.size);

        if (r >= 0 && renameat(writer->run_fd, NEW_FILE, writer->run_fd, RECORD_FILE) < 0)
                r = -errno;
        if (r < 0) {
                (void) unlinkat(writer->run_fd, NEW_FILE, 0);
                return r;
        }
        closep(&writer->fd);
        writer->fd = TAKE_FD(fd);
        writer->size = (uint64_t) lseek(writer->fd, 0, SEEK_CUR);
        writer->rewrite_size = find_rewrite_size(writer->step.size);
        return 0;
}

/* If there is no room, it truncates the file to its former size. */
static int append(struct record_writer *writer)
{
        int r = write_all(writer->fd, writer->step.text, writer->step.size);

        if (r < 0)
                return ftruncate(writer->fd, (off_t) writer->size) < 0 ? -errno : r;
        writer->size += writer->step.size;
        return 0;
}

int record_writer_commit(struct record_writer *writer)
{
        bool anew = writer->anew || writer->fd < 0;
        int r;

        if (!writer->step.file && !anew)
                return 0;
        r = record_writer_put(writer, END, "");
        if (r >= 0 && fflush(writer->step.file) != 0)
                r = -ENOMEM;
        if (r < 0)
                return r;
        r = anew ? write_new_file(writer) : append(writer);
        writer->anew = false;
        if (r < 0 && !anew) {
                /* The next record overwrites the mark. */
                (void) fseeko(writer->step.file, (off_t) (writer->step.size - strlen(END_MARK)), SEEK_SET);
                return r;
        }
        memstream_done(&writer->step);
        if (r >= 0 || writer->fd < 0)
                return r;
        /* The existing file has everything: try again when it has grown. */
        writer->rewrite_size = 2 * writer->size;
        return 0;
}
