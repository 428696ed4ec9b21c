/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kernel-log/shutdown.h"

/* A device that is waited for is not done in so small a part of the usual time. */
#define PARALLEL_FACTOR 10

/* More than any machine has, and few enough for what takes the square of it. */
#define DEVICES_MAX 16384

int kernel_shutdown_add(struct kernel_shutdown *shutdown, const char *driver, const char *name, uint64_t usec)
{
        struct kernel_device device = {.began_usec = usec};

        if (shutdown->n == DEVICES_MAX)
                return -E2BIG;
        if (shutdown->n == shutdown->n_allocated) {
                size_t n = MAX(2 * shutdown->n, (size_t) 64);
                struct kernel_device *larger = reallocarray(shutdown->devices, n, sizeof(*larger));

                if (!larger)
                        return -ENOMEM;
                shutdown->devices = larger;
                shutdown->n_allocated = n;
        }
        device.driver = strdup(driver);
        device.name = strdup(name);
        shutdown->devices[shutdown->n++] = device;
        return device.driver && device.name ? 0 : -ENOMEM;
}

/* ------ what follows from the times ------ */

static int compare_beginnings(const void *a, const void *b)
{
        const struct kernel_device *left = a, *right = b;

        if (left->began_usec != right->began_usec)
                return left->began_usec < right->began_usec ? -1 : 1;
        return left->group < right->group ? -1 : left->group > right->group;
}

static int compare_usec(const void *a, const void *b)
{
        uint64_t left = *(const uint64_t *) a, right = *(const uint64_t *) b;

        return left < right ? -1 : left > right;
}

int kernel_shutdown_finish(struct kernel_shutdown *shutdown, uint64_t end_usec)
{
        struct kernel_device *devices = shutdown->devices;
        const size_t n = shutdown->n;
        _cleanup_free_ uint64_t *steps = calloc(n + 1, sizeof(*steps));
        uint64_t usual;

        if (n == 0 || !steps)
                return n == 0 ? -ENODATA : -ENOMEM;
        /* CPUs may write in another order than they took the time. What is equal stays in the order of the log. */
        for (size_t i = 0; i < n; i++)
                devices[i].group = i;
        qsort(devices, n, sizeof(*devices), compare_beginnings);
        shutdown->begin_usec = devices[0].began_usec;
        end_usec = MAX(end_usec, devices[n - 1].began_usec);
        shutdown->total_usec = end_usec - shutdown->begin_usec;
        for (size_t i = 0; i < n; i++) {
                uint64_t until = i + 1 < n ? devices[i + 1].began_usec : end_usec;

                steps[i] = devices[i].step_usec = until - devices[i].began_usec;
                devices[i].began_usec -= shutdown->begin_usec;
        }

        qsort(steps, n, sizeof(*steps), compare_usec);
        usual = steps[(n - 1) / 2];
        for (size_t i = 0; i < n; i++)
                devices[i].group =
                        i > 0 && devices[i - 1].step_usec < usual / PARALLEL_FACTOR ? devices[i - 1].group : i;
        return 0;
}

/* ------ what may be asked ------ */

size_t kernel_shutdown_group_end(const struct kernel_shutdown *shutdown, size_t i)
{
        size_t group = shutdown->devices[i].group;

        while (i < shutdown->n && shutdown->devices[i].group == group)
                i++;
        return i;
}

bool kernel_shutdown_is_parallel(const struct kernel_shutdown *shutdown, size_t i)
{
        return shutdown->devices[i].group != i || kernel_shutdown_group_end(shutdown, i) > i + 1;
}

uint64_t kernel_shutdown_took_usec(const struct kernel_shutdown *shutdown, size_t i)
{
        const struct kernel_device *last = &shutdown->devices[kernel_shutdown_group_end(shutdown, i) - 1];

        return last->began_usec + last->step_usec - shutdown->devices[i].began_usec;
}

size_t kernel_shutdown_measure_driver(
        const struct kernel_shutdown *shutdown, const char *driver, uint64_t *ret_usec)
{
        uint64_t first = 0, last = 0;
        size_t n = 0;

        for (size_t i = 0; i < shutdown->n; i++) {
                if (!streq(shutdown->devices[i].driver, driver))
                        continue;
                last = shutdown->devices[i].began_usec;
                first = n++ == 0 ? last : first;
        }
        *ret_usec = last - first;
        return n;
}

bool kernel_shutdown_is_first_of_driver(const struct kernel_shutdown *shutdown, size_t i)
{
        for (size_t j = 0; j < i; j++)
                if (streq(shutdown->devices[j].driver, shutdown->devices[i].driver))
                        return false;
        return true;
}

void kernel_shutdown_done(struct kernel_shutdown *shutdown)
{
        for (size_t i = 0; i < shutdown->n; i++) {
                free(shutdown->devices[i].driver);
                free(shutdown->devices[i].name);
        }
        free(shutdown->devices);
        *shutdown = (struct kernel_shutdown){};
}
