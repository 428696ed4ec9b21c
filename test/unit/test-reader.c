/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The child process that reads labels and metadata, on images that lvm2 wrote in the place of disks. */

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "lvm/online.h"
#include "shared/util.h"
#include "worker/reader.h"

static struct inventory *inventory;
static sd_event *event;
static struct reader *reader;
static int lvm_run_fd = -EBADF;

/* What came of one run. */
static struct {
        size_t n_results, n_pvs, n_copies, n_texts, n_gone, n_damaged, n_errors;
        int last_error;
} seen;

static void set_up(void)
{
        run_directory_set_up();
        lvm_run_fd = online_open_directory();
        ck_assert_int_ge(lvm_run_fd, 0);
        ck_assert_int_eq(inventory_new(run_fd, lvm_run_fd, &inventory), 0);
        ck_assert_int_eq(sd_event_new(&event), 0);
        memset(&seen, 0, sizeof(seen));
}

static void tear_down(void)
{
        sd_event_unref(event);
        inventory_free(inventory);
        close(lvm_run_fd);
        run_directory_tear_down();
}

static void add_device(unsigned int number, const char *path)
{
        struct device *device;

        ck_assert_int_eq(inventory_get_device(inventory, makedev(4000, number), &device), 0);
        device->name = strdup(path);
        ck_assert_ptr_nonnull(device->name);
        inventory_move_device(inventory, device, DEVICE_READING);
}

static void add_image(unsigned int number, const char *name)
{
        _cleanup_free_ char *path = string_format("%s/%s.img", getenv("HEADGATE_TEST_IMAGES"), name);

        ck_assert_ptr_nonnull(path);
        add_device(number, path);
}

static void add_many_images(void)
{
        for (unsigned int i = 1; i <= 350; i++) {
                _cleanup_free_ char *name = string_format("many-%u", i);

                add_image(i, name);
        }
}

static int on_result(const struct reader_result *result, _unused_ void *userdata)
{
        struct device *device = inventory_find_device(inventory, result->device);

        ck_assert_ptr_nonnull(device);
        ck_assert_int_eq(device->stage, DEVICE_READING);
        inventory_move_device(inventory, device, DEVICE_KNOWN);

        seen.n_results++;
        seen.n_pvs += result->pvid[0] != '\0';
        seen.n_gone += result->error == -ENOENT;
        seen.n_damaged += result->error == -EBADMSG;
        seen.n_errors += result->error < 0;
        if (result->error < 0)
                seen.last_error = result->error;
        seen.n_copies += result->n_copies;
        for (size_t i = 0; i < result->n_copies; i++) {
                ck_assert_uint_gt(result->copies[i].size, 0);
                seen.n_texts += result->copies[i].text != NULL;
                if (result->copies[i].text)
                        ck_assert_uint_eq(strlen(result->copies[i].text) + 1, result->copies[i].text_size);
        }
        return 0;
}

/* As the worker does. */
static int on_first_result(const struct reader_result *result, void *userdata)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        struct managed_group *group;
        const char *reason;

        ck_assert_int_eq(metadata_parse(result->copies[0].text, &metadata, &reason), 0);
        ck_assert_int_eq(inventory_add_metadata(inventory, metadata, &group), 0);
        ck_assert_int_eq(
                inventory_add_text(inventory, result->copies[0].size, result->copies[0].checksum, group), 0);
        return on_result(result, userdata);
}

static int on_done(_unused_ void *userdata)
{
        reader = reader_free(reader);
        return sd_event_exit(event, 0);
}

static void read_all(void)
{
        ck_assert_int_eq(reader_start(event, inventory, on_result, on_done, NULL, &reader), 0);
        ck_assert_int_eq(sd_event_loop(event), 0);
        ck_assert(dm_list_empty(&inventory->devices[DEVICE_UNREAD]));
        ck_assert(dm_list_empty(&inventory->devices[DEVICE_READING]));
}

/* 350 disks, and a copy of the metadata on each of them: its text is read and handed over once. */
START_TEST(text_of_many_copies_is_read_once)
{
        add_many_images();
        read_all();
        ck_assert_uint_eq(seen.n_results, 350);
        ck_assert_uint_eq(seen.n_pvs, 350);
        ck_assert_uint_eq(seen.n_copies, 350);
        ck_assert_uint_eq(seen.n_texts, 1);
        ck_assert_uint_eq(seen.n_errors, 0);
}
END_TEST

/* Two equal copies on one disk are one text, too. */
START_TEST(second_copy_is_known)
{
        add_image(1, "copies-3");
        read_all();
        ck_assert_uint_eq(seen.n_pvs, 1);
        ck_assert_uint_eq(seen.n_texts, 1);
        ck_assert_uint_eq(seen.n_copies, 2);
}
END_TEST

/* What the worker has taken over from one child, the next one does not read. */
START_TEST(known_text_is_not_read)
{
        add_image(1, "copies-2");
        ck_assert_int_eq(reader_start(event, inventory, on_first_result, on_done, NULL, &reader), 0);
        ck_assert_int_eq(sd_event_loop(event), 0);
        ck_assert_uint_eq(seen.n_texts, 1);

        sd_event_unref(event);
        ck_assert_int_eq(sd_event_new(&event), 0);
        memset(&seen, 0, sizeof(seen));
        add_image(2, "copies-2");
        read_all();
        ck_assert_uint_eq(seen.n_copies, 1);
        ck_assert_uint_eq(seen.n_texts, 0);
}
END_TEST

/* One bad device costs nothing of the others. */
START_TEST(errors_stay_with_their_device)
{
        add_image(1, "copies-2");
        add_device(2, "/nonexistent");
        add_device(3, "/dev/null");
        add_device(4, "/");
        add_image(5, "hyphens-1");
        read_all();
        ck_assert_uint_eq(seen.n_results, 5);
        ck_assert_uint_eq(seen.n_pvs, 2);
        ck_assert_uint_eq(seen.n_gone, 1);
        ck_assert_uint_eq(seen.n_errors, 2);
        ck_assert_int_eq(seen.last_error, -EISDIR);
}
END_TEST

/* More is read than the pipe holds, so the child is at one of the devices when the signal comes. */
static void end_child(int signal_number)
{
        _cleanup_free_ char *child = NULL;

        ck_assert_int_eq(reader_start(event, inventory, on_result, on_done, NULL, &reader), 0);
        ck_assert_int_eq(read_file_at(AT_FDCWD, "/proc/thread-self/children", &child, NULL), 0);
        ck_assert_int_eq(kill(atoi(child), signal_number), 0);
        ck_assert_int_eq(sd_event_loop(event), 0);
}

/* A child that is killed answers for no device: each is reported as unread, and none is forgotten. */
START_TEST(child_is_killed)
{
        add_many_images();
        end_child(SIGKILL);
        ck_assert_uint_eq(seen.n_results, 350);
        ck_assert_uint_gt(seen.n_errors, 0);
        ck_assert_int_eq(seen.last_error, -EPIPE);
}
END_TEST

/* A child that crashes has done so at one device, and costs nothing of the others. */
START_TEST(child_crashes)
{
        struct device *device, *next;
        size_t n_left;

        add_many_images();
        end_child(SIGABRT);
        ck_assert_uint_eq(seen.n_errors, 1);
        ck_assert_int_eq(seen.last_error, -EFAULT);

        n_left = dm_list_size(&inventory->devices[DEVICE_UNREAD]);
        ck_assert_uint_eq(seen.n_results + n_left, 350);
        sd_event_unref(event);
        ck_assert_int_eq(sd_event_new(&event), 0);
        dm_list_iterate_items_safe(device, next, &inventory->devices[DEVICE_UNREAD])
                inventory_move_device(inventory, device, DEVICE_READING);
        read_all();
        ck_assert_uint_eq(seen.n_results, 350);
        ck_assert_uint_eq(seen.n_pvs, 349);
        ck_assert_uint_eq(seen.n_errors, 1);
}
END_TEST

static int on_other(sd_event_source *source, _unused_ int fd, _unused_ uint32_t events, _unused_ void *userdata)
{
        return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

/* Somebody else who wants something of the worker, from now on. */
static void add_other(int fds[static 2])
{
        sd_event_source *source;

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        ck_assert_int_eq(write(fds[1], "", 1), 1);
        ck_assert_int_ge(sd_event_add_io(event, &source, fds[0], EPOLLIN, on_other, NULL), 0);
        ck_assert_int_ge(sd_event_source_set_floating(source, true), 0);
        sd_event_source_unref(source);
}

/* The worker was held up, longer than a device may take, and the device was not. What comes to it at one time it
 * takes in no order of which sd-event tells. */
START_TEST(answer_is_heard_late)
{
        int others[3][2];

        add_image(1, "copies-2");
        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                add_other(others[i]);
        ck_assert_int_eq(reader_start(event, inventory, on_result, on_done, NULL, &reader), 0);
        sleep(6);
        ck_assert_int_eq(sd_event_loop(event), 0);
        ck_assert_uint_eq(seen.n_pvs, 1);
        ck_assert_uint_eq(seen.n_errors, 0);
        for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                close(others[i][0]);
                close(others[i][1]);
        }
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("reader");
        TCase *test_case = tcase_create("reader");

        tcase_set_timeout(test_case, 60);
        tcase_add_checked_fixture(test_case, set_up, tear_down);
        tcase_add_test(test_case, text_of_many_copies_is_read_once);
        tcase_add_test(test_case, second_copy_is_known);
        tcase_add_test(test_case, known_text_is_not_read);
        tcase_add_test(test_case, errors_stay_with_their_device);
        tcase_add_test(test_case, child_is_killed);
        tcase_add_test(test_case, child_crashes);
        tcase_add_test(test_case, answer_is_heard_late);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
