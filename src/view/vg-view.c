/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds one VG by its name in all sources, and its metadata. */

#include "view/vg-view.h"

#include <sys/sysmacros.h>
#include <systemd/sd-device.h>

#include "reader/pv.h"
#include "shared/kernel.h"
#include "shared/program.h"
#include "view/snapshot.h"

/* ------ the worker's records ------ */

static bool is_wanted(const struct vg *vg, const char *vgid)
{
        return *vgid == '\0' || streq(vg->vgid, vgid);
}

/* Of several VGs with one name, finds the one with active LVs, or else the first. Ignores damaged records. */
static int find_recorded(const struct sources *sources, const char *name, const char *vgid, struct vg_view *view)
{
        size_t n = 0;

        FOREACH_RECORD(entry, sources->records) {
                _cleanup_vg_ struct vg *vg = NULL;
                int r;

                if (!vg_text_has_name(entry->text, name))
                        continue;
                r = vg_parse(entry->text, &vg);
                if (r == -ENOMEM)
                        return r;
                if (r < 0 || !streq(vg->vgid, entry->key))
                        continue;
                n++;
                if (!is_wanted(vg, vgid))
                        continue;
                snapshot_judge(sources, vg);
                if (view->vg && (vg_count(view->vg).any_active || !vg_count(vg).any_active))
                        continue;
                vg_free(view->vg);
                view->vg = TAKE_PTR(vg);
        }
        view->n_same_name = n > 0 ? n - 1 : 0;
        return 0;
}

/* ------ metadata ------ */

/* At most this many PVs are read to find unreadable ones. */
#define PVS_READ_MAX 16

/* Reads PVs until one has metadata as new as the worker's. If one is unresponsive, the others probably are, too. */
static int read_metadata(const struct sources *sources, struct vg_view *view)
{
        const struct vg *vg = view->vg;
        size_t n_read = 0;
        int r;

        FOREACH_PV(source, vg) {
                _cleanup_pv_ struct pv pv = {};

                if (n_read >= PVS_READ_MAX && view->metadata && view->metadata != vg &&
                        view->metadata->seqno >= vg->seqno)
                        return 0;
                if (source->device == 0)
                        continue;
                n_read++;
                r = pv_read(sources->root_fd, source->device, source->device_name, &pv);
                if (r < 0)
                        return r;
                if (pv.error < 0 && pv.error != -ENOENT) {
                        view->unreadable = source;
                        view->read_error = pv.error;
                }
                if (pv.error == -ETIMEDOUT)
                        break;
                if (pv.metadata && streq(pv.metadata->vgid, vg->vgid) &&
                        (!view->metadata || pv.metadata->seqno > view->metadata->seqno)) {
                        if (view->metadata != vg)
                                vg_free(view->metadata);
                        view->metadata = TAKE_PTR(pv.metadata);
                }
        }
        if (view->metadata)
                return 0;

        r = sources_read_backup(sources, vg->name, &view->metadata);
        if (r >= 0 && !streq(view->metadata->vgid, vg->vgid))
                view->metadata = vg_free(view->metadata);
        return r == -ENOMEM ? r : 0;
}

/* ------ finding ------ */

/* If it is not found, returns 0 with no VG set. */
static int find(const struct sources *sources, const char *name, const char *vgid, struct vg_view *ret)
{
        /* The worker's records are stale if headgate is not in charge. */
        int r = sources->in_charge ? find_recorded(sources, name, vgid, ret) : 0;

        ret->recorded = ret->vg;
        if (r >= 0 && !ret->vg) {
                r = unrecorded_read(sources, name, &ret->vg);
                if (r < 0 || !is_wanted(ret->vg, vgid)) {
                        ret->vg = vg_free(ret->vg);
                        return r == -ENOENT ? 0 : r;
                }
                ret->metadata = ret->vg;
        }
        /* Do not wait for an unresponsive disk if the VG is active. */
        if (r >= 0 && (ret->vg->status != VG_STATUS_ACTIVE || ANY(FOREACH_LV(lv, ret->vg), !lv->active)))
                r = read_metadata(sources, ret);
        return r;
}

/* ------ disks without a record of the worker ------ */

static int find_on_disks(const struct sources *sources, const char *name, const char *vgid, struct vg_view *view)
{
        _cleanup_(sd_device_enumerator_unrefp) sd_device_enumerator *enumerator = NULL;
        int r = devices_with_signature_new("LVM2_member", &enumerator);

        if (r < 0)
                return r;
        FOREACH_UDEV_DEVICE(device, enumerator) {
                _cleanup_pv_ struct pv pv = {};
                struct vg_pv *unseen;
                const char *path;
                dev_t number;

                if (sd_device_get_devname(device, &path) < 0 || sd_device_get_devnum(device, &number) < 0 ||
                        (sources->in_charge && record_file_find(sources->records,
                                                       path_format("%u:%u", major(number), minor(number)).text)))
                        continue;
                r = pv_read(sources->root_fd, number, path, &pv);
                if (r < 0)
                        return r;
                unseen = pv.metadata ? vg_find_pv(pv.metadata, pv.pvid) : NULL;
                if (!unseen || !streq(pv.metadata->name, name) || !is_wanted(pv.metadata, vgid))
                        continue;
                view->vg = view->metadata = TAKE_PTR(pv.metadata);
                view->unseen = unseen;
                unseen->device = number;
                return string_replace(&unseen->device_name, strdup(path)) ?: unrecorded_judge(sources, view->vg);
        }
        return 0;
}

int vg_view_find(const struct sources *sources, const char *name, const char *vgid, struct vg_view *ret)
{
        int r = find(sources, name, vgid, ret);

        if (r >= 0 && !ret->vg && !root_is_chosen())
                r = find_on_disks(sources, name, vgid, ret);
        if (r >= 0 && !ret->vg) {
                r = unrecorded_new(sources, name, &ret->vg);
                if (r >= 0 && (ret->vg->n_lvs == 0 || !is_wanted(ret->vg, vgid)))
                        ret->vg = vg_free(ret->vg);
        }
        return r < 0 ? r : ret->vg != NULL;
}

void vg_view_done(struct vg_view *view)
{
        if (view->metadata != view->vg)
                vg_free(view->metadata);
        vg_free(view->vg);
        *view = (struct vg_view){};
}
