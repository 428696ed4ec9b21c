/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "takeover/cookie_pattern.h"

#define FLAGS_SHIFT 16

static void write_alternative(FILE *file, uint64_t number, unsigned int last_digit, size_t n_any)
{
        unsigned int first_digit = number % 10;

        /* The digits before the one that varies. */
        if (number >= 10)
                fprintf(file, "%llu", (unsigned long long) (number / 10));
        if (first_digit == last_digit)
                fprintf(file, "%u", first_digit);
        else
                fprintf(file, "[%u-%u]", first_digit, last_digit);
        for (size_t i = 0; i < n_any; i++)
                fputs("[0-9]", file);
}

/* From `number` on, takes as many numbers as differ in one digit and in all that follow it, until `end`, which is not
 * among them. For instance 629[2-9][0-9][0-9][0-9] is 8000 numbers from 6292000 on. */
void cookie_pattern_write(FILE *file, uint16_t flags)
{
        uint64_t number = (uint64_t) flags << FLAGS_SHIFT;
        uint64_t end = number + (UINT64_C(1) << FLAGS_SHIFT);

        while (number < end) {
                uint64_t step = 1, next;
                size_t n_any = 0;

                while (number % (step * 10) == 0 && number + step * 10 <= end) {
                        step *= 10;
                        n_any++;
                }
                /* Up to where the digit would be followed by 0, and as far as there is room. */
                next = MIN(number - number % (step * 10) + step * 10, end - (end - number) % step);
                write_alternative(file, number / step, (next / step - 1) % 10, n_any);
                number = next;
                if (number < end)
                        fputc('|', file);
        }
}
