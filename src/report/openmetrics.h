/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/snapshot.h"

/* headgate status --openmetrics: what a monitoring system wants to know of a machine. Read as OpenMetrics, and by older programs as
 * Prometheus's text format: all metrics are gauges, which look the same in both. */

/* Of more VGs there is only the sum of their durations. */
#define METRICS_VGS_MAX 1000

/* How long the last activation of a VG took. */
struct activation {
        const char *vg; /* of the sources */
        char uuid[LVM_ID_FORMATTED_SIZE];
        uint64_t usec;
};

struct metrics {
        bool in_charge;
        size_t n_in_state[_VG_STATUS_MAX];
        size_t n_overdue, n_missing_pvs;
        uint64_t n_failures; /* of the worker, in a row */
        /* From the start of the kernel until all VGs that were activated at boot had their links, and until those had them that
         * boot waited for; 0 if there are none. */
        uint64_t all_usec, needed_usec;
        struct activation *activations; /* in the order of their names */
        size_t n_activations;
};

/* Makes them of the VGs of the sources, which have to be read. `*ret`, which starts empty, is to be emptied with metrics_done(), also
 * if it fails, and before the sources are. Returns 0 or a negative errno. */
int metrics_read(const struct sources *sources, struct metrics *ret) _nonnull_all_ _must_check_;

void metrics_done(struct metrics *metrics) _nonnull_all_;
#define _cleanup_metrics_ _cleanup_(metrics_done)

/* The text. Returns a string to be freed by the caller, or NULL without memory. */
char *metrics_format(const struct metrics *metrics) _nonnull_all_ _must_check_;
