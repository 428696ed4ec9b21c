/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The metrics of a machine: of its VGs at one moment, and of its boot. */

#include "report/openmetrics.h"

#include <inttypes.h>

#include "shared/flags.h"
#include "shared/util.h"
#include "timeline/timeline.h"

/* ------ reading. These return 0 or a negative errno ------ */

static int add_boot(const struct sources *sources, struct metrics *metrics)
{
        _cleanup_timeline_ struct timeline timeline = {};
        _cleanup_plan_ struct plan plan = {};
        uint64_t pause_usec = 0;
        int r = claims_find(sources, &plan);

        FOREACH_ARRAY(vg, sources->vgs, sources->n_vgs)
                r = r < 0 ? r : timeline_add_vg(&timeline, *vg);
        r = r < 0 ? r : timeline_find_pause(&timeline, &pause_usec);
        for (size_t i = 0; r >= 0 && i < timeline.n; i++) {
                const struct timeline_bar *bar = &timeline.bars[i];
                const struct vg *vg = sources->vgs[i];
                const struct planned_vg *planned = plan_find(&plan, vg->name);
                uint64_t end = timeline_end_usec(bar);

                if (vg->first.settled_usec == 0 || end > pause_usec)
                        continue;
                metrics->all_usec = MAX(metrics->all_usec, end);
                if ((planned && planned->needed) || strv_has(&sources->settings.boot_vgs, vg->name))
                        metrics->needed_usec = MAX(metrics->needed_usec, end);
        }
        return r;
}

/* The duration of the last activation; 0 if unknown. */
static uint64_t activation_usec(const struct vg *vg)
{
        return usec_between(vg->complete_usec, vg->settled_usec);
}

int metrics_read(const struct sources *sources, struct metrics *ret)
{
        _cleanup_free_ char *failures = NULL;

        ret->in_charge = sources->in_charge;
        if (sources->run_fd >= 0 && read_file_at(sources->run_fd, FLAGS_FAILURES, &failures, NULL) >= 0)
                (void) !parse_u64(failures, &ret->n_failures);
        FOREACH_ARRAY(element, sources->vgs, sources->n_vgs) {
                const struct vg *vg = *element;

                if (!snapshot_is_current(sources, vg))
                        continue;
                ret->n_in_state[vg->status]++;
                ret->n_overdue += vg->overdue && vg->status <= VG_STATUS_ACTIVATING;
                ret->n_missing_pvs += vg_count(vg).missing;
                /* An invalid name could break the line. */
                if (activation_usec(vg) > 0 && vg->status != VG_STATUS_SKIPPED && vg_name_is_valid(vg->name) &&
                        APPEND(ret->activated, ret->n_activated, vg) < 0)
                        return -ENOMEM;
        }
        return sources->in_charge ? add_boot(sources, ret) : 0;
}

void metrics_done(struct metrics *metrics)
{
        free(metrics->activated);
}

/* ------ printing ------ */

#define PREFIX "headgate_"

static void print_head(FILE *file, const char *name, const char *unit, const char *help)
{
        fprintf(file, "# TYPE " PREFIX "%s gauge\n", name);
        if (unit)
                fprintf(file, "# UNIT " PREFIX "%s %s\n", name, unit);
        fprintf(file, "# HELP " PREFIX "%s %s\n", name, help);
}

static void print_number(FILE *file, const char *name, const char *help, uint64_t number)
{
        print_head(file, name, NULL, help);
        fprintf(file, PREFIX "%s %" PRIu64 "\n", name, number);
}

/* Microseconds as seconds, as part of a format, and its arguments. */
#define SECONDS "%" PRIu64 ".%06" PRIu64 "\n"
#define SECONDS_ARGUMENTS(usec) (usec) / USEC_PER_SEC, (usec) % USEC_PER_SEC

/* An unknown time has no line. */
static void print_seconds(FILE *file, const char *name, const char *help, uint64_t usec)
{
        if (usec == 0)
                return;
        print_head(file, name, "seconds", help);
        fprintf(file, PREFIX "%s " SECONDS, name, SECONDS_ARGUMENTS(usec));
}

static void print_activations(FILE *file, const struct metrics *metrics)
{
        uint64_t sum = 0;

        FOREACH_ARRAY(vg, metrics->activated, metrics->n_activated)
                sum += activation_usec(*vg);
        print_seconds(file, "activations_seconds",
                "Sum of the durations of the last activation of each volume group.", sum);
        if (metrics->n_activated > METRICS_VGS_MAX || metrics->n_activated == 0)
                return;
        print_head(file, "activation_seconds", "seconds",
                "Duration of the last activation, from when all physical volumes were there.");
        FOREACH_ARRAY(vg, metrics->activated, metrics->n_activated)
                fprintf(file, PREFIX "activation_seconds{vg=\"%s\",uuid=\"%s\"} " SECONDS, (*vg)->name,
                        LVM_ID_TO_STRING((*vg)->vgid), SECONDS_ARGUMENTS(activation_usec(*vg)));
}

char *metrics_format(const struct metrics *metrics)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);

        if (!file)
                return NULL;
        print_number(file, "in_charge", "Whether headgate activates volume groups, not lvm2's udev rule.",
                metrics->in_charge);
        print_head(file, "volume_groups", NULL, "Number of volume groups in each state of headgate status.");
        for (enum vg_status state = 0; state < _VG_STATUS_MAX; state++)
                fprintf(file, PREFIX "volume_groups{state=\"%s\"} %zu\n", vg_status_to_string(state),
                        metrics->n_in_state[state]);
        print_number(file, "overdue_volume_groups", "Number of volume groups not active at their deadline.",
                metrics->n_overdue);
        print_number(
                file, "missing_physical_volumes", "Number of missing physical volumes.", metrics->n_missing_pvs);
        print_number(file, "worker_failures",
                "Number of failures of the worker since it last settled a volume group.", metrics->n_failures);
        print_seconds(file, "boot_all_active_seconds",
                "Time from kernel start until the last volume group was active.", metrics->all_usec);
        print_seconds(file, "boot_needed_active_seconds",
                "Time from kernel start until all volume groups that boot waits for were active.",
                metrics->needed_usec);
        print_activations(file, metrics);
        fputs("# EOF\n", file);
        return memstream_finish(&stream);
}
