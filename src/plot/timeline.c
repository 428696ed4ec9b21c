/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The picture of a timeline: a row for each bar, or many bars as one band in which each is a thin line. */

#include <time.h>

#include "plot/picture.h"
#include "plot/plot.h"
#include "shared/util.h"

/* As many rows fit on a page, or a large screen. */
#define ROWS_MAX 60U

/* With more bars than that, of how many there is a row. */
#define TROUBLES_MAX 40U
#define SLOWEST_MAX 20U

/* What has no more company than that in its vgchange makes no band of its own. */
#define BAND_MIN 4
#define BANDS_MAX 24

/* A band has at least one row's height, and a pixel for each bar as long as it does not get higher than this. */
#define BAND_HEIGHT_MAX 240.0

/* What goes on at the end of a plot goes on so far. */
#define OUTLOOK_MIN_USEC (100 * USEC_PER_MSEC)

#define LEGEND_Y 74.0

/* How each phase is drawn, and below these each end that is not as it should be; and what the legend says of it. What is only
 * waited for is half as high as what is done. */
static const struct {
        enum timeline_kind kind;
        enum timeline_end end;
        const char *style;
        double height;
        const char *words; /* in a time of its own */
        const char *legend;
        double width; /* in the legend */
} looks[] = {
        [TIMELINE_PVS] = {TIMELINE_BOOT, TIMELINE_DONE, "pvs", PICTURE_BAR_HEIGHT / 2, "waiting for PVs",
                "waiting for PVs", 140},
        [TIMELINE_QUEUE] = {TIMELINE_BOOT, TIMELINE_DONE, "queue", PICTURE_BAR_HEIGHT / 2, "queue", "in the queue",
                125},
        [TIMELINE_LVM2] = {TIMELINE_BOOT, TIMELINE_DONE, "lvm2", PICTURE_BAR_HEIGHT, "lvm2", "lvm2", 80},
        [TIMELINE_UDEV] = {TIMELINE_BOOT, TIMELINE_DONE, "udev", PICTURE_BAR_HEIGHT, "udev", "udev", 80},
        [TIMELINE_HELD] = {TIMELINE_SHUTDOWN, TIMELINE_DONE, "held", PICTURE_BAR_HEIGHT / 2, "held",
                "something holds it", 160},
        [TIMELINE_REMOVAL] = {TIMELINE_SHUTDOWN, TIMELINE_DONE, "removal", PICTURE_BAR_HEIGHT, "removal",
                "removal", 100},
        {TIMELINE_BOOT, TIMELINE_FAILED, "failed", PICTURE_BAR_HEIGHT, NULL, "failed", 90},
        {TIMELINE_BOOT, TIMELINE_UNFINISHED, "unfinished", PICTURE_BAR_HEIGHT, NULL, "not up yet", 115},
        {TIMELINE_BOOT, TIMELINE_SKIPPED, NULL, 0, NULL, "skipped", 90},
        {TIMELINE_SHUTDOWN, TIMELINE_FAILED, "failed", PICTURE_BAR_HEIGHT, NULL, "left", 90},
};

struct plot {
        struct picture *picture;
        struct timeline *timeline;
        bool boot;
        uint64_t first_usec;
        uint64_t until_usec; /* what began later is left out */
        /* The bars that are shown, in the timeline's order, if these are many. */
        const struct timeline_bar **troubles, **fine;
        size_t n_troubles, n_fine;
};

/* ------ which bars are shown ------ */

static int find_span(struct plot *plot)
{
        uint64_t pause;
        bool goes_on = false;
        int r;

        r = timeline_find_pause(plot->timeline, &pause);
        if (r < 0)
                return r;
        plot->first_usec = pause;
        FOREACH_ARRAY(bar, plot->timeline->bars, plot->timeline->n) {
                plot->first_usec = MIN(plot->first_usec, bar->first_usec);
                goes_on = goes_on || timeline_end_usec(bar) > pause;
        }
        plot->until_usec = goes_on ? pause + MAX(OUTLOOK_MIN_USEC, (pause - plot->first_usec) / 20) : pause;
        return 0;
}

static void choose(struct plot *plot)
{
        plot->n_troubles = plot->n_fine = 0;
        FOREACH_ARRAY(bar, plot->timeline->bars, plot->timeline->n) {
                if (bar->first_usec > plot->until_usec)
                        continue;
                if (bar->end == TIMELINE_DONE)
                        plot->fine[plot->n_fine++] = bar;
                else
                        plot->troubles[plot->n_troubles++] = bar;
        }
}

/* ------ above the bars ------ */

static char *format_title(const struct timeline *timeline)
{
        time_t when = (time_t) (timeline->realtime_usec / USEC_PER_SEC);
        char date[sizeof(", 2026-01-01 00:00:00 +0000")] = "";
        struct tm local;

        if (timeline->realtime_usec > 0 && localtime_r(&when, &local) &&
                strftime(date, sizeof(date), ", %F %T %z", &local) == 0)
                date[0] = '\0';
        return string_format("%s of %s%s%s%s", timeline->kind == TIMELINE_BOOT ? "Boot" : "Shutdown",
                timeline->host ?: "this machine", timeline->kernel ? ", Linux " : "", timeline->kernel ?: "",
                date);
}

/* How many there are in each state, in the order of their first ones: "5 active, 2 waiting". */
static void print_states(struct picture *picture, const struct timeline *timeline)
{
        for (size_t i = 0; i < timeline->n; i++) {
                const char *state = timeline->bars[i].state;
                size_t n = 0, j = 0;

                while (!streq(timeline->bars[j].state, state))
                        j++;
                if (j < i)
                        continue;
                for (; j < timeline->n; j++)
                        n += streq(timeline->bars[j].state, state);
                picture_print(picture, "%s%zu %s", i > 0 ? ", " : "", n, state);
        }
}

static void print_times(struct plot *plot)
{
        struct picture *picture = plot->picture;
        uint64_t first = UINT64_MAX, last = 0;
        _cleanup_free_ char *begin = NULL, *end = NULL, *span = NULL;
        size_t n_later = 0;

        FOREACH_ARRAY(bar, plot->timeline->bars, plot->timeline->n) {
                n_later += bar->first_usec > plot->until_usec;
                first = MIN(first, bar->first_usec);
                if (bar->end != TIMELINE_UNFINISHED && timeline_end_usec(bar) <= plot->until_usec)
                        last = MAX(last, timeline_end_usec(bar));
        }
        last = MAX(first, last);
        begin = format_duration(first);
        end = format_duration(last);
        span = format_duration(last - first);
        if (plot->boot)
                picture_print(picture, "first PV %s after the start of the kernel, last VG after %s", begin ?: "?",
                        end ?: "?");
        else
                picture_print(picture, "%s from the start of headgate-teardown to the last of them", span ?: "?");
        if (plot->boot && n_later > 0)
                picture_print(picture, "; %zu that came later left out", n_later);
}

/* A sign with its middle at a point, for an end that is not as it should be; nothing for one that is. */
static void draw_sign(FILE *file, enum timeline_end end, double x, double y)
{
        if (end == TIMELINE_FAILED)
                fprintf(file, "<path class=\"cross\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"/>\n", x - 4, y - 4);
        else if (end == TIMELINE_UNFINISHED)
                fprintf(file, "<path class=\"arrow\" d=\"M%.1f %.1fl9 5l-9 5z\"/>\n", x - 4, y - 5);
        else if (end == TIMELINE_SKIPPED)
                fprintf(file, "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", x, y);
}

static void draw_legend(struct picture *picture, enum timeline_kind kind)
{
        double x = PICTURE_LEFT;

        FOREACH_ARRAY(look, looks, ELEMENTSOF(looks)) {
                /* A bar and a sign, or one of them. */
                double words_x = x + (look->style && look->end != TIMELINE_DONE ? 44 : 30);

                if (look->kind != kind)
                        continue;
                if (look->style)
                        picture_rectangle(picture, x, LEGEND_Y - look->height / 2, 24, look->height, look->style);
                draw_sign(picture->file, look->end, words_x - 10, LEGEND_Y);
                picture_text(picture, words_x, LEGEND_Y + 4, "start", "label", "%s", look->legend);
                x += look->width;
        }
}

static void draw_header(struct plot *plot)
{
        const struct timeline *timeline = plot->timeline;
        struct picture *picture = plot->picture;

        fputs("<text x=\"12.0\" y=\"48.0\" text-anchor=\"start\" class=\"subtitle\">", picture->file);
        picture_print(picture, "%zu %s%s", timeline->n, plot->boot ? "VG" : "device", plural(timeline->n));
        if (timeline->n > 0) {
                picture_print(picture, ": ");
                print_states(picture, timeline);
                picture_print(picture, "; ");
                print_times(plot);
        }
        fputs("</text>\n", picture->file);
        draw_legend(picture, timeline->kind);
}

/* ------ rows ------ */

/* All that is known, for the pointer. */
static void print_bar(struct picture *picture, const struct timeline_bar *bar)
{
        _cleanup_free_ char *total = format_duration(timeline_total_usec(bar));

        picture_print(picture, "%s: %s, %s in all", bar->name, bar->state, total ?: "?");
        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; i++) {
                _cleanup_free_ char *time = format_duration(bar->phases_usec[i]);

                if (bar->phases_usec[i] > 0)
                        picture_print(picture, ", %s %s", looks[i].words, time ?: "?");
        }
        if (bar->reason && bar->reason[0] != '\0')
                picture_print(picture, ". %s", bar->reason);
}

/* Beside the bar: what it is sorted by, or what has gone wrong. */
static char *describe_end(const struct timeline_bar *bar)
{
        if (bar->end == TIMELINE_DONE)
                return format_duration(bar->tree ? bar->phases_usec[TIMELINE_REMOVAL] : timeline_total_usec(bar));
        if (bar->reason && bar->reason[0] != '\0')
                return string_format("%s: %s", bar->state, bar->reason);
        return strdup(bar->state);
}

/* A bar with its name and its time, and, if it has not ended well, a sign and the reason. */
static void draw_row(struct picture *picture, const struct timeline_bar *bar)
{
        double middle = picture->y + PICTURE_ROW_HEIGHT / 2;
        double text_x = picture_position(picture, timeline_end_usec(bar)) + PICTURE_GAP;
        _cleanup_free_ char *note = describe_end(bar);
        uint64_t usec = bar->first_usec;

        fputs("<g><title>", picture->file);
        print_bar(picture, bar);
        fputs("</title>\n", picture->file);
        picture_text_within(picture, PICTURE_LEFT - 8, middle + 4, PICTURE_LEFT - 20, "end", "label", bar->name);
        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; usec += bar->phases_usec[i++])
                if (bar->phases_usec[i] > 0)
                        picture_bar(picture, usec, usec + bar->phases_usec[i], looks[i].height, looks[i].style);
        /* A frame. */
        if (bar->end == TIMELINE_FAILED || bar->end == TIMELINE_UNFINISHED)
                picture_bar(picture, bar->first_usec, usec, PICTURE_BAR_HEIGHT,
                        bar->end == TIMELINE_FAILED ? "failed" : "unfinished");
        if (bar->end != TIMELINE_DONE) {
                draw_sign(picture->file, bar->end, text_x + 3, middle);
                text_x += 8 + PICTURE_GAP;
        }
        picture_text_within(picture, text_x, middle + 4, PICTURE_WIDTH - 8 - text_x, "start", "note", note);
        fputs("</g>\n", picture->file);
        picture->y += PICTURE_ROW_HEIGHT;
}

/* ------ bands ------ */

/* One shape of many rectangles takes less room than as many elements. */
static void draw_phase(struct picture *picture, const struct timeline_bar *const *bars, size_t n, double height,
        enum timeline_phase phase)
{
        bool begun = false;

        for (size_t i = 0; i < n; i++) {
                uint64_t usec = bars[i]->first_usec;
                double from, width;

                if (bars[i]->phases_usec[phase] == 0)
                        continue;
                for (enum timeline_phase before = 0; before < phase; before++)
                        usec += bars[i]->phases_usec[before];
                from = picture_position(picture, usec);
                width = MAX(picture_position(picture, usec + bars[i]->phases_usec[phase]) - from, 0.5);
                if (!begun)
                        fprintf(picture->file, "<path class=\"%s\" d=\"", looks[phase].style);
                begun = true;
                fprintf(picture->file, "M%.1f %.2fh%.1fv%.2fh%.1fz", from,
                        picture->y + height * (double) i / (double) n, width, height / (double) n, -width);
        }
        if (begun)
                fputs("\"/>\n", picture->file);
}

/* How long a band took, and of that with work: what was done one after another adds up to all of it. */
static char *describe_band(const struct timeline_bar *const *bars, size_t n, uint64_t took_usec)
{
        _cleanup_free_ char *time = format_duration(took_usec), *lvm2_time = NULL, *udev_time = NULL;
        uint64_t lvm2 = 0, udev = 0;

        for (size_t i = 0; i < n; i++) {
                lvm2 += bars[i]->phases_usec[TIMELINE_LVM2];
                udev += bars[i]->phases_usec[TIMELINE_UDEV];
        }
        if (udev == 0)
                return TAKE_PTR(time);
        lvm2_time = format_duration(lvm2);
        udev_time = format_duration(udev);
        return string_format("%s (lvm2 %s, udev %s)", time ?: "?", lvm2_time ?: "?", udev_time ?: "?");
}

/* Many bars as one, each a thin line, with a label and what it is about to the left, an upright line where the first
 * of them was begun with, and beside them how long all took from there. */
static void draw_band(struct plot *plot, const struct timeline_bar *const *bars, size_t n, const char *what)
{
        struct picture *picture = plot->picture;
        double height = MIN(MAX((double) n, PICTURE_ROW_HEIGHT), BAND_HEIGHT_MAX), x;
        const char *unit = plot->boot ? "VG" : "device";
        uint64_t from = UINT64_MAX, to = 0;
        _cleanup_free_ char *note = NULL;

        for (size_t i = 0; i < n; i++) {
                from = MIN(from, bars[i]->asked_usec > 0 ? bars[i]->asked_usec : bars[i]->first_usec);
                to = MAX(to, timeline_end_usec(bars[i]));
        }
        note = describe_band(bars, n, to > from ? to - from : 0);
        x = picture_position(picture, from);

        fputs("<g><title>", picture->file);
        picture_print(picture, "%zu %s%s: %s, %s", n, unit, plural(n), what, note ?: "?");
        fputs("</title>\n", picture->file);
        picture_text(picture, PICTURE_LEFT - 8, picture->y + height / 2 - 2, "end", "label strong", "%zu %s%s", n,
                unit, plural(n));
        picture_text(picture, PICTURE_LEFT - 8, picture->y + height / 2 + 10, "end", "number", "%s", what);
        for (enum timeline_phase phase = 0; phase < _TIMELINE_PHASE_MAX; phase++)
                draw_phase(picture, bars, n, height, phase);
        picture_line(picture, x, picture->y - 2, picture->y + height + 2, "begin");
        picture_text(picture, picture_position(picture, to) + PICTURE_GAP, picture->y + height - 3, "start",
                "note", "%s", note ?: "?");
        fputs("</g>\n", picture->file);
        picture->y += height + 8;
}

/* The bars of a batch are next to each other in the order of batches. */
static size_t find_end_of_batch(const struct plot *plot, size_t from)
{
        size_t to = from + 1;

        while (to < plot->n_fine && plot->fine[to]->asked_usec == plot->fine[from]->asked_usec)
                to++;
        return to;
}

/* One band for each batch that is large enough, and one for all the rest. Too many would be as unclear as rows. */
static void draw_bands(struct plot *plot)
{
        size_t n_large = 0, n_bands = 0, n_rest = 0;

        for (size_t from = 0, to; from < plot->n_fine; from = to) {
                to = find_end_of_batch(plot, from);
                n_large += to - from >= BAND_MIN;
        }
        for (size_t from = 0, to; from < plot->n_fine; from = to) {
                char what[64];

                to = find_end_of_batch(plot, from);
                if (n_large > BANDS_MAX || to - from < BAND_MIN || plot->fine[from]->asked_usec == 0) {
                        /* Their new places are of bars that were drawn or moved already. */
                        while (from < to)
                                plot->fine[n_rest++] = plot->fine[from++];
                        continue;
                }
                (void) snprintf(
                        what, sizeof(what), "%s %zu", plot->boot ? "vgchange" : "headgate-teardown", ++n_bands);
                draw_band(plot, plot->fine + from, to - from, what);
        }
        if (n_rest > 0)
                draw_band(plot, plot->fine, n_rest,
                        n_bands == 0 ? "all"
                        : plot->boot ? "few at a time, or up before"
                                     : "others");
}

/* ------ all of it ------ */

static void draw_all(struct plot *plot)
{
        const char *tree = NULL;

        SORT(plot->timeline->bars, plot->timeline->n, timeline_by_end);
        FOREACH_ARRAY(bar, plot->timeline->bars, plot->timeline->n) {
                if (bar->first_usec <= plot->until_usec) {
                        if (bar->tree && (!tree || !streq(tree, bar->tree)))
                                picture_heading(plot->picture, "%s", bar->tree);
                        draw_row(plot->picture, bar);
                }
                tree = bar->tree;
        }
}

static int draw_many(struct plot *plot)
{
        struct picture *picture = plot->picture;
        _cleanup_free_ const struct timeline_bar **bars = calloc(2 * plot->timeline->n, sizeof(*bars));
        const char *troubles = plot->boot ? "Not up" : "Left";

        if (!bars)
                return -ENOMEM;
        plot->troubles = bars;
        plot->fine = bars + plot->timeline->n;
        SORT(plot->timeline->bars, plot->timeline->n, timeline_by_blame);
        choose(plot);
        if (plot->n_troubles > TROUBLES_MAX)
                picture_heading(picture, "%s (%d of %zu)", troubles, TROUBLES_MAX, plot->n_troubles);
        else if (plot->n_troubles > 0)
                picture_heading(picture, "%s (%zu)", troubles, plot->n_troubles);
        for (size_t i = 0; i < MIN(plot->n_troubles, TROUBLES_MAX); i++)
                draw_row(picture, plot->troubles[i]);
        if (plot->n_fine == 0)
                return 0;
        picture_heading(picture, "Slowest (%zu of %zu)", MIN(plot->n_fine, SLOWEST_MAX), plot->n_fine);
        for (size_t i = 0; i < MIN(plot->n_fine, SLOWEST_MAX); i++)
                draw_row(picture, plot->fine[i]);

        picture_heading(picture, plot->boot ? "All that are up, by vgchange" : "All that are gone");
        SORT(plot->timeline->bars, plot->timeline->n, timeline_by_batch);
        choose(plot);
        draw_bands(plot);
        return 0;
}

int plot_timeline(const char *path, struct timeline *timeline)
{
        _cleanup_picture_ struct picture picture = {};
        struct plot plot = {.picture = &picture, .timeline = timeline, .boot = timeline->kind == TIMELINE_BOOT};
        _cleanup_free_ char *title = format_title(timeline);
        int r;

        r = find_span(&plot);
        /* A shutdown counts from its own beginning, a boot from that of the kernel. */
        if (r >= 0)
                r = picture_begin(&picture, plot.first_usec, plot.until_usec, plot.boot ? 0 : plot.first_usec);
        if (r < 0)
                return r;
        if (timeline->n > ROWS_MAX)
                r = draw_many(&plot);
        else
                draw_all(&plot);
        if (r < 0)
                return r;
        draw_header(&plot);
        return picture_write(&picture, path, title ?: "?");
}
