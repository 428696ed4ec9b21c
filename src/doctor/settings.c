/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Versions, lvm.conf, headgate.conf, units and scripts of the administrator, the journal. */

#include <fnmatch.h>
#include <regex.h>

#include "doctor/doctor.h"
#include "shared/dm.h"
#include "shared/program.h"

/* ------ versions ------ */

void check_versions(struct doctor *doctor)
{
        _cleanup_free_ char *systemd = systemd_get_property(&doctor->systemd, NULL, "Version"), *kernel = NULL;
        char library[64], driver[64];

        /* "1.02.185 (2022-05-18)". Only root can get the version of the driver, and only of the running kernel. */
        if (!dm_get_library_version(library, sizeof(library)))
                strcpy(library, "unknown");
        library[strcspn(library, " ")] = '\0';
        if (root_is_chosen() || !dm_driver_version(driver, sizeof(driver)))
                strcpy(driver, "unknown");
        if (read_file_at(doctor->sources.root_fd, "proc/sys/kernel/osrelease", &kernel, NULL) >= 0)
                kernel[strcspn(kernel, "\n")] = '\0';

        finding_ok(doctor,
                "headgate " HEADGATE_VERSION ", libdevmapper %s, device-mapper driver %s, systemd %s, Linux %s.",
                library, driver, systemd ?: "unknown", kernel ?: "unknown");
        /* Dependencies of the package cannot require a kernel. Before 5.13 its list of device-mapper devices has no UUIDs. */
        if (kernel && strverscmp(kernel, "5.13") < 0)
                finding_failed(doctor, "Boot Linux 5.13 or later.",
                        "Linux %s does not list UUIDs of devices; headgate cannot verify activation, or "
                        "deactivate.",
                        kernel);
}

/* ------ lvm.conf ------ */

/* Returns whether lvm2 can use the file; also true if it does not exist. */
static bool is_usable(struct doctor *doctor, const char *path)
{
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;
        _cleanup_free_ char *message = NULL;
        int r = config_tree_read(doctor->sources.root_fd, path, &tree, &message);

        if (r == -EBADMSG)
                finding_failed(doctor, "lvm2 refuses to run with it; lvmconfig(8) checks it.", "/%s: %s.", path,
                        message ?: "the text is malformed, sections are not closed or not opened");
        else if (r < 0 && r != -ENOENT)
                finding_unknown(doctor, r, "/%s cannot be read: %m.", path);
        return r >= 0 || r == -ENOENT;
}

static void check_list(struct doctor *doctor, const char *path, const struct config_list *list)
{
        if (list->set && list->values.n == 0 && skip_prefix(path, "activation/"))
                finding_warning(doctor, "If that is not on purpose, remove it from lvm.conf(5).",
                        "%s is empty: autoactivation is disabled.", path);
        else if (list->set)
                finding_ok(doctor, "%s is set: %s.", path,
                        skip_prefix(path, "activation/") ? "VGs and LVs that are not in it are not activated"
                                                         : "lvm2 ignores disks that it rejects");
}

/* Whether lvm2 ignores disks that are not in its devices file. */
static void check_devices_file(struct doctor *doctor)
{
        int used = doctor->sources.config.use_devicesfile;
        struct path path = path_format("etc/lvm/devices/%s", doctor->sources.config.devicesfile);
        bool there = doctor_has(doctor, path.text);

        if (used > 0 && !there)
                finding_warning(doctor, "See lvmdevices(8).",
                        "use_devicesfile=1, but /%s does not exist: lvm2 uses all disks.", path.text);
        else if (used != 0 && there)
                finding_ok(doctor, "lvm2 ignores disks that are not in /%s.", path.text);
}

static void warn_of_links(struct doctor *doctor, const char *setting)
{
        finding_warning(doctor, "Remove it from lvm.conf(5).",
                "%s=0: lvm2 makes links in /dev itself, and udev does not know them.", setting);
}

void check_lvm_config(struct doctor *doctor)
{
        const struct config *config = &doctor->sources.config;
        bool usable = is_usable(doctor, "etc/lvm/lvmlocal.conf");

        if (!is_usable(doctor, "etc/lvm/lvm.conf") || !usable)
                return;
        if (!config->event_activation)
                finding_warning(doctor,
                        "If that is not on purpose, remove global/event_activation from lvm.conf(5).",
                        "event_activation=0: autoactivation is disabled.");
        check_list(doctor, "activation/auto_activation_volume_list", &config->auto_activation_volume_list);
        check_list(doctor, "activation/volume_list", &config->volume_list);
        if (config->host_tags)
                finding_ok(doctor, "This host may have tags: LVs without one of them may not be activated.");
        if (config->use_lvmlockd)
                finding_ok(doctor, "use_lvmlockd=1: headgate does not activate shared VGs.");
        check_list(doctor, "devices/filter", &config->filter);
        check_list(doctor, "devices/global_filter", &config->global_filter);
        check_devices_file(doctor);
        /* headgate and systemd wait for events that never appear without udev. */
        if (!config->udev_sync)
                warn_of_links(doctor, "activation/udev_sync");
        if (!config->udev_rules)
                warn_of_links(doctor, "activation/udev_rules");
}

/* ------ headgate.conf ------ */

void check_headgate_config(struct doctor *doctor)
{
        const struct settings *settings = &doctor->sources.settings;
        int r;

        STRV_FOREACH(problem, &doctor->sources.settings_problems.lines)
                finding_warning(doctor, "See headgate.conf(5).", "%s", *problem);

        /* An unknown name is usually a typing error. */
        r = sources_read_names(&doctor->sources);
        if (r < 0)
                finding_unknown(doctor, r, "Failed to list known VGs: %m.");
        FOREACH_ARRAY(policy, settings->policies.policies,
                r >= 0 && doctor->sources.records ? settings->policies.n : 0) {
                struct dm_hash_node *node;

                if (!ANY(dm_hash_iterate(node, doctor->sources.names),
                            policy_fits(policy, dm_hash_get_key(doctor->sources.names, node))))
                        finding_warning(doctor,
                                "Correct the name in headgate.conf(5), or remove the section, unless the VG is "
                                "still to appear.",
                                "volume_groups/%s: no known VG %s.", policy->pattern,
                                policy->is_name ? "has this name" : "matches this pattern");
        }
        if (!settings->direct_activation)
                finding_ok(doctor, "direct_activation=0: known VGs are not expected at boot.");
        if (!settings->parallel_teardown)
                finding_ok(doctor, "parallel_teardown=0: devices are removed one after another.");
}

/* ------ other files that activate VGs ------ */

/* Whether a line that is not a comment has vgchange or lvchange with -ay, -aay, -a y, --activate y or the like. Lines with a
 * variable after that do not count, since it would be the name of a single VG. Joins continued lines. */
static bool activates(char *script)
{
        static const char pattern[] =
                "^[ \t]*([^#; \t].*)?(vg|lv)change.*[ \t](-[A-Za-z]*a|--activate)[ \t=]*[yaels][^$%\n]*$";
        regex_t regex;
        bool found;

        for (char *end = script; (end = strstr(end, "\\\n"));)
                end[0] = end[1] = ' ';

        if (regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE | REG_NOSUB) != 0)
                return false;
        found = regexec(&regex, script, 0, NULL, 0) == 0;
        regfree(&regex);
        return found;
}

static void check_script(struct doctor *doctor, const char *path)
{
        _cleanup_free_ char *text = NULL;

        if (read_file_at(doctor->sources.root_fd, path, &text, NULL) >= 0 && activates(text))
                finding_warning(doctor, "Remove it if it was a workaround for VGs that were not activated.",
                        "/%s activates VGs or LVs, too.", path);
}

/* Whether the file belongs to lvm2 or headgate. Files of the administrator do not, whatever their names. */
static bool is_of_lvm2(const char *path)
{
        return (skip_prefix(path, "usr/lib/") || skip_prefix(path, "usr/share/")) &&
               (strstr(path, "lvm") || strstr(path, "headgate"));
}

void check_others(struct doctor *doctor)
{
        /* lvm2's generator makes these only with event_activation=0. */
        static const char *const activation_units[] = {
                "lvm2-activation-early.service", "lvm2-activation.service", "lvm2-activation-net.service"};
        static const char *const directories[] = {"etc/systemd/system", "run/systemd/system",
                "usr/local/lib/systemd/system", "usr/lib/systemd/system", "usr/lib/udev/rules.d",
                "etc/udev/rules.d", "etc/initramfs-tools/scripts", "usr/share/initramfs-tools/scripts"};
        _cleanup_strv_ struct strv scripts = {};
        int r = 0;

        FOREACH_ELEMENT(unit, activation_units)
                if (unit_is_there(&doctor->systemd, *unit) && !unit_is_masked(&doctor->systemd, *unit))
                        finding_warning(doctor, NULL,
                                "%s exists: with event_activation=0, lvm2 activates all VGs at boot, and "
                                "headgate none.",
                                *unit);
        FOREACH_ELEMENT(directory, directories)
                r = r ?: list_directory_at(doctor->sources.root_fd, *directory, false, &scripts);
        /* Grows by files in "local-top", "x.service.d" and other folders. */
        for (size_t i = 0; r >= 0 && i < scripts.n; i++) {
                const char *path = scripts.strings[i];

                if (strstr(path, "/initramfs-tools/") || fnmatch("*.d", path, 0) == 0)
                        r = list_directory_at(doctor->sources.root_fd, path, false, &scripts);
                r = r == -ENOTDIR ? 0 : r;
                if (!is_of_lvm2(path))
                        check_script(doctor, path);
        }
        check_script(doctor, "etc/rc.local");
        check_script(doctor, "etc/rc.d/rc.local");
        if (r < 0)
                finding_unknown(doctor, r, "Failed to read the units of this machine: %m.");
}

/* ------ the journal ------ */

/* systemd's configuration directories, in the order of priority. */
static const char *const systemd_directories[] = {
        "etc/systemd", "run/systemd", "usr/local/lib/systemd", "usr/lib/systemd"};

/* Storage= of journald.conf(5), and the file that sets it; empty if none does. */
struct storage {
        char value[16];
        struct path path;
};

/* Reads only the first of several files with this name. Its setting replaces that of files before. */
static void read_storage(const struct doctor *doctor, const char *name, struct storage *storage)
{
        FOREACH_ELEMENT(directory, systemd_directories) {
                struct path path = path_format("%s/%s", *directory, name);
                _cleanup_free_ char *text = NULL;

                if (!doctor_has(doctor, path.text))
                        continue;
                if (read_file_at(doctor->sources.root_fd, path.text, &text, NULL) < 0)
                        return;
                FOREACH_LINE(line, text)
                        if (sscanf(line, " Storage = %15s", storage->value) == 1)
                                storage->path = path;
                return;
        }
}

void check_journal(struct doctor *doctor)
{
        _cleanup_strv_ struct strv names = {};
        struct storage storage = {};
        int r = 0;

        FOREACH_ELEMENT(directory, systemd_directories) {
                struct path path = path_format("%s/journald.conf.d", *directory);
                _cleanup_strv_ struct strv files = {};

                r = r ?: list_directory_at(doctor->sources.root_fd, path.text, false, &files);
                STRV_FOREACH(file, &files)
                        r = r ?: strv_add(&names, *file + strlen(*directory) + 1);
        }
        SORT(names.strings, names.n, compare_strings);
        read_storage(doctor, "journald.conf", &storage);
        STRV_FOREACH(name, &names)
                if (fnmatch("*.conf", *name, 0) == 0)
                        read_storage(doctor, *name, &storage);

        if (r < 0)
                finding_unknown(doctor, r, "Failed to read the configuration of the journal: %m.");
        else if (streq(storage.value, "volatile") || streq(storage.value, "none"))
                finding_warning(doctor, "Remove that line to keep timelines of boots and shutdowns.",
                        "Storage=%s in /%s: the journal is not persistent.", storage.value, storage.path.text);
        else if (!streq(storage.value, "persistent") && !doctor_has(doctor, "var/log/journal"))
                finding_warning(doctor,
                        "Run: mkdir /var/log/journal && systemd-tmpfiles --create --prefix /var/log/journal",
                        "The journal is not persistent: blame and plot show this boot only.");
}
