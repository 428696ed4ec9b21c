/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The picture of a timeline: a row for each bar, or if there are many for the important ones. */

#include "plot/picture.h"
#include "plot/plot.h"
#include "shared/util.h"

/* This many rows fit on a page or a large screen. */
#define ROWS_MAX 60U

/* With more bars than that, the number of rows for failed ones. */
#define TROUBLES_MAX 40U
#define SLOWEST_MAX 20U

#define LEGEND_Y 82.0
/* The height of the band of bars without a row, and the width of its steps. */
#define BAND_HEIGHT 66.0
#define BAND_STEP 4.0

#define GAP 6.0 /* between a bar and its note */

/* Style and words of each phase, then of each unsuccessful end. Waiting is drawn at half the height. */
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
        [TIMELINE_STOPPING] = {TIMELINE_SHUTDOWN, TIMELINE_DONE, "queue", PICTURE_BAR_HEIGHT / 2, "services stop"},
        [TIMELINE_HELD] = {TIMELINE_SHUTDOWN, TIMELINE_DONE, "held", PICTURE_BAR_HEIGHT / 2, "in use"},
        [TIMELINE_REMOVAL] = {TIMELINE_SHUTDOWN, TIMELINE_DONE, "removal", PICTURE_BAR_HEIGHT, "removal"},
        {TIMELINE_BOOT, TIMELINE_FAILED, "failed", PICTURE_BAR_HEIGHT, "failed"},
        {TIMELINE_BOOT, TIMELINE_UNFINISHED, "unfinished", PICTURE_BAR_HEIGHT, "not active yet"},
        {TIMELINE_BOOT, TIMELINE_SKIPPED, NULL, 0, "skipped"},
        {TIMELINE_SHUTDOWN, TIMELINE_FAILED, "failed", PICTURE_BAR_HEIGHT, "left"},
};

struct plot {
        struct picture picture;
        struct timeline *timeline;
        bool boot;
        uint64_t first_usec, last_usec; /* bars that begin later are hidden */
        size_t n_later;
        const struct timeline_bar **bars; /* the bars to draw next */
        size_t n_bars;
};

/* ------ selecting bars ------ */

/* Selects successful bars, others, or both. */
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

/* Prints the number of bars in each state, in order of appearance: "5 active, 2 waiting". */
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

        fputs("<text x=\"12.0\" y=\"46.0\" text-anchor=\"start\" class=\"subtitle\">", picture->file);
        picture_print(picture, "%zu %s%s", n, plot->boot ? "VG" : "device", plural(n));
        print_states(picture, plot->timeline);
        fputs("</text>\n<text x=\"12.0\" y=\"62.0\" text-anchor=\"start\" class=\"subtitle\">", picture->file);
        if (n > 0)
                picture_print(picture, "From %s to %s after %s",
                        DURATION_TO_STRING(plot->first_usec - picture->zero_usec),
                        DURATION_TO_STRING(plot->last_usec - picture->zero_usec),
                        plot->boot ? "the start of the kernel" : "the shutdown began");
        if (plot->n_later > 0)
                picture_print(picture, "; %zu later omitted", plot->n_later);
        fputs("</text>\n", picture->file);
}

/* Draws the sign of an unsuccessful end around a point; nothing for other ends. */
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
        double x = 12, y = LEGEND_Y;

        FOREACH_ELEMENT(look, looks) {
                double indent = look->end == TIMELINE_DONE ? 30 : 44;
                double width = indent + (double) strlen(look->words) * PICTURE_LETTER_WIDTH + 14;

                if (look->kind != kind)
                        continue;
                if (x + width > PICTURE_WIDTH) {
                        x = 12;
                        y += 20;
                }
                if (look->style)
                        picture_rectangle(picture, x, y - look->height / 2, 24, look->height, look->style);
                draw_sign(picture->file, look->end, x + indent - 10, y);
                picture_text(picture, x + indent, y + 4, "start", "label", look->words);
                x += width;
        }
}

/* ------ rows ------ */

static void draw_heading(struct picture *picture, const char *text)
{
        picture_text(picture, 12, picture->y + 17, "start", "heading", text);
        picture->y += PICTURE_ROW_HEIGHT + 4;
}

/* The full text, for the tooltip. */
static void print_bar(struct picture *picture, const struct timeline_bar *bar)
{
        picture_print(
                picture, "%s: %s, %s in all", bar->name, bar->state, DURATION_TO_STRING(timeline_total_usec(bar)));
        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; i++)
                if (bar->phases_usec[i] > 0)
                        picture_print(picture, ", %s %s", looks[i].words, DURATION_TO_STRING(bar->phases_usec[i]));
        picture_print(picture, "%s%s", !isempty(bar->reason) ? ". " : "", bar->reason ?: "");
}

/* Makes the note of a bar: its time, or what failed. */
static char *describe_end(const struct timeline_bar *bar)
{
        if (bar->end == TIMELINE_DONE)
                return strdup(DURATION_TO_STRING(
                        bar->tree ? bar->phases_usec[TIMELINE_REMOVAL] : timeline_own_usec(bar)));
        return string_format("%s%s%s", bar->state, !isempty(bar->reason) ? ": " : "", bar->reason ?: "");
}

/* Draws the note right of the bar; if there is no room, left of it or on it. */
static void draw_note(struct picture *picture, double begin, double right, double y, const char *note)
{
        double width = (double) strlen(note ?: "?") * PICTURE_LETTER_WIDTH;

        if (PICTURE_WIDTH - 8 - right >= width)
                picture_text(picture, right, y, "start", "note", note);
        else if (begin - GAP - PICTURE_LEFT >= width)
                picture_text(picture, begin - GAP, y, "end", "note", note);
        else
                picture_text(picture, MIN(begin + GAP + width, PICTURE_WIDTH - 8), y, "end", "note", note);
}

/* Draws a bar with name and time, and for an unsuccessful one a frame, a sign and the reason. */
static void draw_row(struct picture *picture, const struct timeline_bar *bar)
{
        double middle = picture->y + PICTURE_ROW_HEIGHT / 2, x = picture_position(picture, bar->first_usec);
        uint64_t usec = bar->first_usec;
        double end = picture_position(picture, timeline_end_usec(bar));
        _cleanup_free_ char *note = describe_end(bar);

        fputs("<g><title>", picture->file);
        print_bar(picture, bar);
        fputs("</title>\n", picture->file);
        picture_text(picture, PICTURE_LEFT - 8, middle + 4, "end", "label", bar->name);
        for (enum timeline_phase i = 0; i < _TIMELINE_PHASE_MAX; usec += bar->phases_usec[i++]) {
                double from = picture_position(picture, usec);

                if (bar->phases_usec[i] > 0)
                        picture_rectangle(picture, from, middle - looks[i].height / 2,
                                MAX(picture_position(picture, usec + bar->phases_usec[i]) - from, 0.5),
                                looks[i].height, looks[i].style);
        }
        if (bar->end == TIMELINE_FAILED || bar->end == TIMELINE_UNFINISHED)
                picture_rectangle(picture, x, middle - PICTURE_BAR_HEIGHT / 2, MAX(end - x, 0.5),
                        PICTURE_BAR_HEIGHT, bar->end == TIMELINE_FAILED ? "failed" : "unfinished");
        draw_sign(picture->file, bar->end, end + GAP + 3, middle);
        draw_note(picture, x, end + GAP + (bar->end == TIMELINE_DONE ? 0 : GAP + 8), middle + 4, note);
        fputs("</g>\n", picture->file);
        picture->y += PICTURE_ROW_HEIGHT;
}

/* Draws rows below a heading, or without one by storage tree. */
static void draw_rows(struct plot *plot, const char *what, size_t n_max)
{
        size_t n = MIN(plot->n_bars, n_max);
        const char *last = NULL;

        if (what && n > 0)
                draw_heading(&plot->picture, path_format("%s (%zu of %zu)", what, n, plot->n_bars).text);
        for (size_t i = 0; i < n; i++) {
                const char *tree = what ? NULL : plot->bars[i]->tree;

                if (tree && (!last || !streq(last, tree)))
                        draw_heading(&plot->picture, tree);
                last = tree;
                draw_row(&plot->picture, plot->bars[i]);
        }
}

/* Draws the band for bars from `first` on, which have no rows: how many are active at each moment. */
static void draw_band(struct plot *plot, size_t first)
{
        struct picture *picture = &plot->picture;
        size_t n = plot->n_bars - MIN(first, plot->n_bars);

        if (n == 0)
                return;
        draw_heading(picture, path_format("The other %zu: how many at a time", n).text);
        picture->y += BAND_HEIGHT;
        for (unsigned int i = 0; PICTURE_LEFT + i * BAND_STEP < PICTURE_RIGHT; i++) {
                double x = PICTURE_LEFT + i * BAND_STEP, height = 0;

                FOREACH_ARRAY(bar, plot->bars + first, n)
                        if (picture_position(picture, (*bar)->first_usec) < x + BAND_STEP &&
                                picture_position(picture, timeline_end_usec(*bar)) >= x)
                                height += BAND_HEIGHT / (double) n;
                picture_rectangle(picture, x, picture->y - height, BAND_STEP, height, "queue");
        }
}

/* ------ the picture ------ */

static void draw_many(struct plot *plot)
{
        select_bars(plot, timeline_by_blame, false, true);
        draw_rows(plot, plot->boot ? "Not active" : "Left", TROUBLES_MAX);
        select_bars(plot, timeline_by_blame, true, false);
        draw_rows(plot, "Slowest", SLOWEST_MAX);
        draw_band(plot, SLOWEST_MAX);
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
        /* A shutdown counts from its start, a boot from that of the kernel. */
        r = picture_begin(&plot.picture, plot.first_usec, plot.last_usec, plot.boot ? 0 : plot.first_usec);
        if (r < 0)
                return r;

        FOREACH_ELEMENT(target, timeline->targets)
                if (target->usec > plot.picture.from_usec && target->usec <= plot.picture.to_usec)
                        picture_mark(&plot.picture, target->usec, target->unit);

        if (timeline->n > ROWS_MAX) {
                draw_many(&plot);
        } else {
                select_bars(&plot, timeline_by_end, true, true);
                draw_rows(&plot, NULL, SIZE_MAX);
        }
        draw_subtitle(&plot);
        draw_legend(&plot.picture, timeline->kind);
        return picture_end(&plot.picture, title,
                plot.boot ? "Time since the kernel started" : "Time since the shutdown began");
}
