/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The file of records: what is written is read, a step wholly or not at all. */

#include "inventory/record-file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "shared/util.h"

#define PVID "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static struct record_writer *writer;
static struct record_file *file;

static void set_up(void)
{
        run_directory_set_up();
        writer = NULL;
        file = NULL;
        ck_assert_int_eq(record_writer_new(run_fd, NULL, &writer), 0);
        ck_assert(record_writer_begin_anew(writer));
}

static void tear_down(void)
{
        record_writer_free(writer);
        record_file_free(file);
        run_directory_tear_down();
}

static void put(const char *key, const char *text)
{
        ck_assert_int_eq(record_writer_put(writer, key, text), 0);
}

static void commit(void)
{
        ck_assert_int_eq(record_writer_commit(writer), 0);
}

static void assert_text(const char *key, const char *text)
{
        const char *found = record_file_find(file, key);

        ck_assert_msg(text ? found && streq(found, text) : !found, "%s: %s", key, found ?: "none");
}

static size_t size_of_file(void)
{
        struct stat status;

        ck_assert_int_eq(fstatat(run_fd, RECORD_FILE, &status, 0), 0);
        return (size_t) status.st_size;
}

static char *read_text(void)
{
        char *text;

        ck_assert_int_eq(read_file_at(run_fd, RECORD_FILE, &text, NULL), 0);
        return text;
}

/* As somebody else would write it. */
static void write_text(const char *text, size_t size)
{
        _cleanup_close_ int fd = openat(run_fd, RECORD_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_all(fd, text, size), 0);
}

START_TEST(last_text_of_a_key_counts)
{
        ck_assert_int_eq(record_file_read(run_fd, &file), -ENOENT);
        put("a", "x = 1\n");
        put("b", "x = 2");
        put("a", "x = 3");
        put("c", "x = 4");
        put("c", "");
        commit();
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        assert_text("a", "x = 3");
        assert_text("b", "x = 2");
        assert_text("c", NULL);
        ck_assert_uint_eq(dm_list_size(&file->records), 3);
        ck_assert(record_file_is_of_this_boot(file));
        ck_assert_uint_eq(file->size, size_of_file());
        ck_assert(!file->torn);
}
END_TEST

/* In the order in which they were written last. */
START_TEST(records_are_in_order)
{
        static const char *const keys[] = {"headgate", "b", "c", "a"};
        const struct record_entry *record;
        size_t i = 0;

        put("a", "x = 1");
        put("b", "x = 2");
        commit();
        put("c", "x = 3");
        put("a", "x = 4");
        commit();
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        dm_list_iterate_items(record, &file->records)
                ck_assert_str_eq(record->key, keys[i++]);
        ck_assert_uint_eq(i, ELEMENTSOF(keys));
}
END_TEST

/* Who reads again reads what is new, and sees a file that was written anew. */
START_TEST(reader_reads_again)
{
        put("a", "x = 1");
        commit();
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        put("b", "x = 2");
        commit();
        assert_text("b", NULL);
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        assert_text("b", "x = 2");
        assert_text("a", "x = 1");
        ck_assert_uint_eq(file->size, size_of_file());

        record_writer_free(writer);
        ck_assert_int_eq(record_writer_new(run_fd, NULL, &writer), 0);
        put("c", "x = 3");
        commit();
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        assert_text("a", NULL);
        assert_text("c", "x = 3");
}
END_TEST

/* Wherever a step is torn off, what was before it is read, and the next writer cuts off the rest. */
START_TEST(torn_step_does_not_count)
{
        _cleanup_free_ char *text = NULL;
        size_t whole, all;

        put("a", "x = 1");
        commit();
        whole = size_of_file();
        put("a", "x = 2");
        put("12345678901234567890123456789012", "x = \"a longer one\"");
        commit();
        all = size_of_file();
        text = read_text();
        for (size_t size = whole; size < all; size++) {
                write_text(text, size);
                ck_assert_int_eq(record_file_read(run_fd, &file), 0);
                assert_text("a", "x = 1");
                ck_assert_uint_eq(file->size, whole);
                ck_assert_int_eq(file->torn, size > whole);

                record_writer_free(writer);
                ck_assert_int_eq(record_writer_new(run_fd, file, &writer), 0);
                ck_assert(!record_writer_begin_anew(writer));
                put("b", "x = 3");
                commit();
                file = record_file_free(file);
                ck_assert_int_eq(record_file_read(run_fd, &file), 0);
                assert_text("b", "x = 3");
                ck_assert(!file->torn);
                file = record_file_free(file);
        }
}
END_TEST

/* Makes a text, and puts it for one key until the file is to be written anew. Returns how often it replaced itself. */
static size_t put_until_out_of_date(char *text, size_t size)
{
        size_t n = 0;

        memset(text, 'x', size - 1);
        put("a", text);
        commit();
        for (; !record_writer_begin_anew(writer); n++) {
                put("a", text);
                commit();
        }
        return n;
}

START_TEST(file_is_written_anew_when_most_is_out_of_date)
{
        char text[1024] = "";
        size_t n = put_until_out_of_date(text, sizeof(text));

        ck_assert_uint_gt(n, 500);
        ck_assert_uint_lt(n, 520);
        put("b", text);
        commit();
        ck_assert_uint_lt(size_of_file(), 2048);
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        assert_text("a", NULL);
        assert_text("b", text);
}
END_TEST

/* What could be written only in part is taken back, and written with the next step. */
START_TEST(failed_commit_is_made_up_for)
{
        struct rlimit limit;

        put("a", "x = 1");
        commit();
        ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
        limit.rlim_cur = size_of_file() + 10;
        ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        put("a", "x = 2");
        put("b", "x = 3");
        ck_assert_int_eq(record_writer_commit(writer), -EFBIG);
        limit.rlim_cur = limit.rlim_max;
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);

        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        ck_assert(!file->torn);
        assert_text("a", "x = 1");
        ck_assert(!record_writer_begin_anew(writer));
        put("c", "x = 4");
        commit();
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        assert_text("a", "x = 2");
        assert_text("b", "x = 3");
        assert_text("c", "x = 4");
}
END_TEST

/* Without room for a second file the first one is still appended to. */
START_TEST(file_that_cannot_be_written_anew_stays)
{
        char text[1024] = "";

        (void) put_until_out_of_date(text, sizeof(text));
        ck_assert_int_eq(mkdirat(run_fd, "." RECORD_FILE ".new", 0700), 0);
        put("b", "x = 1");
        commit();
        ck_assert(!record_writer_begin_anew(writer));
        put("b", "x = 2");
        commit();
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        assert_text("a", text);
        assert_text("b", "x = 2");
}
END_TEST

#define HEAD "headgate 22\nversion = 3\nboot = \"\"\n"

START_TEST(other_files_are_refused)
{
        static const struct {
                const char *text;
                int error;
        } cases[] = {
                {"", -EBADMSG},
                {"end 0\n", -EBADMSG},
                {HEAD "end 0\n", 0},
                {HEAD "a 6\nx = 1\nend 0\n", 0},
                {HEAD, -EBADMSG},
                {"headgate 22\nversion = 2\nboot = \"\"\nend 0\n", -EPROTONOSUPPORT},
                {"headgate 22\nversion = 4\nboot = \"\"\nend 0\n", -EPROTONOSUPPORT},
                {"headgate 23\nversion = 20\nboot = \"\"\nend 0\n", -EPROTONOSUPPORT},
                {HEAD "a\nend 0\n", -EBADMSG},
                {HEAD "a x\nend 0\n", -EBADMSG},
                {HEAD "a -1\nend 0\n", -EBADMSG},
                {HEAD "a 5\nx = 1\nend 0\n", -EBADMSG},
                {HEAD "end 0\na 99999999999999999999\nx", -EBADMSG},
                {HEAD "end 0\na 99999\nx = 1\nend 0\n", 0},
                {HEAD "end 0\n0123456789012345678901234567890123456789012345678901234567890123456789", -EBADMSG},
                {"name = \"a VG\"\n", -EBADMSG},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                write_text(cases[i].text, strlen(cases[i].text));
                ck_assert_msg(record_file_read(run_fd, &file) == cases[i].error, "%s", cases[i].text);
                ck_assert_int_eq(file == NULL, cases[i].error < 0);
                file = record_file_free(file);
        }
        write_text(HEAD "a 6\nx\0= 1\nend 0\n", sizeof(HEAD "a 6\nx\0= 1\nend 0\n") - 1);
        ck_assert_int_eq(record_file_read(run_fd, &file), -EBADMSG);
}
END_TEST

/* Somebody else could have written to it. */
START_TEST(others_must_not_write)
{
        put("a", "x = 1");
        commit();
        ck_assert_int_eq(fchmodat(run_fd, RECORD_FILE, 0620, 0), 0);
        ck_assert_int_eq(record_file_read(run_fd, &file), -EPERM);
        ck_assert_int_eq(unlinkat(run_fd, RECORD_FILE, 0), 0);
        ck_assert_int_eq(mkfifoat(run_fd, RECORD_FILE, 0600), 0);
        ck_assert_int_eq(record_file_read(run_fd, &file), -EPERM);
        ck_assert_int_eq(unlinkat(run_fd, RECORD_FILE, 0), 0);
        ck_assert_int_eq(symlinkat("elsewhere", run_fd, RECORD_FILE), 0);
        ck_assert_int_eq(record_file_read(run_fd, &file), -ELOOP);
}
END_TEST

START_TEST(other_boot_is_told_apart)
{
        static const char text[] = "headgate 27\nversion = 3\nboot = \"other\"\nend 0\n";

        write_text(text, strlen(text));
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        ck_assert(!record_file_is_of_this_boot(file));
}
END_TEST

START_TEST(device)
{
        struct record_device written = {.number = makedev(8, 16), .pvid = PVID, .diskseq = 4711}, read = {};
        struct record_entry other = {.key = PVID, .text = ""};

        ck_assert_int_eq(record_writer_put_device(writer, &written), 0);
        commit();
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        ck_assert_int_eq(
                record_entry_parse_device(
                        &(struct record_entry){.key = "8:16", .text = record_file_find(file, "8:16")}, &read),
                1);
        ck_assert_uint_eq(read.number, written.number);
        ck_assert_str_eq(read.pvid, PVID);
        ck_assert_uint_eq(read.diskseq, 4711);
        ck_assert_int_eq(record_entry_parse_device(&other, &read), 0);
        other = (struct record_entry){.key = "8:0", .text = "pvid = \"short\""};
        ck_assert_int_eq(record_entry_parse_device(&other, &read), -EBADMSG);
        other.text = "pvid";
        ck_assert_int_eq(record_entry_parse_device(&other, &read), -EBADMSG);

        written.pvid[0] = '\0';
        ck_assert_int_eq(record_writer_put_device(writer, &written), 0);
        commit();
        ck_assert_int_eq(record_file_read(run_fd, &file), 0);
        assert_text("8:16", NULL);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("record-file");
        TCase *tests = tcase_create("tests");

        tcase_add_checked_fixture(tests, set_up, tear_down);
        tcase_add_test(tests, last_text_of_a_key_counts);
        tcase_add_test(tests, records_are_in_order);
        tcase_add_test(tests, reader_reads_again);
        tcase_add_test(tests, torn_step_does_not_count);
        tcase_add_test(tests, file_is_written_anew_when_most_is_out_of_date);
        tcase_add_test(tests, failed_commit_is_made_up_for);
        tcase_add_test(tests, file_that_cannot_be_written_anew_stays);
        tcase_add_test(tests, other_files_are_refused);
        tcase_add_test(tests, others_must_not_write);
        tcase_add_test(tests, other_boot_is_told_apart);
        tcase_add_test(tests, device);
        suite_add_tcase(suite, tests);
        return run_suite(suite);
}
