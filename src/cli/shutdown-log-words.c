/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What "headgate shutdown-log" says above its table, in sentences. Without memory for a piece of one, "?" stands there. */

#include "cli/shutdown-log-words.h"

#include "shared/util.h"

/* So many are named, and no more than make up most of the time. */
#define NAMED_MAX 5
#define MOST_PERCENT 80

/* A driver of several devices is told of if it has had so much of the time. */
#define DRIVER_PERCENT 20

/* ------ pieces of sentences: NULL without memory ------ */

static char *name_device(const struct kernel_device *device)
{
        _cleanup_free_ char *name = string_format("%s %s", device->driver, device->name);

        return name ? string_printable(name) : NULL;
}

/* One of which a list is made. */
struct item {
        char *name;
        size_t n_devices;
        uint64_t usec;
};

struct items {
        struct item *items;
        size_t n;
        uint64_t usec; /* of all */
};

static void items_done(struct items *items)
{
        for (size_t i = 0; i < items->n; i++)
                free(items->items[i].name);
        free(items->items);
}

#define _cleanup_items_ _cleanup_(items_done)

/* Takes the name over. Returns 0 or -ENOMEM. */
static int add_item(struct items *items, char *name, size_t n_devices, uint64_t usec)
{
        struct item *larger = reallocarray(items->items, items->n + 1, sizeof(*larger));

        if (!larger) {
                free(name);
                return -ENOMEM;
        }
        items->items = larger;
        items->items[items->n++] = (struct item){name, n_devices, usec};
        items->usec += usec;
        return 0;
}

static int compare_items(const void *a, const void *b)
{
        const struct item *left = a, *right = b;

        return left->usec > right->usec ? -1 : left->usec < right->usec;
}

/* "a 3.1ms, b 2.0ms and 5 other devices 1.2ms.": those that took longest, until they are most of it. */
static void print_items(struct items *items)
{
        uint64_t told = 0;
        size_t i = 0, n_others = 0;

        qsort(items->items, items->n, sizeof(*items->items), compare_items);
        for (; i < items->n && i < NAMED_MAX && told * 100 < items->usec * MOST_PERCENT; i++) {
                _cleanup_free_ char *time = format_short_duration(items->items[i].usec);

                printf("%s%s %s", i > 0 ? ", " : "", items->items[i].name ?: "?", time ?: "?");
                told += items->items[i].usec;
        }
        for (size_t j = i; j < items->n; j++)
                n_others += items->items[j].n_devices;
        if (n_others > 0) {
                _cleanup_free_ char *time = format_short_duration(items->usec - told);

                printf("%s%zu %sdevice%s %s", i > 0 ? " and " : "", n_others, i > 0 ? "other " : "",
                        plural(n_others), time ?: "?");
        }
        printf(".\n");
}

/* ------ drivers ------ */

/* Whether that device is the first one of its driver, which has several, and they went in parallel or took
 * long. */
static bool is_driver_of_interest(const struct kernel_shutdown *shutdown, size_t i)
{
        const char *driver = shutdown->devices[i].driver;
        uint64_t usec = 0;
        size_t n = 0, n_parallel = 0;

        for (size_t j = 0; j < shutdown->n; j++) {
                if (!streq(shutdown->devices[j].driver, driver))
                        continue;
                if (j < i)
                        return false;
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

/* Those of one of the sides; `names` is NULL if there is only one. */
static void print_drivers(
        const struct kernel_shutdown *const sides[], size_t n_sides, size_t side, const char *const names[])
{
        for (size_t i = 0; i < sides[side]->n; i++) {
                const char *driver = sides[side]->devices[i].driver;
                _cleanup_free_ char *printable = string_printable(driver);
                uint64_t usec;

                if (!is_driver_of_interest(sides[side], i))
                        continue;
                printf("The %zu devices of %s were begun",
                        kernel_shutdown_measure_driver(sides[side], driver, &usec), printable ?: "?");
                for (size_t s = 0; s < n_sides; s++) {
                        printf("%s", s > 0 ? "," : "");
                        print_distance(sides[s], driver);
                        if (names)
                                printf(" in %s", names[s]);
                }
                printf(".\n");
        }
}

/* ------ one log ------ */

static void print_group(const struct kernel_shutdown *shutdown, size_t from)
{
        size_t to = kernel_shutdown_group_end(shutdown, from);
        _cleanup_free_ char *within =
                format_short_duration(shutdown->devices[to - 1].began_usec - shutdown->devices[from].began_usec);
        _cleanup_free_ char *took = format_short_duration(kernel_shutdown_took_usec(shutdown, from));

        printf("%zu went in parallel, begun within %s and done after %s: ", to - from, within ?: "?", took ?: "?");
        for (size_t i = from; i < to && i < from + NAMED_MAX; i++) {
                _cleanup_free_ char *name = name_device(&shutdown->devices[i]);

                printf("%s%s", i > from ? ", " : "", name ?: "?");
        }
        if (to - from > NAMED_MAX)
                printf(" and %zu more", to - from - NAMED_MAX);
        printf(".\n");
}

static int print_others(const struct kernel_shutdown *shutdown)
{
        _cleanup_items_ struct items items = {};
        _cleanup_free_ char *time = NULL;

        for (size_t i = 0; i < shutdown->n; i++)
                if (!kernel_shutdown_is_parallel(shutdown, i) &&
                        add_item(&items, name_device(&shutdown->devices[i]), 1, shutdown->devices[i].step_usec) <
                                0)
                        return -ENOMEM;
        if (items.n == 0)
                return 0;
        time = format_short_duration(items.usec);
        if (items.n < shutdown->n)
                printf("%zu went one after another, where time that is saved in parallel is given back, in %s: ",
                        items.n, time ?: "?");
        else
                printf("All went one after another, as far as the times tell: ");
        print_items(&items);
        return 0;
}

int shutdown_log_tell(const struct kernel_shutdown *shutdown, const char *name)
{
        _cleanup_free_ char *total = format_short_duration(shutdown->total_usec);

        printf("%s: the kernel has shut down %zu device%s in %s.\n", name, shutdown->n, plural(shutdown->n),
                total ?: "?");
        for (size_t i = 0; i < shutdown->n; i = kernel_shutdown_group_end(shutdown, i))
                if (kernel_shutdown_is_parallel(shutdown, i))
                        print_group(shutdown, i);
        print_drivers(&shutdown, 1, 0, NULL);
        return print_others(shutdown);
}

/* ------ two logs ------ */

static size_t count_parallel(const struct kernel_shutdown *shutdown)
{
        size_t n = 0;

        for (size_t i = 0; i < shutdown->n; i++)
                n += kernel_shutdown_is_parallel(shutdown, i);
        return n;
}

static char *name_unit(const struct kernel_comparison *comparison, const struct kernel_unit *unit)
{
        _cleanup_string_vector_ struct string_vector names = {};

        for (size_t i = 0; i < unit->n_pairs && i < NAMED_MAX; i++) {
                const struct kernel_pair *pair = &comparison->pairs[unit->first_pair + i];
                _cleanup_free_ char *name = name_device(kernel_pair_device(comparison, pair));

                if (!name || string_vector_add(&names, name) < 0)
                        return NULL;
        }
        if (unit->n_pairs > NAMED_MAX && string_vector_add(&names, "more") < 0)
                return NULL;
        return string_vector_join(&names, " + ");
}

/* The units with which one side was faster. */
static int print_faster(
        const struct kernel_comparison *comparison, size_t side, const char *what, const char *name)
{
        _cleanup_items_ struct items items = {};
        _cleanup_free_ char *time = NULL;

        for (size_t i = 0; i < comparison->n_units; i++) {
                const struct kernel_unit *unit = &comparison->units[i];

                if (unit->usec[side] < unit->usec[!side] &&
                        add_item(&items, name_unit(comparison, unit), unit->n_pairs,
                                unit->usec[!side] - unit->usec[side]) < 0)
                        return -ENOMEM;
        }
        if (items.n == 0)
                return 0;
        time = format_short_duration(items.usec);
        printf("Time %s in %s, %s: ", what, name, time ?: "?");
        print_items(&items);
        return 0;
}

int shutdown_log_tell_comparison(const struct kernel_comparison *comparison, const char *const names[_SIDE_MAX])
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

        printf("%s: %zu devices in %s. %s: %zu devices in %s, %s %s.\n", names[FIRST], first->n,
                first_total ?: "?", names[SECOND], second->n, second_total ?: "?", time ?: "?",
                less ? "less" : "more");
        print_drivers(comparison->sides, _SIDE_MAX, side, names);
        r = print_faster(comparison, side, "gained", names[side]);
        return r < 0 ? r : print_faster(comparison, !side, "given back", names[side]);
}
