/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* udev's rules of others, as the worker reads them. A comment at the end changes nothing. */

#include "fast-rules/late.h"
#include "fuzz.h"

static int read_rules(const char *text)
{
        _cleanup_free_ char *copy = strdup(text);
        int r = copy ? late_text_runs_program(copy) : -ENOMEM;

        fuzz_check(r == 0 || r == 1);
        return r;
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = fuzz_text(data, size);
        /* Of the text alone, the last line may want one more. */
        _cleanup_free_ char *ended = string_format("%s\n", text),
                            *longer = string_format("%s# RUN+=\"x\"\n", ended);

        fuzz_check(ended && longer && read_rules(longer) == read_rules(ended));
        return 0;
}
