/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sentences about one log of a shutdown, or about two. The time of a device that went in parallel with others is not known by
 * itself, so what is printed and compared are units. */

#include "kernel-log/sentences.h"

#include "shared/util.h"

/* At most so many units are named, and no more than make up most of the time. */
#define NAMED_MAX 5
#define MOST_PERCENT 80

/* A driver of several devices gets a sentence if these took so much of the time. */
#define DRIVER_PERCENT 20

/* ------ units ------ */

/* The names of the first devices of a unit. */
static void print_names(
        const struct kernel_comparison *comparison, const struct kernel_unit *unit, const char *separator)
{
        for (size_t i = 0; i < MIN(unit->n_pairs, (size_t) NAMED_MAX); i++) {
                const struct kernel_device *device =
                        kernel_pair_device(comparison, &comparison->pairs[unit->first_pair + i]);
                _cleanup_free_ char *driver = string_printable(device->driver);
                _cleanup_free_ char *name = string_printable(device->name);

                printf("%s%s %s", i > 0 ? separator : "", driver ?: "?", name ?: "?");
        }
}

/* Of two logs: whether that side was faster with the unit. Of one: whether it is a device that went alone. */
static bool is_gain(const struct kernel_comparison *comparison, const struct kernel_unit *unit, size_t side)
{
        return comparison->n_sides > 1 ? unit->usec[side] < unit->usec[!side] : unit->n_pairs == 1;
}

static uint64_t difference_of(const struct kernel_unit *unit)
{
        return (uint64_t) llabs(kernel_unit_difference(unit));
}

/* "a 3.1ms, b + c 2.0ms and 5 other devices 1.2ms.": the units that differ most, until they make up most of `usec`, the sum. */
static void print_gains(const struct kernel_comparison *comparison, size_t side, uint64_t usec)
{
        size_t n_named = 0, n_others = 0;
        uint64_t left = usec;

        FOREACH_ARRAY(unit, comparison->units, comparison->n_units) {
                _cleanup_free_ char *time = NULL;

                if (!is_gain(comparison, unit, side))
                        continue;
                if (n_named == NAMED_MAX || (usec - left) * 100 >= usec * MOST_PERCENT) {
                        n_others += unit->n_pairs;
                        continue;
                }
                time = format_short_duration(difference_of(unit));
                printf("%s", n_named++ > 0 ? ", " : "");
                print_names(comparison, unit, " + ");
                printf("%s %s", unit->n_pairs > NAMED_MAX ? " + more" : "", time ?: "?");
                left -= difference_of(unit);
        }
        if (n_others > 0) {
                _cleanup_free_ char *time = format_short_duration(left);

                printf("%s%zu %sdevice%s %s", n_named > 0 ? " and " : "", n_others, n_named > 0 ? "other " : "",
                        plural(n_others), time ?: "?");
        }
        printf(".\n");
}

static void print_sum_of_gains(
        const struct kernel_comparison *comparison, size_t side, const char *what, const char *name)
{
        _cleanup_free_ char *time = NULL;
        uint64_t usec = 0;
        size_t n = 0;

        FOREACH_ARRAY(unit, comparison->units, comparison->n_units)
                if (is_gain(comparison, unit, side)) {
                        usec += difference_of(unit);
                        n++;
                }
        if (n == 0)
                return;
        time = format_short_duration(usec);
        if (comparison->n_sides > 1)
                printf("Time %s in %s, %s: ", what, name, time ?: "?");
        else if (n < comparison->n_pairs)
                printf("%zu went one after another, where time that is saved in parallel is given back, in %s: ",
                        n, time ?: "?");
        else
                printf("All went one after another, as far as the times tell: ");
        print_gains(comparison, side, usec);
}

/* ------ drivers ------ */

/* Whether the device is the first of its driver, and the driver has several, which went in parallel or took long. */
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
                n_parallel += kernel_device_is_parallel(&shutdown->devices[j]);
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

/* A sentence about each such driver of one side. */
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

static void print_group(const struct kernel_comparison *comparison, const struct kernel_unit *unit)
{
        const struct kernel_pair *pairs = &comparison->pairs[unit->first_pair];
        _cleanup_free_ char *within =
                format_short_duration(kernel_pair_device(comparison, &pairs[unit->n_pairs - 1])->began_usec -
                                      kernel_pair_device(comparison, pairs)->began_usec);
        _cleanup_free_ char *took = format_short_duration(unit->usec[FIRST]);

        printf("%zu went in parallel, begun within %s and done after %s: ", unit->n_pairs, within ?: "?",
                took ?: "?");
        print_names(comparison, unit, ", ");
        if (unit->n_pairs > NAMED_MAX)
                printf(" and %zu more", unit->n_pairs - NAMED_MAX);
        printf(".\n");
}

static size_t count_parallel(const struct kernel_shutdown *shutdown)
{
        size_t n = 0;

        FOREACH_ARRAY(device, shutdown->devices, shutdown->n)
                n += kernel_device_is_parallel(device);
        return n;
}

void print_shutdown_sentences(const struct kernel_comparison *comparison, char *const names[])
{
        const struct kernel_shutdown *first = comparison->sides[FIRST], *second = comparison->sides[SECOND];
        /* Gains and losses are those of the side that did more in parallel. */
        size_t side = count_parallel(second) > count_parallel(first) ? SECOND : FIRST;
        bool less = first->total_usec > second->total_usec;
        _cleanup_free_ char *first_total = format_short_duration(first->total_usec);
        _cleanup_free_ char *second_total = format_short_duration(second->total_usec);
        _cleanup_free_ char *time = format_short_duration(
                less ? first->total_usec - second->total_usec : second->total_usec - first->total_usec);

        if (comparison->n_sides == 1) {
                printf("%s: the kernel has shut down %zu device%s in %s.\n", names[FIRST], first->n,
                        plural(first->n), first_total ?: "?");
                for (size_t i = 0; i < comparison->n_pairs; i++) {
                        const struct kernel_unit *unit = &comparison->units[comparison->pairs[i].unit];

                        if (unit->n_pairs > 1 && unit->first_pair == i)
                                print_group(comparison, unit);
                }
                print_drivers(comparison, FIRST, names);
                print_sum_of_gains(comparison, FIRST, NULL, NULL);
                return;
        }
        printf("%s: %zu devices in %s. %s: %zu devices in %s, %s %s.\n", names[FIRST], first->n,
                first_total ?: "?", names[SECOND], second->n, second_total ?: "?", time ?: "?",
                less ? "less" : "more");
        print_drivers(comparison, side, names);
        print_sum_of_gains(comparison, side, "gained", names[side]);
        print_sum_of_gains(comparison, !side, "given back", names[side]);
}
