/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/enumeration.h"

#include "shared/log.h"
#include "shared/util.h"

/* How many names stand in one sentence. */
#define NAMES_MAX 3

void enumerate(struct enumeration *enumeration, const char *name)
{
        _cleanup_free_ char *printable = NULL;

        if (enumeration->n++ >= NAMES_MAX)
                return;
        printable = string_printable(name);
        if (string_replace(&enumeration->text, string_format("%s%s%s", enumeration->text ?: "",
                                                       enumeration->text ? ", " : "", printable ?: "?")) < 0)
                enumeration->n = NAMES_MAX;
}

void enumerate_end(struct enumeration *enumeration)
{
        if (enumeration->n <= NAMES_MAX)
                return;
        if (string_replace(&enumeration->text,
                    string_format("%s and %zu more", enumeration->text ?: "?", enumeration->n - NAMES_MAX)) < 0)
                log_oom();
}

void enumeration_done(struct enumeration *enumeration)
{
        free(enumeration->text);
}
