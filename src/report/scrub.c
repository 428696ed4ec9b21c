/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Replaces secrets and names in texts. */

#include "report/scrub.h"

#include <ctype.h>

#include "shared/dm.h"
#include "shared/names.h"

/* ------ secrets ------ */

#define SECRET_KEY                                                                                                \
        "(pass(word|phrase|wd)?|secret|token|credentials?|psk)([[:alnum:]_.-]*[\"']?[[:space:]]*=|[\"']?:)[[:space:]]*"

/* The last group is the secret. Without quotes it ends at a space, since it may contain a comma. */
static const char *const patterns[SCRUB_PATTERNS_N] = {
        SECRET_KEY "[\"']([^\"']+)",
        SECRET_KEY "([^[:space:]\"'][^[:space:]]*)",
        /* The path of a key is not a secret. */
        "key[\"']?[[:space:]]*=[[:space:]]*[\"']?([^[:space:],;\"'/][^[:space:],;\"']*)",
        /* URLs, and iSCSI targets in dracut's syntax. */
        "(://[^/[:space:]:@]*|iscsi:[^[:space:]:@]*):([^[:space:]@]+)@",
        /* 256 bits and more; UUIDs have 128. */
        "(^|[^0-9a-f])([0-9a-f]{64,})",
        /* Tables of device-mapper targets. */
        " crypt [^[:space:]]+ ([^[:space:]]+)",
        "(internal_hash|journal_crypt|journal_mac):[^:[:space:]]+:([^[:space:]]+)",
};

#define GROUPS_MAX 6

static int hide(const regex_t *regex, char **line)
{
        regmatch_t groups[GROUPS_MAX];
        size_t offset = 0;

        while (regexec(regex, *line + offset, GROUPS_MAX, groups, offset > 0 ? REG_NOTBOL : 0) == 0) {
                const regmatch_t *secret = &groups[regex->re_nsub];
                size_t begin = offset + (size_t) secret->rm_so, end = offset + (size_t) secret->rm_eo;

                if (string_replace(
                            line, string_format("%.*s" SCRUB_SECRET "%s", (int) begin, *line, *line + end)) < 0)
                        return -ENOMEM;
                offset = begin + strlen(SCRUB_SECRET);
        }
        return 0;
}

/* ------ names ------ */

/* Names that many machines have; they identify none, and keep the report readable. Sorted. */
static const char *const common[] = {"backup", "bin", "boot", "cache", "control", "data", "dev", "docker", "efi",
        "etc", "home", "lib", "linux", "local", "localhost", "log", "lv", "media", "mnt", "opt", "proc", "root",
        "run", "sbin", "snap", "srv", "swap", "swap_1", "sys", "tmp", "usr", "var", "vg"};

/* As it is, as headgate prints it, and as part of a unit's name. */
static int insert(struct scrubber *scrubber, const char *name, const char *hyphen, char *replacement)
{
        _cleanup_memstream_ struct memstream stream = {};
        _cleanup_free_ char *escaped = NULL, *printable = NULL, *in_unit = NULL;
        FILE *file = memstream_open(&stream);

        for (; file && *name; name++)
                fprintf(file, "%.*s", *name == '-' ? (int) strlen(hyphen) : 1, *name == '-' ? hyphen : name);
        escaped = file ? memstream_finish(&stream) : NULL;
        printable = escaped ? string_printable(escaped) : NULL;
        in_unit = escaped ? unit_name_escape(escaped) : NULL;
        if (!printable || !in_unit ||
                !dm_hash_insert_binary(scrubber->names, escaped, (uint32_t) strlen(escaped), replacement) ||
                !dm_hash_insert_binary(scrubber->names, printable, (uint32_t) strlen(printable), replacement) ||
                !dm_hash_insert_binary(scrubber->names, in_unit, (uint32_t) strlen(in_unit), replacement))
                return -ENOMEM;
        return 0;
}

int scrubber_add(struct scrubber *scrubber, const char *kind, const char *name)
{
        char *replacement;

        if (!scrubber->names || name[strspn(name, "0123456789.")] == '\0' ||
                dm_hash_lookup_binary(scrubber->names, name, (uint32_t) strlen(name)) ||
                bsearch(&name, common, ELEMENTSOF(common), sizeof(*common), compare_strings))
                return 0;
        replacement = string_format("%s%zu", kind, scrubber->replacements.n + 1);
        if (strv_take(&scrubber->replacements, replacement) < 0)
                return -ENOMEM;
        /* device-mapper doubles the hyphens. */
        return insert(scrubber, name, "-", replacement) ?: insert(scrubber, name, "--", replacement);
}

int scrubber_add_path(struct scrubber *scrubber, const char *kind, const char *path)
{
        _cleanup_free_ char *copy = strdup(path);
        int r = copy ? 0 : -ENOMEM;

        for (char *part, *rest = copy; r >= 0 && (part = strsep(&rest, "/: @,#~%&()[]='!\"$*;<>?^`{|}\t\n"));)
                r = scrubber_add(scrubber, kind, part);
        return r;
}

static bool is_in_word(char c)
{
        return isalnum((unsigned char) c) || c == '_' || (unsigned char) c >= 0x80;
}

/* Finds the longest name: "a-b" before "a". */
static const char *find_name(const struct scrubber *scrubber, const char *text, size_t *ret_length)
{
        size_t length = 0;

        while (is_in_word(text[length]) || (text[length] != '\0' && strchr(".+-\\", text[length])))
                length++;
        for (; length > 0; length--) {
                const char *found = is_in_word(text[length - 1]) && is_in_word(text[length])
                                            ? NULL
                                            : dm_hash_lookup_binary(scrubber->names, text, (uint32_t) length);

                if (found) {
                        *ret_length = length;
                        return found;
                }
        }
        return NULL;
}

/* A word after one of these marks is a name. Returns the length of the mark, or 0. */
static size_t find_mark(const char *text)
{
        static const char *const marks[] = {
                "by-id/", "by-label/", "by-partlabel/", "LABEL=\"", "IDNAME=", "LABEL="};

        FOREACH_ELEMENT(mark, marks)
                if (skip_prefix(text, *mark))
                        return strlen(*mark);
        return 0;
}

/* An escaped byte, "\040" in fstab or "\x20" in names of units, ends a word, too. */
static bool is_behind_escape(const char *line, const char *c)
{
        return c - line >= 4 && c[-4] == '\\' && (c[-3] == 'x' || isdigit((unsigned char) c[-3]));
}

static int print_without_names(struct scrubber *scrubber, const char *line, FILE *file)
{
        for (const char *c = line; *c != '\0';) {
                size_t length = find_mark(c);
                const char *replacement = NULL;

                if (length > 0) {
                        /* Within quotes, only the quote ends it. */
                        static const char quote[] = "\"", all[] = "\" \t,;:')]}";
                        const char *ends = c[length - 1] == *quote ? quote : all;
                        _cleanup_free_ char *name = strndup(c + length, strcspn(c + length, ends));

                        if (!name || scrubber_add_path(scrubber, "id", name) < 0)
                                return -ENOMEM;
                } else if (c == line || !is_in_word(c[-1]) || !is_in_word(*c) || is_behind_escape(line, c)) {
                        replacement = find_name(scrubber, c, &length);
                }
                if (!replacement)
                        length = MAX(length, 1U);
                fprintf(file, "%.*s", (int) (replacement ? strlen(replacement) : length), replacement ?: c);
                c += length;
        }
        return 0;
}

/* ------ both ------ */

int scrubber_open(struct scrubber *ret, bool anonymize)
{
        *ret = (struct scrubber){};
        if (anonymize && !(ret->names = dm_hash_create(1024)))
                return -ENOMEM;
        for (; ret->n_patterns < SCRUB_PATTERNS_N; ret->n_patterns++)
                if (regcomp(&ret->patterns[ret->n_patterns], patterns[ret->n_patterns],
                            REG_EXTENDED | REG_ICASE) != 0)
                        return -ENOMEM;
        return 0;
}

char *scrub(struct scrubber *scrubber, const char *text)
{
        _cleanup_memstream_ struct memstream stream = {};
        _cleanup_free_ char *copy = strdup(text);
        FILE *file = memstream_open(&stream);
        const char *separator = "";

        if (!copy || !file)
                return NULL;
        FOREACH_LINE(line, copy) {
                _cleanup_free_ char *hidden = strdup(line);
                int r = hidden ? 0 : -ENOMEM;

                fputs(separator, file);
                separator = "\n";
                FOREACH_ELEMENT(pattern, scrubber->patterns)
                        r = r ?: hide(pattern, &hidden);
                if (r >= 0 && scrubber->names)
                        r = print_without_names(scrubber, hidden, file);
                else if (r >= 0)
                        fputs(hidden, file);
                if (r < 0)
                        return NULL;
        }
        return memstream_finish(&stream);
}

void scrubber_done(struct scrubber *scrubber)
{
        FOREACH_ARRAY(pattern, scrubber->patterns, scrubber->n_patterns)
                regfree(pattern);
        if (scrubber->names)
                dm_hash_destroy(scrubber->names);
        strv_done(&scrubber->replacements);
}
