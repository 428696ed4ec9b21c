/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "copies/survey.h"

#include <libdevmapper.h>

#include "reader/facts.h"
#include "reader/reader.h"
#include "shared/log.h"

/* ------ metadata ------ */

static struct surveyed_vg *find_by_id(const struct survey *survey, const char *vgid)
{
        for (size_t i = 0; i < survey->n_vgs; i++)
                if (streq(survey->vgs[i].metadata->vgid, vgid))
                        return &survey->vgs[i];
        return NULL;
}

/* Takes the metadata over, unless it fails. */
static int take_metadata(struct survey *survey, struct metadata *metadata, uint64_t size)
{
        struct surveyed_vg *vg = find_by_id(survey, metadata->vgid);

        if (!vg) {
                struct surveyed_vg *larger = reallocarray(survey->vgs, survey->n_vgs + 1, sizeof(*larger));

                if (!larger)
                        return -ENOMEM;
                survey->vgs = larger;
                vg = &survey->vgs[survey->n_vgs++];
                *vg = (struct surveyed_vg){};
        }
        if (vg->metadata && vg->metadata->seqno >= metadata->seqno) {
                metadata_free(metadata);
                return 0;
        }
        metadata_free(vg->metadata);
        vg->metadata = metadata;
        vg->text_size = size;
        return 0;
}

static int take_copy(struct survey *survey, struct surveyed_pv *pv, const struct reader_copy *copy)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        int r = copy->error;

        /* Without facts it is a text that was read before. */
        if (r >= 0 && copy->facts) {
                r = facts_read(copy->facts, copy->facts_size, &metadata);
                if (r == -ENOMEM)
                        return r;
        }
        pv->n_damaged += r < 0;
        pv->n_used += r >= 0;
        if (!metadata)
                return 0;
        r = take_metadata(survey, metadata, copy->size);
        if (r >= 0)
                TAKE_PTR(metadata);
        return r;
}

/* ------ PVs ------ */

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

/* ------ VGs ------ */

/* The metadata tells which PVs there are, with copies or without. */
static int gather_pvs(const struct survey *survey, struct surveyed_vg *vg)
{
        vg->pvs = calloc(vg->metadata->n_pvs + 1, sizeof(*vg->pvs));
        if (!vg->pvs)
                return -ENOMEM;
        for (size_t i = 0; i < vg->metadata->n_pvs; i++) {
                struct surveyed_pv *pv = dm_hash_lookup(survey->pvs_by_id, vg->metadata->pvs[i].pvid);

                if (!pv)
                        continue;
                vg->pvs[vg->n_seen++] = pv;
                vg->n_used += pv->n_used;
                vg->n_ignored += pv->n_ignored;
                vg->n_damaged += pv->n_damaged;
        }
        return 0;
}

static int compare_names(const void *a, const void *b)
{
        const struct surveyed_vg *left = a, *right = b;
        int order = strcmp(left->metadata->name, right->metadata->name);

        return order != 0 ? order : strcmp(left->metadata->vgid, right->metadata->vgid);
}

/* ------ the survey ------ */

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
        if (r >= 0 && survey->n_vgs > 0)
                qsort(survey->vgs, survey->n_vgs, sizeof(*survey->vgs), compare_names);
        return r;
}

void survey_done(struct survey *survey)
{
        for (size_t i = 0; i < survey->n_pvs; i++)
                free(survey->pvs[i].path);
        for (size_t i = 0; i < survey->n_vgs; i++) {
                metadata_free(survey->vgs[i].metadata);
                free(survey->vgs[i].pvs);
        }
        if (survey->pvs_by_id)
                dm_hash_destroy(survey->pvs_by_id);
        free(survey->pvs);
        free(survey->vgs);
        *survey = (struct survey){};
}

const struct surveyed_vg *survey_find(const struct survey *survey, const char *name)
{
        for (size_t i = 0; i < survey->n_vgs; i++)
                if (streq(survey->vgs[i].metadata->name, name))
                        return &survey->vgs[i];
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
        for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j < vgs[i]->n_seen; j++) {
                        struct surveyed_pv *pv = vgs[i]->pvs[j];

                        /* Two VGs may claim it. */
                        if (!pv->measured)
                                paths[n_paths++] = pv->path;
                        pv->measured = true;
                }
        }
        return devices_read(READER_MEASURE, paths, n_paths, take_time, survey);
}

uint64_t survey_read_usec(const struct surveyed_vg *vg, size_t n_copies)
{
        uint64_t usec = 0;

        for (size_t i = 0; i < vg->n_seen; i++) {
                const struct surveyed_pv *pv = vg->pvs[i];

                usec += pv->read_usec;
                for (size_t j = 0; j < pv->n_read && n_copies > 0; j++, n_copies--)
                        usec += pv->copy_read_usec[j];
        }
        return usec;
}
