/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The picture of how the kernel has shut down devices: one bar for each that took long, and one for several others in a row. */

#include "plot/picture.h"
#include "plot/plot.h"
#include "shared/util.h"

/* As many rows of one shutdown fit on a page, or a large screen, with another one. */
#define BARS_MAX 44

#define LEGEND_Y 66.0

/* The styles of the sheet that are used. */
#define STYLE_ALONE "removal"
#define STYLE_PARALLEL "lvm2"

/* The end of a bar that begins with device `i`: after it, or after the last one of several that follow each other and took
 * less than `least_usec`. */
static size_t find_end(const struct kernel_shutdown *shutdown, size_t i, uint64_t least_usec)
{
        size_t end = i;

        while (end < shutdown->n && !kernel_device_is_parallel(&shutdown->devices[end]) &&
                shutdown->devices[end].step_usec < least_usec)
                end++;
        return MAX(end, i + 1);
}

/* Below which time devices share a bar, so that there are as few bars as fit, unless those in parallel are too many by
 * themselves. */
static uint64_t choose_least(const struct kernel_shutdown *shutdown)
{
        uint64_t least = 0, next = MAX(shutdown->total_usec / 1000, UINT64_C(1));

        for (;; next *= 2) {
                size_t n = 0;

                for (size_t i = 0; i < shutdown->n; i = find_end(shutdown, i, least))
                        n++;
                if (n <= BARS_MAX || next > shutdown->total_usec)
                        return least;
                least = next;
        }
}

static int draw_bar(struct picture *picture, const struct kernel_shutdown *shutdown, size_t first, size_t end)
{
        const struct kernel_device *device = &shutdown->devices[first];
        bool parallel = kernel_device_is_parallel(&shutdown->devices[first]);
        uint64_t from = device->began_usec;
        uint64_t to = shutdown->devices[end - 1].began_usec + shutdown->devices[end - 1].took_usec;
        _cleanup_free_ char *began = format_short_duration(from), *time = format_short_duration(to - from);
        _cleanup_free_ char *note = time ? string_format("%s%s", parallel ? "up to " : "", time) : NULL;
        _cleanup_free_ char *name = end > first + 1 ? string_format("%zu devices", end - first)
                                                    : string_format("%s %s", device->driver, device->name);
        double base = picture->y + PICTURE_ROW_HEIGHT / 2 + 4;

        if (!began || !note || !name)
                return -ENOMEM;
        fputs("<g><title>", picture->file);
        picture_print(picture, "%s: begun with after %s, %s", name, began, note);
        fputs("</title>\n", picture->file);
        picture_text_within(picture, PICTURE_LEFT - 8, base, PICTURE_LEFT - 20, "end", "label", name);
        picture_bar(picture, from, to, PICTURE_BAR_HEIGHT, parallel ? STYLE_PARALLEL : STYLE_ALONE);
        picture_text(picture, picture_position(picture, to) + PICTURE_GAP, base, "start", "note", "%s", note);
        fputs("</g>\n", picture->file);
        picture->y += PICTURE_ROW_HEIGHT;
        return 0;
}

static int draw_shutdown(struct picture *picture, const struct kernel_shutdown *shutdown, const char *name)
{
        _cleanup_free_ char *total = format_short_duration(shutdown->total_usec);
        uint64_t least = choose_least(shutdown);

        if (!total)
                return -ENOMEM;
        picture_heading(picture, "%s: %zu device%s, %s", name, shutdown->n, plural(shutdown->n), total);
        for (size_t i = 0, end; i < shutdown->n; i = end) {
                int r;

                end = find_end(shutdown, i, least);
                r = draw_bar(picture, shutdown, i, end);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void draw_legend(struct picture *picture, double x, const char *style, const char *words)
{
        picture_rectangle(picture, x, LEGEND_Y - PICTURE_BAR_HEIGHT / 2, 24, PICTURE_BAR_HEIGHT, style);
        picture_text(picture, x + 30, LEGEND_Y + 4, "start", "label", "%s", words);
}

int plot_kernel_shutdowns(
        const char *path, const struct kernel_shutdown *const shutdowns[], const char *const names[], size_t n)
{
        _cleanup_picture_ struct picture picture = {};
        uint64_t longest = 0;
        int r;

        for (size_t i = 0; i < n; i++)
                longest = MAX(longest, shutdowns[i]->total_usec);
        r = picture_begin(&picture, 0, longest, 0);
        if (r < 0)
                return r;
        draw_legend(&picture, PICTURE_LEFT, STYLE_ALONE, "one after another");
        draw_legend(&picture, PICTURE_LEFT + 170, STYLE_PARALLEL, "in parallel, at most so long");
        for (size_t i = 0; i < n; i++) {
                r = draw_shutdown(&picture, shutdowns[i], names[i]);
                if (r < 0)
                        return r;
        }
        return picture_write(&picture, path, "Shutdown of devices by the kernel");
}
