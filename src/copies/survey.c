/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "copies/survey.h"

#include <fcntl.h>
#include <libdevmapper.h>

/* Of so many PVs the next ones are being read while one is looked at: disks that turn take 10 ms each. */
#define PVS_AHEAD 64

/* Labels are within the first two KiB, and where lvm2 makes a metadata area at the beginning, its header follows
 * after four. */
#define AHEAD_SIZE 8192

/* What is known while the PVs are read. */
struct reading {
        struct survey *survey;
        struct dm_hash_table *texts; /* by size and checksum */
        struct dm_hash_table *pvs;   /* by identifier */
};

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

/* Each text is read once, wherever else it is. Returns 0 also for one that is damaged, of which the area tells. */
static int read_text(struct reading *reading, int fd, struct surveyed_area *area)
{
        const uint64_t key[] = {area->location.size, area->location.checksum};
        _cleanup_metadata_ struct metadata *metadata = NULL;
        _cleanup_free_ char *text = NULL;
        const char *reason;
        int r;

        if (dm_hash_lookup_binary(reading->texts, key, sizeof(key)))
                return 0;
        r = metadata_area_read_text(fd, &area->area, &area->location, &text, &reason);
        if (r >= 0)
                r = metadata_parse(text, &metadata, &reason);
        if (r < 0 && r != -ENOMEM) {
                area->state = r;
                return 0;
        }
        if (r >= 0)
                r = take_metadata(reading->survey, metadata, area->location.size);
        if (r < 0)
                return r;
        TAKE_PTR(metadata);
        return dm_hash_insert_binary(reading->texts, key, sizeof(key), reading->survey) ? 0 : -ENOMEM;
}

/* ------ PVs ------ */

static int read_areas(struct reading *reading, int fd, const struct label *label, struct surveyed_pv *pv)
{
        const char *reason;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < label->n_metadata_areas; i++) {
                struct surveyed_area *area = &pv->areas[pv->n_areas++];

                area->area = label->metadata_areas[i];
                area->state = metadata_area_read_location(fd, &area->area, &area->location, &reason);
                if (area->state == METADATA_AREA_FOUND)
                        r = read_text(reading, fd, area);
        }
        return r;
}

/* Returns a descriptor, or a negative errno. */
static int open_ahead(const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

        if (fd < 0)
                return -errno;
        (void) posix_fadvise(fd, 0, AHEAD_SIZE, POSIX_FADV_WILLNEED);
        return fd;
}

/* `fd` is a descriptor, or a negative errno. */
static int read_pv(struct reading *reading, const char *path, int fd)
{
        struct survey *survey = reading->survey;
        struct surveyed_pv *pv = &survey->pvs[survey->n_pvs];
        const char *reason = NULL;
        struct label label;
        int r;

        r = fd < 0 ? fd : label_read(fd, &label, &reason);
        if (r < 0 && !reason)
                survey->error = r;
        if (r != LABEL_FOUND || dm_hash_lookup(reading->pvs, label.pvid))
                return 0;

        *pv = (struct surveyed_pv){.path = strdup(path)};
        if (!pv->path || !dm_hash_insert(reading->pvs, label.pvid, pv)) {
                free(pv->path);
                return -ENOMEM;
        }
        memcpy(pv->pvid, label.pvid, sizeof(pv->pvid));
        survey->n_pvs++;
        return read_areas(reading, fd, &label, pv);
}

static int read_pvs(struct reading *reading, char *const paths[], size_t n)
{
        int fds[PVS_AHEAD], r = 0;

        for (size_t i = 0; i < MIN(n, (size_t) PVS_AHEAD); i++)
                fds[i] = open_ahead(paths[i]);
        for (size_t i = 0; i < n; i++) {
                int *fd = &fds[i % PVS_AHEAD];

                if (r >= 0)
                        r = read_pv(reading, paths[i], *fd);
                closep(fd);
                *fd = r >= 0 && i + PVS_AHEAD < n ? open_ahead(paths[i + PVS_AHEAD]) : -EBADF;
        }
        return r;
}

/* ------ VGs ------ */

static void count_copies(struct surveyed_vg *vg, const struct surveyed_pv *pv)
{
        for (size_t i = 0; i < pv->n_areas; i++) {
                vg->n_used += pv->areas[i].state == METADATA_AREA_FOUND;
                vg->n_ignored += pv->areas[i].state == METADATA_AREA_IGNORED;
                vg->n_damaged += pv->areas[i].state < 0;
        }
}

/* The metadata tells which PVs there are, with copies or without. */
static int gather_pvs(const struct reading *reading, struct surveyed_vg *vg)
{
        vg->pvs = calloc(vg->metadata->n_pvs + 1, sizeof(struct surveyed_pv *));
        if (!vg->pvs)
                return -ENOMEM;
        for (size_t i = 0; i < vg->metadata->n_pvs; i++) {
                const struct surveyed_pv *pv = dm_hash_lookup(reading->pvs, vg->metadata->pvs[i].pvid);

                if (!pv)
                        continue;
                vg->pvs[vg->n_seen++] = pv;
                count_copies(vg, pv);
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

static int make(struct reading *reading, char *const paths[], size_t n)
{
        struct survey *survey = reading->survey;
        int r = read_pvs(reading, paths, n);

        for (size_t i = 0; r >= 0 && i < survey->n_vgs; i++)
                r = gather_pvs(reading, &survey->vgs[i]);
        if (r >= 0 && survey->n_vgs > 0)
                qsort(survey->vgs, survey->n_vgs, sizeof(*survey->vgs), compare_names);
        return r;
}

int survey_make(struct survey *survey, char *const paths[], size_t n)
{
        struct reading reading = {survey, dm_hash_create(64), dm_hash_create(n + 64)};
        int r = -ENOMEM;

        /* PVs stay where they are. */
        survey->pvs = calloc(n + 1, sizeof(*survey->pvs));
        if (survey->pvs && reading.texts && reading.pvs)
                r = make(&reading, paths, n);
        if (reading.texts)
                dm_hash_destroy(reading.texts);
        if (reading.pvs)
                dm_hash_destroy(reading.pvs);
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
