/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The document and its style sheet, the axis of time, and the few shapes that plots are made of. */

#include "plot/picture.h"

#include <fcntl.h>
#include <stdarg.h>

#include "shared/util.h"

#define TOP 118.0 /* of the rows */

/* Of a letter, on average, in the size of labels. */
#define LETTER_WIDTH 6.3

/* So many numbers fit beside each other. */
#define NUMBERS_MAX 12

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

/* ------ the axis ------ */

/* The smallest of 1, 2, 5 ms, 10, 20, 50 ms, ... that is large enough. */
static uint64_t find_step(uint64_t span_usec)
{
        static const unsigned int mantissas[] = {1, 2, 5};

        for (uint64_t decade = USEC_PER_MSEC; decade < UINT64_MAX / 10; decade *= 10)
                for (size_t i = 0; i < ELEMENTSOF(mantissas); i++)
                        if (span_usec / (mantissas[i] * decade) <= NUMBERS_MAX)
                                return mantissas[i] * decade;
        return UINT64_MAX / NUMBERS_MAX;
}

int picture_begin(struct picture *picture, uint64_t from_usec, uint64_t to_usec, uint64_t zero_usec)
{
        uint64_t step = find_step(MAX(to_usec, from_usec + USEC_PER_MSEC) - from_usec);

        *picture = (struct picture){
                .from_usec = from_usec - (from_usec - zero_usec) % step,
                .to_usec = to_usec + step - (to_usec - zero_usec) % step,
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

/* Numbers have as many decimals as tell one from the next. */
static void draw_axis(struct picture *picture, double bottom)
{
        double top = TOP - 6;
        int decimals = 0;

        for (uint64_t unit = USEC_PER_SEC; decimals < 3 && picture->step_usec % unit != 0; unit /= 10)
                decimals++;
        for (uint64_t usec = picture->from_usec; usec <= picture->to_usec; usec += picture->step_usec) {
                double x = picture_position(picture, usec);
                double seconds = (double) (usec - picture->zero_usec) / (double) USEC_PER_SEC;

                picture_line(picture, x, top, bottom, "grid");
                picture_text(picture, x, top - 5, "middle", "number", "%.*f s", decimals, seconds);
                picture_text(picture, x, bottom + 13, "middle", "number", "%.*f s", decimals, seconds);
        }
}

/* ------ shapes and text ------ */

static void print_escaped(FILE *file, const char *format, va_list arguments)
{
        static const char *const entities[] = {
                ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
        _cleanup_free_ char *text = NULL, *printable = NULL;

        if (vasprintf(&text, format, arguments) < 0)
                text = NULL;
        printable = text ? string_printable(text) : NULL;
        for (const char *c = printable ?: "?"; *c != '\0'; c++)
                if ((size_t) *c < ELEMENTSOF(entities) && entities[(size_t) *c])
                        fputs(entities[(size_t) *c], file);
                else
                        fputc(*c, file);
}

static void print_text(FILE *file, double x, double y, const char *anchor, const char *style, const char *format,
        va_list arguments)
{
        fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor, style);
        print_escaped(file, format, arguments);
        fputs("</text>\n", file);
}

void picture_print(struct picture *picture, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        print_escaped(picture->file, format, arguments);
        va_end(arguments);
}

void picture_text(struct picture *picture, double x, double y, const char *anchor, const char *style,
        const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        print_text(picture->file, x, y, anchor, style, format, arguments);
        va_end(arguments);
}

void picture_text_within(struct picture *picture, double x, double y, double width, const char *anchor,
        const char *style, const char *text)
{
        int length = (int) (MAX(width, 4 * LETTER_WIDTH) / LETTER_WIDTH);

        if (text && strlen(text) > (size_t) length)
                picture_text(picture, x, y, anchor, style, "%.*s...", length - 3, text);
        else
                picture_text(picture, x, y, anchor, style, "%s", text ?: "?");
}

void picture_heading(struct picture *picture, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        print_text(picture->file, 12, picture->y + 17, "start", "heading", format, arguments);
        va_end(arguments);
        picture->y += PICTURE_ROW_HEIGHT + 4;
}

void picture_rectangle(struct picture *picture, double x, double y, double width, double height, const char *style)
{
        fprintf(picture->file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", x, y,
                width, height, style);
}

void picture_line(struct picture *picture, double x, double top, double bottom, const char *style)
{
        fprintf(picture->file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x, top, x,
                bottom, style);
}

void picture_bar(struct picture *picture, uint64_t from_usec, uint64_t to_usec, double height, const char *style)
{
        double x = picture_position(picture, from_usec), end = picture_position(picture, to_usec);

        picture_rectangle(
                picture, x, picture->y + (PICTURE_ROW_HEIGHT - height) / 2, MAX(end - x, 0.5), height, style);
}

/* ------ the document ------ */

static void print_document(struct picture *picture, const char *title, const char *drawing)
{
        double height = picture->y + 34;

        fprintf(picture->file,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" height=\"%.0f\" "
                "viewBox=\"0 0 %.0f %.0f\">\n<title>",
                PICTURE_WIDTH, height, PICTURE_WIDTH, height);
        picture_print(picture, "%s", title);
        fprintf(picture->file, "</title>\n<style>\n%s</style>\n%s", style_sheet, patterns);
        picture_rectangle(picture, 0, 0, PICTURE_WIDTH, height, "paper");
        picture_text(picture, 12, 28, "start", "title", "%s", title);
        draw_axis(picture, picture->y + 6);
        fprintf(picture->file, "%s</svg>\n", drawing);
}

int picture_write(struct picture *picture, const char *path, const char *title)
{
        _cleanup_free_ char *drawing = NULL, *document = NULL;
        _cleanup_close_ int fd = -EBADF;
        size_t size;

        if (memstream_finish(&picture->stream, &drawing, NULL) < 0)
                return -ENOMEM;
        picture->file = memstream_open(&picture->stream);
        if (!picture->file)
                return -ENOMEM;
        print_document(picture, title, drawing);
        if (memstream_finish(&picture->stream, &document, &size) < 0)
                return -ENOMEM;
        if (streq(path, "-"))
                return write_all(STDOUT_FILENO, document, size);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        return fd < 0 ? -errno : write_all(fd, document, size);
}

void picture_done(struct picture *picture)
{
        memstream_done(&picture->stream);
}
