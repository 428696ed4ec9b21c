/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plot/kernel-shutdown.h"

#include "plot/axis.h"
#include "plot/page.h"
#include "plot/rows.h"
#include "plot/svg.h"
#include "shared/util.h"

/* As many rows of one shutdown fit on a page, or a large screen, with another one. */
#define BARS_MAX 44

#define BAR_HEIGHT 14.0
#define GAP 6.0
#define LEGEND_Y 58.0
#define TITLE "Shutdown of devices by the kernel"

/* The styles of the page's sheet that are used. */
#define STYLE_ALONE "removal"
#define STYLE_PARALLEL "lvm2"

/* Of a letter, on average, in the size of labels. */
#define LETTER_WIDTH 6.3

/* One device, or several that follow each other and took little. */
struct bar {
        size_t from, to;
};

/* ------ which bars there are ------ */

static bool goes_with_the_next(const struct kernel_shutdown *shutdown, size_t i, uint64_t least_usec)
{
        return i + 1 < shutdown->n && !kernel_shutdown_is_parallel(shutdown, i) &&
               !kernel_shutdown_is_parallel(shutdown, i + 1) && shutdown->devices[i].step_usec < least_usec &&
               shutdown->devices[i + 1].step_usec < least_usec;
}

static size_t make_bars(const struct kernel_shutdown *shutdown, uint64_t least_usec, struct bar *bars)
{
        size_t n = 0;

        for (size_t i = 0; i < shutdown->n; i++) {
                size_t from = i;

                while (goes_with_the_next(shutdown, i, least_usec))
                        i++;
                bars[n++] = (struct bar){from, i + 1};
        }
        return n;
}

/* As few as fit, unless those in parallel are too many by themselves. NULL without memory. */
static struct bar *choose_bars(const struct kernel_shutdown *shutdown, size_t *ret_n)
{
        struct bar *bars = calloc(shutdown->n + 1, sizeof(*bars));
        uint64_t least = MAX(shutdown->total_usec / 1000, UINT64_C(1));

        if (!bars)
                return NULL;
        *ret_n = make_bars(shutdown, 0, bars);
        while (*ret_n > BARS_MAX && least <= shutdown->total_usec) {
                *ret_n = make_bars(shutdown, least, bars);
                least *= 2;
        }
        return bars;
}

/* ------ drawing ------ */

static char *describe(const struct kernel_shutdown *shutdown, const struct bar *bar)
{
        const struct kernel_device *device = &shutdown->devices[bar->from];

        if (bar->to > bar->from + 1)
                return string_format("%zu devices", bar->to - bar->from);
        return string_format("%s %s", device->driver, device->name);
}

static char *shorten(const char *text, double width)
{
        size_t n = (size_t) (width / LETTER_WIDTH);

        return strlen(text) <= n ? strdup(text) : string_format("%.*s...", (int) n - 3, text);
}

static int draw_bar(struct rows *rows, const struct kernel_shutdown *shutdown, const struct bar *bar)
{
        bool parallel = kernel_shutdown_is_parallel(shutdown, bar->from);
        uint64_t from = shutdown->devices[bar->from].began_usec;
        uint64_t to = shutdown->devices[bar->to - 1].began_usec + kernel_shutdown_took_usec(shutdown, bar->to - 1);
        _cleanup_free_ char *name = describe(shutdown, bar), *time = format_short_duration(to - from);
        _cleanup_free_ char *label = name ? shorten(name, rows->axis.left - 20) : NULL;
        _cleanup_free_ char *began = format_short_duration(from);
        _cleanup_free_ char *note = time ? string_format("%s%s", parallel ? "up to " : "", time) : NULL;
        _cleanup_free_ char *title =
                note && name && began ? string_format("%s: begun with after %s, %s", name, began, note) : NULL;
        double x = axis_position(&rows->axis, from), end = axis_position(&rows->axis, to);
        double middle = rows->y + ROWS_HEIGHT / 2;

        if (!title || !label)
                return -ENOMEM;
        svg_begin_group(rows->file, title);
        svg_text(rows->file, rows->axis.left - 8, middle + 4, "end", "label", label);
        svg_rectangle(rows->file, x, middle - BAR_HEIGHT / 2, MAX(end - x, 0.5), BAR_HEIGHT,
                parallel ? STYLE_PARALLEL : STYLE_ALONE);
        svg_text(rows->file, end + GAP, middle + 4, "start", "note", note);
        svg_end_group(rows->file);
        rows->y += ROWS_HEIGHT;
        return 0;
}

static int draw_shutdown(struct rows *rows, const struct kernel_shutdown *shutdown, const char *name)
{
        _cleanup_free_ char *total = format_short_duration(shutdown->total_usec);
        _cleanup_free_ struct bar *bars = NULL;
        _cleanup_free_ char *heading = NULL;
        size_t n = 0;
        int r = 0;

        heading = total ? string_format("%s: %zu device%s, %s", name, shutdown->n, plural(shutdown->n), total)
                        : NULL;
        bars = choose_bars(shutdown, &n);
        if (!heading || !bars)
                return -ENOMEM;
        rows_draw_heading(rows, heading);
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = draw_bar(rows, shutdown, &bars[i]);
        return r;
}

static void draw_legend(FILE *file)
{
        double middle = LEGEND_Y + 8;

        svg_rectangle(file, PAGE_LEFT, middle - BAR_HEIGHT / 2, 24, BAR_HEIGHT, STYLE_ALONE);
        svg_text(file, PAGE_LEFT + 30, middle + 4, "start", "label", "one after another");
        svg_rectangle(file, PAGE_LEFT + 170, middle - BAR_HEIGHT / 2, 24, BAR_HEIGHT, STYLE_PARALLEL);
        svg_text(file, PAGE_LEFT + 200, middle + 4, "start", "label", "in parallel, at most so long");
}

int plot_write_kernel_shutdowns(
        FILE *file, const struct kernel_shutdown *const shutdowns[], const char *const names[], size_t n)
{
        struct rows rows = {.right = PAGE_WIDTH - 8, .y = PAGE_TOP};
        _cleanup_free_ char *text = NULL;
        uint64_t longest = 0;
        size_t size;
        int r = 0;

        for (size_t i = 0; i < n; i++)
                longest = MAX(longest, shutdowns[i]->total_usec);
        rows.axis = axis_make(0, longest, 0, PAGE_LEFT, PAGE_RIGHT - PAGE_LEFT);
        /* The height is known when the bars are drawn, and they are to be above the lines of the axis. */
        rows.file = open_memstream(&text, &size);
        if (!rows.file)
                return -errno;
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = draw_shutdown(&rows, shutdowns[i], names[i]);
        if (fclose(rows.file) != 0 && r >= 0)
                r = -errno;
        if (r < 0)
                return r;

        page_begin_document(file, TITLE, rows.y + 34);
        svg_text(file, 12, 28, "start", "title", TITLE);
        draw_legend(file);
        axis_draw(file, &rows.axis, PAGE_TOP - 6, rows.y + 6);
        fputs(text, file);
        page_end(file);
        return ferror(file) ? -EIO : 0;
}
