/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The requests that the worker finds written down, whoever has done that. Each line of the input is the name of a file
 * in pending.d. What is no request is dropped there and then; what is one stays in working.d until it is dealt with. */

#include <fcntl.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/util.h"
#include "worker/worker.h"

#define REQUESTS_MAX 32

static int lvm_run_fd = -EBADF;

static int on_step(_unused_ sd_event_source *source, _unused_ uint64_t usec, _unused_ void *userdata)
{
        return 0;
}

static void set_up(struct worker *worker)
{
        *worker = (struct worker){.run_fd = fuzz_root()};
        if (lvm_run_fd < 0)
                lvm_run_fd = online_open_directory();
        fuzz_check(lvm_run_fd >= 0 && flags_prepare(worker->run_fd) == 0);
        worker->lvm_run_fd = lvm_run_fd;
        worker->config.backup_dir = string_format("%s/etc/lvm/backup", getenv("HEADGATE_RUN_DIRECTORY"));
        fuzz_check(worker->config.backup_dir);
        dm_list_init(&worker->jobs);
        fuzz_check(inventory_new(worker->run_fd, worker->lvm_run_fd, &worker->inventory) == 0);
        dm_list_init(&worker->expectations);
        fuzz_check(sd_event_new(&worker->event) >= 0);
        fuzz_check(sd_event_add_time(worker->event, &worker->step_source, CLOCK_MONOTONIC, USEC_INFINITY, 1,
                           on_step, worker) >= 0);
}

static void tear_down(struct worker *worker)
{
        expectations_done(&worker->expectations);
        inventory_free(worker->inventory);
        sd_event_source_disable_unref(worker->step_source);
        sd_event_unref(worker->event);
        free(worker->config.backup_dir);
        fuzz_empty(FLAGS_PENDING_DIRECTORY);
        fuzz_empty(FLAGS_WORKING_DIRECTORY);
        (void) flags_clear(fuzz_root(), FLAGS_PENDING);
}

static void post(char *text, size_t size)
{
        char *line = text;

        for (size_t n = 0; n < REQUESTS_MAX && line <= text + size; n++) {
                char *newline = memchr(line, '\n', (size_t) (text + size - line)) ?: text + size;

                *newline = '\0';
                /* What is no name of a file nobody can make one of. */
                if (*line != '\0' && *line != '.' && !strchr(line, '/') && strlen(line) <= 255)
                        fuzz_check(flags_post(fuzz_root(), line) == 0);
                line = newline + 1;
        }
}

static int on_entry(const char *entry, void *userdata)
{
        return requests_take_entry(entry, userdata);
}

/* It is for one of the devices, or for a VG that is expected: nothing else is kept. */
static void check_kept(const struct worker *worker, const char *entry)
{
        const char *name = skip_prefix(entry, FLAGS_ENTRY_EXPECTED);

        if (name) {
                fuzz_check(expectations_find(&worker->expectations, name));
                return;
        }
        name = skip_prefix(entry, FLAGS_ENTRY_CHANGED) ?: entry;
        fuzz_check(strspn(name, "0123456789:") == strlen(name) && strchr(name, ':'));
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = fuzz_text(data, size);
        _cleanup_closedir_ DIR *directory = NULL;
        struct worker worker;
        static bool prepared;

        if (!prepared)
                fuzz_write_backups();
        prepared = true;
        set_up(&worker);
        post(text, size);

        fuzz_check(flags_take_requests(worker.run_fd, on_entry, &worker) == 0);
        fuzz_check(flags_ask_pending(worker.run_fd) == 0);
        fuzz_check(requests_release(&worker) == 0);

        directory = open_directory_at(worker.run_fd, FLAGS_WORKING_DIRECTORY);
        fuzz_check(directory);
        for (const struct dirent *entry; (entry = readdir(directory));)
                if (entry->d_name[0] != '.')
                        check_kept(&worker, entry->d_name);
        tear_down(&worker);
        return 0;
}
