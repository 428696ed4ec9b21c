/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The SVG document, its style sheet, the time axis, text and shapes. */

#include "plot/picture.h"

#include <assert.h>

#define TOP 156.0 /* of the rows */

/* The picture shows at least this much time after the last event, for unfinished bars. */
#define OUTLOOK_MIN_USEC (10 * USEC_PER_MSEC)

/* This many numbers fit on the axis. */
#define NUMBERS_MAX 8

/* The hues are those of Okabe and Ito, "Color Universal Design" (https://jfly.uni-koeln.de/color/), which
 * colour-blind people can distinguish; in grey they differ in brightness. Failures also have hatching and a sign. */
static const char head[] =
        "<style>\n"
        "text{font-family:'DejaVu Sans','Liberation Sans',Arial,sans-serif;font-size:13px;fill:#222}\n"
        ".title{font-size:16px;font-weight:bold}\n"
        ".heading{font-weight:bold}\n"
        ".number,.arrow{font-size:12px;fill:#555}\n"
        ".note{paint-order:stroke;stroke:#fff;stroke-width:3px}\n"
        ".mark{stroke:#007a5a;stroke-width:1.5;stroke-dasharray:6 3}\n"
        ".paper{fill:#fff}\n"
        ".grid{fill:#ddd}\n"
        ".pvs,.held{fill:#8ccdf2}\n"
        ".queue{fill:#b5b5b5}\n"
        ".lvm2{fill:#e69f00}\n"
        ".udev,.removal{fill:#00507f}\n"
        ".failed{fill:url(#hatch);stroke:#b04000;stroke-width:1.5}\n"
        ".unfinished{fill:none;stroke:#555;stroke-width:1;stroke-dasharray:4 2}\n"
        ".cross{stroke:#b04000;stroke-width:2.5;fill:none}\n"
        ".ring{stroke:#555;stroke-width:2;fill:none}\n"
        "</style>\n"
        "<defs>\n"
        "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><line x1=\"1\" y1=\"0\" x2=\"1\" y2=\"6\" stroke=\"#b04000\" "
        "stroke-width=\"2\"/></pattern>\n"
        "</defs>\n";

/* ------ the axis ------ */

/* The smallest of 1, 2, 5, 10, 20, 50 ms, ... with at most NUMBERS_MAX steps. */
static uint64_t find_step(uint64_t span_usec)
{
        uint64_t step = USEC_PER_MSEC;

        for (size_t i = 0; span_usec / step > NUMBERS_MAX; i++)
                step = i % 3 == 1 ? step / 2 * 5 : step * 2;
        return step;
}

int picture_begin(struct picture *picture, uint64_t from_usec, uint64_t to_usec, uint64_t zero_usec)
{
        uint64_t outlook = MAX(OUTLOOK_MIN_USEC, (to_usec - from_usec) / 20);
        uint64_t step = find_step(to_usec + outlook - from_usec);

        *picture = (struct picture){
                .from_usec = from_usec - (from_usec - zero_usec) % step,
                .to_usec = to_usec + outlook,
                .zero_usec = zero_usec,
                .step_usec = step,
                .y = TOP,
        };
        picture->file = memstream_open(&picture->stream);
        return picture->file ? 0 : -ENOMEM;
}

double picture_position(const struct picture *picture, uint64_t usec)
{
        uint64_t from = picture->from_usec, to = picture->to_usec;

        return PICTURE_LEFT +
               (PICTURE_RIGHT - PICTURE_LEFT) * (double) (MIN(MAX(usec, from), to) - from) / (double) (to - from);
}

/* Numbers have enough decimals to differ. */
static void draw_axis(struct picture *picture, double bottom, const char *title)
{
        double top = TOP - 6;
        int decimals = 0;

        picture_text(picture, (PICTURE_LEFT + PICTURE_RIGHT) / 2, top - 22, "middle", "number", title);
        for (uint64_t unit = USEC_PER_SEC; decimals < 3 && picture->step_usec % unit != 0; unit /= 10)
                decimals++;
        for (uint64_t usec = picture->from_usec; usec <= picture->to_usec; usec += picture->step_usec) {
                double x = picture_position(picture, usec);
                double seconds = (double) (usec - picture->zero_usec) / (double) USEC_PER_SEC;
                _cleanup_free_ char *number = string_format("%.*f s", decimals, seconds);

                picture_rectangle(picture, x - 0.5, top, 1, bottom - top, "grid");
                picture_text(picture, x, top - 5, "middle", "number", number);
                picture_text(picture, x, bottom + 13, "middle", "number", number);
        }
        for (size_t i = 0; i < picture->n_marks; i++)
                fprintf(picture->file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"mark\"/>\n",
                        picture->marks[i][0], picture->marks[i][1], picture->marks[i][0], bottom);
}

/* ------ shapes and text ------ */

void picture_print(struct picture *picture, const char *format, ...)
{
        static const char *const entities[] = {
                ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
        _cleanup_free_ char *text = FORMAT_ARGUMENTS(string_format_printable, format);

        for (const char *c = text ?: "?"; *c != '\0'; c++)
                if ((size_t) *c < ELEMENTSOF(entities) && entities[(size_t) *c])
                        fputs(entities[(size_t) *c], picture->file);
                else
                        fputc(*c, picture->file);
}

void picture_text(
        struct picture *picture, double x, double y, const char *anchor, const char *style, const char *text)
{
        double width =
                streq(anchor, "end") ? x - (streq(style, "note") ? PICTURE_LEFT : 12) : PICTURE_WIDTH - 8 - x;
        int length = (int) (MAX(width / PICTURE_LETTER_WIDTH, 4.0));
        bool fits = !text || strlen(text) <= (size_t) length;

        fprintf(picture->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor,
                style);
        picture_print(picture, "%.*s%s", fits ? length : length - 3, text ?: "?", fits ? "" : "...");
        fputs("</text>\n", picture->file);
}

void picture_rectangle(struct picture *picture, double x, double y, double width, double height, const char *style)
{
        fprintf(picture->file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", x, y,
                width, height, style);
}

void picture_mark(struct picture *picture, uint64_t usec, const char *name)
{
        double x = picture_position(picture, usec);
        bool left = x > (PICTURE_LEFT + PICTURE_RIGHT) / 2;

        assert(picture->n_marks < PICTURE_MARKS_MAX);
        picture->marks[picture->n_marks][0] = x;
        picture->marks[picture->n_marks++][1] = picture->y;
        picture_text(picture, x + (left ? -5 : 5), picture->y + 11, left ? "end" : "start", "note", name);
        picture->y += 18;
}

/* ------ the document ------ */

int picture_end(struct picture *picture, const char *title, const char *axis)
{
        _cleanup_free_ char *drawing = memstream_finish(&picture->stream);
        double height = picture->y + 34;

        memstream_done(&picture->stream);
        if (!drawing)
                return -ENOMEM;
        picture->file = stdout;
        printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" height=\"%.0f\" "
               "viewBox=\"0 0 %.0f %.0f\">\n<title>",
                PICTURE_WIDTH, height, PICTURE_WIDTH, height);
        picture_print(picture, "%s", title);
        printf("</title>\n%s", head);
        picture_rectangle(picture, 0, 0, PICTURE_WIDTH, height, "paper");
        picture_text(picture, 12, 26, "start", "title", title);
        draw_axis(picture, picture->y + 6, axis);
        printf("%s</svg>\n", drawing);
        return 0;
}
