/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "reader/pv.h"

#include "reader/facts.h"
#include "shared/util.h"

static int note_damage(struct pv *pv, const char *reason)
{
        return string_replace(&pv->damage, strdup(reason[0] != '\0' ? reason : "it cannot be read"));
}

static int take_copy(const struct reader_copy *copy, struct pv *pv)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        int r;

        /* Another copy of what was read from the first area. */
        if (copy->error == 0 && !copy->facts)
                return 0;
        r = copy->error < 0 ? copy->error : facts_read(copy->facts, copy->facts_size, &metadata);
        if (r < 0 || !metadata)
                return note_damage(pv, copy->reason);
        if (!pv->metadata || metadata->seqno > pv->metadata->seqno) {
                metadata_free(pv->metadata);
                pv->metadata = TAKE_PTR(metadata);
        }
        return 0;
}

static int on_result(const struct reader_result *result, void *userdata)
{
        struct pv *pv = userdata;

        if (result->error == -EBADMSG)
                return note_damage(pv, result->reason);
        pv->error = result->error;
        pv->found = result->pvid[0] != '\0';
        pv->unused = result->empty;
        memcpy(pv->pvid, result->pvid, sizeof(pv->pvid));
        for (size_t i = 0; i < result->n_copies; i++) {
                int r = take_copy(&result->copies[i], pv);

                if (r < 0)
                        return r;
        }
        return 0;
}

int pv_read(const char *path, struct pv *ret)
{
        int r;

        *ret = (struct pv){};
        r = devices_read(READER_READ, &(char *){(char *) path}, 1, on_result, ret);
        if (r < 0 && r != -ENOMEM)
                ret->error = r;
        return r == -ENOMEM ? r : 0;
}

void pv_done(struct pv *pv)
{
        metadata_free(pv->metadata);
        free(pv->damage);
        *pv = (struct pv){};
}
