/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "view/snapshot.h"

/* headgate status --openmetrics: metrics for a monitoring system, as OpenMetrics. Older programs can read them as Prometheus's
 * text format: all metrics are gauges, which are the same in both. */

/* With more VGs, only the sum of their durations is printed. */
#define METRICS_VGS_MAX 1000

struct metrics {
        bool in_charge;
        size_t n_in_state[_VG_STATUS_MAX];
        size_t n_overdue, n_missing_pvs;
        uint64_t n_failures; /* of the worker, in a row */
        /* Times from kernel start until all VGs of this boot had their links, and until those that boot waited for had them; 0 if
         * there are none. */
        uint64_t all_usec, needed_usec;
        const struct vg **activated; /* VGs with a duration, in the order of their names; owned by the sources */
        size_t n_activated;
};

/* Makes metrics from the VGs of the sources, which have to be read. The caller empties `*ret` with metrics_done(), also if it
 * fails, and before the sources. Returns 0 or a negative errno. */
int metrics_read(const struct sources *sources, struct metrics *ret) _nonnull_all_ _must_check_;

void metrics_done(struct metrics *metrics) _nonnull_all_;
#define _cleanup_metrics_ _cleanup_(metrics_done)

/* Formats the metrics. Returns a string to be freed by the caller, or NULL without memory. */
char *metrics_format(const struct metrics *metrics) _nonnull_all_ _must_check_;
