/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plot/plot.h"

#include "plot/page.h"
#include "plot/rows.h"
#include "shared/util.h"

/* As many rows fit on a page, or a large screen. */
#define ROWS_MAX 60

/* With more bars than that, of how many there is a row. */
#define TROUBLES_MAX 40
#define SLOWEST_MAX 20

/* What has no more company than that in its vgchange makes no band of its own. */
#define BAND_MIN 4
#define BANDS_MAX 24

/* What goes on at the end of a plot goes on so far. */
#define OUTLOOK_MIN_USEC (100 * USEC_PER_MSEC)

/* ------ which time is shown ------ */

static int find_until(const struct timeline *timeline, uint64_t *ret_usec)
{
        uint64_t first = UINT64_MAX, pause;
        bool goes_on = false;
        int r;

        r = timeline_find_pause(timeline, &pause);
        if (r < 0)
                return r;
        for (size_t i = 0; i < timeline->n; i++) {
                const struct timeline_bar *bar = &timeline->bars[i];

                first = MIN(first, bar->first_usec);
                goes_on = goes_on || timeline_end_usec(bar) > pause;
        }
        *ret_usec = goes_on ? pause + MAX(OUTLOOK_MIN_USEC, (pause - first) / 20) : pause;
        return 0;
}

static struct axis make_axis(const struct timeline *timeline, uint64_t until)
{
        uint64_t first = until;

        for (size_t i = 0; i < timeline->n; i++)
                first = MIN(first, timeline->bars[i].first_usec);
        /* A shutdown counts from its own beginning, a boot from that of the kernel. */
        return axis_make(
                first, until, timeline->kind == TIMELINE_SHUTDOWN ? first : 0, PAGE_LEFT, PAGE_RIGHT - PAGE_LEFT);
}

/* ------ few bars ------ */

static bool begins_tree(const struct timeline *timeline, size_t i)
{
        const struct timeline_bar *bar = &timeline->bars[i];

        return bar->tree && (i == 0 || !streq(timeline->bars[i - 1].tree, bar->tree));
}

static void draw_all(struct rows *rows, struct timeline *timeline, uint64_t until)
{
        timeline_sort_by_end(timeline);
        for (size_t i = 0; i < timeline->n; i++) {
                if (timeline->bars[i].first_usec > until)
                        continue;
                if (begins_tree(timeline, i))
                        rows_draw_heading(rows, timeline->bars[i].tree);
                rows_draw_bar(rows, &timeline->bars[i]);
        }
}

/* ------ many bars ------ */

static bool is_trouble(const struct timeline_bar *bar)
{
        return bar->end != TIMELINE_DONE;
}

static bool is_fine(const struct timeline_bar *bar)
{
        return bar->end == TIMELINE_DONE;
}

static size_t count(
        const struct timeline *timeline, uint64_t until, bool (*is_of_interest)(const struct timeline_bar *bar))
{
        size_t n = 0;

        for (size_t i = 0; i < timeline->n; i++)
                n += timeline->bars[i].first_usec <= until && is_of_interest(&timeline->bars[i]);
        return n;
}

static void draw_first(struct rows *rows, const struct timeline *timeline, uint64_t until, size_t n_max,
        bool (*is_of_interest)(const struct timeline_bar *bar))
{
        size_t n = 0;

        for (size_t i = 0; i < timeline->n && n < n_max; i++)
                if (timeline->bars[i].first_usec <= until && is_of_interest(&timeline->bars[i])) {
                        rows_draw_bar(rows, &timeline->bars[i]);
                        n++;
                }
}

static void draw_selected(struct rows *rows, struct timeline *timeline, uint64_t until)
{
        bool boot = timeline->kind == TIMELINE_BOOT;
        size_t n_troubles = count(timeline, until, is_trouble), n_fine = count(timeline, until, is_fine);
        _cleanup_free_ char *troubles = NULL, *slowest = NULL;

        timeline_sort_by_blame(timeline);
        if (n_troubles > 0) {
                troubles = n_troubles > TROUBLES_MAX
                                   ? string_format(
                                             "%s (%d of %zu)", boot ? "Not up" : "Left", TROUBLES_MAX, n_troubles)
                                   : string_format("%s (%zu)", boot ? "Not up" : "Left", n_troubles);
                rows_draw_heading(rows, troubles ?: "?");
                draw_first(rows, timeline, until, TROUBLES_MAX, is_trouble);
        }
        if (n_fine > 0) {
                slowest = string_format("Slowest (%zu of %zu)", MIN(n_fine, (size_t) SLOWEST_MAX), n_fine);
                rows_draw_heading(rows, slowest ?: "?");
                draw_first(rows, timeline, until, SLOWEST_MAX, is_fine);
        }
}

/* The bars of a band are next to each other in the order of batches. */
static size_t find_end_of_batch(const struct timeline_bar *const *bars, size_t n, size_t from)
{
        size_t to = from + 1;

        while (to < n && bars[to]->asked_usec == bars[from]->asked_usec)
                to++;
        return to;
}

static size_t count_bands(const struct timeline_bar *const *bars, size_t n)
{
        size_t n_bands = 0;

        for (size_t from = 0, to; from < n; from = to) {
                to = find_end_of_batch(bars, n, from);
                n_bands += to - from >= BAND_MIN;
        }
        return n_bands;
}

static void draw_band(struct rows *rows, const struct timeline *timeline, const struct timeline_bar *const *bars,
        size_t n, const char *what)
{
        const char *unit = timeline->kind == TIMELINE_BOOT ? "VG" : "device";
        _cleanup_free_ char *label = string_format("%zu %s%s", n, unit, plural(n));

        if (n > 0)
                rows_draw_band(rows, bars, n, label ?: "?", what);
}

/* One band for each batch that is large enough, and one for all the rest. Too many would be as unclear as rows. */
static int draw_bands(struct rows *rows, struct timeline *timeline, uint64_t until)
{
        bool boot = timeline->kind == TIMELINE_BOOT;
        _cleanup_free_ const struct timeline_bar **bars = calloc(timeline->n + 1, sizeof(*bars));
        _cleanup_free_ const struct timeline_bar **rest = calloc(timeline->n + 1, sizeof(*rest));
        size_t n = 0, n_rest = 0, n_band = 0;
        bool split;

        if (!bars || !rest)
                return -ENOMEM;
        timeline_sort_by_batch(timeline);
        for (size_t i = 0; i < timeline->n; i++)
                if (timeline->bars[i].first_usec <= until && is_fine(&timeline->bars[i]))
                        bars[n++] = &timeline->bars[i];
        split = count_bands(bars, n) <= BANDS_MAX;

        for (size_t from = 0, to; from < n; from = to) {
                _cleanup_free_ char *what = NULL;

                to = find_end_of_batch(bars, n, from);
                if (!split || to - from < BAND_MIN || bars[from]->asked_usec == 0) {
                        while (from < to)
                                rest[n_rest++] = bars[from++];
                        continue;
                }
                what = string_format(boot ? "vgchange %zu" : "headgate-teardown %zu", ++n_band);
                draw_band(rows, timeline, bars + from, to - from, what ?: "?");
        }
        draw_band(rows, timeline, rest, n_rest,
                n_band == 0 ? "all"
                : boot      ? "few at a time, or up before"
                            : "others");
        return 0;
}

static int draw_many(struct rows *rows, struct timeline *timeline, uint64_t until)
{
        bool boot = timeline->kind == TIMELINE_BOOT;

        draw_selected(rows, timeline, until);
        if (count(timeline, until, is_fine) == 0)
                return 0;
        rows_draw_heading(rows, boot ? "All that are up, by vgchange" : "All that are gone");
        return draw_bands(rows, timeline, until);
}

int plot_write(FILE *file, struct timeline *timeline)
{
        _cleanup_free_ char *bars = NULL;
        struct rows rows = {.right = PAGE_WIDTH - 8, .y = PAGE_TOP};
        struct page page = {.timeline = timeline};
        size_t size;
        int r;

        r = find_until(timeline, &page.until_usec);
        if (r < 0)
                return r;
        rows.axis = make_axis(timeline, page.until_usec);

        /* The height is known when the bars are drawn, and they are to be above the lines of the axis. */
        rows.file = open_memstream(&bars, &size);
        if (!rows.file)
                return -errno;
        if (timeline->n > ROWS_MAX)
                r = draw_many(&rows, timeline, page.until_usec);
        else
                draw_all(&rows, timeline, page.until_usec);
        if (fclose(rows.file) != 0 && r >= 0)
                r = -errno;
        if (r < 0)
                return r;

        page_begin(file, &page, rows.y + 34);
        axis_draw(file, &rows.axis, PAGE_TOP - 6, rows.y + 6);
        fputs(bars, file);
        page_end(file);
        return ferror(file) ? -EIO : 0;
}
