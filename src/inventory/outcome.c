/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the output and exit status of vgchange and pvscan as facts about one VG or one device. */

#include "inventory/outcome.h"

#include "lvm/command.h"
#include "shared/dm.h"
#include "shared/names.h"
#include "shared/util.h"

/* lvm2 prints either the name of an LV or that of its device-mapper device. */
static char *find_words_about_lv(const char *output, const char *vg, const char *lv)
{
        _cleanup_dm_pool_ struct dm_pool *pool = dm_pool_create("name", 512);
        const char *dm_name = pool ? dm_build_dm_name(pool, vg, lv, NULL) : NULL;
        _cleanup_free_ char *name = string_format("%s/%s", vg, lv);
        char *line = name ? lvm_output_find(output, name) : NULL;

        return line || !dm_name ? line : lvm_output_find(output, dm_name);
}

/* Returns lvm2's message about the first inactive LV that has one, or NULL. */
static char *find_words_about_lvs(const char *output, const struct vg *vg)
{
        char *line = NULL;

        FOREACH_LV(lv, vg)
                if (!line && !lv->active)
                        line = find_words_about_lv(output, vg->name, lv->name);
        return line;
}

/* Whether the configuration excludes the LV. If a tag may do so, lvm2's success means that it does. */
static bool is_excluded(const struct vg *vg, const struct vg_lv *lv, const struct vgchange_end *end)
{
        enum list_naming naming = MAX(config_list_find(&end->config->volume_list, vg->name, lv->name),
                config_list_find(&end->config->auto_activation_volume_list, vg->name, lv->name));
        bool by_tag = end->config->host_tags || naming == LIST_NAMES_BY_TAG;

        return by_tag ? end->exit_status == 0 : naming == LIST_DOES_NOT_NAME;
}

static bool has_unexplained(const struct vg *vg, const struct vgchange_end *end)
{
        return ANY(FOREACH_LV(lv, vg), lv->autoactivated && !lv->active && !is_excluded(vg, lv, end));
}

/* Explains why a vgchange of this VG alone has not activated it; NULL without memory. Warnings are used if there
 * are no errors. */
static char *explain(const struct vg *vg, const struct vgchange_end *end)
{
        _cleanup_free_ char *errors = lvm_output_errors(end->output);
        const char *text = !isempty(errors) ? errors : end->output;
        _cleanup_free_ char *words = NULL;

        /* In this order: messages about the VG, about one of its LVs, any others. */
        if (errors)
                words = lvm_output_find(text, vg->name) ?: find_words_about_lvs(text, vg) ?: lvm_output_begin(text);
        if (!words || (!isempty(words) && !job_was_killed(end->exit_status)))
                return TAKE_PTR(words);
        return string_format("vgchange " ENDED ".", ENDED_ARGUMENTS(end->exit_status));
}

int outcome_read(const struct vg *vg, const struct vgchange_end *end, char **ret_words)
{
        if (!has_unexplained(vg, end))
                return VG_ENDED_OK;
        if (end->n_vgs > 1)
                return VG_ENDED_UNCLEAR;
        *ret_words = explain(vg, end);
        return *ret_words ? VG_ENDED_FAILED : -ENOMEM;
}

int outcome_read_degraded(const struct vg *vg, int exit_status, const char *output, char **ret_words)
{
        _cleanup_enumeration_ struct enumeration names = {};
        _cleanup_free_ char *words = NULL;
        enum vg_event event = exit_status == 0 ? VG_ENDED_OK : VG_ENDED_FAILED;
        char *end;

        FOREACH_LV(lv, vg)
                if (lv->autoactivated && !lv->active) {
                        enumeration_add(&names, lv->name);
                        words = words ?: find_words_about_lv(output, vg->name, lv->name);
                }
        if (names.n == 0)
                return event;
        /* The next sentence is lvm2's advice to use partial activation. */
        end = words ? strstr(words, ".  ") : NULL;
        if (end)
                *end = '\0';
        if (!words && exit_status != 0)
                words = string_format("vgchange " ENDED, ENDED_ARGUMENTS(exit_status));
        *ret_words = string_format("not activated: %s%s%s%s.", names.text ?: "?", words ? " (lvm2: " : "",
                words ?: "", words ? ")" : "");
        return *ret_words ? (int) event : -ENOMEM;
}

char *outcome_explain_refusal(const char *device_name, int exit_status, const char *output, bool *ret_failed)
{
        _cleanup_free_ char *line = lvm_output_find(output, device_name);
        _cleanup_free_ char *errors = NULL, *words = NULL;

        *ret_failed = job_was_killed(exit_status) || (exit_status != 0 && !line);
        if (!*ret_failed)
                return string_format(
                        "lvm2 does not accept its PV %s%s%s", device_name, line ? ": " : ".", line ?: "");
        errors = lvm_output_errors(output);
        words = errors ? lvm_output_begin(errors) : NULL;
        return string_format("pvscan of its PV %s " ENDED "%s%s", device_name, ENDED_ARGUMENTS(exit_status),
                !isempty(words) ? ": " : ".", words ?: "");
}

/* How long a failure counts. The cause may have been fixed since. */
#define ALIKE_VALID_USEC (5 * USEC_PER_SEC)

/* Digits may differ: names of VGs and device numbers contain them. */
static bool are_alike(const char *one, const char *other)
{
        for (;; one++, other++) {
                one += strspn(one, "0123456789");
                other += strspn(other, "0123456789");
                if (*one != *other || *one == '\0')
                        return *one == *other;
        }
}

int alike_note(struct alike *alike, const char *words, uint64_t now)
{
        alike->n = words && alike->words && are_alike(alike->words, words) ? alike->n + 1 : words != NULL;
        alike->usec = now;
        return words ? string_replace(&alike->words, strdup(words)) : 0;
}

bool alike_applies_to_others(const struct alike *alike, uint64_t now)
{
        return alike->n >= ALIKE_MAX && now < alike->usec + ALIKE_VALID_USEC;
}
