/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plot/page.h"

#include <time.h>

#include "plot/rows.h"
#include "plot/svg.h"
#include "shared/util.h"

/* The hues are those of Okabe and Ito, "Color Universal Design" (https://jfly.uni-koeln.de/color/), which people who
 * are blind to colours tell apart, too; in grey they differ in brightness. What has gone wrong has hatching and a sign
 * besides. */
static const char style_sheet[] =
        "text{font-family:'DejaVu Sans','Liberation Sans',Arial,sans-serif;font-size:11px;fill:#222}\n"
        ".title{font-size:18px;font-weight:bold}\n"
        ".subtitle{font-size:12px}\n"
        ".heading,.strong{font-weight:bold}\n"
        ".heading{font-size:12px}\n"
        ".number{font-size:10px;fill:#555}\n"
        ".paper{fill:#fff}\n"
        ".grid{stroke:#ddd;stroke-width:1}\n"
        ".begin{stroke:#222;stroke-width:1.5}\n"
        ".pvs,.held{fill:#8ccdf2}\n"
        ".queue{fill:#b5b5b5}\n"
        ".lvm2{fill:#e69f00}\n"
        ".udev,.removal{fill:#00507f}\n"
        ".failed{fill:url(#hatch);stroke:#b04000;stroke-width:1.5}\n"
        ".unfinished{fill:url(#dots);stroke:#555;stroke-width:1;stroke-dasharray:4 2}\n"
        ".cross{stroke:#b04000;stroke-width:2.5;fill:none}\n"
        ".arrow{fill:#555}\n"
        ".ring{stroke:#555;stroke-width:2;fill:none}\n";

static const char patterns[] =
        "<defs>\n"
        "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><line x1=\"1\" y1=\"0\" x2=\"1\" y2=\"6\" stroke=\"#b04000\" "
        "stroke-width=\"2\"/></pattern>\n"
        "<pattern id=\"dots\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
        "<circle cx=\"2\" cy=\"2\" r=\"1\" fill=\"#555\"/></pattern>\n"
        "</defs>\n";

/* ------ title ------ */

static char *describe_machine(const struct timeline *timeline)
{
        time_t when = (time_t) (timeline->realtime_usec / USEC_PER_SEC);
        char date[sizeof("2026-01-01 00:00:00 +0000")] = "";
        struct tm local;

        if (timeline->realtime_usec > 0 && localtime_r(&when, &local) &&
                strftime(date, sizeof(date), "%F %T %z", &local) == 0)
                date[0] = '\0';
        return string_format("%s of %s%s%s%s%s", timeline->kind == TIMELINE_BOOT ? "Boot" : "Shutdown",
                timeline->host ?: "this machine", timeline->kernel ? ", Linux " : "", timeline->kernel ?: "",
                date[0] != '\0' ? ", " : "", date);
}

static bool is_first_of_state(const struct timeline *timeline, size_t i)
{
        for (size_t j = 0; j < i; j++)
                if (streq(timeline->bars[j].state, timeline->bars[i].state))
                        return false;
        return true;
}

static size_t count_state(const struct timeline *timeline, const char *state)
{
        size_t n = 0;

        for (size_t i = 0; i < timeline->n; i++)
                n += streq(timeline->bars[i].state, state);
        return n;
}

/* How many there are in each state, in the order of their first ones: "5 active, 2 waiting". NULL without memory. */
static char *count_states(const struct timeline *timeline)
{
        _cleanup_string_vector_ struct string_vector counts = {};

        for (size_t i = 0; i < timeline->n; i++) {
                const char *state = timeline->bars[i].state;
                _cleanup_free_ char *count = NULL;

                if (!is_first_of_state(timeline, i))
                        continue;
                count = string_format("%zu %s", count_state(timeline, state), state);
                if (!count || string_vector_add(&counts, count) < 0)
                        return NULL;
        }
        return string_vector_join(&counts, ", ");
}

static char *describe_times(const struct page *page)
{
        const struct timeline *timeline = page->timeline;
        uint64_t first = UINT64_MAX, last = 0;
        _cleanup_free_ char *begin = NULL, *end = NULL, *span = NULL;
        size_t n_later = 0;

        for (size_t i = 0; i < timeline->n; i++) {
                const struct timeline_bar *bar = &timeline->bars[i];

                n_later += bar->first_usec > page->until_usec;
                first = MIN(first, bar->first_usec);
                if (bar->end != TIMELINE_UNFINISHED && timeline_end_usec(bar) <= page->until_usec)
                        last = MAX(last, timeline_end_usec(bar));
        }
        if (timeline->n == 0)
                return strdup("");
        last = MAX(first, last);
        begin = format_duration(first);
        end = format_duration(last);
        span = format_duration(last - first);
        if (timeline->kind == TIMELINE_SHUTDOWN)
                return string_format("%s from the start of headgate-teardown to the last of them", span ?: "?");
        if (n_later > 0)
                return string_format(
                        "first PV %s after the start of the kernel, last VG after %s; %zu that came later "
                        "left out",
                        begin ?: "?", end ?: "?", n_later);
        return string_format(
                "first PV %s after the start of the kernel, last VG after %s", begin ?: "?", end ?: "?");
}

static void draw_title(FILE *file, const struct page *page)
{
        const struct timeline *timeline = page->timeline;
        const char *what = timeline->kind == TIMELINE_BOOT ? "VG" : "device";
        _cleanup_free_ char *machine = describe_machine(timeline), *states = count_states(timeline);
        _cleanup_free_ char *times = describe_times(page);
        _cleanup_free_ char *text = string_format("%zu %s%s%s%s%s%s", timeline->n, what, plural(timeline->n),
                timeline->n > 0 ? ": " : "", states ?: "", timeline->n > 0 ? "; " : "", times ?: "");

        svg_text(file, 12, 28, "start", "title", machine ?: "?");
        svg_text(file, 12, 48, "start", "subtitle", text ?: "?");
}

/* ------ legend ------ */

#define LEGEND_Y 66.0

static const struct {
        enum timeline_kind kind;
        enum timeline_phase phase;
        const char *words;
        double width; /* with the words */
} phase_legend[] = {
        {TIMELINE_BOOT, TIMELINE_PVS, "waiting for PVs", 140},
        {TIMELINE_BOOT, TIMELINE_QUEUE, "in the queue", 125},
        {TIMELINE_BOOT, TIMELINE_LVM2, "lvm2", 80},
        {TIMELINE_BOOT, TIMELINE_UDEV, "udev", 80},
        {TIMELINE_SHUTDOWN, TIMELINE_HELD, "something holds it", 160},
        {TIMELINE_SHUTDOWN, TIMELINE_REMOVAL, "removal", 100},
};

static const struct {
        enum timeline_kind kind;
        enum timeline_end end;
        const char *words;
        double width;
} end_legend[] = {
        {TIMELINE_BOOT, TIMELINE_FAILED, "failed", 90},
        {TIMELINE_BOOT, TIMELINE_UNFINISHED, "not up yet", 115},
        {TIMELINE_BOOT, TIMELINE_SKIPPED, "skipped", 90},
        {TIMELINE_SHUTDOWN, TIMELINE_FAILED, "left", 90},
};

static void draw_legend(FILE *file, enum timeline_kind kind)
{
        double x = PAGE_LEFT, middle = LEGEND_Y + 8;

        for (size_t i = 0; i < ELEMENTSOF(phase_legend); i++) {
                double height = rows_phase_height(phase_legend[i].phase);

                if (phase_legend[i].kind != kind)
                        continue;
                svg_rectangle(file, x, middle - height / 2, 24, height, rows_style(phase_legend[i].phase));
                svg_text(file, x + 30, middle + 4, "start", "label", phase_legend[i].words);
                x += phase_legend[i].width;
        }
        for (size_t i = 0; i < ELEMENTSOF(end_legend); i++) {
                bool hatched = end_legend[i].end != TIMELINE_SKIPPED;

                if (end_legend[i].kind != kind)
                        continue;
                if (hatched)
                        svg_rectangle(file, x, middle - 7, 24, 14,
                                end_legend[i].end == TIMELINE_FAILED ? "failed" : "unfinished");
                rows_draw_sign(file, end_legend[i].end, x + (hatched ? 34 : 20), middle);
                svg_text(file, x + (hatched ? 44 : 30), middle + 4, "start", "label", end_legend[i].words);
                x += end_legend[i].width;
        }
}

/* ------ the document ------ */

void page_begin_document(FILE *file, const char *title, double height)
{
        fprintf(file,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" height=\"%.0f\" "
                "viewBox=\"0 0 %.0f %.0f\">\n<title>",
                PAGE_WIDTH, height, PAGE_WIDTH, height);
        svg_escape(file, title);
        fprintf(file, "</title>\n<style>\n%s</style>\n%s", style_sheet, patterns);
        svg_rectangle(file, 0, 0, PAGE_WIDTH, height, "paper");
}

void page_begin(FILE *file, const struct page *page, double height)
{
        _cleanup_free_ char *title = describe_machine(page->timeline);

        page_begin_document(file, title ?: "?", height);
        draw_title(file, page);
        draw_legend(file, page->timeline->kind);
}

void page_end(FILE *file)
{
        fputs("</svg>\n", file);
}
