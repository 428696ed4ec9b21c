/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The survey of all PVs for "headgate metadata": finds devices by udev, reads their metadata, and recommends a
 * number of copies. */

#include "copies/copies.h"

#include <systemd/sd-device.h>

#include "inventory/vg-record.h"
#include "reader/pv.h"
#include "reader/reader.h"
#include "shared/dm.h"
#include "shared/log.h"

/* VGs of at most this many PVs may have a copy on each. */
#define PVS_FEW 20U

/* ------ devices ------ */

static bool is_used_by_lvm2(sd_device *device)
{
        const char *path, *uuid;

        if (sd_device_get_property_value(device, "DM_MULTIPATH_DEVICE_PATH", &path) >= 0 && streq(path, "1"))
                return false;
        return sd_device_get_property_value(device, "DM_UUID", &uuid) < 0 || !skip_prefix(uuid, LVM_UUID_PREFIX) ||
               config_ask("devices/scan_lvs", false);
}

int copies_find_devices(struct strv *names)
{
        _cleanup_(sd_device_enumerator_unrefp) sd_device_enumerator *enumerator = NULL;
        int r = devices_with_signature_new("LVM2_member", &enumerator);

        if (r < 0)
                return r;
        FOREACH_UDEV_DEVICE(device, enumerator) {
                const char *name;

                if (r >= 0 && sd_device_get_devname(device, &name) >= 0 && is_used_by_lvm2(device))
                        r = strv_add(names, name);
        }
        return MIN(r, 0);
}

/* ------ the survey ------ */

static struct surveyed_vg *find_or_add_vg(struct survey *survey, const char *vgid)
{
        FOREACH_ARRAY(vg, survey->vgs, survey->n_vgs)
                if (streq(vg->metadata->vgid, vgid))
                        return vg;
        if (!GREEDY_REALLOC(survey->vgs, survey->n_vgs + 1))
                return NULL;
        survey->vgs[survey->n_vgs] = (struct surveyed_vg){};
        return &survey->vgs[survey->n_vgs++];
}

static int take_copy(struct survey *survey, struct copies *copies, const struct reader_copy *copy)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        struct surveyed_vg *vg;
        int r = copy->error;

        /* Without facts, the text was read before. */
        if (r >= 0 && copy->facts)
                r = facts_read(copy->facts, copy->facts_size, &metadata);
        if (r == -ENOMEM && copy->error >= 0)
                return r;
        copies->n_used += r >= 0;
        if (!metadata)
                return 0;
        vg = find_or_add_vg(survey, metadata->vgid);
        if (!vg)
                return -ENOMEM;
        if (vg->metadata && vg->metadata->seqno >= metadata->seqno)
                return 0;
        vg_free(vg->metadata);
        vg->name = metadata->name;
        vg->metadata = TAKE_PTR(metadata);
        vg->text_size = copy->text.size;
        return 0;
}

static int take_result(const struct reader_result *result, void *userdata)
{
        struct survey *survey = userdata;
        struct copies *copies = &survey->pvs[survey->n_pvs];
        int r = 0;

        if (result->error < 0 && result->error != -EBADMSG)
                log_warning("Failed to read %s%s: %s.", result->name,
                        result->error == -ETIMEDOUT ? "" : ", ignoring it", reader_describe_error(result->error));
        if (result->error == -ETIMEDOUT)
                return result->error;
        if (result->error < 0 || isempty(result->pvid) || dm_hash_lookup(survey->pvs_by_id, result->pvid))
                return 0;

        if (!dm_hash_insert(survey->pvs_by_id, result->pvid, copies))
                return -ENOMEM;
        survey->n_pvs++;
        copies->n_ignored = result->n_ignored;
        for (size_t i = 0; r >= 0 && i < result->n_copies; i++)
                r = take_copy(survey, copies, &result->copies[i]);
        return r;
}

/* Counts by the PVs in the metadata, including those without copies. */
static void count_copies(const struct survey *survey, struct surveyed_vg *vg)
{
        FOREACH_PV(pv, vg->metadata) {
                const struct copies *copies = dm_hash_lookup(survey->pvs_by_id, pv->pvid);

                if (!copies)
                        continue;
                vg->n_seen++;
                vg->copies.n_used += copies->n_used;
                vg->copies.n_ignored += copies->n_ignored;
        }
}

int survey_make(struct survey *survey, char *const paths[], size_t n)
{
        int r;

        /* Allocated once: pointers to PVs must stay valid. */
        survey->pvs = calloc(n + 1, sizeof(*survey->pvs));
        survey->pvs_by_id = dm_hash_create(n + 64);
        if (!survey->pvs || !survey->pvs_by_id)
                return -ENOMEM;
        r = devices_read(paths, n, take_result, survey);
        if (r < 0)
                return r;
        FOREACH_ARRAY(vg, survey->vgs, survey->n_vgs)
                count_copies(survey, vg);
        SORT(survey->vgs, survey->n_vgs, compare_strings);
        return n > 0 && survey->n_pvs == 0 ? -ENODATA : 0;
}

void survey_done(struct survey *survey)
{
        FOREACH_ARRAY(vg, survey->vgs, survey->n_vgs)
                vg_free(vg->metadata);
        dm_hash_destroyp(&survey->pvs_by_id);
        free(survey->pvs);
        free(survey->vgs);
        *survey = (struct survey){};
}

/* ------ the recommended number ------ */

int copies_recommend(
        const struct surveyed_vg *vg, const struct system_id *host, size_t *ret_copies, char **ret_reason)
{
        const struct vg *metadata = vg->metadata;
        const char *lock_type = metadata->lock_type ?: metadata->clustered ? "clvmd" : NULL;
        bool is_foreign = system_id_is_foreign(host, metadata->system_id);
        size_t n_used = vg->copies.n_used, n_areas = n_used + vg->copies.n_ignored;

        *ret_copies = 0;
        if (lock_type)
                *ret_reason = string_format("it is shared by several hosts (lock type %s)", lock_type);
        else if (is_foreign)
                *ret_reason = string_format("it belongs to another host (system ID %s)", metadata->system_id);
        else if (n_areas < 2)
                *ret_reason = strdup("no other PV has room for a copy");
        else if (n_used < 2) {
                *ret_copies = MIN(n_areas, (size_t) COPIES_ENOUGH);
                *ret_reason = string_format("with %zu in use, one failed disk can lose the metadata", n_used);
        } else if (metadata->n_pvs <= PVS_FEW || n_used <= COPIES_ENOUGH)
                *ret_reason = string_format("%zu copies survive the loss of any %zu disks", n_used, n_used - 1);
        else {
                *ret_copies = COPIES_ENOUGH;
                *ret_reason =
                        string_format("each lvm2 command reads %zu copies; %u survive the loss of any %u disks",
                                n_used, COPIES_ENOUGH, COPIES_ENOUGH - 1);
        }
        return *ret_reason ? lock_type || is_foreign : -ENOMEM;
}
