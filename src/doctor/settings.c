/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <libdevmapper.h>

#include "doctor/checks.h"
#include "shared/dm.h"
#include "shared/log.h"
#include "shared/program.h"

#define LVM_CONF "etc/lvm/lvm.conf"
#define LVM_LOCAL_CONF "etc/lvm/lvmlocal.conf"
#define DEVICES_DIRECTORY "etc/lvm/devices/"

/* ------ lvm.conf ------ */

static void keep_first(const char *message, void *userdata)
{
        char **first = userdata;

        if (!*first)
                *first = strdup(message);
}

/* libdevmapper says where it is wrong: "Parse error at byte 16 (line 2): ...". */
static char *describe_error(const struct machine *machine, const char *path)
{
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;
        char *message = NULL;
        int r;

        log_divert_libdevmapper(keep_first, &message);
        r = config_tree_read(machine->sources.root_fd, path, &tree);
        log_divert_libdevmapper(NULL, NULL);
        if (r >= 0 || !message)
                return strdup("the text is malformed, sections are not closed or not opened");
        return message;
}

/* Returns 0 and a tree, to be destroyed, also of a file that is not there; or a negative errno, having said it. */
static int read_file(
        const struct machine *machine, struct findings *findings, const char *path, struct dm_config_tree **ret)
{
        _cleanup_free_ char *error = NULL;
        int r;

        r = config_tree_read(machine->sources.root_fd, path, ret);
        if (r == -ENOENT) {
                *ret = dm_config_create();
                return *ret ? 0 : -ENOMEM;
        }
        if (r == -EBADMSG) {
                error = describe_error(machine, path);
                findings_add(findings, FINDING_FAILED, "lvm2 does nothing with it; lvmconfig(8) checks it.",
                        "/%s: %s.", path, error ?: "the text is malformed");
        } else if (r < 0) {
                findings_add_unknown(findings, r, "/%s cannot be read: %m.", path);
        }
        return r;
}

/* lvmlocal.conf counts more; see lvm.conf(5) for all of these. */
struct lvm_conf {
        struct dm_config_tree *local, *main;
};

static void lvm_conf_done(struct lvm_conf *conf)
{
        if (conf->local)
                dm_config_destroy(conf->local);
        if (conf->main)
                dm_config_destroy(conf->main);
}

static const struct dm_config_node *find(const struct lvm_conf *conf, const char *path)
{
        const struct dm_config_node *node = dm_config_tree_find_node(conf->local, path);

        return node ? node : dm_config_tree_find_node(conf->main, path);
}

static int find_bool(const struct lvm_conf *conf, const char *path, int otherwise)
{
        return config_tree_find_bool(conf->local, path, config_tree_find_bool(conf->main, path, otherwise));
}

static bool is_empty_list(const struct dm_config_node *node)
{
        return node->v && node->v->type == DM_CFG_EMPTY_ARRAY;
}

/* Whether some VGs are not activated by themselves, or none. */
static void check_activation(const struct machine *machine, const struct lvm_conf *conf, struct findings *findings)
{
        static const char *const lists[] = {"activation/auto_activation_volume_list", "activation/volume_list"};

        if (!machine->sources.configuration.event_activation)
                findings_add(findings, FINDING_WARNING,
                        "If that is not on purpose, remove global/event_activation from lvm.conf(5).",
                        "event_activation=0: nothing is activated by itself.");
        for (size_t i = 0; i < ELEMENTSOF(lists); i++) {
                const struct dm_config_node *node = find(conf, lists[i]);

                if (node && is_empty_list(node))
                        findings_add(findings, FINDING_WARNING,
                                "If that is not on purpose, remove it from lvm.conf(5).",
                                "%s is empty: nothing is activated by itself.", lists[i]);
                else if (node)
                        findings_add(findings, FINDING_OK, NULL,
                                "%s is set: VGs and LVs that are not in it are not activated.", lists[i]);
        }
        if (machine->sources.configuration.use_lvmlockd)
                findings_add(findings, FINDING_OK, NULL,
                        "use_lvmlockd=1: VGs that are shared are activated by who starts their locks, not by "
                        "headgate.");
}

/* Whether lvm2 leaves disks out. */
static void check_devices(const struct machine *machine, const struct lvm_conf *conf, struct findings *findings)
{
        static const char *const filters[] = {"devices/filter", "devices/global_filter"};
        const struct dm_config_node *name = find(conf, "devices/devicesfile");
        _cleanup_free_ char *path = string_format(DEVICES_DIRECTORY "%s",
                name && name->v && name->v->type == DM_CFG_STRING ? name->v->v.str : "system.devices");
        /* The default depends on how lvm2 was built; the file says that it is used. */
        int used = find_bool(conf, "devices/use_devicesfile", -1);

        for (size_t i = 0; i < ELEMENTSOF(filters); i++)
                if (find(conf, filters[i]))
                        findings_add(findings, FINDING_OK, NULL,
                                "%s is set: disks that it rejects have no PVs for lvm2.", filters[i]);
        if (!path)
                findings->out_of_memory = true;
        else if (used > 0 && !machine_has(machine, path))
                findings_add(findings, FINDING_WARNING, "See lvmdevices(8).",
                        "use_devicesfile=1, and there is no /%s: lvm2 uses all disks.", path);
        else if (used != 0 && machine_has(machine, path))
                findings_add(findings, FINDING_OK, NULL, "Disks that are not in /%s have no PVs for lvm2.", path);
}

/* Without udev nothing that headgate and systemd wait for ever comes. */
static void check_udev(const struct lvm_conf *conf, struct findings *findings)
{
        static const char *const settings[] = {"activation/udev_sync", "activation/udev_rules"};

        for (size_t i = 0; i < ELEMENTSOF(settings); i++)
                if (find_bool(conf, settings[i], 1) == 0)
                        findings_add(findings, FINDING_WARNING, "Remove it from lvm.conf(5).",
                                "%s=0: lvm2 makes links in /dev without udev, which does not learn of them.",
                                settings[i]);
}

void check_lvm_configuration(const struct machine *machine, struct findings *findings)
{
        _cleanup_(lvm_conf_done) struct lvm_conf conf = {};
        size_t before = findings->n;
        int local, main;

        local = read_file(machine, findings, LVM_LOCAL_CONF, &conf.local);
        main = read_file(machine, findings, LVM_CONF, &conf.main);
        if (local == -ENOMEM || main == -ENOMEM)
                findings->out_of_memory = true;
        if (local < 0 || main < 0)
                return;
        check_activation(machine, &conf, findings);
        check_devices(machine, &conf, findings);
        check_udev(&conf, findings);
        if (findings->n == before)
                findings_add(findings, FINDING_OK, NULL, "Nothing in it keeps VGs from being activated.");
}

/* ------ headgate.conf ------ */

/* Whether any VG that the machine is known to have fits: one that the worker knows, or that lvm2 has a backup of. */
static bool has_volume_group(
        const struct machine *machine, const struct policy *policy, const struct string_vector *backups)
{
        for (size_t i = 0; i < machine->snapshot.n; i++)
                if (policy_fits(policy, machine->snapshot.volume_groups[i]->name))
                        return true;
        for (size_t i = 0; i < backups->n; i++)
                if (policy_fits(policy, backups->strings[i]))
                        return true;
        return false;
}

/* A name that nobody has is most often one that was mistyped. */
static void check_policies(const struct machine *machine, struct findings *findings)
{
        _cleanup_string_vector_ struct string_vector backups = {};
        const struct policies *policies = &machine->sources.settings.policies;

        if (policies->n == 0 || !machine->sources.records)
                return;
        if (machine_list(machine->sources.root_fd, root_relative(machine->sources.configuration.backup_dir),
                    &backups) == -ENOMEM) {
                findings->out_of_memory = true;
                return;
        }
        for (size_t i = 0; i < policies->n; i++)
                if (!has_volume_group(machine, &policies->policies[i], &backups))
                        findings_add(findings, FINDING_WARNING,
                                "If it is not to come yet, correct its name in headgate.conf(5), or remove it.",
                                "volume_groups/%s: no VG that is known %s.", policies->policies[i].pattern,
                                policies->policies[i].is_name ? "has this name" : "fits this pattern");
}

void check_headgate_configuration(const struct machine *machine, struct findings *findings)
{
        const struct string_vector *problems = &machine->sources.settings_problems.lines;
        size_t before = findings->n;

        for (size_t i = 0; i < problems->n; i++)
                findings_add(findings, FINDING_WARNING, "See headgate.conf(5).", "%s", problems->strings[i]);
        check_policies(machine, findings);
        if (!machine->sources.settings.direct_activation)
                findings_add(findings, FINDING_OK, NULL,
                        "direct_activation=0: boot does not wait for VGs that the machine is known to have.");
        if (!machine->sources.settings.parallel_teardown)
                findings_add(findings, FINDING_OK, NULL,
                        "parallel_teardown=0: devices are taken down one after another.");
        if (findings->n == before)
                findings_add(findings, FINDING_OK, NULL, "There is nothing wrong in it.");
}
