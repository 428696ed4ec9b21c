/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds udev's rules files, installs copies of those that are overridden, and decides whether the worker may complete cookies. */

#include "fast-rules/rules.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "fast-rules/copy.h"
#include "fast-rules/late.h"
#include "lvm/command.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/udev.h"
#include "shared/util.h"

/* ------ files ------ */

/* Debian's names, then lvm2's own. */
static const char *const names[OVERRIDES_N] = {
        "55-dm.rules",
        "56-lvm.rules",
        "10-dm.rules",
        "11-dm-lvm.rules",
        LATE_AFTER,
};

static bool override_is_stale(const struct override *override)
{
        return override->wanted ? !override->present || !streq(override->wanted, override->present)
                                : override->present != NULL;
}

/* Reads the file that udev would read without an override. Adds to `obstacles` why it must not be overridden. Returns 0, also
 * without such a file, or a negative errno. */
static int override_read(int root_fd, const char *name, struct override *ret, struct strv *obstacles)
{
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t line = 0;
        int r = read_file_at(root_fd, path_format(RULES_OF_THIS_BOOT "/%s", name).text, &ret->present, NULL);

        if (r >= 0 && !skip_prefix(ret->present, COPY_MARK))
                free(TAKE_PTR(ret->present));
        r = rule_file_find(root_fd, name, &path);
        if (r >= 0 && ret->present && skip_prefix(path, RULES_OF_THIS_BOOT)) {
                free(TAKE_PTR(path));
                r = rule_file_find_installed(root_fd, name, &path);
        }
        if (r >= 0 && (skip_prefix(path, "etc/") || skip_prefix(path, "run/")))
                return strv_take(
                        obstacles, string_format("/%s is not the installed file, not overriding it.", path));
        if (r >= 0)
                r = read_file_at(root_fd, path, &text, NULL) ?: copy_print(path, text, &ret->wanted, &line);
        if (r != -EBADMSG)
                return r == -ENOENT ? 0 : r;
        return strv_take(obstacles,
                line > 0 ? string_format(
                                   "Line %zu of /%s calls dmsetup in an unknown way, not overriding the file.",
                                   line, path)
                         : string_format("/%s does not call dmsetup, not overriding it.", path));
}

/* ------ all files ------ */

static const char *name_of(const char *path)
{
        return strrchr(path, '/') + 1;
}

/* Lists the directories, whose times show files that were added, removed or replaced; and all files of rules. */
static int list_files(int root_fd, struct strv *ret)
{
        int r = strv_add_all(ret, rule_directories, RULE_DIRECTORIES_N);

        FOREACH_ELEMENT(directory, rule_directories) {
                _cleanup_strv_ struct strv paths = {};

                r = r ?: list_directory_at(root_fd, *directory, false, &paths);
                STRV_FOREACH(path, &paths)
                        if (r >= 0 && fnmatch("*.rules", *path, 0) == 0)
                                r = strv_add(ret, *path);
        }
        return r;
}

/* Whether udev reads the file, it comes after lvm2's, and it may run a program. Returns 1, 0 or a negative errno. */
static int is_late(int root_fd, const char *path)
{
        _cleanup_free_ char *counts = NULL;
        int r;

        if (strcmp(name_of(path), LATE_AFTER) <= 0)
                return 0;
        r = rule_file_find(root_fd, name_of(path), &counts);
        if (r >= 0)
                r = streq(counts, path) ? late_file_runs_program(root_fd, path) : 0;
        return r == -ENOENT ? 0 : r;
}

void rules_done(struct rules *rules)
{
        FOREACH_ELEMENT(override, rules->overrides) {
                free(override->wanted);
                free(override->present);
        }
        strv_done(&rules->files);
        strv_done(&rules->obstacles);
        free(rules->known);
        *rules = (struct rules){};
}

static bool have_changed(struct rules *rules, int root_fd)
{
        return files_have_changed(
                root_fd, (const char *const *) rules->files.strings, rules->files.n, rules->known);
}

int rules_read(struct rules *rules, int root_fd)
{
        _cleanup_free_ char *program = NULL;
        int r;

        rules_done(rules);
        r = list_files(root_fd, &rules->files);
        if (r < 0)
                return r;
        rules->known = calloc(rules->files.n, sizeof(*rules->known));
        if (!rules->known)
                return -ENOMEM;
        /* A change from here on is seen by the next refresh. */
        (void) have_changed(rules, root_fd);
        for (size_t i = 0; i < ELEMENTSOF(names) && r >= 0; i++) {
                rules->overrides[i].name = names[i];
                r = override_read(root_fd, names[i], &rules->overrides[i], &rules->obstacles);
                rules->overrides[i].stale = override_is_stale(&rules->overrides[i]);
        }
        if (r >= 0 && read_file_at(root_fd, "run/headgate/" FLAGS_LATE_PROGRAM, &program, NULL) >= 0)
                r = strv_take(&rules->obstacles,
                        string_format(
                                "Program %s waited for lvm2 at an event of an LV, leaving cookies to " COPY_PROGRAM
                                " until the next boot.",
                                program));
        for (size_t i = RULE_DIRECTORIES_N; i < rules->files.n && !rules->late && r >= 0; i++) {
                r = is_late(root_fd, rules->files.strings[i]);
                rules->late = r != 0;
                if (r != 0)
                        r = strv_take(&rules->obstacles,
                                string_format(
                                        "/%s may run a program for a change of an LV, leaving cookies to " COPY_PROGRAM
                                        ".",
                                        rules->files.strings[i]));
        }
        return r;
}

/* Installs the copies that are wanted, and removes the others. Returns 0; or a negative errno, with no copy installed. */
static int install_copies(const struct rules *rules)
{
        _cleanup_close_ int rules_fd = rule_directory_open();
        /* The worker and a reload may install at the same time. */
        int r = rules_fd < 0 ? rules_fd : flock(rules_fd, LOCK_EX) < 0 ? -errno : 0;

        FOREACH_ELEMENT(override, rules->overrides) {
                if (r < 0 || !override->stale)
                        continue;
                if (override->wanted)
                        r = write_file_atomic_at(rules_fd, override->name, override->wanted);
                else
                        r = unlinkat(rules_fd, override->name, 0) < 0 ? -errno : 0;
        }
        if (r >= 0)
                return 0;
        FOREACH_ELEMENT(override, rules->overrides)
                if (override->wanted)
                        (void) unlinkat(rules_fd, override->name, 0);
        return log_error_errno(r, "Failed to override udev's rules in /" RULES_OF_THIS_BOOT ": %m");
}

/* Installs them, and logs that with all obstacles. Returns how many are installed; or a negative errno, with none installed. */
static int install_and_report(const struct rules *rules)
{
        _cleanup_enumeration_ struct enumeration installed = {.max = OVERRIDES_N};
        int r = install_copies(rules);

        if (r < 0)
                return r;
        FOREACH_ELEMENT(override, rules->overrides)
                if (override->wanted)
                        enumeration_add(&installed, override->name);
        if (installed.n == 0)
                log_warning("No udev rules of device-mapper are overridden.");
        else
                log_info("Installed optimized copies of udev rules %s.", installed.text ?: "of device-mapper");
        STRV_FOREACH(obstacle, &rules->obstacles)
                log_notice("%s", *obstacle);
        return (int) installed.n;
}

int install_rule_overrides(void)
{
        static const char *const words[] = {"splitname", "vg-lv", NULL};
        _cleanup_rules_ struct rules rules = {};
        _cleanup_free_ char *output = NULL;
        _cleanup_close_ int root_fd = root_open();
        int r;

        if (!HAVE_FAST_DM_RULES)
                return log_error_errno(-EOPNOTSUPP, "headgate was built without fast device-mapper rules.");
        r = root_is_chosen() ? 0 : command_run(COPY_PROGRAM, words, &output);
        /* Otherwise the rules would start both it and dmsetup at each event. */
        if (r != 0)
                return log_error_errno(r < 0 ? r : -EIO, "%s does not work: %m", COPY_PROGRAM);
        r = rules_read(&rules, root_fd);
        if (r < 0)
                return log_error_errno(r, "Failed to read udev's rules: %m");
        r = install_and_report(&rules);
        /* The worker writes to it if it exists. */
        if (r > 0 && mkdirat(root_fd, COPY_NAMES_DIRECTORY, 0700) < 0 && errno != EEXIST)
                log_warning_errno(
                        -errno, "Failed to create /" COPY_NAMES_DIRECTORY ", udev has a program split names: %m");
        return MIN(r, 0);
}

int rules_refresh(struct rules *rules, int root_fd)
{
        int r;

        if (rules->known && !have_changed(rules, root_fd))
                return !rules->late;
        r = rules_read(rules, root_fd);
        rules->late |= r < 0;
        if (r >= 0 && ANY(FOREACH_ELEMENT(override, rules->overrides), override->stale))
                r = install_and_report(rules);
        return r < 0 ? r : !rules->late;
}
