/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The survey of all PVs that "headgate metadata" makes, in three steps: their devices by udev, their metadata by readers, and
 * the advice. */

#include "copies/copies.h"

#include <systemd/sd-device.h>

#include "reader/facts.h"
#include "reader/pv.h"
#include "reader/reader.h"
#include "shared/dm.h"
#include "shared/log.h"

/* VGs of up to so many PVs are well as they are: with a copy on each. */
#define PVS_FEW 20U

/* ------ devices ------ */

static bool is_used_by_lvm2(sd_device *device)
{
        const char *path, *uuid;

        if (sd_device_get_property_value(device, "DM_MULTIPATH_DEVICE_PATH", &path) >= 0 && streq(path, "1"))
                return false;
        return sd_device_get_property_value(device, "DM_UUID", &uuid) < 0 || !skip_prefix(uuid, LVM_UUID_PREFIX) ||
               configuration_scan_lvs() > 0;
}

int copies_find_devices(struct string_vector *names)
{
        _cleanup_(sd_device_enumerator_unrefp) sd_device_enumerator *enumerator = NULL;
        int r = pv_devices_new(&enumerator);

        for (sd_device *device = r >= 0 ? sd_device_enumerator_get_device_first(enumerator) : NULL; device;
                device = sd_device_enumerator_get_device_next(enumerator)) {
                const char *name;

                if (sd_device_get_devname(device, &name) >= 0 && is_used_by_lvm2(device))
                        r = string_vector_add(names, name);
                if (r < 0)
                        return r;
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

static int take_copy(struct survey *survey, struct surveyed_pv *pv, const struct reader_copy *copy)
{
        _cleanup_volume_group_ struct volume_group *metadata = NULL;
        struct surveyed_vg *vg;
        int r = copy->error;

        /* Without facts it is a text that was read before. */
        if (r >= 0 && copy->facts)
                r = facts_read(copy->facts, copy->facts_size, &metadata);
        if (r == -ENOMEM && copy->error >= 0)
                return r;
        pv->n_damaged += r < 0;
        pv->n_used += r >= 0;
        if (!metadata)
                return 0;
        vg = find_or_add_vg(survey, metadata->vgid);
        if (!vg)
                return -ENOMEM;
        if (vg->metadata && vg->metadata->seqno >= metadata->seqno)
                return 0;
        volume_group_free(vg->metadata);
        vg->metadata = TAKE_PTR(metadata);
        vg->text_size = copy->size;
        return 0;
}

static int log_unreadable(const struct reader_result *result)
{
        log_error("Failed to read %s: %s.", result->name, reader_describe_error(result->error));
        return result->error;
}

static int take_result(const struct reader_result *result, void *userdata)
{
        struct survey *survey = userdata;
        struct surveyed_pv *pv = &survey->pvs[survey->n_pvs];
        int r = 0;

        if (result->error == -ETIMEDOUT)
                return log_unreadable(result);
        if (result->error < 0 && result->error != -EBADMSG) {
                log_warning(
                        "Failed to read %s, ignoring it: %s.", result->name, reader_describe_error(result->error));
                survey->error = result->error;
        }
        if (result->error < 0 || result->pvid[0] == '\0' || dm_hash_lookup(survey->pvs_by_id, result->pvid))
                return 0;

        *pv = (struct surveyed_pv){.path = strdup(result->name), .n_ignored = result->n_ignored};
        if (!pv->path || !dm_hash_insert(survey->pvs_by_id, result->pvid, pv)) {
                free(pv->path);
                return -ENOMEM;
        }
        survey->n_pvs++;
        for (size_t i = 0; r >= 0 && i < result->n_copies; i++)
                r = take_copy(survey, pv, &result->copies[i]);
        return r;
}

/* The metadata tells which PVs there are, with copies or without. */
static int gather_pvs(const struct survey *survey, struct surveyed_vg *vg)
{
        vg->pvs = calloc(vg->metadata->n_pvs + 1, sizeof(*vg->pvs));
        if (!vg->pvs)
                return -ENOMEM;
        FOREACH_PV(pv, vg->metadata) {
                struct surveyed_pv *seen = dm_hash_lookup(survey->pvs_by_id, pv->pvid);

                if (!seen)
                        continue;
                vg->pvs[vg->n_seen++] = seen;
                vg->n_used += seen->n_used;
                vg->n_ignored += seen->n_ignored;
                vg->n_damaged += seen->n_damaged;
        }
        return 0;
}

static int compare_names(const void *a, const void *b)
{
        const struct surveyed_vg *left = a, *right = b;

        return strcmp(left->metadata->name, right->metadata->name)
                       ?: strcmp(left->metadata->vgid, right->metadata->vgid);
}

int survey_make(struct survey *survey, char *const paths[], size_t n)
{
        int r;

        /* PVs stay where they are. */
        survey->pvs = calloc(n + 1, sizeof(*survey->pvs));
        survey->pvs_by_id = dm_hash_create(n + 64);
        if (!survey->pvs || !survey->pvs_by_id)
                return -ENOMEM;
        r = devices_read(READER_READ, paths, n, take_result, survey);
        for (size_t i = 0; r >= 0 && i < survey->n_vgs; i++)
                r = gather_pvs(survey, &survey->vgs[i]);
        if (r >= 0)
                SORT(survey->vgs, survey->n_vgs, compare_names);
        return r;
}

void survey_done(struct survey *survey)
{
        FOREACH_ARRAY(pv, survey->pvs, survey->n_pvs)
                free(pv->path);
        FOREACH_ARRAY(vg, survey->vgs, survey->n_vgs) {
                volume_group_free(vg->metadata);
                free(vg->pvs);
        }
        if (survey->pvs_by_id)
                dm_hash_destroy(survey->pvs_by_id);
        free(survey->pvs);
        free(survey->vgs);
        *survey = (struct survey){};
}

const struct surveyed_vg *survey_find(const struct survey *survey, const char *name)
{
        FOREACH_ARRAY(vg, survey->vgs, survey->n_vgs)
                if (streq(vg->metadata->name, name))
                        return vg;
        return NULL;
}

/* ------ time ------ */

static int take_time(const struct reader_result *result, void *userdata)
{
        struct survey *survey = userdata;
        struct surveyed_pv *pv = dm_hash_lookup(survey->pvs_by_id, result->pvid);

        if (result->error < 0)
                return log_unreadable(result);
        /* Another disk has that name by now. */
        if (!pv)
                return 0;
        pv->read_usec = result->usec;
        pv->n_read = 0;
        for (size_t i = 0; i < result->n_copies; i++)
                if (result->copies[i].error >= 0)
                        pv->copy_read_usec[pv->n_read++] = result->copies[i].usec;
        return 0;
}

int survey_measure(struct survey *survey, const struct surveyed_vg *const *vgs, size_t n)
{
        _cleanup_free_ char **paths = calloc(survey->n_pvs + 1, sizeof(*paths));
        size_t n_paths = 0;

        if (!paths)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                FOREACH_ARRAY(pv, vgs[i]->pvs, vgs[i]->n_seen) {
                        /* Two VGs may claim it. */
                        if (!(*pv)->measured)
                                paths[n_paths++] = (*pv)->path;
                        (*pv)->measured = true;
                }
        return devices_read(READER_MEASURE, paths, n_paths, take_time, survey);
}

uint64_t survey_read_usec(const struct surveyed_vg *vg, size_t n_copies)
{
        uint64_t usec = 0;

        FOREACH_ARRAY(pv, vg->pvs, vg->n_seen) {
                usec += (*pv)->read_usec;
                for (size_t i = 0; i < (*pv)->n_read && n_copies > 0; i++, n_copies--)
                        usec += (*pv)->copy_read_usec[i];
        }
        return usec;
}

/* ------ advice ------ */

size_t copies_fewer(const struct surveyed_vg *vg)
{
        return vg->n_used > COPIES_ENOUGH ? COPIES_ENOUGH : vg->n_used > 1 ? 1 : 0;
}

int copies_describe_refusal(const struct surveyed_vg *vg, const struct system_id *host, char **ret)
{
        const struct volume_group *metadata = vg->metadata;
        _cleanup_free_ char *text = NULL;

        *ret = NULL;
        if (metadata->clustered)
                text = strdup("it is clustered");
        else if (metadata->lock_type)
                text = string_format("it is shared with other hosts (lock_type %s)", metadata->lock_type);
        else if (system_id_is_foreign(host, metadata->system_id))
                text = string_format("it belongs to another host (system ID %s)", metadata->system_id);
        else
                return 0;
        *ret = text ? string_printable(text) : NULL;
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

int copies_advise(const struct surveyed_vg *vg, const struct system_id *host, const struct copies_cost *cost,
        size_t *ret_copies, char **ret_reason)
{
        _cleanup_free_ char *refusal = NULL;
        size_t n_areas = vg->n_used + vg->n_ignored;
        bool few_pvs = vg->metadata->n_pvs <= PVS_FEW;
        int r;

        *ret_copies = 0;
        r = copies_describe_refusal(vg, host, &refusal);
        if (r < 0)
                return r;
        if (refusal)
                *ret_reason = string_format("headgate leaves it alone: %s.", refusal);
        else if (vg->n_used < 2 && n_areas > 1) {
                *ret_copies = MIN(n_areas, (size_t) COPIES_ENOUGH);
                *ret_reason = strdup(
                        vg->n_used == 0 ? "None of its PVs that are there has a copy in use."
                                        : "There is one copy in use: with its disk the metadata would be lost.");
        } else if (vg->n_used < 2)
                *ret_reason =
                        strdup(vg->metadata->n_pvs < 2
                                        ? "It has one PV."
                                        : "There is one copy, and no other PV that is there has room for one.");
        else if (!few_pvs && vg->n_used > COPIES_ENOUGH) {
                *ret_copies = COPIES_ENOUGH;
                *ret_reason = explain_many(vg, cost);
        } else
                *ret_reason =
                        few_pvs ? string_format("With no more than %u PVs, copies cost little.", PVS_FEW)
                                : string_format("%zu copies are read fast, and outlive the loss of any %zu disks.",
                                          vg->n_used, vg->n_used - 1);
        return *ret_reason ? 0 : -ENOMEM;
}
