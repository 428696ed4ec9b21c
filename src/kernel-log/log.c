/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kernel-log/log.h"

#include "kernel-log/line.h"
#include "shared/util.h"

#define LINE_SIZE_MAX (64U * 1024)

/* Mail programs break a line in so many pieces at most. */
#define PIECES_MAX 4

/* Lines of different CPUs may be out of order, but not by that. */
#define DISORDER_MAX_USEC USEC_PER_SEC

/* One may be a sentence. */
#define UNSTAMPED_MIN 2

/* ------ lines that are complete ------ */

static void begin_shutdown(struct kernel_log *log)
{
        kernel_shutdown_done(&log->shutdown);
        log->ended = log->another_boot = false;
}

/* The kernel tells of some devices twice, shutdown_pre being first. */
static bool is_last_device(const struct kernel_log *log, const char *driver, size_t driver_length,
        const char *name, size_t name_length)
{
        const struct kernel_device *last =
                log->shutdown.n > 0 ? &log->shutdown.devices[log->shutdown.n - 1] : NULL;

        return last && strlen(last->driver) == driver_length &&
               strncmp(last->driver, driver, driver_length) == 0 && strlen(last->name) == name_length &&
               strncmp(last->name, name, name_length) == 0;
}

/* Returns 1 if the text is of interest, 0 if it is not, or -ENOMEM. */
static int take_text(struct kernel_log *log, uint64_t usec, const char *text)
{
        size_t driver_length, name_length;
        const char *name = kernel_line_find_device(text, &driver_length, &name_length);
        int r = 0;

        if (!name) {
                if (!kernel_line_is_end(text))
                        return 0;
                if (log->shutdown.n > 0 && !log->ended && !log->another_boot) {
                        log->ended = true;
                        log->end_usec = usec;
                }
                return 1;
        }
        if (log->ended || log->another_boot)
                begin_shutdown(log);
        if (!is_last_device(log, text, driver_length, name, name_length))
                r = kernel_shutdown_add(&log->shutdown, text, driver_length, name, name_length, usec);
        return r < 0 ? r : 1;
}

int kernel_log_add_message(struct kernel_log *log, uint64_t usec, const char *text)
{
        int r;

        if (usec + DISORDER_MAX_USEC < log->last_usec)
                log->another_boot = true;
        log->last_usec = usec;
        log->has_text = true;
        free(log->unfinished);
        log->unfinished = NULL;
        log->n_joined = 1;

        r = take_text(log, usec, text);
        if (r != 0)
                return r < 0 ? r : 0;
        log->unfinished = strdup(text);
        return log->unfinished ? 0 : -ENOMEM;
}

/* What has no time of its own may be the rest of what had one. */
static int join(struct kernel_log *log, const char *text)
{
        _cleanup_free_ char *joined = NULL;
        int r;

        joined = string_format("%s %s", log->unfinished, text);
        if (!joined)
                return -ENOMEM;
        r = take_text(log, log->last_usec, joined);
        if (r < 0)
                return r;
        free(log->unfinished);
        log->unfinished = r == 0 && ++log->n_joined < PIECES_MAX ? TAKE_PTR(joined) : NULL;
        return 0;
}

/* ------ text ------ */

static int take_line(struct kernel_log *log, const char *raw)
{
        _cleanup_kernel_line_ struct kernel_line line = {};
        size_t driver_length, name_length;
        int r;

        r = kernel_line_parse(raw, &line);
        if (r < 0)
                return r;
        if (line.text[0] != '\0')
                log->has_text = true;
        if (line.stamped)
                return kernel_log_add_message(log, line.usec, line.text);
        if (line.text[0] == '\0')
                return 0;
        if (log->unfinished)
                return join(log, line.text);
        if (kernel_line_find_device(line.text, &driver_length, &name_length))
                log->n_unstamped++;
        return 0;
}

static int end_line(struct kernel_log *log)
{
        if (!log->line)
                return 0;
        log->line[log->line_size] = '\0';
        log->line_size = 0;
        return take_line(log, log->line);
}

static int add_byte(struct kernel_log *log, char byte)
{
        if (log->line_size + 1 >= log->line_allocated) {
                size_t allocated = MAX(2 * log->line_allocated, (size_t) 256);
                char *larger;

                if (log->line_size + 1 >= LINE_SIZE_MAX)
                        return 0;
                larger = realloc(log->line, allocated);
                if (!larger)
                        return -ENOMEM;
                log->line = larger;
                log->line_allocated = allocated;
        }
        log->line[log->line_size++] = byte;
        return 0;
}

int kernel_log_add_text(struct kernel_log *log, const char *text, size_t size)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < size; i++) {
                log->has_zeros = log->has_zeros || text[i] == '\0';
                /* Serial lines have some. */
                r = text[i] == '\n' ? end_line(log) : add_byte(log, text[i] == '\0' ? ' ' : text[i]);
        }
        return r;
}

/* ------ the end ------ */

int kernel_log_finish(struct kernel_log *log)
{
        int r;

        r = end_line(log);
        if (r < 0)
                return r;
        if (log->shutdown.n == 0) {
                if (log->has_zeros)
                        return KERNEL_LOG_BINARY;
                if (!log->has_text)
                        return KERNEL_LOG_EMPTY;
                return log->n_unstamped >= UNSTAMPED_MIN ? KERNEL_LOG_UNSTAMPED : KERNEL_LOG_UNRELATED;
        }
        if (!log->ended)
                return KERNEL_LOG_TRUNCATED;
        r = kernel_shutdown_finish(&log->shutdown, log->end_usec);
        return r < 0 ? r : KERNEL_LOG_COMPLETE;
}

void kernel_log_done(struct kernel_log *log)
{
        kernel_shutdown_done(&log->shutdown);
        free(log->unfinished);
        free(log->line);
        *log = (struct kernel_log){};
}
