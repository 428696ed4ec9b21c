/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads udev's rules for one question: may they run a program when an LV has changed? It follows all paths through a file, since
 * most conditions of rules cannot be decided beforehand. */

#include "fast-rules/late.h"

#include <fnmatch.h>

#include "shared/program.h"

/* Of a line with its continuations; udev ignores longer ones (UDEV_LINE_SIZE). */
#define LINE_MAX_SIZE 16384

#define SPACE " \t"

/* ------ lines and keys ------ */

/* The next line, joined in place with its continuations. Comments are ignored, also between these, and so is a last line that ends in
 * a backslash. udev stops reading at a line that is too long. NULL at the end. */
static char *take_line(char **text)
{
        char *start = *text, *end = start;
        bool goes_on = start != NULL;

        while (goes_on && *text) {
                char *line = strsep(text, "\n");
                size_t size = strlen(line), length;

                line += strspn(line, SPACE);
                length = strlen(line);
                if ((*line == '#' && size < LINE_MAX_SIZE) || (size == 0 && !*text))
                        continue;
                goes_on = length > 0 && line[length - 1] == '\\';
                memmove(end, line, length - goes_on);
                end += length - goes_on;
        }
        if (start)
                *(goes_on ? start : end) = '\0';
        return start;
}

/* A part of a rule: name{attribute} operator "value". */
struct key {
        const char *name; /* without the attribute */
        bool has_attribute;
        bool matches, negated, assigns; /* == or !=, !=, = */
        char *value;
};

/* Takes the next key off a line. Returns 1; 0 at the end; or -EBADMSG. */
static int take_key(char **line, struct key *ret)
{
        char *name = *line + strspn(*line, SPACE ","), *name_end = name + strcspn(name, "{=!+-:\"" SPACE);
        char *sign = *name_end == '{' ? name_end + strcspn(name_end, "}") : name_end, *end;
        size_t n;

        if (*name == '\0')
                return 0;
        *ret = (struct key){.name = name, .has_attribute = sign != name_end};
        sign += *sign == '}';
        sign += strspn(sign, SPACE);
        n = strspn(sign, "=!+-:");
        ret->negated = *sign == '!';
        ret->matches = ret->negated || skip_prefix(sign, "==");
        ret->assigns = n == 1;
        ret->value = sign + n + strspn(sign + n, SPACE);
        if (n == 0 || n > 2 || sign[n - 1] != '=' || *ret->value++ != '"')
                return -EBADMSG;
        for (end = ret->value; *end != '"'; end++) {
                end += end[0] == '\\' && end[1] == '"';
                if (*end == '\0')
                        return -EBADMSG;
        }
        *end = *name_end = '\0';
        *line = end + 1;
        return 1;
}

/* ------ facts ------ */

enum verdict {
        NO,
        MAYBE,
        YES,
};

/* The event of an LV that has changed. A value that is not whole is the common beginning of all such values. */
static const struct {
        const char *name, *value;
        bool whole;
} facts[] = {
        {"ACTION", "change", true},
        {"SUBSYSTEM", "block", true},
        /* It has no parent. */
        {"SUBSYSTEMS", "block", true},
        {"KERNEL", "dm-", false},
        {"KERNELS", "dm-", false},
        {"DEVPATH", "/devices/virtual/block/dm-", false},
};

static enum verdict match_pattern(const char *pattern, const char *value, bool whole)
{
        size_t literal = strcspn(pattern, "*?[\\");

        if (whole)
                return fnmatch(pattern, value, 0) == 0 ? YES : NO;
        if (strncmp(pattern, value, MIN(literal, strlen(value))) != 0)
                return NO;
        /* The value goes on. */
        return literal <= strlen(value) && (streq(pattern + literal, "*") || streq(pattern + literal, "?*"))
                       ? YES
                       : MAYBE;
}

/* With "|" between alternatives. */
static enum verdict match(char *patterns, const char *value, bool whole)
{
        enum verdict verdict = NO;
        char *pattern;

        while ((pattern = strsep(&patterns, "|")))
                verdict = MAX(verdict, match_pattern(pattern, value, whole));
        return verdict;
}

/* udev ignores a line with a key that it does not know in this form, which depends on its version. */
static enum verdict judge(const struct key *key)
{
        if (key->has_attribute || strchr(key->value, '\\'))
                return MAYBE;
        if (key->assigns && *key->value && (streq(key->name, "GOTO") || streq(key->name, "LABEL")))
                return YES;
        FOREACH_ELEMENT(fact, facts)
                if (key->matches && streq(key->name, fact->name)) {
                        enum verdict verdict = match(key->value, fact->value, fact->whole);

                        return key->negated ? YES - verdict : verdict;
                }
        return MAYBE;
}

/* ------ paths through a file ------ */

struct line {
        enum verdict verdict;
        const char *label;  /* NULL without */
        const char *target; /* of its GOTO, likewise */
        bool runs;
};

/* Returns 0 or -EBADMSG. */
static int read_line(char *text, struct line *ret)
{
        struct key key;
        int r = strlen(text) < LINE_MAX_SIZE ? 0 : -EBADMSG;

        *ret = (struct line){.verdict = YES};
        while (r >= 0 && (r = take_key(&text, &key)) > 0) {
                ret->verdict = MIN(ret->verdict, judge(&key));
                if (streq(key.name, "LABEL"))
                        ret->label = key.value;
                else if (streq(key.name, "GOTO"))
                        ret->target = ret->target ?: key.value;
                ret->runs |= streq(key.name, "RUN") && !key.matches;
        }
        return r;
}

int late_text_runs_program(char *text)
{
        _cleanup_strv_ struct strv targets = {}; /* of jumps whose label is still to come */
        bool reached = true, runs_anywhere = false;
        char *line;

        while ((line = take_line(&text))) {
                struct line rule;

                if (read_line(line, &rule) < 0)
                        return 1;
                for (size_t i = 0; rule.label && i < targets.n; i++)
                        if (streq(targets.strings[i], rule.label)) {
                                reached = true;
                                if (rule.verdict == YES)
                                        *targets.strings[i] = '\0';
                        }
                runs_anywhere |= rule.runs;
                if (!reached || rule.verdict == NO)
                        continue;
                if (rule.runs)
                        return 1;
                if (!rule.target)
                        continue;
                if (strv_add(&targets, rule.target) < 0)
                        return -ENOMEM;
                reached = rule.verdict == MAYBE;
        }
        /* udev ignores a GOTO without a LABEL after it, and goes on with the next line. */
        return runs_anywhere && ANY(STRV_FOREACH(target, &targets), **target != '\0');
}

int late_file_runs_program(int root_fd, const char *path)
{
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r = read_file_at(root_fd, path, &text, &size);

        if (r < 0)
                return r == -ENOENT || r == -EBADFD || r == -EISDIR ? 0 : r;
        /* udev ends lines at these characters. */
        return strlen(text) < size || strchr(text, '\r') ? 1 : late_text_runs_program(text);
}
