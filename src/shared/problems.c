/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/problems.h"

#include <stdarg.h>

void problems_add(struct problems *problems, int error, const char *format, ...)
{
        _cleanup_free_ char *line = NULL;
        _cleanup_free_ char *escaped = NULL;
        va_list arguments;
        int r;

        if (problems->error == 0)
                problems->error = error;

        errno = -error;
        va_start(arguments, format);
        r = vasprintf(&line, format, arguments);
        va_end(arguments);
        if (r < 0) {
                line = NULL;
                return;
        }

        escaped = string_printable(line);
        if (escaped)
                /* The error is kept, and a program that is out of memory says so elsewhere. */
                (void) !string_vector_add(&problems->lines, escaped);
}

void problems_done(struct problems *problems)
{
        string_vector_done(&problems->lines);
        problems->error = 0;
}
