/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What vgchange has printed, and how it has ended, as facts about one VG. */

#include "inventory/outcome.h"

#include "lvm/command.h"
#include "shared/dm.h"
#include "shared/util.h"

/* Of more LVs that are not active than that the number has to do. */
#define NAMED_MAX 8

void outcome_done(struct outcome *outcome)
{
        free(outcome->words);
}

/* lvm2 calls an LV by its own name or as device-mapper does. */
static char *find_words_about_lv(const char *output, const char *vg, const char *lv)
{
        _cleanup_dm_pool_ struct dm_pool *pool = dm_pool_create("name", 512);
        const char *dm_name = pool ? dm_build_dm_name(pool, vg, lv, NULL) : NULL;
        _cleanup_free_ char *name = string_format("%s/%s", vg, lv);
        char *line = name ? lvm_output_find(output, name) : NULL;

        return line || !dm_name ? line : lvm_output_find(output, dm_name);
}

/* What lvm2 has said of the first LV that is not active and that it says something of, or NULL. */
static char *find_words_about_lvs(const char *output, const struct volume_group *vg)
{
        char *line = NULL;

        for (size_t i = 0; !line && i < vg->n_lvs; i++)
                if (!vg->lvs[i].active)
                        line = find_words_about_lv(output, vg->name, vg->lvs[i].name);
        return line;
}

int outcome_read(
        const struct volume_group *vg, size_t n_vgs, int exit_status, const char *output, struct outcome *ret)
{
        struct volume_group_counts n = volume_group_count(vg);
        _cleanup_free_ char *line = NULL;

        ret->event = VG_ENDED_CONTENT;
        /* Nothing is to be explained. To look for words costs as much as lvm2 has printed of all VGs. */
        if (n.active >= n.autoactivated)
                return 0;
        line = lvm_output_find(output, vg->name);
        if (!line)
                line = find_words_about_lvs(output, vg);
        if (n_vgs > 1 && job_was_killed(exit_status))
                ret->event = VG_ENDED_CRASHED;
        /* Asked for several VGs, lvm2 looks only at those PVs that its records name at that moment, and takes a record that is
         * just being written for none; asked for one, it looks at all devices if need be (_vgchange_autoactivation_setup() in
         * tools/vgchange.c). */
        else if (n_vgs > 1 && lvm_output_misses(output, vg->name))
                ret->event = VG_ENDED_OVERLOOKED;
        /* Of several VGs, it is another one's status if lvm2 has nothing to say against this one. */
        else if (exit_status == 0 || (n_vgs > 1 && !line && lvm_output_has_summary(output, vg->name)))
                ret->event = line ? VG_ENDED_WARNED : VG_ENDED_CONTENT;
        else
                ret->event = VG_ENDED_FAILED;
        ret->words = line ? TAKE_PTR(line)
                     : job_was_killed(exit_status)
                             ? string_format("vgchange was ended by signal %i.", exit_status - 128)
                             : string_format("vgchange ended with status %i.", exit_status);
        return ret->words ? 0 : -ENOMEM;
}

/* "big, home", to be freed by the caller; NULL without memory. */
static char *name_inactive(const struct volume_group *vg)
{
        _cleanup_string_vector_ struct string_vector names = {};
        size_t n = 0;

        FOREACH_LV(lv, vg) {
                if (lv->autoactivated && !lv->active && ++n <= NAMED_MAX &&
                        string_vector_add(&names, lv->name) < 0)
                        return NULL;
        }
        if (n > NAMED_MAX && string_vector_take(&names, string_format("%zu more", n - NAMED_MAX)) < 0)
                return NULL;
        return string_vector_join(&names, ", ");
}

int outcome_read_degraded(const struct volume_group *vg, int exit_status, const char *output, struct outcome *ret)
{
        _cleanup_free_ char *names = name_inactive(vg);
        _cleanup_free_ char *words = NULL;
        char *end;

        ret->event = exit_status == 0 ? VG_ENDED_CONTENT : VG_ENDED_FAILED;
        if (!names)
                return -ENOMEM;
        if (names[0] == '\0')
                return 0;
        for (size_t i = 0; !words && i < vg->n_lvs; i++)
                if (vg->lvs[i].autoactivated && !vg->lvs[i].active)
                        words = find_words_about_lv(output, vg->name, vg->lvs[i].name);
        /* The next sentence would be the advice to activate it in parts. */
        end = words ? strstr(words, ".  ") : NULL;
        if (end)
                *end = '\0';
        if (!words && exit_status != 0)
                words = string_format("vgchange ended with status %i", exit_status);
        ret->words = string_format(
                "not activated: %s%s%s%s.", names, words ? " (lvm2: " : "", words ?: "", words ? ")" : "");
        return ret->words ? 0 : -ENOMEM;
}
