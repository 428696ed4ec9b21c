/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "reader/pv.h"

#include <sys/stat.h>

#include "reader/facts.h"
#include "reader/reader.h"
#include "shared/util.h"

/* Somebody sits in front of a terminal. A disk that has to spin up takes longer, and is slow to answer anyway. */
#define PATIENCE_USEC (3 * USEC_PER_SEC)

struct question {
        struct pv *pv;
        bool answered;
};

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
        struct question *question = userdata;
        struct pv *pv = question->pv;

        question->answered = true;
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

static int on_progress(_unused_ void *userdata)
{
        return 0;
}

static bool is_known(_unused_ uint64_t size, _unused_ uint32_t checksum, _unused_ void *userdata)
{
        return false;
}

/* Until there is an answer, or time is up. */
static int wait_for_answer(sd_event *event, const struct question *question)
{
        uint64_t limit = now_usec() + PATIENCE_USEC;

        for (uint64_t now = now_usec(); !question->answered; now = now_usec()) {
                int r = now < limit ? sd_event_run(event, limit - now) : -ETIMEDOUT;

                if (r < 0)
                        return r;
        }
        return 0;
}

DEFINE_CLEANUP(struct readers *, readers_free)

int pv_read(const char *path, struct pv *ret)
{
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        _cleanup_(readers_freep) struct readers *readers = NULL;
        _cleanup_reading_ struct reading reading = {};
        struct question question = {.pv = ret};
        struct stat status;
        int r;

        *ret = (struct pv){};
        if (stat(path, &status) < 0) {
                ret->error = -errno;
                return 0;
        }
        r = sd_event_new(&event);
        if (r >= 0)
                r = readers_new(event, is_known, on_result, on_progress, &question, &readers);
        if (r >= 0)
                r = reading_add(&reading, status.st_rdev, path);
        if (r >= 0)
                r = readers_start(readers, READER_READ, &reading);
        if (r >= 0)
                r = wait_for_answer(event, &question);
        if (r < 0 && r != -ENOMEM)
                ret->error = r;
        return r == -ENOMEM ? r : 0;
}

const char *pv_describe_error(const struct pv *pv)
{
        return pv->error == -ETIMEDOUT ? "it does not answer"
               : pv->error == -EFAULT  ? "what is on it made the reader crash"
                                       : strerror(-pv->error);
}

void pv_done(struct pv *pv)
{
        metadata_free(pv->metadata);
        free(pv->damage);
        *pv = (struct pv){};
}
