/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The child process that reads labels and metadata, on images that lvm2 wrote in the place of disks. */

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "images.h"
#include "inventory/inventory.h"
#include "inventory/vg-record.h"
#include "lvm/online.h"
#include "reader/pv.h"
#include "reader/reader.h"
#include "shared/program.h"
#include "shared/util.h"

static struct inventory *inventory;
static sd_event *event;
static struct readers *readers;
static struct reading reading;
static int lvm_run_fd = -EBADF;

/* Bad sectors of all disks: these bytes. */
static off_t bad_from, bad_to;

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
        if (offset < bad_to && offset + (off_t) size > bad_from) {
                errno = EIO;
                return -1;
        }
        return syscall(SYS_pread64, fd, buffer, size, offset);
}

/* What came of one run. */
static struct {
        bool takes_text;
        size_t n_results, n_pvs, n_copies, n_texts, n_gone, n_damaged, n_errors;
        int last_error;
        uint64_t last_size;
} seen;

static void add_device(unsigned int number, const char *path)
{
        struct device *device;

        ck_assert_int_eq(inventory_get_device(inventory, makedev(4000, number), &device), 0);
        free(device->name);
        device->name = strdup(path);
        ck_assert_ptr_nonnull(device->name);
        inventory_move_device(inventory, device, DEVICE_READING);
        ck_assert_int_eq(reading_add(&reading, device->number, path), 0);
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

/* As the worker does. */
static void take_text(const struct reader_result *result)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        struct vg_entry *group;

        ck_assert_int_eq(facts_read(result->copies[0].facts, result->copies[0].facts_size, &metadata), 0);
        ck_assert_int_eq(inventory_add_metadata(inventory, &metadata, &group), 0);
        group->text = result->copies[0].text;
}

static int on_result(const struct reader_result *result, _unused_ void *userdata)
{
        struct device *device = inventory_find_device(inventory, result->device);

        ck_assert_ptr_nonnull(device);
        ck_assert_int_eq(device->stage, DEVICE_READING);
        inventory_move_device(inventory, device, DEVICE_KNOWN);

        if (seen.takes_text)
                take_text(result);
        seen.n_results++;
        seen.n_pvs += result->pvid[0] != '\0';
        seen.n_gone += result->error == -ENOENT;
        seen.n_damaged += result->error == -EBADMSG;
        seen.n_errors += result->error < 0;
        if (result->error < 0)
                seen.last_error = result->error;
        seen.n_copies += result->n_copies;
        for (size_t i = 0; i < result->n_copies; i++) {
                ck_assert_uint_gt(result->copies[i].text.size, 0);
                seen.last_size = result->copies[i].text.size;
                seen.n_texts += result->copies[i].facts != NULL;
        }
        return 0;
}

/* What stands on a disk may bring the child to do: it is done where the child asks whether it knows a text. */
static enum {
        HARM_NONE,
        HARM_CALL,
        HARM_OPEN,
        HARM_PRINT,
        HARM_NONSENSE,
        HARM_OTHER_DEVICE,
        HARM_NESTING,
        HARM_CLOSED,
        HARM_MEMORY,
} harm;
static uint64_t harmful_size;

/* Sections in sections, hidden from config_text_is_too_deep(): libdevmapper's parser crashes. */
static void parse_nested(void)
{
        static const char unit[] = {'\'', '}', '\'', '{'};
        static char text[1000000 * sizeof(unit) + 1];
        struct vg *metadata;
        const char *reason;

        for (size_t i = 0; i < sizeof(text) - 1; i += sizeof(unit))
                memcpy(text + i, unit, sizeof(unit));
        /* A sanitizer would exit instead. */
        (void) signal(SIGSEGV, SIG_DFL);
        (void) !metadata_parse(text, &metadata, &reason);
}

static void do_harm(void)
{
        static const char nonsense[sizeof(struct reader_result)] = {1, 2, 3};
        const struct reader_result of_another = {.device = makedev(4000, 2)};
        char *volatile memory;

        switch (harm) {
        case HARM_CALL:
                if (socket(AF_INET, SOCK_STREAM, 0) >= 0)
                        abort();
                break;
        case HARM_OPEN:
                if (open("/dev/null", O_WRONLY) >= 0)
                        abort();
                break;
        case HARM_PRINT:
                for (int fd = STDIN_FILENO; fd < 10; fd++)
                        if (fd != STDOUT_FILENO && write(fd, "", 1) >= 0)
                                abort();
                break;
        case HARM_NONSENSE:
                ck_assert_int_eq(write_all(STDOUT_FILENO, nonsense, sizeof(nonsense)), 0);
                break;
        case HARM_OTHER_DEVICE:
                ck_assert_int_eq(write_all(STDOUT_FILENO, &of_another, sizeof(of_another)), 0);
                break;
        case HARM_NESTING:
                parse_nested();
                break;
        case HARM_CLOSED:
                close(STDOUT_FILENO);
                for (;;)
                        ;
        default:
                memory = malloc((size_t) 2 << 30);
                if (!memory)
                        _exit(EXIT_FAILURE);
                free(memory);
        }
}

static bool is_known(const struct text_id *text, _unused_ void *userdata)
{
        uint64_t seqno;

        if (harm != HARM_NONE && text->size == harmful_size)
                do_harm();
        return inventory_find_text(inventory, text, &seqno);
}

static int on_progress(_unused_ void *userdata)
{
        return 0;
}

static void set_up(void)
{
        run_directory_set_up();
        ck_assert_int_ge(signals_block(), 0);
        lvm_run_fd = online_open_directory();
        ck_assert_int_ge(lvm_run_fd, 0);
        ck_assert_int_eq(inventory_new(run_fd, lvm_run_fd, &inventory), 0);
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(readers_new(event, is_known, on_result, on_progress, NULL, &readers), 0);
        memset(&seen, 0, sizeof(seen));
}

static void tear_down(void)
{
        readers_free(readers);
        sd_event_unref(event);
        inventory_free(inventory);
        close(lvm_run_fd);
        run_directory_tear_down();
}

static void start(void)
{
        ck_assert_int_eq(readers_start(readers, READER_READ, &reading), 0);
        ck_assert_uint_eq(reading.n, 0);
}

static void go_on_until_read(void)
{
        while (!dm_list_empty(&inventory->devices[DEVICE_READING]))
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
}

static void read_all(void)
{
        start();
        go_on_until_read();
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
        seen.takes_text = true;
        add_image(1, "copies-2");
        read_all();
        ck_assert_uint_eq(seen.n_texts, 1);

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

/* The text of the only copy has a bad sector: nothing is known of the metadata. Another copy is as good as both. */
START_TEST(bad_sector_is_no_damage)
{
        _cleanup_free_ char *path = string_format("%s/copies-2.img", getenv("HEADGATE_TEST_IMAGES"));
        _cleanup_pv_ struct pv pv = {};

        bad_from = 4096 + DISK_SECTOR_SIZE;
        bad_to = 1 << 20;
        add_image(1, "copies-2");
        read_all();
        ck_assert_uint_eq(seen.n_pvs, 1);
        ck_assert_int_eq(seen.last_error, -EIO);

        ck_assert_int_eq(pv_read(AT_FDCWD, 0, path, &pv), 0);
        ck_assert_int_eq(pv.error, -EIO);
        ck_assert(pv.found && !pv.metadata);

        memset(&seen, 0, sizeof(seen));
        add_image(1, "copies-3");
        read_all();
        bad_to = 0;
        ck_assert_uint_eq(seen.n_copies, 2);
        ck_assert_uint_eq(seen.n_texts, 1);
        ck_assert_uint_eq(seen.n_errors, 0);
}
END_TEST

/* One line, no VG, and nothing of other disks; what is refused does no harm at all. */
START_TEST(harm_stays_with_its_device)
{
        bool refused = _i <= HARM_PRINT;
        uint64_t begin = now_usec();

        add_image(1, "copies-2");
        read_all();
        harmful_size = seen.last_size;
        memset(&seen, 0, sizeof(seen));
        harm = (typeof(harm)) _i;
        add_image(1, "copies-2");
        add_image(2, "hyphens-1");
        read_all();
        harm = HARM_NONE;
        ck_assert_uint_eq(seen.n_results, 2);
        ck_assert_uint_eq(seen.n_pvs, refused ? 2 : 1);
        ck_assert_uint_eq(seen.n_errors, refused ? 0 : 1);
        ck_assert_int_eq(seen.last_error, refused ? 0 : -EFAULT);
        ck_assert_uint_lt(now_usec() - begin, 15 * USEC_PER_SEC);
}
END_TEST

/* Without memory it is the parent that reads once more, since all of the machine may have none. */
START_TEST(memory_is_limited)
{
        add_image(1, "copies-2");
        read_all();
        harmful_size = seen.last_size;
        memset(&seen, 0, sizeof(seen));
        harm = HARM_MEMORY;
        add_image(1, "copies-2");
        read_all();
        harm = HARM_NONE;
        /* A sanitizer does not return without memory. */
        ck_assert(seen.last_error == -EPIPE || seen.last_error == -EFAULT);
}
END_TEST

/* Facts are those of the text, and those that are cut off or changed anywhere are refused or within limits. */
START_TEST(facts_are_read_as_they_were_written)
{
        _cleanup_free_ char *text = image_read_text("longlv-1"), *data = NULL;
        _cleanup_vg_ struct vg *written = NULL, *read = NULL;
        const char *reason;
        size_t size;

        ck_assert_int_eq(metadata_parse(text, &written, &reason), 0);
        ck_assert_int_eq(vg_print(written, &data), 0);
        size = strlen(data);
        ck_assert_int_eq(facts_read(data, size, &read), 0);
        ck_assert_str_eq(read->name, written->name);
        ck_assert_str_eq(read->vgid, written->vgid);
        ck_assert_uint_eq(read->seqno, written->seqno);
        ck_assert(read->slow == written->slow && read->exported == written->exported);
        ck_assert_uint_eq(read->n_pvs, written->n_pvs);
        ck_assert_str_eq(read->pvs[0].pvid, written->pvs[0].pvid);
        ck_assert_str_eq(read->pvs[0].device_name, written->pvs[0].device_name);
        ck_assert_uint_eq(read->n_lvs, written->n_lvs);
        for (size_t i = 0; i < read->n_lvs; i++) {
                ck_assert_str_eq(read->lvs[i].name, written->lvs[i].name);
                ck_assert_str_eq(read->lvs[i].lvid, written->lvs[i].lvid);
                ck_assert(read->lvs[i].autoactivated == written->lvs[i].autoactivated);
        }
        for (size_t i = 0; i < size; i++) {
                _cleanup_free_ char *part = malloc(size);
                _cleanup_vg_ struct vg *cut = NULL, *changed = NULL;
                int r;

                memcpy(part, data, size);
                ck_assert_int_eq(facts_read(part, i, &cut), -EBADMSG);
                part[i] ^= (char) 0xff;
                r = facts_read(part, size, &changed);
                ck_assert(r == -EBADMSG || (r == 0 && lvm_id_is_valid(changed->vgid)));
        }
}
END_TEST

/* A reader that is no longer what it was sets no state, and names no device. */
START_TEST(facts_are_those_of_metadata_alone)
{
        char name[] = "v", reason[] = "it \"said\" so \\.", device[] = "/dev/sda";
        struct vg_pv pv = {.pvid = "p0000000000000000000000000000000",
                .device = makedev(8, 16),
                .device_name = device,
                .flagged = true,
                .late_usec = 4};
        struct vg vg = {.name = name,
                .vgid = "v0000000000000000000000000000000",
                .seqno = INT64_MAX,
                .clustered = true,
                .reason = reason,
                .skip_reason = reason,
                .program = name,
                .program_usec = 5,
                .clock_usec = UINT64_MAX,
                .first.linked_usec = 6,
                .lost_pv = true,
                .n_pvs = 1,
                .pvs = &pv};
        _cleanup_vg_ struct vg *record = NULL, *facts = NULL;
        _cleanup_free_ char *text = NULL, *again = NULL, *metadata = NULL;

        vg_state_enter(&vg, VG_LOST);
        ck_assert_int_eq(vg_print(&vg, &text), 0);
        ck_assert_int_eq(vg_parse(text, &record), 0);
        ck_assert_int_eq(vg_print(record, &again), 0);
        ck_assert_str_eq(again, text);
        ck_assert(record->lost_after_active && record->pvs[0].device == makedev(8, 16));
        ck_assert_str_eq(record->skip_reason, "the VG is clustered.");

        ck_assert_int_eq(facts_read(text, strlen(text), &facts), 0);
        ck_assert_int_eq(vg_print(facts, &metadata), 0);
        ck_assert_str_eq(metadata,
                "name = \"v\"\nid = \"v0000000000000000000000000000000\"\nseqno = 9223372036854775807\nclustered = 1\n"
                "state = \"waiting\"\nphysical_volumes {\npv0 {\n"
                "id = \"p0000000000000000000000000000000\"\nflagged = 1\ndevice = \"/dev/sda\"\n}\n}\n"
                "logical_volumes {\n}\n");
}
END_TEST

/* What metadata of lvm2's cannot say either is not taken from a reader. */
START_TEST(facts_are_within_limits)
{
        char slash[] = "a/b", plain[] = "a", name[] = "v";
        struct vg_lv lv = {.name = plain};
        struct vg vg = {.name = name, .n_pvs = METADATA_PVS_MAX, .n_lvs = 1, .lvs = &lv};
        _cleanup_free_ struct vg_pv *pvs = calloc(METADATA_PVS_MAX + 1, sizeof(*pvs));
        static const struct {
                size_t n_pvs;
                bool has_slash;
                int result;
        } cases[] = {{METADATA_PVS_MAX, false, 0}, {METADATA_PVS_MAX + 1, false, -EBADMSG}, {1, true, -EBADMSG}};

        ck_assert_ptr_nonnull(pvs);
        vg.pvs = pvs;
        snprintf(vg.vgid, sizeof(vg.vgid), "%032u", 1U);
        snprintf(lv.lvid, sizeof(lv.lvid), "%032u", 1U);
        for (unsigned int i = 0; i <= METADATA_PVS_MAX; i++)
                snprintf(pvs[i].pvid, sizeof(pvs[i].pvid), "%032u", i);
        FOREACH_ELEMENT(each, cases) {
                _cleanup_vg_ struct vg *read = NULL;
                _cleanup_free_ char *text = NULL;

                vg.n_pvs = each->n_pvs;
                lv.name = each->has_slash ? slash : plain;
                ck_assert_int_eq(vg_print(&vg, &text), 0);
                ck_assert_int_eq(facts_read(text, strlen(text), &read), each->result);
        }
}
END_TEST

static pid_t signal_reader(int signal_number)
{
        _cleanup_free_ char *children = NULL;
        pid_t child = 0;

        ck_assert_int_eq(read_file_at(AT_FDCWD, "/proc/thread-self/children", &children, NULL), 0);
        /* The youngest: what an earlier test has left may be there still. */
        for (char *end, *rest = children; (rest[0] == ' ' ? rest[1] : rest[0]) != '\0'; rest = end)
                child = (pid_t) strtol(rest, &end, 10);
        ck_assert_int_eq(kill(child, signal_number), 0);
        return child;
}

/* More is read than the pipe holds, so the child is at one of the devices when the signal comes. */
static pid_t start_and_signal(int signal_number)
{
        add_many_images();
        start();
        return signal_reader(signal_number);
}

/* A child that is killed answers for no device: each is reported as unread, and none is forgotten. */
START_TEST(child_is_killed)
{
        start_and_signal(SIGKILL);
        go_on_until_read();
        ck_assert_uint_eq(seen.n_results, 350);
        ck_assert_uint_gt(seen.n_errors, 0);
        ck_assert_int_eq(seen.last_error, -EPIPE);
}
END_TEST

/* A child that crashes has done so at one device, which is read once more, and costs nothing of the others. */
START_TEST(child_crashes)
{
        start_and_signal(SIGABRT);
        go_on_until_read();
        ck_assert_uint_eq(seen.n_results, 350);
        ck_assert_uint_eq(seen.n_pvs, 350);
}
END_TEST

/* An unresponsive device does not delay others, and its late reply counts. */
START_TEST(unresponsive_device_delays_no_other)
{
        uint64_t before = now_usec();
        pid_t child = start_and_signal(SIGSTOP);
        const struct device *waiting;

        while (seen.n_results < 349)
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
        ck_assert_uint_lt(now_usec() - before, 4 * USEC_PER_SEC);
        while (readers_are_busy(readers))
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
        waiting = dm_list_item(dm_list_first(&inventory->devices[DEVICE_READING]), struct device);
        ck_assert(readers_wait_for(readers, waiting->number));

        ck_assert_int_eq(kill(child, SIGCONT), 0);
        go_on_until_read();
        ck_assert_uint_eq(seen.n_pvs, 350);
        ck_assert(!readers_wait_for(readers, waiting->number));
}
END_TEST

/* Only that device times out. */
START_TEST(unresponsive_device_times_out)
{
        uint64_t before = now_usec();

        start_and_signal(SIGSTOP);
        go_on_until_read();
        ck_assert_uint_ge(now_usec() - before, 25 * USEC_PER_SEC);
        ck_assert_uint_eq(seen.n_results, 350);
        ck_assert_uint_eq(seen.n_pvs, 349);
        ck_assert_uint_eq(seen.n_errors, 1);
        ck_assert_int_eq(seen.last_error, -ETIMEDOUT);
}
END_TEST

/* What comes of a list that is read in one call. */
struct run {
        char *const *paths;
        int signal_number; /* for the reader, at the first result */
        int answer;
        size_t n_results, n_in_order, n_errors;
        int last_error;
};

static int take_result(const struct reader_result *result, void *userdata)
{
        struct run *run = userdata;

        if (run->n_results == 0 && run->signal_number != 0)
                signal_reader(run->signal_number);
        run->n_in_order += streq(result->name, run->paths[run->n_results]);
        run->n_results++;
        run->n_errors += result->error < 0;
        if (result->error < 0)
                run->last_error = result->error;
        return result->error < 0 ? run->answer : 0;
}

START_TEST(all_are_read_in_one_call)
{
        _cleanup_free_ char *image = string_format("%s/copies-2.img", getenv("HEADGATE_TEST_IMAGES"));
        char *const paths[] = {image, (char *) "/nonexistent", (char *) "/dev/null", (char *) "/", image};
        struct run run = {.paths = paths}, none = {}, ended = {.paths = paths, .answer = -EPROTO};

        ck_assert_int_eq(devices_read(paths, ELEMENTSOF(paths), take_result, &run), 0);
        ck_assert_uint_eq(run.n_in_order, ELEMENTSOF(paths));
        ck_assert_uint_eq(run.n_errors, 2);
        ck_assert_int_eq(run.last_error, -EISDIR);
        ck_assert_int_eq(devices_read(NULL, 0, take_result, &none), 0);
        ck_assert_uint_eq(none.n_results, 0);
        ck_assert_int_eq(devices_read(paths, ELEMENTSOF(paths), take_result, &ended), -EPROTO);
        ck_assert_uint_lt(ended.n_results, ELEMENTSOF(paths));
}
END_TEST

/* Somebody waits, so it has less time than with the worker. */
START_TEST(unresponsive_device_of_one_call_times_out)
{
        _cleanup_strv_ struct strv paths = {};
        uint64_t before = now_usec();
        struct run run;

        for (unsigned int i = 1; i <= 350; i++) {
                _cleanup_free_ char *path = string_format("%s/many-%u.img", getenv("HEADGATE_TEST_IMAGES"), i);

                ck_assert_int_eq(strv_add(&paths, path), 0);
        }
        run = (struct run){.paths = paths.strings, .signal_number = SIGSTOP};
        ck_assert_int_eq(devices_read(paths.strings, paths.n, take_result, &run), 0);
        ck_assert_uint_ge(now_usec() - before, 3 * USEC_PER_SEC);
        ck_assert_uint_lt(now_usec() - before, 10 * USEC_PER_SEC);
        ck_assert_uint_eq(run.n_results, paths.n);
        ck_assert_uint_eq(run.n_errors, 1);
        ck_assert_int_eq(run.last_error, -ETIMEDOUT);

        /* No reader is left when the error is returned. */
        run = (struct run){.paths = paths.strings, .signal_number = SIGSTOP, .answer = -EPROTO};
        ck_assert_int_eq(devices_read(paths.strings, paths.n, take_result, &run), -EPROTO);
        ck_assert_uint_eq(run.n_errors, 1);
}
END_TEST

/* A probe reports no results. */
START_TEST(probe_reports_nothing)
{
        add_image(1, "copies-2");
        add_device(2, "/nonexistent");
        ck_assert_int_eq(readers_start(readers, READER_PROBE, &reading), 0);
        while (readers_are_busy(readers))
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
        ck_assert(!readers_wait_for(readers, makedev(4000, 1)));
        ck_assert(!readers_wait_for(readers, makedev(4000, 2)));
        ck_assert_uint_eq(seen.n_results, 0);
}
END_TEST

static size_t count_descriptors(void)
{
        _cleanup_closedir_ DIR *dir = opendir("/proc/self/fd");
        size_t n = 0;

        ck_assert_ptr_nonnull(dir);
        while (readdir(dir))
                n++;
        return n;
}

static void start_probe(void)
{
        ck_assert_int_eq(reading_add(&reading, makedev(4000, 2), "/nonexistent"), 0);
        ck_assert_int_eq(readers_start(readers, READER_PROBE, &reading), 0);
}

/* A worker may live for long, and start a reader for each batch of devices. */
START_TEST(ended_readers_leave_nothing)
{
        size_t before;

        start_probe();
        /* What the event loop itself needs for children is there after the first of them. */
        while (sd_event_run(event, USEC_PER_SEC) > 0)
                ;
        before = count_descriptors();
        for (size_t i = 0; i < 4; i++)
                start_probe();
        /* Unless there are always more, and the test takes too long. */
        while (count_descriptors() > before)
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
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
        start();
        sleep(6);
        go_on_until_read();
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
        tcase_add_test(test_case, bad_sector_is_no_damage);
        tcase_add_loop_test(test_case, harm_stays_with_its_device, HARM_CALL, HARM_MEMORY);
        tcase_add_test(test_case, memory_is_limited);
        tcase_add_test(test_case, facts_are_read_as_they_were_written);
        tcase_add_test(test_case, facts_are_those_of_metadata_alone);
        tcase_add_test(test_case, facts_are_within_limits);
        tcase_add_test(test_case, child_is_killed);
        tcase_add_test(test_case, child_crashes);
        tcase_add_test(test_case, unresponsive_device_delays_no_other);
        tcase_add_test(test_case, unresponsive_device_times_out);
        tcase_add_test(test_case, all_are_read_in_one_call);
        tcase_add_test(test_case, unresponsive_device_of_one_call_times_out);
        tcase_add_test(test_case, probe_reports_nothing);
        tcase_add_test(test_case, ended_readers_leave_nothing);
        tcase_add_test(test_case, answer_is_heard_late);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
