/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names of VGs, LVs, PVs and units: validation, printing, and suggestions. */

#include "shared/names.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdint.h>

#include "shared/log.h"
#include "shared/util.h"

#define LETTERS_AND_DIGITS "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

#define NAME_LETTERS LETTERS_AND_DIGITS "._+-"

#define NAME_LENGTH_MAX 127

bool lvm_id_is_valid(const char *id)
{
        return strnlen(id, LVM_ID_SIZE) == LVM_ID_LENGTH && strspn(id, LETTERS_AND_DIGITS "!#") == LVM_ID_LENGTH;
}

int lvm_id_parse(const char *text, char ret[LVM_ID_SIZE])
{
        char id[LVM_ID_SIZE] = {};
        size_t length = 0;

        /* lvm2 accepts dashes anywhere. */
        for (; *text; text++) {
                if (*text == '-')
                        continue;
                if (length >= LVM_ID_LENGTH)
                        return -EBADMSG;
                id[length++] = *text;
        }
        if (!lvm_id_is_valid(id))
                return -EBADMSG;

        memcpy(ret, id, LVM_ID_SIZE);
        return 0;
}

char *lvm_id_format(const char id[LVM_ID_SIZE], char ret[LVM_ID_FORMATTED_SIZE])
{
        (void) sprintf(ret, "%.6s-%.4s-%.4s-%.4s-%.4s-%.4s-%.6s", id, id + 6, id + 10, id + 14, id + 18, id + 22,
                id + 26);
        return ret;
}

bool vg_name_is_valid(const char *name)
{
        size_t length = strlen(name);

        return length > 0 && length <= NAME_LENGTH_MAX && strspn(name, NAME_LETTERS) == length && name[0] != '-' &&
               !streq(name, ".") && !streq(name, "..");
}

static bool is_name_letter(char c)
{
        return strchr(NAME_LETTERS, c);
}

char *logical_volume_name_to_show(const char *name)
{
        _cleanup_free_ char *shown =
                string_escape(path_format("%.*s", NAME_LENGTH_MAX, name).text, is_name_letter);

        return shown && strlen(name) > NAME_LENGTH_MAX ? string_format("%s...", shown) : TAKE_PTR(shown);
}

static bool same_letter(char a, char b)
{
        return tolower((unsigned char) a) == tolower((unsigned char) b);
}

/* Damerau-Levenshtein distance, without edits of transposed letters. Three rows of the table suffice. */
size_t suggestion_distance(const char *a, const char *b)
{
        size_t width = strlen(b) + 1, length = strlen(a);
        _cleanup_free_ size_t *rows = calloc(3 * width, sizeof(*rows));

        if (!rows)
                return SIZE_MAX;
        for (size_t i = 0; i <= length; i++) {
                size_t *row = rows + i % 3 * width;
                const size_t *last = rows + (i + 2) % 3 * width, *before = rows + (i + 1) % 3 * width;

                row[0] = i;
                for (size_t j = 1; j < width; j++) {
                        if (i == 0) {
                                row[j] = j;
                                continue;
                        }
                        row[j] = last[j - 1] + !same_letter(a[i - 1], b[j - 1]);
                        row[j] = MIN(row[j], MIN(last[j], row[j - 1]) + 1);
                        if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                                row[j] = MIN(row[j], before[j - 2] + 1);
                }
        }
        return rows[length % 3 * width + width - 1];
}

void suggestion_consider(struct suggestion *suggestion, const char *candidate)
{
        size_t distance = suggestion_distance(suggestion->wanted, candidate);
        size_t longest = MAX(strlen(suggestion->wanted), strlen(candidate));

        if (distance == SIZE_MAX || distance * 3 > MAX(longest, 3U) ||
                (suggestion->nearest && distance > suggestion->distance))
                return;
        /* Directories are unordered: of equal candidates always choose the same one. */
        if (suggestion->nearest && distance == suggestion->distance && strcmp(candidate, suggestion->nearest) < 0)
                return;
        if (string_replace(&suggestion->nearest, strdup(candidate)) >= 0)
                suggestion->distance = distance;
}

void suggestion_log_unknown(const struct suggestion *suggestion, const char *what, const char *advice)
{
        if (suggestion->nearest)
                log_error(
                        "Unknown %s \"%s\"; did you mean \"%s\"?", what, suggestion->wanted, suggestion->nearest);
        else
                log_error("Unknown %s \"%s\", %s.", what, suggestion->wanted, advice);
}

void suggestion_done(struct suggestion *suggestion)
{
        free(suggestion->nearest);
        *suggestion = (struct suggestion){};
}

/* The number of names in one sentence. */
#define NAMES_MAX 3

void enumeration_add(struct enumeration *enumeration, const char *name)
{
        _cleanup_free_ char *printable = NULL;
        const char *names = enumeration->text ?: "";
        size_t max = enumeration->max ?: NAMES_MAX;

        if (enumeration->n++ < max) {
                printable = string_printable(name);
                (void) !string_replace(&enumeration->text,
                        string_format("%s%s%s", names, *names != '\0' ? ", " : "", printable ?: "?"));
                enumeration->length = strlen(enumeration->text ?: "");
        } else {
                (void) !string_replace(
                        &enumeration->text, string_format("%.*s and %zu more", (int) enumeration->length, names,
                                                    enumeration->n - max));
        }
}

static bool stays(char c)
{
        return strchr(LETTERS_AND_DIGITS ":_./", c);
}

char *unit_name_escape(const char *string)
{
        _cleanup_free_ char *escaped = string_escape(string, stays);

        if (!escaped)
                return NULL;
        for (char *c = escaped; (c = strchr(c, '/')); c++)
                *c = '-';
        /* ".name" would be a hidden file. */
        return escaped[0] == '.' ? string_format("\\x2e%s", escaped + 1) : TAKE_PTR(escaped);
}

static int make_unit_name(const char *prefix, const char *name, const char *suffix, char **ret)
{
        _cleanup_free_ char *escaped = unit_name_escape(name);
        _cleanup_free_ char *unit = escaped ? string_format("%s%s.%s", prefix, escaped, suffix) : NULL;

        if (!unit)
                return -ENOMEM;
        if (strlen(unit) > UNIT_NAME_LENGTH_MAX)
                return -ENAMETOOLONG;
        *ret = TAKE_PTR(unit);
        return 0;
}

int unit_name_of_vg(const char *name, char **ret)
{
        return make_unit_name("headgate-vg@", name, "service", ret);
}

int unit_name_of_mount(const char *path, char **ret)
{
        return make_unit_name("", path[1] == '\0' ? path : path + 1, "mount", ret);
}

bool unit_name_is_essential(const char *unit)
{
        static const char pattern[] =
                "@(systemd-*|user@*|?(*-)getty@*|console-getty.*|ssh?(d)[.@]*|dbus?(-broker).*)";

        return fnmatch(pattern, unit, FNM_EXTMATCH) == 0;
}
