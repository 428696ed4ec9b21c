/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate why: explains one VG, LV or device: the answer, facts, and what to do. */

#include "why/why.h"
#include "cli/verb.h"
#include "deactivate/target.h"
#include "shared/dm.h"
#include "shared/kernel.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"
#include "tree/read.h"
#include "view/snapshot.h"

struct line {
        const char *color;
        struct why why;
};

static const struct column columns[] = {
        COLUMN("NAME", ALWAYS, STRING, why.name, "name as given"),
        COLUMN("KIND", ALWAYS, STRING, why.kind, "vg, lv or device"),
        COLUMN("STATE", ALWAYS, STRING, why.state, "active, waiting, ...", .colored = true),
        COLUMN("ANSWER", ALWAYS, STRING, why.answer, "why, in a sentence", .flags = SCOLS_FL_WRAP),
        COLUMN("CONDITIONS", IN_JSON, LINES, why.conditions, "why it is not active, as words for programs",
                .flags = SCOLS_FL_WRAP),
        COLUMN("FACTS", IN_JSON, LINES, why.facts, "other facts", .flags = SCOLS_FL_WRAP),
        COLUMN("ADVICE", IN_JSON, LINES, why.advice, "what to do", .flags = SCOLS_FL_WRAP),
};

/* ------ names. Functions return 1; 0 for an unknown name, which they log; or a negative errno ------ */

/* A VG that only lvm2's records name, or none. */
static int explain_unplanned(struct why *why, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};
        int r = sources_read_names(why->sources);

        if (r < 0)
                return r;
        if (sources_have_name(why->sources, name)) {
                why_answer(why, VERDICT_UNKNOWN, "unknown", "Of VG %s, only the name is known.", name);
                return 1;
        }
        sources_consider_names(why->sources, &suggestion);
        /* "sda" */
        if (!suggestion.nearest && access(path_format("/dev/%s", name).text, F_OK) >= 0)
                suggestion.nearest = string_format("/dev/%s", name);
        suggestion_log_unknown(&suggestion, "VG",
                "none of its PVs was seen, and lvm2 has no backup of it; for a device, give its path");
        return 0;
}

static int log_unknown_lv(const struct vg_view *view, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};
        struct path full = path_format("%s/%s", view->vg->name, name);

        FOREACH_LV(lv, view->vg)
                suggestion_consider(&suggestion, lv->name);
        if (suggestion.nearest && string_replace(&suggestion.nearest,
                                          string_format("%s/%s", view->vg->name, suggestion.nearest)) < 0)
                return -ENOMEM;
        suggestion.wanted = full.text;
        suggestion_log_unknown(&suggestion, "LV", "its VG has no visible LV of this name");
        return 0;
}

/* A VG that only fstab, crypttab or headgate.conf knows. */
static int explain_planned(struct why *why, const char *name)
{
        _cleanup_plan_ struct plan plan = {};
        int r = why->sources->in_charge && !why->expected ? expected_find(why->sources, false, &plan) : 0;
        /* If there is no plan, it is empty. */
        const struct planned_vg *planned = plan_find(why->expected ?: &plan, name);

        if (!planned)
                return r < 0 ? r : explain_unplanned(why, name);
        why_condition(why, "missing-pv");
        why_answer(why, VERDICT_DOWN, "absent",
                "VG %s is absent: none of its PVs was seen, and lvm2 has no backup of it.", name);
        why_fact(why, "%s", planned->reason);
        explain_layers_below(why, "");
        why_advise(why,
                "If it was renamed or no longer exists, correct that line (\"headgate status\" lists all VGs).");
        return 1;
}

/* `vgid` is "" for any of that name, `lv` NULL for the whole VG. */
static int explain_name(struct why *why, const char *vg, const char *vgid, const char *lv)
{
        _cleanup_vg_view_ struct vg_view view = {};
        int r;

        why->kind = lv ? "lv" : "vg";
        r = vg_view_find(why->sources, vg, vgid, &view);
        if (r == 0)
                return explain_planned(why, vg);
        if (r < 0)
                return r;
        if (!lv)
                vg_explain(why, &view);
        else if (!logical_volume_explain(why, &view, lv))
                return log_unknown_lv(&view, lv);
        return 1;
}

/* Explains an LV by the path of its device, as by its name. Returns 0 if it is not a visible LV. */
static int explain_lv_device(struct why *why, dev_t number)
{
        const struct dm_device *device = dm_devices_find(why->sources->devices, number);
        _cleanup_vg_view_ struct vg_view view = {};
        char vgid[LVM_ID_SIZE] = "";
        int r;

        if (!device || !dm_device_is_visible_lv(device))
                return 0;
        memcpy(vgid, device->uuid + strlen(LVM_UUID_PREFIX), LVM_ID_LENGTH);
        r = vg_view_find(why->sources, device->vg, vgid, &view);
        why->kind = "lv";
        return r > 0 ? logical_volume_explain(why, &view, device->lv) : r;
}

static int explain_number(struct why *why, const char *path, dev_t number)
{
        _cleanup_device_facts_ struct device_facts facts = {};
        int r = device_facts_read(why->sources, path, number, &facts);

        if (r >= 0 && !facts.pv.found)
                r = explain_lv_device(why, number);
        if (r != 0)
                return r;
        why->kind = "device";
        why->device = &facts;
        device_explain(why);
        return 1;
}

/* Explains the LV with these UUIDs, of VG and LV. Returns -ENOENT if it is not known. */
static int explain_uuids(struct why *why, const char *uuids)
{
        struct sources *sources = why->sources;
        int r = (sources->in_charge ? snapshot_read(sources) : 0) ?: unrecorded_add_all(sources);

        FOREACH_ARRAY(vg, sources->vgs, r < 0 ? 0 : sources->n_vgs)
                FOREACH_LV(lv, *vg)
                        if (streq(path_format("%s%s", (*vg)->vgid, lv->lvid).text, uuids))
                                return explain_name(why, (*vg)->name, (*vg)->vgid, lv->name);
        return r ?: -ENOENT;
}

/* Explains a VG, VG/LV or path. */
static int explain_target(struct why *why, const char *name)
{
        _cleanup_target_ struct target target = {};
        const char *in_mapper = skip_prefix(name, "/dev/mapper/"),
                   *uuids = skip_prefix(name, "/dev/disk/by-id/dm-uuid-" LVM_UUID_PREFIX);
        int r = target_parse(name, &target);

        if (r == -ENOENT && uuids && (r = explain_uuids(why, uuids)) != -ENOENT)
                return r;
        if (r == -ENOMEM)
                return r;
        /* A device that crypttab opens may have a name like that of an LV. */
        if ((r == -ENOENT || target.vg) && in_mapper && explain_crypttab(why, in_mapper, NULL)) {
                why->kind = "device";
                why_answer(why, VERDICT_DOWN, "absent", "%s is not there.", name);
                return 1;
        }
        if (r < 0) {
                target_log_error(name, r);
                return 0;
        }
        return target.vg ? explain_name(why, target.vg, "", target.lv) : explain_number(why, name, target.number);
}

/* ------ mount points ------ */

/* Sets `*ret` to the source that the table has for a mount point; NULL for none. Returns 0 or a negative errno. */
static int find_source(const struct why *why, const char *table, const char *path, int direction, char **ret)
{
        _cleanup_mount_table_ struct mount_table mounts = {};
        int r = mount_table_read(why->sources->root_fd, table, &mounts);
        struct libmnt_fs *entry = r > 0 ? mnt_table_find_target(mounts.table, path, direction) : NULL;
        /* An automount is not the file system itself. */
        bool is_mount = entry && !streq(mnt_fs_get_fstype(entry) ?: "", "autofs");
        const char *source = is_mount ? mnt_fs_get_srcpath(entry) ?: mnt_fs_get_source(entry) : NULL;

        return r >= 0 && source ? string_replace(ret, strdup(source)) : MIN(r, 0);
}

/* An entry may name a device by UUID or label. Hints of an earlier boot have the VG of such a device. */
static int explain_source(struct why *why, const char *source)
{
        _cleanup_free_ char *kernel_name = NULL;
        struct device_name device = {};
        int r = device_follow(why->sources->root_fd, source, &kernel_name);

        why->kind = "device";
        if (r == -EINVAL) {
                log_error("%s is not on a block device, but on %s.", why->name, source);
                return 0;
        }
        if (r >= 0 && *source != '/')
                return explain_target(why, path_format("/dev/%s", kernel_name).text);
        if (r == -ENODEV)
                r = device_name_read(source, &device);
        if (*source == '/' && device.kind != DEVICE_TAGGED)
                return explain_target(why, source);
        r = MIN(r, 0) ?: device_find_vg(why->sources->root_fd, &why->sources->entries.hints, source, &device);
        if (r < 0)
                return r;
        if (device.kind == DEVICE_OF_NAME)
                return explain_name(why, device.vg, "", NULL);
        why_condition(why, "no-device");
        why_answer(why, VERDICT_UNKNOWN, "unknown", "%s does not exist, and no VG is known to have it.", source);
        return 1;
}

/* Also returns 0, without a message, if the path is not a mount point. */
static int explain_mount_point(struct why *why)
{
        _cleanup_free_ char *mounted = NULL, *listed = NULL;
        int r = find_source(why, "proc/self/mountinfo", why->name, MNT_ITER_BACKWARD, &mounted)
                        ?: find_source(why, "etc/fstab", why->name, MNT_ITER_FORWARD, &listed);

        if (r < 0 || (!mounted && !listed))
                return r;
        if (mounted)
                why_fact(why, "%s is mounted at %s.", mounted, why->name);
        else
                why_fact(why, "%s is not mounted; " FSTAB_FILE " mounts %s there.", why->name, listed);
        return explain_source(why, mounted ?: listed);
}

static int explain(struct why *why)
{
        int r = *why->name == '/' && !skip_prefix(why->name, "/dev/") ? explain_mount_point(why) : 0;

        if (r == 0 && !why->kind)
                r = explain_target(why, why->name);
        return r;
}

/* ------ printing ------ */

static void print_sentences(const struct why *why)
{
        printf("%s\n", why->answer);
        STRV_FOREACH(fact, &why->facts)
                printf("  %s\n", *fact);
        if (why->advice.n > 0)
                printf("What to do:\n");
        STRV_FOREACH(advice, &why->advice)
                printf("  %s\n", *advice);
}

/* Shows the answer if `r`, the result of explain(), is 1. Returns the exit status or a negative errno. */
static int show(const struct why *why, int r, struct table *table)
{
        static const int exit_statuses[] = {
                [VERDICT_UP] = EXIT_ALL_UP,
                [VERDICT_DOWN] = EXIT_NOT_ALL_UP,
                [VERDICT_UNKNOWN] = EXIT_CANNOT_TELL,
        };
        static const char *separator = "";

        if (r <= 0 || why->error < 0)
                return r < 0 ? r : why->error ?: EXIT_NOT_ALL_UP;
        if (table->options.json || table->options.columns) {
                table_add_line(table, NULL, &(struct line){why->verdict == VERDICT_UP ? "green" : "red", *why});
        } else {
                printf("%s", separator);
                print_sentences(why);
                separator = "\n";
        }
        return exit_statuses[why->verdict];
}

static int explain_named(struct sources *sources, char *const names[], size_t n, struct table *table)
{
        int result = EXIT_ALL_UP;

        for (size_t i = 0; i < n && result >= 0; i++) {
                _cleanup_why_ struct why why = {.sources = sources, .name = names[i]};
                int r = show(&why, explain(&why), table);

                result = r < 0 ? r : MAX(result, r);
        }
        return result;
}

/* Limited, since a VG with unresponsive disks takes three seconds. */
#define PROBLEMS_EXPLAINED_MAX 20U

/* Explains all VGs that are neither active nor skipped. */
static int explain_problems(struct sources *sources, struct table *table)
{
        _cleanup_plan_ struct plan plan = {};
        int r = sources->in_charge ? snapshot_read(sources) ?: expected_add(sources, false, &plan)
                                   : unrecorded_add_all(sources);
        int result = EXIT_ALL_UP;
        size_t n = 0;

        if (r < 0)
                return r;
        sources_log_not_activating(sources);
        FOREACH_ARRAY(vg, sources->vgs, sources->n_vgs) {
                _cleanup_why_ struct why why = {.sources = sources, .expected = &plan, .name = (*vg)->name};

                if ((*vg)->status == VG_STATUS_ACTIVE || (*vg)->status == VG_STATUS_SKIPPED ||
                        !snapshot_is_current(sources, *vg) || n++ >= PROBLEMS_EXPLAINED_MAX)
                        continue;
                r = show(&why, explain_name(&why, (*vg)->name, (*vg)->vgid, NULL), table);
                if (r < 0)
                        return r;
                result = MAX(result, r);
        }
        if (n > PROBLEMS_EXPLAINED_MAX)
                log_notice("%zu more VG%s: headgate status --problems", n - PROBLEMS_EXPLAINED_MAX,
                        plural(n - PROBLEMS_EXPLAINED_MAX));
        if (n == 0 && sources->in_charge && !table->options.json && !table->options.columns)
                printf("All VGs are active or skipped.\n");
        return result;
}

static int run(char *names[], size_t n, struct table *table)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        int r = sources_read(&sources);

        if (r >= 0)
                r = n > 0 ? explain_named(&sources, names, n, table) : explain_problems(&sources, table);
        /* The same exit status as of headgate status. */
        if (r >= 0 && n == 0 && !sources.in_charge)
                r = EXIT_CANNOT_TELL;
        return verb_print(table, r, "find out");
}

const struct verb verb_why = {"why", "[NAME...]",
        "Explain why a volume group, logical volume or device is active or not",
        .help = "Usage: headgate why [OPTION...] [VG|VG/LV|DEVICE|MOUNTPOINT...]\n\n"
                "Explain why a volume group, logical volume, device or mount point is active or not,\n"
                "and what to do. Without a name, explain each volume group that is neither active\n"
                "nor skipped.\n\n",
        .footer = "Exit status: 0 if all are active, 1 if one is not or is unknown, 2 if headgate\n"
                  "cannot tell; without a name also if headgate is not in charge.\n\n",
        .root_only = "read /run/headgate and ask device-mapper", .table = TABLE_KIND("subjects", columns),
        .run = run};
