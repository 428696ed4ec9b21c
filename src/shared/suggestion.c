/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/suggestion.h"

#include <ctype.h>
#include <stdint.h>
#include <strings.h>

#include "shared/log.h"
#include "shared/util.h"

static bool same_letter(char a, char b)
{
        return tolower((unsigned char) a) == tolower((unsigned char) b);
}

/* Damerau's and Levenshtein's distance, without editing what was exchanged. Three rows of the table are needed. */
size_t suggestion_distance(const char *a, const char *b)
{
        size_t width = strlen(b) + 1;
        _cleanup_free_ size_t *rows = calloc(3 * width, sizeof(*rows));
        size_t *before = rows, *last = rows ? rows + width : NULL, *row = rows ? rows + 2 * width : NULL;

        if (!rows)
                return SIZE_MAX;
        for (size_t j = 0; j < width; j++)
                row[j] = j;
        for (size_t i = 1; i <= strlen(a); i++) {
                size_t *oldest = before;

                before = last;
                last = row;
                row = oldest;
                row[0] = i;
                for (size_t j = 1; j < width; j++) {
                        row[j] = last[j - 1] + !same_letter(a[i - 1], b[j - 1]);
                        row[j] = MIN(row[j], MIN(last[j], row[j - 1]) + 1);
                        if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                                row[j] = MIN(row[j], before[j - 2] + 1);
                }
        }
        return row[width - 1];
}

void suggestion_consider(struct suggestion *suggestion, const char *candidate)
{
        size_t distance = suggestion_distance(suggestion->wanted, candidate);
        size_t longest = MAX(strlen(suggestion->wanted), strlen(candidate));
        char *copy;

        if (distance == SIZE_MAX || distance * 3 > MAX(longest, 3U))
                return;
        if (suggestion->nearest && distance >= suggestion->distance)
                return;
        copy = strdup(candidate);
        if (!copy)
                return;
        free(suggestion->nearest);
        suggestion->nearest = copy;
        suggestion->distance = distance;
}

void suggestion_log_unknown(const struct suggestion *suggestion, const char *what, const char *otherwise)
{
        _cleanup_free_ char *wanted = string_printable(suggestion->wanted);
        _cleanup_free_ char *nearest = suggestion->nearest ? string_printable(suggestion->nearest) : NULL;

        if (nearest)
                log_error("Unknown %s \"%s\"; did you mean \"%s\"?", what, wanted ?: "?", nearest);
        else
                log_error("Unknown %s \"%s\", %s.", what, wanted ?: "?", otherwise);
}

void suggestion_done(struct suggestion *suggestion)
{
        free(suggestion->nearest);
        *suggestion = (struct suggestion){};
}
