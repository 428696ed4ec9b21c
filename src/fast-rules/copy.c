/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies of the udev rules of device-mapper and lvm2, which call dmsetup up to three times for each event of a device:
 *
 *   udevflags     for the flags in a cookie; patterns match the usual ones, without a program
 *   splitname     for the names of VG and LV in that of a device; the worker may have written them to a file
 *   udevcomplete  at the end, to report to the waiting process that the event was handled
 *
 * A copy has lines around these calls that set the same properties, or run headgate-dmsetup.static instead, and then skip the
 * call. Each line of the original stays. It acts where the lines before it do not: for unusual flags and names, and when the program
 * is missing or fails. */

#include "fast-rules/copy.h"

#include <libdevmapper.h>
#include <regex.h>

#include "shared/flags.h"
#include "shared/util.h"

/* ------ patterns of cookies ------ */

/* The high 16 bits of a cookie are flags for udev's rules, the low 16 bits identify the semaphore (libdevmapper.h). The kernel
 * writes the whole as a decimal number, and udev's rules can only compare digits. Cookies with the same flags are a range of numbers,
 * which becomes a pattern.
 *
 * Writes a pattern (udev(7): shell patterns, with "|" between alternatives) that matches all cookies with exactly these flags, which
 * are not 0; also those with the base 0. From `number` on, each alternative takes all numbers that differ in one digit and those
 * after it, up to `end`, which is excluded. For instance 629[2-9][0-9][0-9][0-9] is 8000 numbers from 6292000 on. */
static void write_pattern(FILE *file, unsigned int flags)
{
        unsigned long number = (unsigned long) flags << DM_UDEV_FLAGS_SHIFT;
        unsigned long end = number + (1ul << DM_UDEV_FLAGS_SHIFT);
        const char *separator = "";

        while (number < end) {
                unsigned long step = 1, first, last;
                size_t n_any = 0;

                while (number % (step * 10) == 0 && number + step * 10 <= end) {
                        step *= 10;
                        n_any++;
                }
                /* Up to 9, and not beyond `end`. */
                first = number / step % 10;
                last = MIN(9ul, first + (end - number) / step - 1);
                fprintf(file, "%s%lu", separator, number / step / 10);
                if (first == last)
                        fprintf(file, "%lu", first);
                else
                        fprintf(file, "[%lu-%lu]", first, last);
                for (size_t i = 0; i < n_any; i++)
                        fputs("[0-9]", file);
                number += (last - first + 1) * step;
                separator = "|";
        }
}

/* ------ udevflags ------ */

/* The flags of which dmsetup udevflags makes properties, in its order: device-mapper's, and lvm2's first one, for LVs that
 * are about to be wiped. */
static const struct {
        unsigned int flag;
        const char *property;
} properties[] = {
        {DM_UDEV_DISABLE_SUBSYSTEM_RULES_FLAG, "DM_UDEV_DISABLE_SUBSYSTEM_RULES_FLAG"},
        {DM_UDEV_DISABLE_DISK_RULES_FLAG, "DM_UDEV_DISABLE_DISK_RULES_FLAG"},
        {DM_UDEV_DISABLE_OTHER_RULES_FLAG, "DM_UDEV_DISABLE_OTHER_RULES_FLAG"},
        {DM_UDEV_LOW_PRIORITY_FLAG, "DM_UDEV_LOW_PRIORITY_FLAG"},
        {DM_UDEV_DISABLE_LIBRARY_FALLBACK, "DM_UDEV_DISABLE_LIBRARY_FALLBACK_FLAG"},
        {DM_UDEV_PRIMARY_SOURCE_FLAG, "DM_UDEV_PRIMARY_SOURCE_FLAG"},
        {DM_SUBSYSTEM_UDEV_FLAG0, "DM_SUBSYSTEM_UDEV_FLAG0"},
};

#define INNER (DM_UDEV_DISABLE_DISK_RULES_FLAG | DM_UDEV_DISABLE_OTHER_RULES_FLAG)
#define HIDDEN (DM_UDEV_DISABLE_SUBSYSTEM_RULES_FLAG | INNER)

/* Flags that lvm2 sets on LVs, the most frequent first: visible LVs, hidden LVs, new thin pools and temporary LVs, snapshots, LVs to
 * be wiped. Each with the library's fallback disabled, as by default, and enabled. */
static const unsigned int usual_flags[] = {
        0,
        HIDDEN,
        INNER,
        DM_UDEV_LOW_PRIORITY_FLAG,
        DM_UDEV_LOW_PRIORITY_FLAG | HIDDEN,
        DM_SUBSYSTEM_UDEV_FLAG0,
};
static const unsigned int fallback_flags[] = {DM_UDEV_DISABLE_LIBRARY_FALLBACK, 0};

/* One line for each combination. */
static void write_flags(FILE *file)
{
        FOREACH_ELEMENT(fallback, fallback_flags)
                FOREACH_ELEMENT(usual, usual_flags) {
                        unsigned int flags = DM_UDEV_PRIMARY_SOURCE_FLAG | *fallback | *usual;

                        fputs("ENV{DM_COOKIE}==\"", file);
                        write_pattern(file, flags);
                        fputs("\"", file);
                        FOREACH_ELEMENT(known, properties)
                                if (flags & known->flag)
                                        fprintf(file, ", ENV{%s}=\"1\"", known->property);
                        fputs(", GOTO=\"headgate_udevflags\"\n", file);
                }
}

/* ------ splitname and udevcomplete ------ */

/* The worker writes the parts of names of LVs that are about to be activated, see fast-rules/dm-names.h. */
#define WRITTEN_NAME "/" COPY_NAMES_DIRECTORY "/$env{DM_NAME}"

static const char splitname_lines[] = "ENV{DM_NAME}==\"?*-?*\", TEST==\"" WRITTEN_NAME
                                      "\", IMPORT{file}=\"" WRITTEN_NAME "\", GOTO=\"headgate_splitname\"\n"
                                      "TEST{0111}==\"" COPY_PROGRAM "\", IMPORT{program}=\"" COPY_PROGRAM
                                      " splitname $env{DM_NAME}\", GOTO=\"headgate_splitname\"\n";

/* For an LV whose name the worker has written, the worker may complete the cookie, as long as it promises to. The mark tells it
 * whether to, see fast-rules/cookies.h. RUN has no fallback, so the program has to be executable. */
#define IS_COOKIE "ENV{DM_COOKIE}==\"[1-9]*\", ENV{DM_COOKIE}!=\"*[!0-9]*\""
#define MARK "ENV{.HEADGATE_COOKIE}"

static const char udevcomplete_lines[] =
        IS_COOKIE ", ACTION==\"change\", ENV{DM_NAME}==\"?*-?*\", TEST==\"" WRITTEN_NAME
                  "\", TEST==\"/run/headgate/" FLAGS_COMPLETING "\", " MARK
                  "=\"worker\", GOTO=\"headgate_udevcomplete\"\n" IS_COOKIE ", TEST{0111}==\"" COPY_PROGRAM
                  "\", RUN+=\"" COPY_PROGRAM " udevcomplete $env{DM_COOKIE}\", " MARK
                  "=\"program\", GOTO=\"headgate_udevcomplete\"\n";

/* ------ the text ------ */

/* A line that calls dmsetup, as an extended regular expression. Since lvm2 2.03.11 only the path, which may have a
 * $env{DM_SBIN_PATH} in it, and the condition on DM_COOKIE have differed. */
#define CALL(key, words) "^[ \t]*" key "\"[^\", \t]*/dmsetup " words "\"[ \t]*$"
#define IF_COOKIE "(ENV\\{DM_COOKIE\\}==\"\\?\\*\"[ \t]*,[ \t]*)?"
#define IMPORT "IMPORT\\{program\\}="

static const struct call {
        const char *verb;
        const char *form;
        const char *lines; /* to be inserted before it; NULL for write_flags() */
} calls[] = {
        {"udevflags", CALL(IF_COOKIE IMPORT, "udevflags \\$env\\{DM_COOKIE\\}"), NULL},
        {"splitname", CALL(IMPORT, "splitname --nameprefixes --noheadings --rows \\$env\\{DM_NAME\\}"),
                splitname_lines},
        {"udevcomplete", CALL(IF_COOKIE "RUN\\+=", "udevcomplete \\$env\\{DM_COOKIE\\}"), udevcomplete_lines},
};

/* The call that the line mentions in any form; NULL for none, and for a comment. */
static const struct call *find_call(const char *line)
{
        if (line[strspn(line, " \t")] == '#')
                return NULL;
        FOREACH_ELEMENT(call, calls)
                if (strstr(line, "dmsetup") && strstr(line, call->verb))
                        return call;
        return NULL;
}

static bool is_understood(const char *line, const struct call *call)
{
        regex_t form;
        bool matches;

        if (regcomp(&form, call->form, REG_EXTENDED | REG_NOSUB) != 0)
                return false;
        matches = regexec(&form, line, 0, NULL, 0) == 0;
        regfree(&form);
        return matches;
}

/* Writes all lines of `text`, which is modified, and inserts those for the calls. Returns as copy_print() does. */
static int patch(FILE *file, char *text, size_t *ret_line)
{
        bool seen[ELEMENTSOF(calls)] = {}, any = false, in_line = false;

        *ret_line = 0;
        for (size_t number = 1; *text; number++) {
                char *line = text, *end = strchrnul(text, '\n');
                const struct call *call;
                bool continued;

                text = *end == '\0' ? end : end + 1;
                *end = '\0';
                continued = end > line && end[-1] == '\\';
                call = find_call(line);
                if (call && (in_line || continued || seen[call - calls] || !is_understood(line, call))) {
                        *ret_line = number;
                        return -EBADMSG;
                }
                if (call) {
                        any = true;
                        seen[call - calls] = true;
                        if (call->lines)
                                fputs(call->lines, file);
                        else
                                write_flags(file);
                }
                fprintf(file, "%s\n", line);
                if (call)
                        fprintf(file, "LABEL=\"headgate_%s\"\n", call->verb);
                in_line = continued;
        }
        return any ? 0 : -EBADMSG;
}

int copy_print(const char *path, char *text, char **ret, size_t *ret_line)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        int r;

        if (!file)
                return -ENOMEM;
        fprintf(file, COPY_MARK " from /%s, for this boot: see headgate-fast-dm-rules(8).\n\n", path);
        r = patch(file, text, ret_line);
        if (r < 0)
                return r;
        *ret = memstream_finish(&stream);
        return *ret ? 0 : -ENOMEM;
}
