/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate why: the chain of facts about one VG, LV or device, the answer first, and what to do last. */

#include "cli/verb.h"
#include "deactivate/target.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"
#include "why/device.h"
#include "why/volume_group.h"

struct line {
        const char *color;
        struct explanation explanation;
};

static const struct column columns[] = {
        COLUMN("NAME", ALWAYS, STRING, explanation.name, "what was asked for"),
        COLUMN("KIND", ALWAYS, STRING, explanation.kind, "vg, lv or device"),
        COLUMN("STATE", ALWAYS, STRING, explanation.state, "active, waiting, ...", .colored = true),
        COLUMN("ANSWER", ALWAYS, STRING, explanation.answer, "why, in a sentence", .flags = SCOLS_FL_WRAP),
        COLUMN("CONDITIONS", IN_JSON, LINES, explanation.conditions,
                "what keeps it from being up, in words for programs", .flags = SCOLS_FL_WRAP),
        COLUMN("FACTS", IN_JSON, LINES, explanation.facts, "what is known of it", .flags = SCOLS_FL_WRAP),
        COLUMN("ADVICE", IN_JSON, LINES, explanation.advice, "what to do", .flags = SCOLS_FL_WRAP),
};

/* ------ what is asked for. These return 1; 0 for what is not known, having said so; or a negative errno ------ */

static int log_unknown_vg(struct sources *sources, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};
        _cleanup_free_ char *path = string_format("/dev/%s", name);
        int r;

        if (!path)
                return -ENOMEM;
        r = sources_read_names(sources);
        if (r < 0)
                return r;
        sources_consider_names(sources, &suggestion);
        /* "sda" */
        if (!suggestion.nearest && access(path, F_OK) >= 0)
                suggestion.nearest = TAKE_PTR(path);
        suggestion_log_unknown(&suggestion, "VG",
                "none of its PVs was seen, and lvm2 has no backup of it; a device is asked for by its path");
        return 0;
}

static int log_unknown_lv(const struct vg_view *view, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};
        _cleanup_free_ char *full = NULL;

        for (size_t i = 0; i < view->volume_group->n_lvs; i++)
                suggestion_consider(&suggestion, view->volume_group->lvs[i].name);
        if (suggestion.nearest) {
                full = string_format("%s/%s", view->volume_group->name, suggestion.nearest);
                free(suggestion.nearest);
                suggestion.nearest = TAKE_PTR(full);
        }
        full = string_format("%s/%s", view->volume_group->name, name);
        if (!full)
                return -ENOMEM;
        suggestion.wanted = full;
        suggestion_log_unknown(&suggestion, "LV", "its VG has no visible LV of this name");
        return 0;
}

/* `lv` is NULL for the whole VG. */
static int explain_name(struct sources *sources, const char *vg, const char *lv, struct explanation *explanation)
{
        _cleanup_vg_view_ struct vg_view view = {};
        int r;

        explanation->kind = lv ? "lv" : "vg";
        r = vg_view_find(sources, vg, &view);
        if (r == VG_VIEW_NONE)
                r = vg_view_search(sources, vg, &view);
        if (r == VG_VIEW_NONE)
                return log_unknown_vg(sources, vg);
        if (r < 0)
                return r;
        if (!lv)
                volume_group_explain(sources, &view, explanation);
        else if (!logical_volume_explain(sources, &view, lv, explanation))
                return log_unknown_lv(&view, lv);
        return 1;
}

/* An LV by the path of its device: what is known of it is by its name, unless it is a PV. Returns 0 if it is no
 * visible LV. */
static int explain_lv_device(struct sources *sources, dev_t number, struct explanation *explanation)
{
        const struct dm_device *device = sources_find_dm_device(sources, number);
        _cleanup_vg_view_ struct vg_view view = {};
        _cleanup_free_ char *vg = NULL;
        char *lv, *layer;
        int r;

        if (!device || !skip_prefix(device->uuid, LVM_UUID_PREFIX))
                return 0;
        vg = strdup(device->name);
        if (!vg)
                return -ENOMEM;
        if (!dm_split_lvm_name(NULL, NULL, &vg, &lv, &layer) || *layer != '\0')
                return 0;
        r = vg_view_find(sources, vg, &view);
        if (r > 0)
                r = logical_volume_explain(sources, &view, lv, explanation);
        if (r > 0)
                explanation->kind = "lv";
        return r;
}

static int explain_number(struct sources *sources, const char *path, dev_t number, struct explanation *explanation)
{
        _cleanup_device_facts_ struct device_facts facts = {};
        int r;

        r = device_facts_read(sources, path, number, &facts);
        if (r < 0)
                return r;
        if (!facts.pv.found) {
                r = explain_lv_device(sources, number, explanation);
                if (r != 0)
                        return r;
        }
        explanation->kind = "device";
        device_explain(sources, &facts, explanation);
        return 1;
}

static int explain(struct sources *sources, const char *name, struct explanation *explanation)
{
        _cleanup_target_ struct target target = {};
        int r;

        explanation->name = strdup(name);
        if (!explanation->name)
                return -ENOMEM;
        r = target_parse(name, &target);
        if (r == -ENOMEM)
                return r;
        if (r == -EINVAL)
                log_error("\"%s\" can be neither a VG nor an LV; a device is asked for by its path.", name);
        else if (r == -ENOTBLK)
                log_error("%s: not a block device", name);
        else if (r < 0)
                (void) log_error_errno(r, "%s: %m", name);
        if (r < 0)
                return 0;
        r = target.vg ? explain_name(sources, target.vg, target.lv, explanation)
                      : explain_number(sources, name, target.number, explanation);
        return r < 0 ? r : explanation->error < 0 ? explanation->error : r;
}

/* ------ printing ------ */

static void print_sentences(const struct explanation *explanation)
{
        printf("%s\n", explanation->answer);
        for (size_t i = 0; i < explanation->facts.n; i++)
                printf("  %s\n", explanation->facts.strings[i]);
        if (explanation->advice.n > 0)
                printf("What to do:\n");
        for (size_t i = 0; i < explanation->advice.n; i++)
                printf("  %s\n", explanation->advice.strings[i]);
}

/* Returns the exit status or a negative errno. */
static int explain_all(struct sources *sources, char *const names[], size_t n, struct table *table)
{
        static const int exit_statuses[] = {
                [VERDICT_UP] = EXIT_ALL_UP,
                [VERDICT_DOWN] = EXIT_NOT_ALL_UP,
                [VERDICT_UNKNOWN] = EXIT_CANNOT_TELL,
        };
        bool tabular = table->options.json || table->options.columns;
        int r = 0, result = EXIT_ALL_UP;

        for (size_t i = 0; r >= 0 && i < n; i++) {
                _cleanup_explanation_ struct explanation explanation = {};

                r = explain(sources, names[i], &explanation);
                if (r < 0)
                        return r;
                result = MAX(result, r == 0 ? EXIT_NOT_ALL_UP : exit_statuses[explanation.verdict]);
                if (r == 0)
                        continue;
                if (tabular) {
                        r = table_add_line(table, NULL,
                                &(struct line){explanation.verdict == VERDICT_UP ? "green" : "red", explanation},
                                NULL);
                } else {
                        printf("%s", i == 0 ? "" : "\n");
                        print_sentences(&explanation);
                }
        }
        if (r >= 0 && tabular)
                r = table_print(table);
        return r < 0 ? r : result;
}

static int run(char *names[], size_t n, struct table *table)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        int r;

        if (n == 0)
                return verb_refuse("Name a VG, a VG/LV or a device, see --help.");
        if (geteuid() != 0 && !root_is_chosen())
                return verb_refuse("Only root may look into /run/headgate and ask device-mapper.");
        r = sources_read(&sources);
        if (r >= 0)
                r = explain_all(&sources, names, n, table);
        if (r < 0)
                return verb_fail(r, "Failed to find out: %m");
        return r;
}

const struct verb verb_why = {"why", "NAME...",
        "Explain why a volume group, logical volume or device is up or not",
        .help = "Usage: headgate why [OPTION...] VG|VG/LV|DEVICE...\n\n"
                "Explain why a volume group, logical volume or device is up or not, and what\n"
                "to do about it. Without an option, in sentences.\n\n",
        .footer = "Exit status: 0 if all are up, 1 if one is not, or is not known, 2 if headgate\n"
                  "cannot tell.\n\n"
                  "See headgate-why(8).\n",
        .table = TABLE_KIND("subjects", columns), .run = run};
