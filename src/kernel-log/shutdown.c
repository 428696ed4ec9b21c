/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A shutdown of devices by the kernel. */

#include "kernel-log/shutdown.h"

#include "shared/util.h"

/* With a gap below this part of the median, the kernel did not wait for the device. */
#define PARALLEL_FACTOR 10

/* More than any machine has, and few enough to compare all pairs. */
#define DEVICES_MAX 16384

int kernel_shutdown_add(struct kernel_shutdown *shutdown, const char *name, uint64_t usec)
{
        struct kernel_device *device;

        if (shutdown->n == DEVICES_MAX)
                return -E2BIG;
        if (!GREEDY_REALLOC(shutdown->devices, shutdown->n + 1))
                return -ENOMEM;
        device = &shutdown->devices[shutdown->n];
        *device = (struct kernel_device){.name = strdup(name), .began_usec = usec, .place = shutdown->n++};
        return device->name ? 0 : -ENOMEM;
}

/* CPUs may log in another order than that of their timestamps. */
static int compare_starts(const void *a, const void *b)
{
        const struct kernel_device *left = a, *right = b;

        return CMP(left->began_usec, right->began_usec) ?: CMP(left->place, right->place);
}

int kernel_shutdown_finish(struct kernel_shutdown *shutdown, uint64_t end_usec)
{
        struct kernel_device *devices = shutdown->devices;
        const size_t n = shutdown->n;
        _cleanup_free_ uint64_t *gaps = calloc(n + 1, sizeof(*gaps));
        uint64_t begin_usec, usual_usec;

        if (n == 0 || !gaps)
                return n == 0 ? -ENODATA : -ENOMEM;
        SORT(devices, n, compare_starts);
        begin_usec = devices[0].began_usec;
        end_usec = MAX(end_usec, devices[n - 1].began_usec);
        shutdown->total_usec = end_usec - begin_usec;
        for (size_t i = 0; i < n; i++) {
                uint64_t next_usec = i + 1 < n ? devices[i + 1].began_usec : end_usec;

                gaps[i] = devices[i].gap_usec = next_usec - devices[i].began_usec;
                devices[i].began_usec -= begin_usec;
        }

        SORT(gaps, n, compare_numbers);
        usual_usec = gaps[(n - 1) / 2];
        for (size_t i = n; i-- > 0;) {
                bool with_next = i + 1 < n && devices[i].gap_usec < usual_usec / PARALLEL_FACTOR;
                bool with_last = i > 0 && devices[i - 1].gap_usec < usual_usec / PARALLEL_FACTOR;

                devices[i].parallel = with_next || with_last;
                devices[i].took_usec = devices[i].gap_usec + (with_next ? devices[i + 1].took_usec : 0);
        }
        return 0;
}

void kernel_shutdown_done(struct kernel_shutdown *shutdown)
{
        FOREACH_ARRAY(device, shutdown->devices, shutdown->n)
                free(device->name);
        free(shutdown->devices);
        *shutdown = (struct kernel_shutdown){};
}
