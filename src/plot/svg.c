/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plot/svg.h"

#include "shared/util.h"

void svg_escape(FILE *file, const char *text)
{
        _cleanup_free_ char *printable = string_printable(text);

        for (const char *c = printable ?: "?"; *c != '\0'; c++)
                switch (*c) {
                case '&':
                        fputs("&amp;", file);
                        break;
                case '<':
                        fputs("&lt;", file);
                        break;
                case '>':
                        fputs("&gt;", file);
                        break;
                case '"':
                        fputs("&quot;", file);
                        break;
                case '\'':
                        fputs("&#39;", file);
                        break;
                default:
                        fputc(*c, file);
                }
}

void svg_text(FILE *file, double x, double y, const char *anchor, const char *style, const char *text)
{
        fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor, style);
        svg_escape(file, text);
        fputs("</text>\n", file);
}

void svg_rectangle(FILE *file, double x, double y, double width, double height, const char *style)
{
        fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", x, y, width,
                height, style);
}

void svg_line(FILE *file, double x1, double y1, double x2, double y2, const char *style)
{
        fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2,
                style);
}

void svg_begin_group(FILE *file, const char *title)
{
        fputs("<g><title>", file);
        svg_escape(file, title);
        fputs("</title>\n", file);
}

void svg_end_group(FILE *file)
{
        fputs("</g>\n", file);
}

void svg_begin_shape(FILE *file, const char *style)
{
        fprintf(file, "<path class=\"%s\" d=\"", style);
}

void svg_shape_rectangle(FILE *file, double x, double y, double width, double height)
{
        fprintf(file, "M%.1f %.2fh%.1fv%.2fh%.1fz", x, y, width, height, -width);
}

void svg_end_shape(FILE *file)
{
        fputs("\"/>\n", file);
}
