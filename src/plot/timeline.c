/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The picture of a timeline: a row for each bar, or many bars as one band in which each is a thin line. */

#include "plot/picture.h"
#include "plot/plot.h"
#include "shared/util.h"

/* As many rows fit on a page, or a large screen. */
#define ROWS_MAX 60U

/* With more bars than that, of how many there is a row. */
#define TROUBLES_MAX 40U
#define SLOWEST_MAX 20U

/* Batches that are smaller, and those after so many bands, share one. */
#define BAND_MIN 4U
#define BANDS_MAX 24U

/* A band has at least one row's height, and a pixel for each bar as long as it does not get higher than this. */
#define BAND_HEIGHT_MAX 240.0

#define LEGEND_Y 74.0
#define GAP 6.0 /* between a bar and what is written beside it */

/* How each phase is drawn, and below these each end that is not as it should be; and in which words. What is only waited
 * for is half as high as what is done. */
static const struct {
        enum timeline_kind kind;
        enum timeline_end end;
        const char *style;
        double height;
        const char *words;
} looks[] = {
        [TIMELINE_PVS] = {TIMELINE_BOOT, TIMELINE_DONE, "pvs", PICTURE_BAR_HEIGHT / 2, "waiting for PVs"},
        [TIMELINE_QUEUE] = {TIMELINE_BOOT, TIMELINE_DONE, "queue", PICTURE_BAR_HEIGHT / 2, "queued"},
        [TIMELINE_LVM2] = {TIMELINE_BOOT, TIMELINE_DONE, "lvm2", PICTURE_BAR_HEIGHT, "lvm2"},
        [TIMELINE_UDEV] = {TIMELINE_BOOT, TIMELINE_DONE, "udev", PICTURE_BAR_HEIGHT, "udev"},
        [TIMELINE_HELD] = {TIMELINE_SHUTDOWN, TIMELINE_DONE, "held", PICTURE_BAR_HEIGHT / 2, "in use"},
        [TIMELINE_REMOVAL] = {TIMELINE_SHUTDOWN, TIMELINE_DONE, "removal", PICTURE_BAR_HEIGHT, "removal"},
        {TIMELINE_BOOT, TIMELINE_FAILED, "failed", PICTURE_BAR_HEIGHT, "failed"},
        {TIMELINE_BOOT, TIMELINE_UNFINISHED, "unfinished", PICTURE_BAR_HEIGHT, "not up yet"},
        {TIMELINE_BOOT, TIMELINE_SKIPPED, NULL, 0, "skipped"},
        {TIMELINE_SHUTDOWN, TIMELINE_FAILED, "failed", PICTURE_BAR_HEIGHT, "left"},
};

struct plot {
        struct picture picture;
        struct timeline *timeline;
        bool boot;
        uint64_t first_usec, last_usec; /* bars that begin later are not shown */
        size_t n_later;
        const struct timeline_bar **bars; /* those that are drawn at a time */
        size_t n_bars;
};

/* ------ which bars are shown ------ */

/* Selects bars that ended as they should, others, or both. */
static void select_bars(struct plot *plot, int (*order)(const void *, const void *), bool done, bool others)
{
        SORT(plot->timeline->bars, plot->timeline->n, order);
        plot->n_bars = 0;
        FOREACH_ARRAY(bar, plot->timeline->bars, plot->timeline->n)
                if (bar->first_usec <= plot->last_usec && (bar->end == TIMELINE_DONE ? done : others))
                        plot->bars[plot->n_bars++] = bar;
}

/* ------ above the bars ------ */

static char *format_title(const struct timeline *timeline)
{
        time_t seconds = (time_t) (timeline->realtime_usec / USEC_PER_SEC);
        const char *date = seconds > 0 ? LOCAL_TIME_TO_STRING(seconds) : "";

        return string_format("%s of %s%s%s%s%s", timeline->kind == TIMELINE_BOOT ? "Boot" : "Shutdown",
                timeline->host ?: "this machine", timeline->kernel ? ", Linux " : "", timeline->kernel ?: "",
                *date != '\0' ? ", " : "", date);
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
                picture_print(picture, "%s%zu %s", i > 0 ? ", " : ": ", n, state);
        }
}

static void draw_subtitle(struct plot *plot)
{
        struct picture *picture = &plot->picture;
        const size_t n = plot->timeline->n;

        fputs("<text x=\"12.0\" y=\"48.0\" text-anchor=\"start\" class=\"subtitle\">", picture->file);
        picture_print(picture, "%zu %s%s", n, plot->boot ? "VG" : "device", plural(n));
        print_states(picture, plot->timeline);
        if (n > 0)
                picture_print(picture, "; from %s to %s after the start of %s",
                        DURATION_TO_STRING(plot->first_usec - picture->zero_usec),
                        DURATION_TO_STRING(plot->last_usec - picture->zero_usec),
                        plot->boot ? "the kernel" : "headgate-teardown");
        if (plot->n_later > 0)
                picture_print(picture, "; %zu that came later left out", plot->n_later);
        fputs("</text>\n", picture->file);
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
                double words_x = x + (look->end == TIMELINE_DONE ? 30 : 44);

                if (look->kind != kind)
                        continue;
                if (look->style)
                        picture_rectangle(picture, x, LEGEND_Y - look->height / 2, 24, look->height, look->style);
                draw_sign(picture->file, look->end, words_x - 10, LEGEND_Y);
                picture_text(picture, words_x, LEGEND_Y + 4, "start", "label", look->words);
                x = words_x + (double) strlen(look->words) * PICTURE_LETTER_WIDTH + 20;
        }
}

/* ------ rows ------ */

static void draw_heading(struct picture *picture, const char *text)
{
        picture_text(picture, 12, picture->y + 17, "start", "heading", text);
        picture->y += PICTURE_ROW_HEIGHT + 4;
}

/* All that is known, for the pointer. */
static void print_bar(struct picture *picture, const struct timeline_bar *bar)
{
        picture_print(
                picture, "%s: %s, %s in all", bar->name, bar->state, DURATION_TO_STRING(timeline_total_usec(bar)));
        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; i++)
                if (bar->phases_usec[i] > 0)
                        picture_print(picture, ", %s %s", looks[i].words, DURATION_TO_STRING(bar->phases_usec[i]));
        picture_print(picture, "%s%s", bar->reason && bar->reason[0] != '\0' ? ". " : "", bar->reason ?: "");
}

/* Beside the bar: what it is sorted by, or what has gone wrong. */
static char *describe_end(const struct timeline_bar *bar)
{
        if (bar->end == TIMELINE_DONE)
                return strdup(DURATION_TO_STRING(
                        bar->tree ? bar->phases_usec[TIMELINE_REMOVAL] : timeline_total_usec(bar)));
        return string_format(
                "%s%s%s", bar->state, bar->reason && bar->reason[0] != '\0' ? ": " : "", bar->reason ?: "");
}

/* The same phase of bars below each other, as one shape of many rectangles, which takes less room than as many elements. */
static void draw_phase(struct picture *picture, const struct timeline_bar *const *bars, size_t n, double y,
        double height, enum timeline_phase phase)
{
        fprintf(picture->file, "<path class=\"%s\" d=\"", looks[phase].style);
        for (size_t i = 0; i < n; i++) {
                uint64_t usec = bars[i]->first_usec;
                double from, width;

                if (bars[i]->phases_usec[phase] == 0)
                        continue;
                for (enum timeline_phase before = 0; before < phase; before++)
                        usec += bars[i]->phases_usec[before];
                from = picture_position(picture, usec);
                width = MAX(picture_position(picture, usec + bars[i]->phases_usec[phase]) - from, 0.5);
                fprintf(picture->file, "M%.1f %.2fh%.1fv%.2fh%.1fz", from, y + height * (double) i / (double) n,
                        width, height / (double) n, -width);
        }
        fputs("\"/>\n", picture->file);
}

/* A bar with its name and its time, and, if it has not ended well, a frame, a sign and the reason. */
static void draw_row(struct picture *picture, const struct timeline_bar *bar)
{
        double middle = picture->y + PICTURE_ROW_HEIGHT / 2, x = picture_position(picture, bar->first_usec);
        double end = picture_position(picture, timeline_end_usec(bar));
        _cleanup_free_ char *note = describe_end(bar);

        fputs("<g><title>", picture->file);
        print_bar(picture, bar);
        fputs("</title>\n", picture->file);
        picture_text(picture, PICTURE_LEFT - 8, middle + 4, "end", "label", bar->name);
        for (enum timeline_phase i = 0; i < _TIMELINE_PHASE_MAX; i++)
                if (bar->phases_usec[i] > 0)
                        draw_phase(picture, &bar, 1, middle - looks[i].height / 2, looks[i].height, i);
        if (bar->end == TIMELINE_FAILED || bar->end == TIMELINE_UNFINISHED)
                picture_rectangle(picture, x, middle - PICTURE_BAR_HEIGHT / 2, MAX(end - x, 0.5),
                        PICTURE_BAR_HEIGHT, bar->end == TIMELINE_FAILED ? "failed" : "unfinished");
        draw_sign(picture->file, bar->end, end + GAP + 3, middle);
        picture_text(
                picture, end + GAP + (bar->end == TIMELINE_DONE ? 0 : GAP + 8), middle + 4, "start", "note", note);
        fputs("</g>\n", picture->file);
        picture->y += PICTURE_ROW_HEIGHT;
}

/* Below a heading, or, without one, each storage tree below its own. */
static void draw_rows(struct plot *plot, const char *what, size_t n_max)
{
        size_t n = MIN(plot->n_bars, n_max);
        _cleanup_free_ char *heading = string_format("%s (%zu of %zu)", what ?: "", n, plot->n_bars);
        const char *last = NULL;

        if (what && n > 0)
                draw_heading(&plot->picture, heading);
        for (size_t i = 0; i < n; i++) {
                const char *tree = what ? NULL : plot->bars[i]->tree;

                if (tree && (!last || !streq(last, tree)))
                        draw_heading(&plot->picture, tree);
                last = tree;
                draw_row(&plot->picture, plot->bars[i]);
        }
}

/* ------ bands ------ */

/* Many bars as one, each a thin line, with a label and what it is about to the left, an upright line where the first
 * of them was begun with, and beside them how long all took from there, and of that with work: what was done one after
 * another adds up to all of it. */
static void draw_band(struct plot *plot, const struct timeline_bar *const *bars, size_t n, const char *what)
{
        struct picture *picture = &plot->picture;
        double height = MIN(MAX((double) n, PICTURE_ROW_HEIGHT), BAND_HEIGHT_MAX);
        double middle = picture->y + height / 2;
        uint64_t from = UINT64_MAX, to = 0, lvm2_usec = 0, udev_usec = 0;
        _cleanup_free_ char *label = string_format("%zu %s%s", n, plot->boot ? "VG" : "device", plural(n));
        _cleanup_free_ char *note = NULL;
        const char *took;

        for (size_t i = 0; i < n; i++) {
                from = MIN(from, bars[i]->asked_usec > 0 ? bars[i]->asked_usec : bars[i]->first_usec);
                to = MAX(to, timeline_end_usec(bars[i]));
                lvm2_usec += bars[i]->phases_usec[TIMELINE_LVM2];
                udev_usec += bars[i]->phases_usec[TIMELINE_UDEV];
        }
        took = DURATION_TO_STRING(to > from ? to - from : 0);
        note = udev_usec > 0 ? string_format("%s (lvm2 %s, udev %s)", took, DURATION_TO_STRING(lvm2_usec),
                                       DURATION_TO_STRING(udev_usec))
                             : strdup(took);

        fputs("<g><title>", picture->file);
        picture_print(picture, "%s: %s, %s", label ?: "?", what, note ?: "?");
        fputs("</title>\n", picture->file);
        picture_text(picture, PICTURE_LEFT - 8, middle - 2, "end", "label strong", label);
        picture_text(picture, PICTURE_LEFT - 8, middle + 10, "end", "number", what);
        for (enum timeline_phase phase = 0; phase < _TIMELINE_PHASE_MAX; phase++)
                if (looks[phase].kind == plot->timeline->kind)
                        draw_phase(picture, bars, n, picture->y, height, phase);
        picture_rectangle(picture, picture_position(picture, from), picture->y - 2, 1.5, height + 4, "begin");
        picture_text(picture, picture_position(picture, to) + GAP, picture->y + height - 3, "start", "note", note);
        fputs("</g>\n", picture->file);
        picture->y += height + 8;
}

/* One band for each of the first batches that are large enough, and one for all the rest. The bars of a batch are next to
 * each other. */
static void draw_bands(struct plot *plot)
{
        const struct timeline_bar **bars = plot->bars;
        size_t n_batches = 0, n_bands = 0, n_rest = 0;

        for (size_t from = 0, to; from < plot->n_bars; from = to) {
                char what[64];

                for (to = from + 1; to < plot->n_bars && bars[to]->asked_usec == bars[from]->asked_usec;)
                        to++;
                n_batches += bars[from]->asked_usec > 0;
                if (to - from < BAND_MIN || bars[from]->asked_usec == 0 || n_bands == BANDS_MAX) {
                        /* Their new places are of bars that were drawn or moved already. */
                        while (from < to)
                                bars[n_rest++] = bars[from++];
                        continue;
                }
                (void) snprintf(
                        what, sizeof(what), "%s %zu", plot->boot ? "vgchange" : "headgate-teardown", n_batches);
                draw_band(plot, bars + from, to - from, what);
                n_bands++;
        }
        if (n_rest > 0)
                draw_band(plot, bars, n_rest, n_bands == 0 ? "all" : "others");
}

/* ------ all of it ------ */

static void draw_many(struct plot *plot)
{
        select_bars(plot, timeline_by_blame, false, true);
        draw_rows(plot, plot->boot ? "Not up" : "Left", TROUBLES_MAX);
        select_bars(plot, timeline_by_blame, true, false);
        draw_rows(plot, "Slowest", SLOWEST_MAX);
        if (plot->n_bars == 0)
                return;
        draw_heading(&plot->picture, plot->boot ? "All that are up, by vgchange" : "All that are gone");
        select_bars(plot, timeline_by_batch, true, false);
        draw_bands(plot);
}

int plot_timeline(struct timeline *timeline)
{
        _cleanup_free_ const struct timeline_bar **bars = calloc(timeline->n + 1, sizeof(*bars));
        _cleanup_free_ char *title = format_title(timeline);
        struct plot plot = {.timeline = timeline, .boot = timeline->kind == TIMELINE_BOOT, .bars = bars};
        int r;

        if (!bars || !title)
                return -ENOMEM;
        r = timeline_find_pause(timeline, &plot.last_usec);
        if (r < 0)
                return r;
        plot.first_usec = plot.last_usec;
        FOREACH_ARRAY(bar, timeline->bars, timeline->n) {
                plot.first_usec = MIN(plot.first_usec, bar->first_usec);
                plot.n_later += bar->first_usec > plot.last_usec;
        }
        /* A shutdown counts from its own beginning, a boot from that of the kernel. */
        r = picture_begin(&plot.picture, plot.first_usec, plot.last_usec, plot.boot ? 0 : plot.first_usec);
        if (r < 0)
                return r;

        if (timeline->n > ROWS_MAX) {
                draw_many(&plot);
        } else {
                select_bars(&plot, timeline_by_end, true, true);
                draw_rows(&plot, NULL, SIZE_MAX);
        }
        draw_subtitle(&plot);
        draw_legend(&plot.picture, timeline->kind);
        return picture_end(&plot.picture, title);
}
