/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "copies/advice.h"

#include "shared/util.h"

size_t copies_fewer(const struct surveyed_vg *vg)
{
        if (vg->n_used > COPIES_ENOUGH)
                return COPIES_ENOUGH;
        return vg->n_used > 1 ? 1 : 0;
}

int copies_describe_refusal(const struct surveyed_vg *vg, const struct system_id *host, char **ret)
{
        const struct metadata *metadata = vg->metadata;
        _cleanup_free_ char *word = NULL;

        *ret = NULL;
        if (metadata->clustered) {
                *ret = strdup("it is clustered");
        } else if (metadata->lock_type) {
                word = string_printable(metadata->lock_type);
                *ret = word ? string_format("it is shared with other hosts (lock_type %s)", word) : NULL;
        } else if (metadata->system_id && host->known && system_id_is_foreign(host, metadata->system_id)) {
                word = string_printable(metadata->system_id);
                *ret = word ? string_format("it belongs to another host (system ID %s)", word) : NULL;
        } else {
                return 0;
        }
        return *ret ? 0 : -ENOMEM;
}

static char *explain_many(const struct surveyed_vg *vg, const struct copies_cost *cost)
{
        _cleanup_free_ char *all = format_short_duration(cost->read_usec);
        _cleanup_free_ char *fewer = format_short_duration(cost->fewer_usec);

        if (!all || !fewer)
                return NULL;
        return string_format(
                "Each command of lvm2 reads %zu copies, and each change writes them: %s, against %s with %zu, "
                "which outlive the loss of any %zu disks.",
                vg->n_used, all, fewer, cost->fewer, cost->fewer - 1);
}

static char *explain_few(const struct surveyed_vg *vg)
{
        return vg->n_used == 0 ? strdup("None of its PVs that are there has a copy in use.")
                               : strdup("There is one copy in use: with its disk the metadata would be lost.");
}

static char *explain_well(const struct surveyed_vg *vg)
{
        if (vg->metadata->n_pvs <= COPIES_PVS_FEW)
                return string_format("With no more than %u PVs, copies cost little.", COPIES_PVS_FEW);
        return string_format(
                "%zu copies are read fast, and outlive the loss of any %zu disks.", vg->n_used, vg->n_used - 1);
}

int copies_advise(const struct surveyed_vg *vg, const struct system_id *host, const struct copies_cost *cost,
        size_t *ret_copies, char **ret_reason)
{
        _cleanup_free_ char *refusal = NULL;
        size_t n_areas = vg->n_used + vg->n_ignored;
        int r;

        *ret_copies = 0;
        r = copies_describe_refusal(vg, host, &refusal);
        if (r < 0)
                return r;
        if (refusal) {
                *ret_reason = string_format("headgate leaves it alone: %s.", refusal);
        } else if (vg->n_used < 2 && n_areas > 1) {
                *ret_copies = MIN(n_areas, (size_t) COPIES_ENOUGH);
                *ret_reason = explain_few(vg);
        } else if (vg->n_used < 2) {
                *ret_reason =
                        strdup(vg->metadata->n_pvs < 2
                                        ? "It has one PV."
                                        : "There is one copy, and no other PV that is there has room for one.");
        } else if (vg->metadata->n_pvs > COPIES_PVS_FEW && vg->n_used > COPIES_ENOUGH) {
                *ret_copies = COPIES_ENOUGH;
                *ret_reason = explain_many(vg, cost);
        } else {
                *ret_reason = explain_well(vg);
        }
        return *ret_reason ? 0 : -ENOMEM;
}
