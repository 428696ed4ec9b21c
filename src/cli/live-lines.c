/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/live-lines.h"

#include <inttypes.h>
#include <sys/ioctl.h>

/* Of a terminal that does not tell. */
#define WIDTH_DEFAULT 80
#define HEIGHT_DEFAULT 24

/* Control sequences of ECMA-48 that all terminals know whose cursor moves: erase to the end of the line, erase to
 * the end of the screen, cursor up. */
#define ERASE_LINE "\033[K"
#define ERASE_BELOW "\033[J"
#define CURSOR_UP "\033[%zuA"

struct live_lines live_lines_new(void)
{
        const char *terminal = secure_getenv("TERM");

        return (struct live_lines){.terminal = isatty(STDOUT_FILENO) && terminal && !streq(terminal, "dumb")};
}

static struct winsize get_size(void)
{
        struct winsize size = {};

        (void) ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
        if (size.ws_col == 0)
                size.ws_col = WIDTH_DEFAULT;
        if (size.ws_row == 0)
                size.ws_row = HEIGHT_DEFAULT;
        return size;
}

static void go_up(const struct live_lines *lines)
{
        if (lines->n > 0)
                printf("\r" CURSOR_UP, lines->n);
}

void live_lines_show(struct live_lines *lines, const struct string_vector *text)
{
        struct winsize size = get_size();
        size_t n = MIN(text->n, (size_t) MAX(size.ws_row, 2) - 1);

        go_up(lines);
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *printable = string_printable(text->strings[i]);

                /* In the last column some terminals would begin a new line. */
                printf("%.*s" ERASE_LINE "\n", size.ws_col - 1, printable ?: "?");
        }
        printf(ERASE_BELOW);
        fflush(stdout);
        lines->n = n;
}

void live_lines_print(struct live_lines *lines, const char *text)
{
        _cleanup_free_ char *printable = string_printable(text);
        uint64_t now = now_usec();

        if (lines->last && streq(lines->last, text))
                return;
        /* Without memory it may be printed twice. */
        free(lines->last);
        lines->last = strdup(text);
        printf("[%5" PRIu64 ".%03" PRIu64 "] %s\n", now / USEC_PER_SEC, now % USEC_PER_SEC / USEC_PER_MSEC,
                printable ?: "?");
        fflush(stdout);
}

void live_lines_done(struct live_lines *lines)
{
        go_up(lines);
        if (lines->n > 0)
                printf(ERASE_BELOW);
        free(lines->last);
        *lines = (struct live_lines){};
}
