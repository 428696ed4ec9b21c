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

/* What is only waited for is half as high as what is done. */
static const struct {
        const char *style;
        double height;
        const char *words; /* in a time of its own */
} phases[_TIMELINE_PHASE_MAX] = {
        [TIMELINE_PVS] = {"pvs", PICTURE_BAR_HEIGHT / 2, "waiting for PVs"},
        [TIMELINE_QUEUE] = {"queue", PICTURE_BAR_HEIGHT / 2, "queue"},
        [TIMELINE_LVM2] = {"lvm2", PICTURE_BAR_HEIGHT, "lvm2"},
        [TIMELINE_UDEV] = {"udev", PICTURE_BAR_HEIGHT, "udev"},
        [TIMELINE_HELD] = {"held", PICTURE_BAR_HEIGHT / 2, "held"},
        [TIMELINE_REMOVAL] = {"removal", PICTURE_BAR_HEIGHT, "removal"},
};

/* The style in which a bar is framed that has not ended well. */
static const char *const end_styles[_TIMELINE_END_MAX] = {
        [TIMELINE_UNFINISHED] = "unfinished",
        [TIMELINE_FAILED] = "failed",
};

struct plot {
        struct picture *picture;
        struct timeline *timeline;
        uint64_t first_usec;
        uint64_t until_usec; /* what began later is left out */
};

/* The bars that are shown, in the timeline's order. */
struct shown {
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
        for (size_t i = 0; i < plot->timeline->n; i++) {
                const struct timeline_bar *bar = &plot->timeline->bars[i];

                plot->first_usec = MIN(plot->first_usec, bar->first_usec);
                goes_on = goes_on || timeline_end_usec(bar) > pause;
        }
        plot->until_usec = goes_on ? pause + MAX(OUTLOOK_MIN_USEC, (pause - plot->first_usec) / 20) : pause;
        return 0;
}

/* Both vectors are as long as the timeline. */
static void choose(const struct plot *plot, struct shown *shown)
{
        shown->n_troubles = shown->n_fine = 0;
        for (size_t i = 0; i < plot->timeline->n; i++) {
                const struct timeline_bar *bar = &plot->timeline->bars[i];

                if (bar->first_usec > plot->until_usec)
                        continue;
                if (bar->end == TIMELINE_DONE)
                        shown->fine[shown->n_fine++] = bar;
                else
                        shown->troubles[shown->n_troubles++] = bar;
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

static void print_times(struct picture *picture, const struct plot *plot)
{
        uint64_t first = UINT64_MAX, last = 0;
        _cleanup_free_ char *begin = NULL, *end = NULL, *span = NULL;
        size_t n_later = 0;

        for (size_t i = 0; i < plot->timeline->n; i++) {
                const struct timeline_bar *bar = &plot->timeline->bars[i];

                n_later += bar->first_usec > plot->until_usec;
                first = MIN(first, bar->first_usec);
                if (bar->end != TIMELINE_UNFINISHED && timeline_end_usec(bar) <= plot->until_usec)
                        last = MAX(last, timeline_end_usec(bar));
        }
        last = MAX(first, last);
        begin = format_duration(first);
        end = format_duration(last);
        span = format_duration(last - first);
        if (plot->timeline->kind == TIMELINE_SHUTDOWN)
                picture_print(picture, "%s from the start of headgate-teardown to the last of them", span ?: "?");
        else
                picture_print(picture, "first PV %s after the start of the kernel, last VG after %s", begin ?: "?",
                        end ?: "?");
        if (plot->timeline->kind == TIMELINE_BOOT && n_later > 0)
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
        static const struct {
                enum timeline_kind kind;
                enum timeline_end end;
                const char *style;
                double height;
                double words_x;
                const char *words;
                double width; /* with the words */
        } entries[] = {
                {TIMELINE_BOOT, TIMELINE_DONE, "pvs", PICTURE_BAR_HEIGHT / 2, 30, "waiting for PVs", 140},
                {TIMELINE_BOOT, TIMELINE_DONE, "queue", PICTURE_BAR_HEIGHT / 2, 30, "in the queue", 125},
                {TIMELINE_BOOT, TIMELINE_DONE, "lvm2", PICTURE_BAR_HEIGHT, 30, "lvm2", 80},
                {TIMELINE_BOOT, TIMELINE_DONE, "udev", PICTURE_BAR_HEIGHT, 30, "udev", 80},
                {TIMELINE_BOOT, TIMELINE_FAILED, "failed", PICTURE_BAR_HEIGHT, 44, "failed", 90},
                {TIMELINE_BOOT, TIMELINE_UNFINISHED, "unfinished", PICTURE_BAR_HEIGHT, 44, "not up yet", 115},
                {TIMELINE_BOOT, TIMELINE_SKIPPED, NULL, 0, 30, "skipped", 90},
                {TIMELINE_SHUTDOWN, TIMELINE_DONE, "held", PICTURE_BAR_HEIGHT / 2, 30, "something holds it", 160},
                {TIMELINE_SHUTDOWN, TIMELINE_DONE, "removal", PICTURE_BAR_HEIGHT, 30, "removal", 100},
                {TIMELINE_SHUTDOWN, TIMELINE_FAILED, "failed", PICTURE_BAR_HEIGHT, 44, "left", 90},
        };
        double x = PICTURE_LEFT;

        for (size_t i = 0; i < ELEMENTSOF(entries); i++) {
                if (entries[i].kind != kind)
                        continue;
                if (entries[i].style)
                        picture_rectangle(picture, x, LEGEND_Y - entries[i].height / 2, 24, entries[i].height,
                                entries[i].style);
                draw_sign(picture->file, entries[i].end, x + entries[i].words_x - 10, LEGEND_Y);
                picture_text(
                        picture, x + entries[i].words_x, LEGEND_Y + 4, "start", "label", "%s", entries[i].words);
                x += entries[i].width;
        }
}

static void draw_header(struct plot *plot)
{
        const struct timeline *timeline = plot->timeline;
        struct picture *picture = plot->picture;

        fputs("<text x=\"12.0\" y=\"48.0\" text-anchor=\"start\" class=\"subtitle\">", picture->file);
        picture_print(picture, "%zu %s%s", timeline->n, timeline->kind == TIMELINE_BOOT ? "VG" : "device",
                plural(timeline->n));
        if (timeline->n > 0) {
                picture_print(picture, ": ");
                print_states(picture, timeline);
                picture_print(picture, "; ");
                print_times(picture, plot);
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
                        picture_print(picture, ", %s %s", phases[i].words, time ?: "?");
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
                        picture_bar(picture, usec, usec + bar->phases_usec[i], phases[i].height, phases[i].style);
        if (end_styles[bar->end])
                picture_bar(picture, bar->first_usec, usec, PICTURE_BAR_HEIGHT, end_styles[bar->end]);
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
                        fprintf(picture->file, "<path class=\"%s\" d=\"", phases[phase].style);
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
        const char *unit = plot->timeline->kind == TIMELINE_BOOT ? "VG" : "device";
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
static size_t find_end_of_batch(const struct shown *shown, size_t from)
{
        size_t to = from + 1;

        while (to < shown->n_fine && shown->fine[to]->asked_usec == shown->fine[from]->asked_usec)
                to++;
        return to;
}

/* One band for each batch that is large enough, and one for all the rest. Too many would be as unclear as rows. */
static void draw_bands(struct plot *plot, struct shown *shown)
{
        bool boot = plot->timeline->kind == TIMELINE_BOOT;
        size_t n_large = 0, n_bands = 0, n_rest = 0;

        for (size_t from = 0, to; from < shown->n_fine; from = to) {
                to = find_end_of_batch(shown, from);
                n_large += to - from >= BAND_MIN;
        }
        for (size_t from = 0, to; from < shown->n_fine; from = to) {
                char what[64];

                to = find_end_of_batch(shown, from);
                if (n_large > BANDS_MAX || to - from < BAND_MIN || shown->fine[from]->asked_usec == 0) {
                        /* Their new places are of bars that were drawn or moved already. */
                        while (from < to)
                                shown->fine[n_rest++] = shown->fine[from++];
                        continue;
                }
                (void) snprintf(what, sizeof(what), "%s %zu", boot ? "vgchange" : "headgate-teardown", ++n_bands);
                draw_band(plot, shown->fine + from, to - from, what);
        }
        if (n_rest > 0)
                draw_band(plot, shown->fine, n_rest,
                        n_bands == 0 ? "all"
                        : boot       ? "few at a time, or up before"
                                     : "others");
}

/* ------ all of it ------ */

static void draw_all(struct plot *plot)
{
        const char *tree = NULL;

        timeline_sort(plot->timeline, timeline_by_end);
        for (size_t i = 0; i < plot->timeline->n; i++) {
                const struct timeline_bar *bar = &plot->timeline->bars[i];

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
        bool boot = plot->timeline->kind == TIMELINE_BOOT;
        _cleanup_free_ const struct timeline_bar **bars = calloc(2 * plot->timeline->n, sizeof(*bars));
        struct shown shown = {.troubles = bars, .fine = bars + plot->timeline->n};

        if (!bars)
                return -ENOMEM;
        timeline_sort(plot->timeline, timeline_by_blame);
        choose(plot, &shown);
        if (shown.n_troubles > TROUBLES_MAX)
                picture_heading(
                        picture, "%s (%d of %zu)", boot ? "Not up" : "Left", TROUBLES_MAX, shown.n_troubles);
        else if (shown.n_troubles > 0)
                picture_heading(picture, "%s (%zu)", boot ? "Not up" : "Left", shown.n_troubles);
        for (size_t i = 0; i < MIN(shown.n_troubles, TROUBLES_MAX); i++)
                draw_row(picture, shown.troubles[i]);
        if (shown.n_fine == 0)
                return 0;
        picture_heading(picture, "Slowest (%zu of %zu)", MIN(shown.n_fine, SLOWEST_MAX), shown.n_fine);
        for (size_t i = 0; i < MIN(shown.n_fine, SLOWEST_MAX); i++)
                draw_row(picture, shown.fine[i]);

        picture_heading(picture, boot ? "All that are up, by vgchange" : "All that are gone");
        timeline_sort(plot->timeline, timeline_by_batch);
        choose(plot, &shown);
        draw_bands(plot, &shown);
        return 0;
}

int plot_timeline(const char *path, struct timeline *timeline)
{
        _cleanup_picture_ struct picture picture = {};
        struct plot plot = {&picture, timeline};
        _cleanup_free_ char *title = format_title(timeline);
        int r;

        r = find_span(&plot);
        if (r < 0)
                return r;
        /* A shutdown counts from its own beginning, a boot from that of the kernel. */
        r = picture_begin(&picture, plot.first_usec, plot.until_usec,
                timeline->kind == TIMELINE_SHUTDOWN ? plot.first_usec : 0);
        if (r < 0)
                return r;
        if (timeline->n > ROWS_MAX) {
                r = draw_many(&plot);
                if (r < 0)
                        return r;
        } else
                draw_all(&plot);
        draw_header(&plot);
        return picture_write(&picture, path, title ?: "?");
}
