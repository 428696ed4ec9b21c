/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/duplicates.h"

#include <sys/sysmacros.h>

#include "shared/kernel.h"

int find_duplicate_of_pv(const struct sources *sources, const char *pvid, dev_t number, char **ret)
{
        const struct record_entry *entry;

        if (!sources->records)
                return 0;
        dm_list_iterate_items(entry, &sources->records->records) {
                struct record_device other;
                int r;

                if (record_entry_parse_device(entry, &other) <= 0 || !streq(other.pvid, pvid) ||
                        other.number == number)
                        continue;
                r = sysfs_read_name(sources->root_fd, other.number, ret);
                if (r != 0)
                        return r;
        }
        return 0;
}

static int explain_duplicate(const struct sources *sources, const struct volume_group_pv *pv, dev_t other,
        struct explanation *explanation)
{
        char formatted[LVM_ID_FORMATTED_SIZE];
        _cleanup_free_ char *name = NULL;
        int r;

        r = sysfs_read_name(sources->root_fd, other, &name);
        if (r <= 0)
                return r;
        lvm_id_format(pv->pvid, formatted);
        explanation_condition(explanation, "duplicate-pv");
        explanation_fact(explanation,
                "PV %s is on %s and also on /dev/%s, which is a copy or another path: headgate goes by the "
                "former, and lvm2 may refuse to activate what is on either.",
                formatted, pv->device_name ?: "?", name);
        explanation_advise(explanation,
                "Take one of the two devices away, or give the copy an identity of its own: vgimportclone(8).");
        return 0;
}

int explain_duplicate_pvs(
        const struct sources *sources, const struct vg_view *view, struct explanation *explanation)
{
        const struct record_entry *entry;

        if (!sources->records)
                return 0;
        dm_list_iterate_items(entry, &sources->records->records) {
                const struct volume_group_pv *pv;
                struct record_device device;
                int r;

                if (record_entry_parse_device(entry, &device) <= 0)
                        continue;
                pv = volume_group_find_pv(view->volume_group, device.pvid);
                if (!pv || pv->device == 0 || pv->device == device.number)
                        continue;
                r = explain_duplicate(sources, pv, device.number, explanation);
                if (r < 0)
                        return r;
        }
        return 0;
}
