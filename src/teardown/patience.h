/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/job.h"

/* Whether it makes sense to wait any longer: at shutdown something that is in use may be let go as long as systemd
 * is still stopping a unit, a service or a mount; on a running machine nobody is going to. systemd is asked by
 * "systemctl list-jobs", and only while there is nothing else to do. */

enum patience_answer {
        PATIENCE_UNKNOWN,  /* not asked yet, or the answer is on its way or too old */
        PATIENCE_SOMEBODY, /* units are being stopped; to be asked again later */
        PATIENCE_NOBODY,   /* what is in use stays in use */
};

struct patience {
        enum patience_answer answer;
        struct job *question;
        uint64_t next_usec;  /* when to ask again; 0 if it was never asked */
        uint64_t pause_usec; /* between questions, longer and longer */
        int (*on_answer)(void *userdata);
        void *userdata;
};

/* Asks, if it is time and no question is under way; `on_answer` is called from the event loop. What cannot be
 * asked counts as nobody. Returns 0 or a negative errno. */
int patience_ask(struct patience *patience, sd_event *event) _nonnull_(1, 2) _must_check_;

/* Something has gone: whoever could let go of something may be another one now. Not for those that only ever
 * have one answer, without a function to call. */
void patience_renew(struct patience *patience) _nonnull_(1);

/* When patience_ask() is to be called again, as by now_usec(); USEC_INFINITY if not before an answer. */
uint64_t patience_next_usec(const struct patience *patience) _nonnull_(1);

/* Whether `output` of "systemctl list-jobs --plain --no-legend" has a unit that is being stopped right now, other
 * than headgate's own that do what we do. A unit that is to be stopped later waits for one that is, or for us. */
bool patience_output_has_job(const char *output) _nonnull_(1);

void patience_done(struct patience *patience) _nonnull_(1);
