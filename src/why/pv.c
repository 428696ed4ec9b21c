/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "why/pv.h"

#include <fcntl.h>

#include "lvm/metadata_area.h"
#include "why/forerunner.h"

/* Returns 0 also for an area that cannot be used. */
static int read_area(int fd, const struct metadata_area *area, struct pv *pv)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        struct metadata_location location;
        _cleanup_free_ char *text = NULL;
        const char *reason = NULL;
        int r;

        r = metadata_area_read_location(fd, area, &location, &reason);
        pv->unused |= r == METADATA_AREA_EMPTY;
        if (r == METADATA_AREA_EMPTY || r == METADATA_AREA_IGNORED)
                return 0;
        if (r >= 0)
                r = metadata_area_read_text(fd, area, &location, &text, &reason);
        if (r >= 0)
                r = metadata_parse(text, &metadata, &reason);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                pv->damage = reason ?: "it cannot be read";
                return 0;
        }
        if (!pv->metadata || metadata->seqno > pv->metadata->seqno) {
                metadata_free(pv->metadata);
                pv->metadata = TAKE_PTR(metadata);
        }
        return 0;
}

static int read_pv(const char *path, struct pv *ret)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        _cleanup_pv_ struct pv pv = {};
        int r;

        *ret = (struct pv){};
        if (fd < 0) {
                ret->error = -errno;
                return 0;
        }
        r = label_read(fd, &pv.label, &pv.damage);
        if (r < 0 && !pv.damage)
                pv.error = r;
        pv.found = r == LABEL_FOUND;
        for (size_t i = 0; pv.found && i < pv.label.n_metadata_areas; i++) {
                r = read_area(fd, &pv.label.metadata_areas[i], &pv);
                if (r < 0)
                        return r;
        }
        *ret = pv;
        pv = (struct pv){};
        return 0;
}

static void read_for_the_cache(const char *path)
{
        _cleanup_pv_ struct pv pv = {};

        (void) open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        (void) read_pv(path, &pv);
}

int pv_read(const char *path, struct pv *ret)
{
        _cleanup_forerunner_ struct forerunner forerunner = {};
        int r;

        *ret = (struct pv){};
        r = forerunner_start(&forerunner, read_for_the_cache, path);
        if (r >= 0)
                return read_pv(path, ret);
        ret->error = r;
        return 0;
}

const char *pv_describe_error(const struct pv *pv)
{
        return pv->error == -ETIMEDOUT ? "it does not answer" : strerror(-pv->error);
}

void pv_done(struct pv *pv)
{
        metadata_free(pv->metadata);
        *pv = (struct pv){};
}
