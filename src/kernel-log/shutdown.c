/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One shutdown of devices by the kernel, and two of them side by side. */

#include "kernel-log/shutdown.h"

#include "shared/util.h"

/* A device that is waited for is not done in so small a part of the usual time. */
#define PARALLEL_FACTOR 10

/* More than any machine has, and few enough for what takes the square of it. */
#define DEVICES_MAX 16384

int kernel_shutdown_add(struct kernel_shutdown *shutdown, const char *driver, const char *name, uint64_t usec)
{
        struct kernel_device *device;

        if (shutdown->n == DEVICES_MAX)
                return -E2BIG;
        if (!GREEDY_REALLOC(shutdown->devices, shutdown->n + 1))
                return -ENOMEM;
        device = &shutdown->devices[shutdown->n++];
        *device = (struct kernel_device){.driver = strdup(driver), .name = strdup(name), .began_usec = usec};
        return device->driver && device->name ? 0 : -ENOMEM;
}

/* ------ what follows from the times ------ */

static int compare_beginnings(const void *a, const void *b)
{
        const struct kernel_device *left = a, *right = b;

        return CMP(left->began_usec, right->began_usec) ?: CMP(left->group, right->group);
}

static int compare_usec(const void *a, const void *b)
{
        return CMP(*(const uint64_t *) a, *(const uint64_t *) b);
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
        SORT(devices, n, compare_beginnings);
        shutdown->begin_usec = devices[0].began_usec;
        end_usec = MAX(end_usec, devices[n - 1].began_usec);
        shutdown->total_usec = end_usec - shutdown->begin_usec;
        for (size_t i = 0; i < n; i++) {
                uint64_t until = i + 1 < n ? devices[i + 1].began_usec : end_usec;

                steps[i] = devices[i].step_usec = until - devices[i].began_usec;
                devices[i].began_usec -= shutdown->begin_usec;
        }

        SORT(steps, n, compare_usec);
        usual = steps[(n - 1) / 2];
        for (size_t i = 0; i < n; i++)
                devices[i].group =
                        i > 0 && devices[i - 1].step_usec < usual / PARALLEL_FACTOR ? devices[i - 1].group : i;
        for (size_t i = n; i-- > 0;) {
                bool is_last = i + 1 == n || devices[i + 1].group == i + 1;
                size_t end = is_last ? i + 1 : devices[i + 1].group_end;

                devices[i].group_end = end;
                devices[i].took_usec =
                        devices[end - 1].began_usec + devices[end - 1].step_usec - devices[i].began_usec;
        }
        return 0;
}

size_t kernel_shutdown_measure_driver(
        const struct kernel_shutdown *shutdown, const char *driver, uint64_t *ret_usec)
{
        uint64_t first = 0, last = 0;
        size_t n = 0;

        FOREACH_ARRAY(device, shutdown->devices, shutdown->n)
                if (streq(device->driver, driver)) {
                        last = device->began_usec;
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
        FOREACH_ARRAY(device, shutdown->devices, shutdown->n) {
                free(device->driver);
                free(device->name);
        }
        free(shutdown->devices);
        *shutdown = (struct kernel_shutdown){};
}

/* ------ which devices of two shutdowns are the same ------ */

static int compare_devices(const struct kernel_device *left, const struct kernel_device *right)
{
        return strcmp(left->driver, right->driver) ?: strcmp(left->name, right->name);
}

/* Those of one name stay in their order. */
static int compare_places(const void *a, const void *b, void *userdata)
{
        const struct kernel_device *devices = userdata;
        size_t left = *(const size_t *) a, right = *(const size_t *) b;

        return compare_devices(&devices[left], &devices[right]) ?: CMP(left, right);
}

/* The places of devices, in the order of their names if there is something to be compared. NULL without memory. */
static size_t *sort_by_name(const struct kernel_comparison *comparison, size_t side)
{
        const struct kernel_shutdown *shutdown = comparison->sides[side];
        size_t *places = calloc(shutdown->n + 1, sizeof(*places));

        if (!places)
                return NULL;
        for (size_t i = 0; i < shutdown->n; i++)
                places[i] = i;
        if (comparison->n_sides > 1)
                qsort_r(places, shutdown->n, sizeof(*places), compare_places, shutdown->devices);
        return places;
}

/* `pair_of` gets the pair of each device. */
static int make_pairs(struct kernel_comparison *comparison, size_t *pair_of[_SIDE_MAX])
{
        const struct kernel_shutdown *first = comparison->sides[FIRST], *second = comparison->sides[SECOND];
        _cleanup_free_ size_t *firsts = sort_by_name(comparison, FIRST),
                              *seconds = sort_by_name(comparison, SECOND);

        comparison->pairs = calloc(first->n + second->n + 1, sizeof(*comparison->pairs));
        if (!firsts || !seconds || !comparison->pairs)
                return -ENOMEM;
        for (size_t i = 0, j = 0; i < first->n || j < second->n;) {
                size_t unit = comparison->n_pairs++, *places = comparison->pairs[unit].places;
                int order = i == first->n ? 1
                            : j == second->n
                                    ? -1
                                    : compare_devices(&first->devices[firsts[i]], &second->devices[seconds[j]]);

                comparison->pairs[unit].unit = unit;
                places[FIRST] = order <= 0 ? firsts[i++] : NOT_THERE;
                places[SECOND] = order >= 0 ? seconds[j++] : NOT_THERE;
                for (size_t side = 0; side < _SIDE_MAX; side++)
                        if (places[side] != NOT_THERE)
                                pair_of[side][places[side]] = unit;
        }
        return 0;
}

/* ------ what is compared as a whole ------ */

/* Puts pairs into one unit whose devices went in parallel on a side. Returns whether there were any. */
static bool unite(struct kernel_comparison *comparison, size_t side, const size_t *pair_of)
{
        const struct kernel_shutdown *shutdown = comparison->sides[side];
        bool changed = false;

        for (size_t i = 0; i < shutdown->n; i++) {
                size_t *unit = &comparison->pairs[pair_of[i]].unit;
                size_t *group = &comparison->pairs[pair_of[shutdown->devices[i].group]].unit;

                changed |= *unit != *group;
                *unit = *group = MIN(*unit, *group);
        }
        return changed;
}

static int compare_pairs(const void *a, const void *b)
{
        const struct kernel_pair *left = a, *right = b;

        return CMP(left->unit, right->unit)
                       ?: CMP(MIN(left->places[FIRST], left->places[SECOND]),
                                  MIN(right->places[FIRST], right->places[SECOND]));
}

static int compare_units(const void *a, const void *b)
{
        const struct kernel_unit *left = a, *right = b;
        int64_t left_size = llabs(kernel_unit_difference(left)), right_size = llabs(kernel_unit_difference(right));

        return CMP(right_size, left_size) ?: CMP(left->first_pair, right->first_pair);
}

static int make_units(struct kernel_comparison *comparison)
{
        struct kernel_pair *pairs = comparison->pairs;

        SORT(pairs, comparison->n_pairs, compare_pairs);
        comparison->units = calloc(comparison->n_pairs + 1, sizeof(*comparison->units));
        if (!comparison->units)
                return -ENOMEM;
        for (size_t i = 0; i < comparison->n_pairs; i++) {
                struct kernel_unit *unit;

                if (i == 0 || pairs[i].unit != pairs[i - 1].unit)
                        comparison->units[comparison->n_units++].first_pair = i;
                unit = &comparison->units[comparison->n_units - 1];
                unit->n_pairs++;
                for (size_t side = 0; side < _SIDE_MAX; side++)
                        if (pairs[i].places[side] != NOT_THERE)
                                unit->usec[side] +=
                                        comparison->sides[side]->devices[pairs[i].places[side]].step_usec;
        }
        SORT(comparison->units, comparison->n_units, compare_units);
        for (size_t i = 0; i < comparison->n_units; i++)
                for (size_t j = 0; j < comparison->units[i].n_pairs; j++)
                        pairs[comparison->units[i].first_pair + j].unit = i;
        return 0;
}

int kernel_comparison_make(struct kernel_comparison *comparison, const struct kernel_shutdown *first,
        const struct kernel_shutdown *second)
{
        static const struct kernel_shutdown nothing;
        const struct kernel_shutdown *other = second ?: &nothing;
        _cleanup_free_ size_t *firsts = calloc(first->n + 1, sizeof(*firsts));
        _cleanup_free_ size_t *seconds = calloc(other->n + 1, sizeof(*seconds));
        int r;

        *comparison = (struct kernel_comparison){.sides = {first, other}, .n_sides = second ? 2 : 1};
        r = firsts && seconds ? make_pairs(comparison, (size_t *[]){firsts, seconds}) : -ENOMEM;
        if (r < 0)
                return r;
        while (unite(comparison, FIRST, firsts) || unite(comparison, SECOND, seconds))
                ;
        return make_units(comparison);
}

void kernel_comparison_done(struct kernel_comparison *comparison)
{
        free(comparison->pairs);
        free(comparison->units);
}

const struct kernel_device *kernel_pair_device(
        const struct kernel_comparison *comparison, const struct kernel_pair *pair)
{
        size_t side = pair->places[FIRST] != NOT_THERE ? FIRST : SECOND;

        return &comparison->sides[side]->devices[pair->places[side]];
}

int64_t kernel_unit_difference(const struct kernel_unit *unit)
{
        return (int64_t) unit->usec[SECOND] - (int64_t) unit->usec[FIRST];
}
