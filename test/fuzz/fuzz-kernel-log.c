/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A kernel's log for "headgate shutdown-log": read at once, and in two pieces, of which the same has to come.
 * The first byte says where it is cut. Of a shutdown that is complete, the steps have to add up, and it is
 * compared with itself. */

#include "fuzz.h"
#include "kernel-log/log.h"

static int read_pieces(struct kernel_log *log, const char *text, size_t size, size_t cut)
{
        fuzz_check(kernel_log_add_text(log, text, cut) == 0);
        fuzz_check(kernel_log_add_text(log, text + cut, size - cut) == 0);
        return kernel_log_finish(log);
}

static void check_shutdown(const struct kernel_shutdown *shutdown)
{
        uint64_t sum = 0, unused;

        fuzz_check(shutdown->n > 0);
        for (size_t i = 0; i < shutdown->n; i++) {
                const struct kernel_device *device = &shutdown->devices[i];

                fuzz_check(device->driver && device->name);
                fuzz_check(i == 0 || device->began_usec >= shutdown->devices[i - 1].began_usec);
                fuzz_check(device->group <= i && shutdown->devices[device->group].group == device->group);
                fuzz_check(shutdown->devices[i].group_end > i);
                fuzz_check(shutdown->devices[i].took_usec <= shutdown->total_usec);
                fuzz_check(kernel_shutdown_measure_driver(shutdown, device->driver, &unused) > 0);
                sum += device->step_usec;
        }
        fuzz_check(sum == shutdown->total_usec);
}

static void check_same(const struct kernel_shutdown *a, const struct kernel_shutdown *b)
{
        fuzz_check(a->n == b->n && a->begin_usec == b->begin_usec && a->total_usec == b->total_usec);
        for (size_t i = 0; i < a->n; i++) {
                fuzz_check(streq(a->devices[i].driver, b->devices[i].driver));
                fuzz_check(streq(a->devices[i].name, b->devices[i].name));
                fuzz_check(a->devices[i].began_usec == b->devices[i].began_usec);
        }
}

static void check_comparison(const struct kernel_shutdown *a, const struct kernel_shutdown *b)
{
        _cleanup_kernel_comparison_ struct kernel_comparison comparison = {};

        fuzz_check(kernel_comparison_make(&comparison, a, b) == 0);
        fuzz_check(comparison.n_pairs == a->n);
        for (size_t i = 0; i < comparison.n_units; i++)
                fuzz_check(kernel_unit_difference(&comparison.units[i]) == 0);
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_kernel_log_ struct kernel_log whole = {}, pieces = {};
        _cleanup_free_ char *text = NULL;
        size_t cut;
        int verdict;

        if (size == 0)
                return 0;
        cut = data[0] * (size - 1) / UINT8_MAX;
        text = fuzz_text(data + 1, --size);
        verdict = read_pieces(&whole, text, size, 0);
        fuzz_check(verdict >= 0);
        fuzz_check(read_pieces(&pieces, text, size, cut) == verdict);
        if (verdict != KERNEL_LOG_COMPLETE)
                return 0;
        check_shutdown(&whole.shutdown);
        check_same(&whole.shutdown, &pieces.shutdown);
        check_comparison(&whole.shutdown, &pieces.shutdown);
        return 0;
}
