/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* udev's rules of others, as the worker reads them. A comment at the end changes nothing, and without a RUN nothing runs that is
 * understood. */

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
        _cleanup_free_ char *text = fuzz_text(data, size), *longer = string_format("%s\n# RUN+=\"x\"\n", text);
        int r = read_rules(text);

        fuzz_check(longer && read_rules(longer) == r);
        return 0;
}
