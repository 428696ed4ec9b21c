/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/duplicates.h"

#include <sys/sysmacros.h>

#include "shared/kernel.h"

/* Whether the record is of another device than `number` that is still there and holds the PV: 1 and its name, 0 or -ENOMEM. */
static int find_other_device(const struct sources *sources, const struct record_entry *entry, const char *pvid,
        dev_t number, char **ret)
{
        struct record_device other;

        if (!record_entry_has_pv(entry, pvid) || record_entry_parse_device(entry, &other) <= 0 ||
                other.number == number)
                return 0;
        return sysfs_read_name(sources->root_fd, other.number, ret);
}

int find_duplicate_of_pv(const struct sources *sources, const char *pvid, dev_t number, char **ret)
{
        const struct record_entry *entry;

        if (!sources->records)
                return 0;
        dm_list_iterate_items(entry, &sources->records->records) {
                int r = find_other_device(sources, entry, pvid, number, ret);

                if (r != 0)
                        return r;
        }
        return 0;
}

static void explain_duplicate(const struct volume_group_pv *pv, const char *other, struct explanation *explanation)
{
        char formatted[LVM_ID_FORMATTED_SIZE];

        lvm_id_format(pv->pvid, formatted);
        explanation_condition(explanation, "duplicate-pv");
        explanation_fact(explanation,
                "PV %s is on %s and also on /dev/%s, which is a copy or another path: headgate goes by the "
                "former, and lvm2 may refuse to activate what is on either.",
                formatted, pv->device_name ?: "?", other);
        explanation_advise(explanation,
                "Take one of the two devices away, or give the copy an identity of its own: vgimportclone(8).");
}

int explain_duplicate_pvs(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct volume_group *volume_group = view->volume_group;
        const struct record_entry *entry;

        if (!sources->records)
                return 0;
        dm_list_iterate_items(entry, &sources->records->records) {
                for (size_t i = 0; i < volume_group->n_pvs; i++) {
                        const struct volume_group_pv *pv = &volume_group->pvs[i];
                        _cleanup_free_ char *other = NULL;
                        int r = pv->device == 0 ? 0
                                                : find_other_device(sources, entry, pv->pvid, pv->device, &other);

                        if (r < 0)
                                return r;
                        if (r > 0)
                                explain_duplicate(pv, other, explanation);
                }
        }
        return 0;
}
