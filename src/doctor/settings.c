/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is installed and configured: versions, lvm.conf, headgate.conf, units and scripts of the administrator's, the journal. */

#include <fnmatch.h>
#include <regex.h>

#include "doctor/doctor.h"
#include "shared/dm.h"
#include "shared/log.h"
#include "shared/program.h"

/* ------ versions ------ */

void check_versions(struct doctor *doctor)
{
        _cleanup_free_ char *systemd = systemd_get_property(&doctor->systemd, NULL, "Version"), *kernel = NULL;
        char library[64], driver[64];

        /* "1.02.185 (2022-05-18)". Of the driver only root may ask, and only the running kernel. */
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
        /* Before 5.13 the kernel's list of device-mapper devices has no UUIDs. */
        if (kernel && strverscmp(kernel, "5.13") < 0)
                finding_failed(doctor, "Boot Linux 5.13 or later.",
                        "Linux %s does not tell which LVs are active; headgate cannot verify or take down.",
                        kernel);
        /* At the lower end of what headgate is made for; see README.md. */
        if (systemd && strverscmp(systemd, "252") < 0)
                finding_warning(doctor, "Use systemd 252 or later.",
                        "systemd %s is older than what headgate is made for.", systemd);
        if (!root_is_chosen() && access(LVM_PROGRAM, X_OK) < 0)
                finding_failed(doctor, "Install lvm2.", LVM_PROGRAM " cannot be run: %m.");
}

/* ------ lvm.conf ------ */

static void keep_first(const char *message, void *userdata)
{
        char **first = userdata;

        if (!*first)
                *first = strdup(message);
}

/* Returns whether the file can be used, in which case it may be missing. */
static bool is_usable(struct doctor *doctor, const char *path)
{
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;
        _cleanup_free_ char *message = NULL;
        int r;

        /* libdevmapper says where it is wrong: "Parse error at byte 16 (line 2): ...". */
        log_divert_libdevmapper(keep_first, &message);
        r = config_tree_read(doctor->sources.root_fd, path, &tree);
        log_divert_libdevmapper(NULL, NULL);
        if (r == -EBADMSG)
                finding_failed(doctor, "lvm2 does nothing with it; lvmconfig(8) checks it.", "/%s: %s.", path,
                        message ?: "the text is malformed, sections are not closed or not opened");
        else if (r < 0 && r != -ENOENT)
                finding_unknown(doctor, r, "/%s cannot be read: %m.", path);
        return r >= 0 || r == -ENOENT;
}

static void check_list(
        struct doctor *doctor, const char *path, const struct config_list *list, const char *meaning)
{
        if (list->set && list->values.n == 0 && skip_prefix(path, "activation/"))
                finding_warning(doctor, "If that is not on purpose, remove it from lvm.conf(5).",
                        "%s is empty: nothing is activated by itself.", path);
        else if (list->set)
                finding_ok(doctor, "%s is set: %s.", path, meaning);
}

/* Whether lvm2 leaves disks out that are not in its devices file. */
static void check_devices_file(struct doctor *doctor)
{
        int used = doctor->sources.config.use_devicesfile;
        struct path path = path_format("etc/lvm/devices/%s", doctor->sources.config.devicesfile);
        bool there = doctor_has(doctor, path.text);

        if (used > 0 && !there)
                finding_warning(doctor, "See lvmdevices(8).",
                        "use_devicesfile=1, and there is no /%s: lvm2 uses all disks.", path.text);
        else if (used != 0 && there)
                finding_ok(doctor, "Disks that are not in /%s have no PVs for lvm2.", path.text);
}

static void warn_of_links(struct doctor *doctor, const char *setting)
{
        finding_warning(doctor, "Remove it from lvm.conf(5).",
                "%s=0: lvm2 makes links in /dev without udev, which does not learn of them.", setting);
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
                        "event_activation=0: nothing is activated by itself.");
        check_list(doctor, "activation/auto_activation_volume_list", &config->auto_activation_volume_list,
                "VGs and LVs that are not in it are not activated");
        check_list(doctor, "activation/volume_list", &config->volume_list,
                "VGs and LVs that are not in it are not activated");
        if (config->use_lvmlockd)
                finding_ok(doctor,
                        "use_lvmlockd=1: VGs that are shared are activated by who starts their locks, not by "
                        "headgate.");
        check_list(doctor, "devices/filter", &config->filter, "disks that it rejects have no PVs for lvm2");
        check_list(doctor, "devices/global_filter", &config->global_filter,
                "disks that it rejects have no PVs for lvm2");
        check_devices_file(doctor);
        /* Without udev nothing that headgate and systemd wait for ever appears. */
        if (!config->udev_sync)
                warn_of_links(doctor, "activation/udev_sync");
        if (!config->udev_rules)
                warn_of_links(doctor, "activation/udev_rules");
}

/* ------ headgate.conf ------ */

void check_headgate_config(struct doctor *doctor)
{
        const struct settings *settings = &doctor->sources.settings;
        const struct strv *problems = &doctor->sources.settings_problems.lines;
        int r;

        STRV_FOREACH(problem, problems)
                finding_warning(doctor, "See headgate.conf(5).", "%s", *problem);

        /* A name that nobody has is most often one that was mistyped. */
        r = sources_read_names(&doctor->sources);
        if (r < 0)
                finding_unknown(doctor, r, "It cannot be told which VGs there are: %m.");
        for (size_t i = 0; r >= 0 && i < settings->policies.n && doctor->sources.records; i++) {
                const struct policy *policy = &settings->policies.policies[i];
                struct dm_hash_node *node;

                if (!ANY(dm_hash_iterate(node, doctor->sources.names),
                            policy_fits(policy, dm_hash_get_key(doctor->sources.names, node))))
                        finding_warning(doctor,
                                "If it is not to come yet, correct its name in headgate.conf(5), or remove it.",
                                "volume_groups/%s: no VG that is known %s.", policy->pattern,
                                policy->is_name ? "has this name" : "fits this pattern");
        }
        if (!settings->direct_activation)
                finding_ok(doctor,
                        "direct_activation=0: boot does not wait for VGs that the machine is known to have.");
        if (!settings->parallel_teardown)
                finding_ok(doctor, "parallel_teardown=0: devices are taken down one after another.");
}

/* ------ who else activates VGs ------ */

/* Whether a line of it that is no comment has vgchange or lvchange, and behind it -ay, -aay, -a y, --activate y or the like, and no
 * variable, which would be one VG's name. */
static bool activates(const char *script)
{
        static const char pattern[] = "^[ \t]*([^#; \t].*)?(vg|lv)change.* (-a|--activate)[ =]*[yaels][^$\n]*$";
        regex_t regex;
        bool found;

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
                finding_warning(doctor, "If it is there because VGs were not activated otherwise, remove it.",
                        "/%s activates VGs or LVs by itself.", path);
}

/* Or headgate's own. Units that an administrator has written are not, whatever they are called. */
static bool is_of_lvm2(const char *path)
{
        return (skip_prefix(path, "usr/lib/") || !strstr(path, "/systemd/system/")) &&
               (strstr(path, "lvm") || strstr(path, "headgate"));
}

void check_others(struct doctor *doctor)
{
        /* lvm2's generator has these only with event_activation=0. */
        static const char *const activation_units[] = {
                "lvm2-activation-early.service", "lvm2-activation.service", "lvm2-activation-net.service"};
        static const char *const directories[] = {"etc/systemd/system", "run/systemd/system",
                "usr/local/lib/systemd/system", "usr/lib/systemd/system", "usr/lib/udev/rules.d",
                "etc/udev/rules.d", "etc/initramfs-tools/scripts", "usr/share/initramfs-tools/scripts"};
        _cleanup_strv_ struct strv scripts = {};
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(activation_units); i++)
                if (unit_is_there(&doctor->systemd, activation_units[i]) &&
                        !unit_is_masked(&doctor->systemd, activation_units[i]))
                        finding_warning(doctor, NULL,
                                "%s is there: lvm2 activates all VGs at boot, and headgate nothing, with "
                                "event_activation=0.",
                                activation_units[i]);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(directories); i++)
                r = list_directory_at(doctor->sources.root_fd, directories[i], &scripts);
        /* Grows by what is in "local-top" and the like. */
        for (size_t i = 0; r >= 0 && i < scripts.n; i++) {
                const char *path = scripts.strings[i];

                if (strstr(path, "/initramfs-tools/"))
                        r = list_directory_at(doctor->sources.root_fd, path, &scripts);
                r = r == -ENOTDIR ? 0 : r;
                if (!is_of_lvm2(path))
                        check_script(doctor, path);
        }
        check_script(doctor, "etc/rc.local");
        check_script(doctor, "etc/rc.d/rc.local");
        if (r < 0)
                finding_unknown(doctor, r, "The units of this machine cannot be looked at: %m.");
}

/* ------ the journal ------ */

/* Where systemd looks for configuration, in this order. */
static const char *const systemd_directories[] = {
        "etc/systemd", "run/systemd", "usr/local/lib/systemd", "usr/lib/systemd"};

/* Storage= of journald.conf(5), and the file that sets it; empty where none does. */
struct storage {
        char value[16];
        struct path path;
};

/* Of several files of that name only the first counts, and what it says replaces what was said before. */
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

                r = r ?: list_directory_at(doctor->sources.root_fd, path.text, &files);
                STRV_FOREACH(file, &files)
                        r = r ?: strv_add(&names, *file + strlen(*directory) + 1);
        }
        SORT(names.strings, names.n, compare_strings);
        read_storage(doctor, "journald.conf", &storage);
        STRV_FOREACH(name, &names)
                if (fnmatch("*.conf", *name, 0) == 0)
                        read_storage(doctor, *name, &storage);

        if (r < 0)
                finding_unknown(doctor, r, "The configuration of the journal cannot be read: %m.");
        else if (streq(storage.value, "volatile") || streq(storage.value, "none"))
                finding_warning(doctor, "Remove that line to look back at boots and shutdowns.",
                        "Storage=%s in /%s: the journal does not outlive the boot.", storage.value,
                        storage.path.text);
        else if (!streq(storage.value, "persistent") && !doctor_has(doctor, "var/log/journal"))
                finding_warning(doctor,
                        "Run: mkdir /var/log/journal && systemd-tmpfiles --create --prefix /var/log/journal",
                        "The journal does not outlive the boot: blame and plot show this boot only.");
}
