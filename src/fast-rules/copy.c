/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies of the udev rules of device-mapper and lvm2, which call dmsetup up to three times for each event of a device:
 *
 *   udevflags     for the flags in a cookie, which are a matter of patterns: no program is needed for the usual ones
 *   splitname     for the names of VG and LV in that of a device, of which the worker may have written them to a file
 *   udevcomplete  to tell who waits that the event has been handled, after all else
 *
 * A copy has lines put around these calls: what sets the same properties, or has headgate-dmsetup.static
 * do the same, and then goes past the line. Each line of the original stays, and is what acts where the lines before it
 * do not: for unusual flags and names, without the program, or if it fails. */

#include "fast-rules/copy.h"

#include <libdevmapper.h>

#include "shared/flags.h"
#include "shared/util.h"

/* ------ patterns of cookies ------ */

/* A cookie tells in its high 16 bits how udev is to handle an event of device-mapper, and in its low 16 bits who waits
 * for it (libdevmapper.h). The kernel writes the whole as a decimal number, of which rules of udev can only compare
 * digits: so all cookies with the same flags are a range of numbers, and that becomes a pattern.
 *
 * Writes a pattern of udev's (udev(7): shell patterns, with "|" between alternatives) that is matched by the cookies with
 * exactly these flags, which are not 0, of what consists of digits. Cookies with the base 0 are among them. From `number` on,
 * takes as many numbers as differ in one digit and in all that follow it, until `end`, which is not among them. For instance
 * 629[2-9][0-9][0-9][0-9] is 8000 numbers from 6292000 on. */
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
                /* Up to where the digit would be followed by 0, and as far as there is room. */
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

/* Which dmsetup udevflags makes properties of, in its order; device-mapper's, and lvm2's first one, which is for LVs that
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

/* What lvm2 gives its LVs, in about the order of how many there are: visible ones, parts, new thin pools and
 * temporary ones, snapshots, those to be wiped. Each with the library's fallback disabled, as by default, and not. */
static const unsigned int usual_flags[] = {
        0,
        HIDDEN,
        INNER,
        DM_UDEV_LOW_PRIORITY_FLAG,
        DM_UDEV_LOW_PRIORITY_FLAG | HIDDEN,
        DM_SUBSYSTEM_UDEV_FLAG0,
};
static const unsigned int fallback_flags[] = {DM_UDEV_DISABLE_LIBRARY_FALLBACK, 0};

static void write_line_of_flags(FILE *file, unsigned int flags)
{
        fputs("ENV{DM_COOKIE}==\"", file);
        write_pattern(file, flags);
        fputs("\"", file);
        FOREACH_ELEMENT(known, properties)
                if (flags & known->flag)
                        fprintf(file, ", ENV{%s}=\"1\"", known->property);
        fputs(", GOTO=\"headgate_udevflags\"\n", file);
}

static void write_flags(FILE *file)
{
        FOREACH_ELEMENT(fallback, fallback_flags)
                FOREACH_ELEMENT(usual, usual_flags)
                        write_line_of_flags(file, DM_UDEV_PRIMARY_SOURCE_FLAG | *fallback | *usual);
}

/* ------ splitname and udevcomplete ------ */

/* The worker writes what names are made of, of LVs that are about to be activated: see fast-rules/dm-names.h. */
#define WRITTEN_NAME "/" COPY_NAMES_DIRECTORY "/$env{DM_NAME}"

static const char splitname_lines[] = "ENV{DM_NAME}==\"?*-?*\", TEST==\"" WRITTEN_NAME
                                      "\", IMPORT{file}=\"" WRITTEN_NAME "\", GOTO=\"headgate_splitname\"\n"
                                      "TEST{0111}==\"" COPY_PROGRAM "\", IMPORT{program}=\"" COPY_PROGRAM
                                      " splitname $env{DM_NAME}\", GOTO=\"headgate_splitname\"\n";

/* Of an LV of which the worker has written the name it may be the worker that completes the cookie, as long as it
 * says so. The mark tells it whether to: see fast-rules/cookies.h. What udev runs in the end has no fallback, so the program has to
 * be executable. */
#define IS_COOKIE "ENV{DM_COOKIE}==\"[1-9]*\", ENV{DM_COOKIE}!=\"*[!0-9]*\""
#define MARK "ENV{.HEADGATE_COOKIE}"

static const char udevcomplete_lines[] =
        IS_COOKIE ", ACTION==\"change\", ENV{DM_NAME}==\"?*-?*\", TEST==\"" WRITTEN_NAME
                  "\", TEST==\"/run/headgate/" FLAGS_COMPLETING "\", " MARK
                  "=\"worker\", GOTO=\"headgate_udevcomplete\"\n" IS_COOKIE ", TEST{0111}==\"" COPY_PROGRAM
                  "\", RUN+=\"" COPY_PROGRAM " udevcomplete $env{DM_COOKIE}\", " MARK
                  "=\"program\", GOTO=\"headgate_udevcomplete\"\n";

/* ------ the text ------ */

#define COOKIE_CONDITION "ENV{DM_COOKIE}==\"?*\""

/* A line that calls dmsetup is made of a condition or not, `key`, a path, and `call`. These lines have been the same since
 * lvm2 2.03.11 but for the path and the condition on DM_COOKIE. */
static const struct call {
        const char *verb;
        const char *key;
        const char *call;
        bool conditional;
        const char *lines; /* to be put before it; NULL for write_flags() */
} calls[] = {
        {"udevflags", "IMPORT{program}=\"", "/dmsetup udevflags $env{DM_COOKIE}\"", true, NULL},
        {"splitname", "IMPORT{program}=\"",
                "/dmsetup splitname --nameprefixes --noheadings --rows $env{DM_NAME}\"", false, splitname_lines},
        {"udevcomplete", "RUN+=\"", "/dmsetup udevcomplete $env{DM_COOKIE}\"", true, udevcomplete_lines},
};

static const char *skip_space(const char *text)
{
        return text + strspn(text, " \t");
}

/* Which of them the line speaks of, in whatever way; NULL for none. A comment is none. */
static const struct call *find_call(const char *line)
{
        if (*skip_space(line) == '#')
                return NULL;
        FOREACH_ELEMENT(call, calls)
                if (strstr(line, "dmsetup") && strstr(line, call->verb))
                        return call;
        return NULL;
}

static bool is_understood(const char *line, const struct call *call)
{
        const char *rest;
        size_t path_length;

        line = skip_space(line);
        rest = call->conditional ? skip_prefix(line, COOKIE_CONDITION) : NULL;
        if (rest) {
                rest = skip_space(rest);
                if (*rest != ',')
                        return false;
                line = skip_space(rest + 1);
        }
        line = skip_prefix(line, call->key);
        if (!line)
                return false;
        /* The path may have a $env{DM_SBIN_PATH} in it. */
        path_length = strcspn(line, "\", \t");
        while (path_length > 0 && line[path_length] != '/')
                path_length--;
        rest = skip_prefix(line + path_length, call->call);
        return rest && *skip_space(rest) == '\0';
}

/* Writes all lines of `text`, which it changes, with those of the calls around them. Returns 0; or -EBADMSG, and in
 * `*ret_line` the number of the line that calls dmsetup in a way that is not known or for the second time, or 0 if there
 * is none that does. */
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

        if (!file)
                return -ENOMEM;
        fprintf(file, COPY_MARK " from /%s, for this boot: see headgate-fast-dm-rules(8).\n\n", path);
        return patch(file, text, ret_line) ?: memstream_finish(&stream, ret, NULL);
}
