/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How long it takes to read copies of metadata. */

#include <fcntl.h>

#include "copies/survey.h"
#include "shared/util.h"

static int open_uncached(const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

        if (fd < 0)
                return -errno;
        /* Without reading ahead, which would bring the text with the header. Where the kernel does not do
         * these, what is measured is faster than lvm2, which reads past the cache. */
        (void) posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
        (void) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        return fd;
}

/* Reads the PV, and of its copies as many as are left in `*n_copies`. What has been written since the survey is
 * not waited for. */
static int read_pv(int fd, const struct surveyed_pv *pv, size_t *n_copies)
{
        const char *reason = NULL;
        struct label label;
        int r;

        r = label_read(fd, &label, &reason);
        for (size_t i = 0; r >= 0 && i < pv->n_areas; i++) {
                const struct surveyed_area *area = &pv->areas[i];
                struct metadata_location location;
                _cleanup_free_ char *text = NULL;

                if (area->state < 0)
                        continue;
                r = metadata_area_read_location(fd, &area->area, &location, &reason);
                if (r != METADATA_AREA_FOUND || *n_copies == 0)
                        continue;
                r = metadata_area_read_text(fd, &area->area, &location, &text, &reason);
                --*n_copies;
        }
        return r < 0 ? r : 0;
}

int survey_measure(const struct surveyed_vg *vg, size_t n_copies, uint64_t *ret_usec)
{
        uint64_t usec = 0;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < vg->n_seen; i++) {
                _cleanup_close_ int fd = open_uncached(vg->pvs[i]->path);
                uint64_t begin = now_usec();

                r = fd < 0 ? fd : read_pv(fd, vg->pvs[i], &n_copies);
                usec += now_usec() - begin;
        }
        *ret_usec = usec;
        return r;
}
