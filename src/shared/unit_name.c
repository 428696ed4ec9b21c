/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/unit_name.h"

#include "shared/util.h"

static bool stays(char c)
{
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ':' ||
               c == '_' || c == '.';
}

char *unit_name_escape(const char *string)
{
        char *escaped = malloc(strlen(string) * strlen("\\xNN") + 1);
        char *end = escaped;

        if (!escaped)
                return NULL;
        for (const char *c = string; *c; c++)
                if (*c == '/')
                        *end++ = '-';
                else if (stays(*c) && !(c == string && *c == '.'))
                        *end++ = *c;
                else
                        end += sprintf(end, "\\x%02x", (unsigned char) *c);
        *end = '\0';
        return escaped;
}

int unit_name_of_volume_group(const char *name, char **ret)
{
        _cleanup_free_ char *escaped = unit_name_escape(name);
        char *unit = escaped ? string_format("headgate-vg@%s.service", escaped) : NULL;

        if (!unit)
                return -ENOMEM;
        if (strlen(unit) > UNIT_NAME_LENGTH_MAX) {
                free(unit);
                return -ENAMETOOLONG;
        }
        *ret = unit;
        return 0;
}
