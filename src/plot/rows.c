/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plot/rows.h"

#include "plot/svg.h"
#include "shared/util.h"

#define BAR_HEIGHT 14.0

/* A band has at least one row's height, and a pixel for each bar as long as it does not get higher than this. */
#define BAND_HEIGHT_MAX 240.0

/* Of a letter, on average, in the size of labels. */
#define LETTER_WIDTH 6.3

/* Between a bar and what is written beside it. */
#define GAP 6.0

static const struct {
        const char *style;
        double height;
        const char *words; /* in a time of its own */
} phases[_TIMELINE_PHASE_MAX] = {
        [TIMELINE_PVS] = {"pvs", BAR_HEIGHT / 2, "waiting for PVs"},
        [TIMELINE_QUEUE] = {"queue", BAR_HEIGHT / 2, "queue"},
        [TIMELINE_LVM2] = {"lvm2", BAR_HEIGHT, "lvm2"},
        [TIMELINE_UDEV] = {"udev", BAR_HEIGHT, "udev"},
        [TIMELINE_HELD] = {"held", BAR_HEIGHT / 2, "held"},
        [TIMELINE_REMOVAL] = {"removal", BAR_HEIGHT, "removal"},
};

const char *rows_style(enum timeline_phase phase)
{
        return phases[phase].style;
}

double rows_phase_height(enum timeline_phase phase)
{
        return phases[phase].height;
}

/* ------ text ------ */

/* What fits into a width, with "..." for the rest; without memory nothing does. */
static char *shorten(const char *text, double width)
{
        size_t n = width > 4 * LETTER_WIDTH ? (size_t) (width / LETTER_WIDTH) : 4;

        return strlen(text) <= n ? strdup(text) : string_format("%.*s...", (int) n - 3, text);
}

/* All that is known, for the pointer. NULL without memory. */
static char *describe(const struct timeline_bar *bar)
{
        _cleanup_free_ char *total = format_duration(timeline_total_usec(bar));
        bool explained = bar->reason && bar->reason[0] != '\0';
        char *text = NULL;
        size_t size;
        FILE *file;

        file = open_memstream(&text, &size);
        if (!file)
                return NULL;
        fprintf(file, "%s: %s, %s in all", bar->name, bar->state, total ?: "?");
        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; i++) {
                _cleanup_free_ char *time = format_duration(bar->phases_usec[i]);

                if (bar->phases_usec[i] > 0)
                        fprintf(file, ", %s %s", phases[i].words, time ?: "?");
        }
        fprintf(file, "%s%s", explained ? ". " : "", explained ? bar->reason : "");
        if (fclose(file) == 0)
                return text;
        free(text);
        return NULL;
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

/* ------ rows ------ */

void rows_draw_sign(FILE *file, enum timeline_end end, double x, double y)
{
        switch (end) {
        case TIMELINE_FAILED:
                fprintf(file, "<path class=\"cross\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"/>\n", x - 4, y - 4);
                break;
        case TIMELINE_UNFINISHED:
                fprintf(file, "<path class=\"arrow\" d=\"M%.1f %.1fl9 5l-9 5z\"/>\n", x - 4, y - 5);
                break;
        case TIMELINE_SKIPPED:
                fprintf(file, "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", x, y);
                break;
        default:
                break;
        }
}

void rows_draw_heading(struct rows *rows, const char *text)
{
        svg_text(rows->file, 12, rows->y + 17, "start", "heading", text);
        rows->y += ROWS_HEIGHT + 4;
}

void rows_draw_bar(struct rows *rows, const struct timeline_bar *bar)
{
        double middle = rows->y + ROWS_HEIGHT / 2, text_x;
        double from = axis_position(&rows->axis, bar->first_usec);
        double to = axis_position(&rows->axis, timeline_end_usec(bar));
        _cleanup_free_ char *title = describe(bar), *end = describe_end(bar);
        _cleanup_free_ char *label = shorten(bar->name, rows->axis.left - 20);
        _cleanup_free_ char *note = NULL;
        uint64_t usec = bar->first_usec;

        svg_begin_group(rows->file, title ?: bar->name);
        svg_text(rows->file, rows->axis.left - 8, middle + 4, "end", "label", label ?: "?");
        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; i++) {
                double x = axis_position(&rows->axis, usec);
                double height = phases[i].height;

                if (bar->phases_usec[i] == 0)
                        continue;
                usec += bar->phases_usec[i];
                svg_rectangle(rows->file, x, middle - height / 2, MAX(axis_position(&rows->axis, usec) - x, 0.5),
                        height, phases[i].style);
        }
        if (bar->end == TIMELINE_FAILED || bar->end == TIMELINE_UNFINISHED)
                svg_rectangle(rows->file, from, middle - BAR_HEIGHT / 2, MAX(to - from, 1.0), BAR_HEIGHT,
                        bar->end == TIMELINE_FAILED ? "failed" : "unfinished");

        text_x = to + GAP;
        if (bar->end != TIMELINE_DONE) {
                rows_draw_sign(rows->file, bar->end, text_x + 3, middle);
                text_x += 8 + GAP;
        }
        note = end ? shorten(end, rows->right - text_x) : NULL;
        svg_text(rows->file, text_x, middle + 4, "start", "note", note ?: "?");
        svg_end_group(rows->file);
        rows->y += ROWS_HEIGHT;
}

/* ------ bands ------ */

static void draw_phase(const struct rows *rows, const struct timeline_bar *const *bars, size_t n, double height,
        enum timeline_phase phase)
{
        bool begun = false;

        for (size_t i = 0; i < n; i++) {
                uint64_t usec = bars[i]->first_usec;
                double from, to;

                if (bars[i]->phases_usec[phase] == 0)
                        continue;
                for (enum timeline_phase before = 0; before < phase; before++)
                        usec += bars[i]->phases_usec[before];
                from = axis_position(&rows->axis, usec);
                to = axis_position(&rows->axis, usec + bars[i]->phases_usec[phase]);
                if (!begun)
                        svg_begin_shape(rows->file, phases[phase].style);
                begun = true;
                svg_shape_rectangle(rows->file, from, rows->y + height * (double) i / (double) n,
                        MAX(to - from, 0.5), height / (double) n);
        }
        if (begun)
                svg_end_shape(rows->file);
}

/* What so many bars have spent with work: what was done one after another adds up to the time of the band. */
static char *describe_work(const struct timeline_bar *const *bars, size_t n)
{
        uint64_t lvm2 = 0, udev = 0;
        _cleanup_free_ char *lvm2_time = NULL, *udev_time = NULL;

        for (size_t i = 0; i < n; i++) {
                lvm2 += bars[i]->phases_usec[TIMELINE_LVM2];
                udev += bars[i]->phases_usec[TIMELINE_UDEV];
        }
        if (udev == 0)
                return strdup("");
        lvm2_time = format_duration(lvm2);
        udev_time = format_duration(udev);
        return string_format(" (lvm2 %s, udev %s)", lvm2_time ?: "?", udev_time ?: "?");
}

void rows_draw_band(
        struct rows *rows, const struct timeline_bar *const *bars, size_t n, const char *label, const char *what)
{
        double height = MIN(MAX((double) n, ROWS_HEIGHT), BAND_HEIGHT_MAX), middle = rows->y + height / 2;
        uint64_t from = UINT64_MAX, to = 0;
        _cleanup_free_ char *title = NULL, *time = NULL, *work = NULL, *note = NULL;

        for (size_t i = 0; i < n; i++) {
                from = MIN(from, bars[i]->asked_usec > 0 ? bars[i]->asked_usec : bars[i]->first_usec);
                to = MAX(to, timeline_end_usec(bars[i]));
        }
        time = format_duration(to > from ? to - from : 0);
        work = describe_work(bars, n);
        note = string_format("%s%s", time ?: "?", work ?: "");
        title = string_format("%s: %s, %s", label, what, note ?: "?");

        svg_begin_group(rows->file, title ?: label);
        svg_text(rows->file, rows->axis.left - 8, middle - 2, "end", "label strong", label);
        svg_text(rows->file, rows->axis.left - 8, middle + 10, "end", "number", what);
        for (enum timeline_phase phase = 0; phase < _TIMELINE_PHASE_MAX; phase++)
                draw_phase(rows, bars, n, height, phase);
        svg_line(rows->file, axis_position(&rows->axis, from), rows->y - 2, axis_position(&rows->axis, from),
                rows->y + height + 2, "begin");
        svg_text(rows->file, axis_position(&rows->axis, to) + GAP, rows->y + height - 3, "start", "note",
                note ?: "?");
        svg_end_group(rows->file);
        rows->y += height + 8;
}
