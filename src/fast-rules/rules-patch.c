/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fast-rules/rules-patch.h"

#include <stdint.h>

#include "shared/flags.h"

/* ------ patterns of cookies ------ */

/* A cookie tells in its high 16 bits how udev is to handle an event of device-mapper, and in its low 16 bits who waits
 * for it (libdevmapper.h). The kernel writes the whole as a decimal number, of which rules of udev can only compare
 * digits: so all cookies with the same flags are a range of numbers, and that becomes a pattern. */
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

/* Writes a pattern of udev's (udev(7): shell patterns, with "|" between alternatives) that is matched by the cookies with
 * exactly these flags, which are not 0, of what consists of digits. Cookies with the base 0 are among them. From `number` on,
 * takes as many numbers as differ in one digit and in all that follow it, until `end`, which is not among them. For instance
 * 629[2-9][0-9][0-9][0-9] is 8000 numbers from 6292000 on. */
static void write_pattern(FILE *file, uint16_t flags)
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

/* ------ udevflags ------ */

/* The names that dmsetup udevflags gives, in its order; device-mapper's, and lvm2's first one, which is for LVs that
 * are about to be wiped. */
enum {
        DISABLE_SUBSYSTEM_RULES = 1 << 1,
        DISABLE_DISK_RULES = 1 << 2,
        DISABLE_OTHER_RULES = 1 << 3,
        LOW_PRIORITY = 1 << 4,
        DISABLE_LIBRARY_FALLBACK = 1 << 5,
        PRIMARY_SOURCE = 1 << 6,
        LVM_NOSCAN = 1 << 8,
};

static const struct {
        unsigned int bit;
        const char *property;
} properties[] = {
        {DISABLE_SUBSYSTEM_RULES, "DM_UDEV_DISABLE_SUBSYSTEM_RULES_FLAG"},
        {DISABLE_DISK_RULES, "DM_UDEV_DISABLE_DISK_RULES_FLAG"},
        {DISABLE_OTHER_RULES, "DM_UDEV_DISABLE_OTHER_RULES_FLAG"},
        {LOW_PRIORITY, "DM_UDEV_LOW_PRIORITY_FLAG"},
        {DISABLE_LIBRARY_FALLBACK, "DM_UDEV_DISABLE_LIBRARY_FALLBACK_FLAG"},
        {PRIMARY_SOURCE, "DM_UDEV_PRIMARY_SOURCE_FLAG"},
        {LVM_NOSCAN, "DM_SUBSYSTEM_UDEV_FLAG0"},
};

#define HIDDEN (DISABLE_SUBSYSTEM_RULES | DISABLE_DISK_RULES | DISABLE_OTHER_RULES)
#define INNER (DISABLE_DISK_RULES | DISABLE_OTHER_RULES)

/* What lvm2 gives its LVs, in about the order of how many there are: visible ones, parts, new thin pools and
 * temporary ones, snapshots, those to be wiped. Each with the library's fallback disabled, as by default, and not. */
static const unsigned int usual_flags[] = {
        PRIMARY_SOURCE | DISABLE_LIBRARY_FALLBACK,
        PRIMARY_SOURCE | DISABLE_LIBRARY_FALLBACK | HIDDEN,
        PRIMARY_SOURCE | DISABLE_LIBRARY_FALLBACK | INNER,
        PRIMARY_SOURCE | DISABLE_LIBRARY_FALLBACK | LOW_PRIORITY,
        PRIMARY_SOURCE | DISABLE_LIBRARY_FALLBACK | LOW_PRIORITY | HIDDEN,
        PRIMARY_SOURCE | DISABLE_LIBRARY_FALLBACK | LVM_NOSCAN,
        PRIMARY_SOURCE,
        PRIMARY_SOURCE | HIDDEN,
        PRIMARY_SOURCE | INNER,
        PRIMARY_SOURCE | LOW_PRIORITY,
        PRIMARY_SOURCE | LOW_PRIORITY | HIDDEN,
        PRIMARY_SOURCE | LVM_NOSCAN,
};

static void write_flags(FILE *file, _unused_ const char *program)
{
        for (size_t i = 0; i < ELEMENTSOF(usual_flags); i++) {
                fputs("ENV{DM_COOKIE}==\"", file);
                write_pattern(file, (uint16_t) usual_flags[i]);
                fputs("\"", file);
                for (size_t j = 0; j < ELEMENTSOF(properties); j++)
                        if (usual_flags[i] & properties[j].bit)
                                fprintf(file, ", ENV{%s}=\"1\"", properties[j].property);
                fputs(", GOTO=\"headgate_udevflags\"\n", file);
        }
}

/* ------ splitname ------ */

/* The worker writes down what names are made of, of LVs that are about to come up: see fast-rules/dm-names.h. */
#define WRITTEN_NAME "/run/headgate/" FLAGS_DM_NAMES "/$env{DM_NAME}"

static void write_names(FILE *file, const char *program)
{
        fputs("ENV{DM_NAME}==\"?*-?*\", TEST==\"" WRITTEN_NAME "\", IMPORT{file}=\"" WRITTEN_NAME
              "\", GOTO=\"headgate_splitname\"\n",
                file);
        fprintf(file,
                "TEST==\"%s\", IMPORT{program}=\"%s splitname $env{DM_NAME}\", GOTO=\"headgate_splitname\"\n",
                program, program);
}

/* ------ udevcomplete ------ */

/* Of an LV of which the worker has written down the name it may be the worker that completes the cookie, as long as it
 * says so. The mark tells it whether to: see fast-rules/cookies.h. */
#define IS_COOKIE "ENV{DM_COOKIE}==\"[1-9]*\", ENV{DM_COOKIE}!=\"*[!0-9]*\""
#define MARK "ENV{.HEADGATE_COOKIE}"

static void write_completion(FILE *file, const char *program)
{
        fputs(IS_COOKIE ", ACTION==\"change\", ENV{DM_NAME}==\"?*-?*\", TEST==\"" WRITTEN_NAME
                        "\", TEST==\"/run/headgate/" FLAGS_COMPLETING "\", " MARK
                        "=\"worker\", GOTO=\"headgate_udevcomplete\"\n",
                file);
        fprintf(file,
                IS_COOKIE ", TEST==\"%s\", RUN+=\"%s udevcomplete $env{DM_COOKIE}\", " MARK
                          "=\"program\", GOTO=\"headgate_udevcomplete\"\n",
                program, program);
}

/* ------ the text ------ */

#define COOKIE_CONDITION "ENV{DM_COOKIE}==\"?*\""

/* A line that calls dmsetup is made of a condition or not, `key`, a path, and `call`. */
struct call {
        const char *verb;
        const char *key;
        const char *call;
        bool conditional;
        void (*write)(FILE *file, const char *program);
};

static const struct call calls[] = {
        {"udevflags", "IMPORT{program}=\"", "/dmsetup udevflags $env{DM_COOKIE}\"", true, write_flags},
        {"splitname", "IMPORT{program}=\"",
                "/dmsetup splitname --nameprefixes --noheadings --rows $env{DM_NAME}\"", false, write_names},
        {"udevcomplete", "RUN+=\"", "/dmsetup udevcomplete $env{DM_COOKIE}\"", true, write_completion},
};

/* Which of them the line speaks of, in whatever way; NULL for none. A comment is none. */
static const struct call *find_call(const char *line)
{
        line += strspn(line, " \t");
        if (*line == '#')
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(calls); i++)
                if (strstr(line, "dmsetup") && strstr(line, calls[i].verb))
                        return &calls[i];
        return NULL;
}

static bool is_understood(const char *line, const struct call *call)
{
        const char *rest;
        size_t path_length;

        line += strspn(line, " \t");
        rest = call->conditional ? skip_prefix(line, COOKIE_CONDITION) : NULL;
        if (rest) {
                rest += strspn(rest, " \t");
                if (*rest != ',')
                        return false;
                line = rest + 1 + strspn(rest + 1, " \t");
        }
        line = skip_prefix(line, call->key);
        if (!line)
                return false;
        /* The path may have a $env{DM_SBIN_PATH} in it. */
        path_length = strcspn(line, "\", \t");
        while (path_length > 0 && line[path_length] != '/')
                path_length--;
        rest = skip_prefix(line + path_length, call->call);
        return rest && rest[strspn(rest, " \t")] == '\0';
}

static bool is_continued(const char *line)
{
        size_t length = strlen(line);

        return length > 0 && line[length - 1] == '\\';
}

/* Writes all lines; -EBADMSG at the first that is not understood, or has been there before. */
static int write_lines(FILE *file, char *text, const char *program, size_t *ret_line)
{
        bool seen[ELEMENTSOF(calls)] = {}, in_line = false;
        size_t n_calls = 0;

        *ret_line = 0;
        for (size_t number = 1; *text; number++) {
                char *line = text, *end = strchrnul(text, '\n');
                const struct call *call;

                text = *end == '\0' ? end : end + 1;
                *end = '\0';
                call = find_call(line);
                if (call) {
                        if (in_line || is_continued(line) || seen[call - calls] || !is_understood(line, call)) {
                                *ret_line = number;
                                return -EBADMSG;
                        }
                        seen[call - calls] = true;
                        n_calls++;
                        call->write(file, program);
                }
                fprintf(file, "%s\n", line);
                if (call)
                        fprintf(file, "LABEL=\"headgate_%s\"\n", call->verb);
                in_line = is_continued(line);
        }
        return n_calls > 0 ? 0 : -EBADMSG;
}

int rules_patch(const char *text, const char *origin, const char *program, char **ret, size_t *ret_line)
{
        _cleanup_free_ char *copy = strdup(text), *patched = NULL;
        _cleanup_fclose_ FILE *file = NULL;
        size_t size;
        int r;

        if (!copy)
                return -ENOMEM;
        file = open_memstream(&patched, &size);
        if (!file)
                return -ENOMEM;
        fprintf(file, RULES_PATCH_MARK " from %s, for this boot: see headgate-fast-dm-rules(8).\n\n", origin);
        r = write_lines(file, copy, program, ret_line);
        if (r < 0)
                return r;
        if (fclose(TAKE_PTR(file)) != 0)
                return -ENOMEM;
        *ret = TAKE_PTR(patched);
        return 0;
}
