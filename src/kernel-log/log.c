/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kernel-log/log.h"

#include "kernel-log/line.h"
#include "shared/util.h"

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
static bool is_last_device(const struct kernel_shutdown *shutdown, const char *driver, const char *name)
{
        const struct kernel_device *last = shutdown->n > 0 ? &shutdown->devices[shutdown->n - 1] : NULL;

        return last && streq(last->driver, driver) && streq(last->name, name);
}

/* Returns 1 if the text is of interest, 0 if it is not, and then it stays as it was, or a negative errno. */
static int take_text(struct kernel_log *log, uint64_t usec, char *text)
{
        const char *name = kernel_line_split_device(text);
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
        if (!is_last_device(&log->shutdown, text, name))
                r = kernel_shutdown_add(&log->shutdown, text, name, usec);
        return r < 0 ? r : 1;
}

int kernel_log_add_message(struct kernel_log *log, uint64_t usec, char *text)
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

static int end_line(struct kernel_log *log)
{
        uint64_t usec;
        char *text;

        log->line[log->line_size] = '\0';
        log->line_size = 0;
        if (kernel_line_parse(log->line, &usec, &text))
                return kernel_log_add_message(log, usec, text);
        if (text[0] == '\0')
                return 0;
        log->has_text = true;
        if (log->unfinished)
                return join(log, text);
        log->n_unstamped += kernel_line_split_device(text) != NULL;
        return 0;
}

int kernel_log_add_text(struct kernel_log *log, const char *text, size_t size)
{
        for (size_t i = 0; i < size; i++) {
                if (text[i] == '\n') {
                        int r = end_line(log);

                        if (r < 0)
                                return r;
                        continue;
                }
                log->has_zeros |= text[i] == '\0';
                /* Serial lines have some zeros. */
                if (log->line_size + 1 < sizeof(log->line))
                        log->line[log->line_size++] = text[i] == '\0' ? ' ' : text[i];
        }
        return 0;
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
        *log = (struct kernel_log){};
}
