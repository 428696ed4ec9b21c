/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the kernel's log of a shutdown tells, in sentences. A device's time counts for it alone only if it did not go in
 * parallel with others, and a difference between two logs only for what can be compared, a unit. */

#include "kernel-log/sentences.h"

#include "shared/util.h"

/* So many are named, and no more than make up most of the time. */
#define NAMED_MAX 5
#define MOST_PERCENT 80

/* A driver of several devices is told of if it has had so much of the time. */
#define DRIVER_PERCENT 20

static void print_device(const char *separator, const struct kernel_device *device)
{
        _cleanup_free_ char *driver = string_printable(device->driver), *name = string_printable(device->name);

        printf("%s%s %s", separator, driver ?: "?", name ?: "?");
}

/* ------ units ------ */

static uint64_t difference_of(const struct kernel_unit *unit)
{
        return (uint64_t) llabs(kernel_unit_difference(unit));
}

static int compare_units(const void *a, const void *b)
{
        const struct kernel_unit *left = *(const struct kernel_unit *const *) a;
        const struct kernel_unit *right = *(const struct kernel_unit *const *) b;

        if (difference_of(left) != difference_of(right))
                return difference_of(left) > difference_of(right) ? -1 : 1;
        return left < right ? -1 : left > right;
}

/* "a", or "a + b + c" */
static void print_unit(
        const char *separator, const struct kernel_comparison *comparison, const struct kernel_unit *unit)
{
        for (size_t i = 0; i < MIN(unit->n_pairs, (size_t) NAMED_MAX); i++)
                print_device(i > 0 ? " + " : separator,
                        kernel_pair_device(comparison, &comparison->pairs[unit->first_pair + i]));
        if (unit->n_pairs > NAMED_MAX)
                printf(" + more");
}

/* "a 3.1ms, b + c 2.0ms and 5 other devices 1.2ms.": those that differ most, until they are most of it. */
static void print_units(const struct kernel_comparison *comparison, const struct kernel_unit *const units[],
        size_t n, uint64_t usec)
{
        uint64_t left = usec;
        size_t i = 0, n_others = 0;

        for (; i < n && i < NAMED_MAX && (usec - left) * 100 < usec * MOST_PERCENT; i++) {
                _cleanup_free_ char *time = format_short_duration(difference_of(units[i]));

                print_unit(i > 0 ? ", " : "", comparison, units[i]);
                printf(" %s", time ?: "?");
                left -= difference_of(units[i]);
        }
        for (size_t j = i; j < n; j++)
                n_others += units[j]->n_pairs;
        if (n_others > 0) {
                _cleanup_free_ char *time = format_short_duration(left);

                printf("%s%zu %sdevice%s %s", i > 0 ? " and " : "", n_others, i > 0 ? "other " : "",
                        plural(n_others), time ?: "?");
        }
        printf(".\n");
}

/* Of two logs the units with which that side was faster, of a single one the devices that went alone. */
static int print_gain(const struct kernel_comparison *comparison, size_t side, const char *what, const char *name)
{
        _cleanup_free_ const struct kernel_unit **units = calloc(comparison->n_units + 1, sizeof(*units));
        _cleanup_free_ char *time = NULL;
        uint64_t usec = 0;
        size_t n = 0;

        if (!units)
                return -ENOMEM;
        for (size_t i = 0; i < comparison->n_units; i++) {
                const struct kernel_unit *unit = &comparison->units[i];

                if (comparison->n_sides > 1 ? unit->usec[side] >= unit->usec[!side] : unit->n_pairs > 1)
                        continue;
                units[n++] = unit;
                usec += difference_of(unit);
        }
        if (n == 0)
                return 0;
        qsort(units, n, sizeof(*units), compare_units);
        time = format_short_duration(usec);
        if (comparison->n_sides > 1)
                printf("Time %s in %s, %s: ", what, name, time ?: "?");
        else if (n < comparison->n_pairs)
                printf("%zu went one after another, where time that is saved in parallel is given back, in %s: ",
                        n, time ?: "?");
        else
                printf("All went one after another, as far as the times tell: ");
        print_units(comparison, units, n, usec);
        return 0;
}

/* ------ drivers ------ */

/* Whether that device is the first one of its driver, which has several, and they went in parallel or took
 * long. */
static bool is_driver_of_interest(const struct kernel_shutdown *shutdown, size_t i)
{
        uint64_t usec = 0;
        size_t n = 0, n_parallel = 0;

        if (!kernel_shutdown_is_first_of_driver(shutdown, i))
                return false;
        for (size_t j = i; j < shutdown->n; j++) {
                if (!streq(shutdown->devices[j].driver, shutdown->devices[i].driver))
                        continue;
                n++;
                n_parallel += kernel_shutdown_is_parallel(shutdown, j);
                usec += shutdown->devices[j].step_usec;
        }
        return n > 1 && (n_parallel > 1 || usec * 100 >= shutdown->total_usec * DRIVER_PERCENT);
}

static void print_distance(const struct kernel_shutdown *shutdown, const char *driver)
{
        uint64_t usec;
        size_t n = kernel_shutdown_measure_driver(shutdown, driver, &usec);
        _cleanup_free_ char *time = format_short_duration(usec);

        if (n < 2)
                printf(" %s", n == 0 ? "not there" : "alone");
        else
                printf(n == 2 ? " %s apart" : " within %s", time ?: "?");
}

/* Those of one of the sides. */
static void print_drivers(const struct kernel_comparison *comparison, size_t side, char *const names[])
{
        for (size_t i = 0; i < comparison->sides[side]->n; i++) {
                const char *driver = comparison->sides[side]->devices[i].driver;
                _cleanup_free_ char *printable = string_printable(driver);
                uint64_t usec;

                if (!is_driver_of_interest(comparison->sides[side], i))
                        continue;
                printf("The %zu devices of %s were begun",
                        kernel_shutdown_measure_driver(comparison->sides[side], driver, &usec), printable ?: "?");
                for (size_t s = 0; s < comparison->n_sides; s++) {
                        printf("%s", s > 0 ? "," : "");
                        print_distance(comparison->sides[s], driver);
                        if (comparison->n_sides > 1)
                                printf(" in %s", names[s]);
                }
                printf(".\n");
        }
}

/* ------ one log, or two ------ */

static void print_group(const struct kernel_shutdown *shutdown, size_t from)
{
        size_t to = kernel_shutdown_group_end(shutdown, from);
        _cleanup_free_ char *within =
                format_short_duration(shutdown->devices[to - 1].began_usec - shutdown->devices[from].began_usec);
        _cleanup_free_ char *took = format_short_duration(kernel_shutdown_took_usec(shutdown, from));

        printf("%zu went in parallel, begun within %s and done after %s: ", to - from, within ?: "?", took ?: "?");
        for (size_t i = from; i < to && i < from + NAMED_MAX; i++)
                print_device(i > from ? ", " : "", &shutdown->devices[i]);
        if (to - from > NAMED_MAX)
                printf(" and %zu more", to - from - NAMED_MAX);
        printf(".\n");
}

static int print_one(const struct kernel_comparison *comparison, char *const names[])
{
        const struct kernel_shutdown *shutdown = comparison->sides[FIRST];
        _cleanup_free_ char *total = format_short_duration(shutdown->total_usec);

        printf("%s: the kernel has shut down %zu device%s in %s.\n", names[FIRST], shutdown->n,
                plural(shutdown->n), total ?: "?");
        for (size_t i = 0; i < shutdown->n; i = kernel_shutdown_group_end(shutdown, i))
                if (kernel_shutdown_is_parallel(shutdown, i))
                        print_group(shutdown, i);
        print_drivers(comparison, FIRST, names);
        return print_gain(comparison, FIRST, NULL, NULL);
}

static size_t count_parallel(const struct kernel_shutdown *shutdown)
{
        size_t n = 0;

        for (size_t i = 0; i < shutdown->n; i++)
                n += kernel_shutdown_is_parallel(shutdown, i);
        return n;
}

int print_shutdown_sentences(const struct kernel_comparison *comparison, char *const names[])
{
        const struct kernel_shutdown *first = comparison->sides[FIRST], *second = comparison->sides[SECOND];
        /* What is gained and given back is told of the side that did more in parallel. */
        size_t side = count_parallel(second) > count_parallel(first) ? SECOND : FIRST;
        bool less = first->total_usec > second->total_usec;
        _cleanup_free_ char *first_total = format_short_duration(first->total_usec);
        _cleanup_free_ char *second_total = format_short_duration(second->total_usec);
        _cleanup_free_ char *time = format_short_duration(
                less ? first->total_usec - second->total_usec : second->total_usec - first->total_usec);
        int r;

        if (comparison->n_sides == 1)
                return print_one(comparison, names);
        printf("%s: %zu devices in %s. %s: %zu devices in %s, %s %s.\n", names[FIRST], first->n,
                first_total ?: "?", names[SECOND], second->n, second_total ?: "?", time ?: "?",
                less ? "less" : "more");
        print_drivers(comparison, side, names);
        r = print_gain(comparison, side, "gained", names[side]);
        return r < 0 ? r : print_gain(comparison, !side, "given back", names[side]);
}
