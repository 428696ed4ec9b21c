/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Overrides of the udev rules of device-mapper and lvm2, which call dmsetup up to three times for each event of a device:
 *
 *   udevflags     for the flags in a cookie, which are a matter of patterns: no program is needed for the usual ones
 *   splitname     for the names of VG and LV in that of a device, of which the worker may have written them to a file
 *   udevcomplete  to tell who waits that the event has been handled, after all else
 *
 * An override is a copy with lines put around these calls: what sets the same properties, or has headgate-dmsetup.static
 * do the same, and then goes past the line. Each line of the original stays, and is what acts where the lines before it
 * do not: for unusual flags and names, without the program, or if it fails. */

#include "fast-rules/rules.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <libdevmapper.h>
#include <sys/stat.h>

#include "lvm/command.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/udev.h"
#include "shared/util.h"

#define NAMES_DIRECTORY "run/headgate/" FLAGS_DM_NAMES
#define PROGRAM LIBEXECDIR "/headgate-dmsetup.static"

/* What an override begins with, and no other file does. By this the unit finds what it has to remove. */
#define MARK_OF_OVERRIDE "# Made by headgate"

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
        FOREACH_ARRAY(known, properties, ELEMENTSOF(properties))
                if (flags & known->flag)
                        fprintf(file, ", ENV{%s}=\"1\"", known->property);
        fputs(", GOTO=\"headgate_udevflags\"\n", file);
}

static void write_flags(FILE *file)
{
        FOREACH_ARRAY(fallback, fallback_flags, ELEMENTSOF(fallback_flags))
                FOREACH_ARRAY(usual, usual_flags, ELEMENTSOF(usual_flags))
                        write_line_of_flags(file, DM_UDEV_PRIMARY_SOURCE_FLAG | *fallback | *usual);
}

/* ------ splitname and udevcomplete ------ */

/* The worker writes what names are made of, of LVs that are about to be activated: see fast-rules/dm-names.h. */
#define WRITTEN_NAME "/" NAMES_DIRECTORY "/$env{DM_NAME}"

static const char splitname_lines[] = "ENV{DM_NAME}==\"?*-?*\", TEST==\"" WRITTEN_NAME
                                      "\", IMPORT{file}=\"" WRITTEN_NAME "\", GOTO=\"headgate_splitname\"\n"
                                      "TEST==\"" PROGRAM "\", IMPORT{program}=\"" PROGRAM
                                      " splitname $env{DM_NAME}\", GOTO=\"headgate_splitname\"\n";

/* Of an LV of which the worker has written the name it may be the worker that completes the cookie, as long as it
 * says so. The mark tells it whether to: see fast-rules/cookies.h. */
#define IS_COOKIE "ENV{DM_COOKIE}==\"[1-9]*\", ENV{DM_COOKIE}!=\"*[!0-9]*\""
#define MARK "ENV{.HEADGATE_COOKIE}"

static const char udevcomplete_lines[] = IS_COOKIE
        ", ACTION==\"change\", ENV{DM_NAME}==\"?*-?*\", TEST==\"" WRITTEN_NAME
        "\", TEST==\"/run/headgate/" FLAGS_COMPLETING "\", " MARK
        "=\"worker\", GOTO=\"headgate_udevcomplete\"\n" IS_COOKIE ", TEST==\"" PROGRAM "\", RUN+=\"" PROGRAM
        " udevcomplete $env{DM_COOKIE}\", " MARK "=\"program\", GOTO=\"headgate_udevcomplete\"\n";

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
        FOREACH_ARRAY(call, calls, ELEMENTSOF(calls))
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

static int print_override(const char *path, char *text, char **ret, size_t *ret_line)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);

        if (!file)
                return -ENOMEM;
        fprintf(file, MARK_OF_OVERRIDE " from /%s, for this boot: see headgate-fast-dm-rules(8).\n\n", path);
        return patch(file, text, ret_line) ?: memstream_finish(&stream, ret, NULL);
}

/* ------ files ------ */

#define NOTIFY_RULES "95-dm-notify.rules"

/* By Debian's names and by lvm2's own. */
static const char *const names[] = {
        "55-dm.rules",
        "56-lvm.rules",
        "10-dm.rules",
        "11-dm-lvm.rules",
        NOTIFY_RULES,
};

/* Finds the file that counts, but for an override of an earlier call. Returns 1 if it is an installed one, of which
 * `*ret_text` is the content; 0 if somebody has replaced that; -ENOENT if there is none; or another negative errno.
 * `*ret_path` and `*ret_text` are to be freed in any case. */
static int find_rules(int root_fd, const char *name, char **ret_path, char **ret_text)
{
        FOREACH_ARRAY(directory, rule_directories, RULE_DIRECTORIES_N) {
                int r;

                if (string_replace(ret_path, string_format("%s/%s", *directory, name)) < 0)
                        return -ENOMEM;
                if (faccessat(root_fd, *ret_path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (streq(*directory, "etc/udev/rules.d"))
                        return 0;
                r = read_file_at(root_fd, *ret_path, ret_text, NULL);
                if (!streq(*directory, RULES_OF_THIS_BOOT))
                        return r < 0 ? r : 1;
                if (r < 0 || !skip_prefix(*ret_text, MARK_OF_OVERRIDE))
                        return 0;
                free(TAKE_PTR(*ret_text));
        }
        return -ENOENT;
}

/* Makes the override of a file of rules. Returns 1; or 0, and in `*ret_obstacle` why there is none, in a sentence, or NULL if
 * there is no such file; or a negative errno. Both are to be freed in any case. */
static int make_override(int root_fd, const char *name, char **ret_override, char **ret_obstacle)
{
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t line = 0;
        int r;

        r = find_rules(root_fd, name, &path, &text);
        if (r == -ENOENT)
                return 0;
        if (r == 0)
                *ret_obstacle = string_format("/%s is not the installed file, not overriding it.", path);
        else if (r > 0) {
                r = print_override(path, text, ret_override, &line);
                if (r != -EBADMSG)
                        return r < 0 ? r : 1;
                *ret_obstacle =
                        line > 0 ? string_format("Line %zu of /%s calls dmsetup in an unknown way, not overriding "
                                                 "the file.",
                                           line, path)
                                 : string_format("/%s does not call dmsetup, not overriding it.", path);
                r = 0;
        }
        return r < 0 ? r : *ret_obstacle ? 0 : -ENOMEM;
}

/* Returns 1 if it is overridden now, 0 if it is not, or a negative errno, which it has logged. */
static int install_override(int root_fd, int rules_fd, const char *name)
{
        _cleanup_free_ char *override = NULL, *obstacle = NULL;
        int r;

        r = make_override(root_fd, name, &override, &obstacle);
        if (r > 0)
                r = write_file_atomic_at(rules_fd, name, override);
        if (r < 0)
                return log_error_errno(r, "Failed to override %s: %m", name);
        if (obstacle)
                log_notice("%s", obstacle);
        return override != NULL;
}

/* ------ rules of others ------ */

/* What a rule can see of a change of a device-mapper device. */
static const struct {
        const char *match, *value;
} seen[] = {
        {"ACTION==\"", "change"},
        {"SUBSYSTEM==\"", "block"},
        {"SUBSYSTEMS==\"", "block"},
};

/* Unless it is certain that it does not: a pattern in quotes without a prefix, with "|" between alternatives (udev(7)). */
static bool may_match(const char *line)
{
        FOREACH_ARRAY(fact, seen, ELEMENTSOF(seen)) {
                const char *found = strstr(line, fact->match);
                const char *value = found ? found + strlen(fact->match) : "*";
                _cleanup_free_ char *patterns = strndup(value, strcspn(value, "\""));
                char *rest = patterns, *pattern;
                bool matches = !patterns;

                while (!matches && (pattern = strsep(&rest, "|")))
                        matches = fnmatch(pattern, fact->value, 0) == 0;
                if (!matches)
                        return false;
        }
        return *skip_space(line) != '#';
}

/* What a line leads to that has nothing but a GOTO, or NULL. */
static char *find_target(const char *line)
{
        const char *target = skip_prefix(skip_space(line), "GOTO=\"");
        size_t length = target ? strcspn(target, "\"") : 0;

        if (!target || target[length] == '\0' || *skip_space(target + length + 1) != '\0')
                return NULL;
        return string_format("LABEL=\"%.*s\"", (int) length, target);
}

/* A GOTO without a condition is followed, unless one before it may lead elsewhere. */
static bool text_runs_program(char *text)
{
        _cleanup_free_ char *label = NULL;
        bool may_jump = false;

        FOREACH_LINE(line, text) {
                if (label && !strstr(line, label))
                        continue;
                free(TAKE_PTR(label));
                if (!may_match(line))
                        continue;
                if (strstr(line, "RUN"))
                        return true;
                if (!may_jump)
                        label = find_target(line);
                may_jump |= !label && strstr(line, "GOTO");
        }
        return false;
}

int rules_find_late_program(int root_fd, char **ret_obstacle)
{
        for (size_t i = 0; i < RULE_DIRECTORIES_N; i++) {
                _cleanup_closedir_ DIR *directory = open_directory_at(root_fd, rule_directories[i]);

                if (!directory && errno != ENOENT)
                        return -errno;
                FOREACH_ENTRY(name, directory) {
                        _cleanup_free_ char *text = NULL;
                        int r;

                        if (strcmp(name, NOTIFY_RULES) <= 0 || fnmatch("*.rules", name, 0) != 0)
                                continue;
                        r = read_file_at(dirfd(directory), name, &text, NULL);
                        /* -EBADFD is a link to /dev/null. */
                        if (r < 0 && r != -ENOENT && r != -EBADFD)
                                return r;
                        if (r < 0 || !text_runs_program(text))
                                continue;
                        *ret_obstacle = string_format(
                                "/%s/%s may run a program for a change of an LV, leaving cookies to " PROGRAM ".",
                                rule_directories[i], name);
                        return *ret_obstacle ? 1 : -ENOMEM;
                }
        }
        return 0;
}

int rule_overrides_find_obstacles(int root_fd, struct string_vector *ret)
{
        _cleanup_free_ char *late = NULL;
        int r;

        if (!HAVE_FAST_DM_RULES)
                return 0;
        FOREACH_ARRAY(name, names, ELEMENTSOF(names)) {
                _cleanup_free_ char *override = NULL, *obstacle = NULL;

                r = make_override(root_fd, *name, &override, &obstacle);
                if (r < 0 || (obstacle && (r = string_vector_add(ret, obstacle)) < 0))
                        return r;
        }
        r = rules_find_late_program(root_fd, &late);
        return r > 0 ? string_vector_add(ret, late) : r;
}

int install_rule_overrides(void)
{
        static const char *const words[] = {"splitname", "vg-lv", NULL};
        _cleanup_close_ int root_fd = root_open(), rules_fd = -EBADF;
        _cleanup_string_vector_ struct string_vector overridden = {};
        _cleanup_free_ char *joined = NULL, *late = NULL, *output = NULL;
        int r;

        if (!HAVE_FAST_DM_RULES)
                return log_error_errno(-EOPNOTSUPP, "headgate was built without fast device-mapper rules.");
        r = root_is_chosen() ? 0 : command_run(PROGRAM, words, &output);
        /* The rules would have dmsetup for it at each event anew. */
        if (r != 0)
                return log_error_errno(r < 0 ? r : -EIO, "%s does not work: %m", PROGRAM);
        rules_fd = rule_directory_open();
        if (rules_fd < 0)
                return log_error_errno(rules_fd, "Failed to open /" RULES_OF_THIS_BOOT ": %m");

        for (size_t i = 0; i < ELEMENTSOF(names) && r >= 0; i++) {
                r = install_override(root_fd, rules_fd, names[i]);
                if (r > 0 && string_vector_add(&overridden, names[i]) < 0)
                        r = log_oom();
        }
        if (r < 0) {
                FOREACH_ARRAY(name, overridden.strings, overridden.n)
                        (void) unlinkat(rules_fd, *name, 0);
                return r;
        }

        /* The worker writes to it if it is there. */
        if (overridden.n > 0 && mkdirat(root_fd, NAMES_DIRECTORY, 0700) < 0 && errno != EEXIST)
                log_warning_errno(
                        -errno, "Failed to create /" NAMES_DIRECTORY ", udev has a program split names: %m");
        joined = string_vector_join(&overridden, ", ");
        if (overridden.n == 0)
                log_warning("No udev rules of device-mapper are overridden.");
        else
                log_info("Installed optimized copies of udev rules %s.", joined ?: "of device-mapper");
        if (rules_find_late_program(root_fd, &late) > 0)
                log_notice("%s", late);
        return 0;
}
