/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kernel-log/comparison.h"

/* ------ which devices are the same ------ */

static int compare_devices(const struct kernel_device *left, const struct kernel_device *right)
{
        int order = strcmp(left->driver, right->driver);

        return order != 0 ? order : strcmp(left->name, right->name);
}

static int compare_places(const void *a, const void *b, void *userdata)
{
        const struct kernel_shutdown *shutdown = userdata;
        size_t left = *(const size_t *) a, right = *(const size_t *) b;
        int order = compare_devices(&shutdown->devices[left], &shutdown->devices[right]);

        return order != 0 ? order : left < right ? -1 : left > right;
}

/* The places of devices in the order of their names. NULL without memory. */
static size_t *sort_by_name(const struct kernel_shutdown *shutdown)
{
        size_t *places = calloc(shutdown->n + 1, sizeof(*places));

        for (size_t i = 0; places && i < shutdown->n; i++)
                places[i] = i;
        if (places)
                qsort_r(places, shutdown->n, sizeof(*places), compare_places, (void *) shutdown);
        return places;
}

static int make_pairs(struct kernel_comparison *comparison)
{
        const struct kernel_shutdown *first = comparison->sides[FIRST], *second = comparison->sides[SECOND];
        _cleanup_free_ size_t *firsts = sort_by_name(first), *seconds = sort_by_name(second);
        size_t i = 0, j = 0;

        comparison->pairs = calloc(first->n + second->n + 1, sizeof(*comparison->pairs));
        if (!firsts || !seconds || !comparison->pairs)
                return -ENOMEM;
        while (i < first->n || j < second->n) {
                int order = i == first->n ? 1
                            : j == second->n
                                    ? -1
                                    : compare_devices(&first->devices[firsts[i]], &second->devices[seconds[j]]);
                struct kernel_pair *pair = &comparison->pairs[comparison->n_pairs++];

                pair->places[FIRST] = order <= 0 ? firsts[i++] : NOT_THERE;
                pair->places[SECOND] = order >= 0 ? seconds[j++] : NOT_THERE;
        }
        return 0;
}

/* ------ what is compared as a whole ------ */

static size_t find_unit(struct kernel_pair *pairs, size_t i)
{
        while (pairs[i].unit != i) {
                pairs[i].unit = pairs[pairs[i].unit].unit;
                i = pairs[i].unit;
        }
        return i;
}

/* Puts pairs into one unit whose devices went in parallel on a side. */
static int unite(struct kernel_comparison *comparison, size_t side)
{
        const struct kernel_shutdown *shutdown = comparison->sides[side];
        _cleanup_free_ size_t *pair_of = calloc(shutdown->n + 1, sizeof(*pair_of));

        if (!pair_of)
                return -ENOMEM;
        for (size_t i = 0; i < comparison->n_pairs; i++)
                if (comparison->pairs[i].places[side] != NOT_THERE)
                        pair_of[comparison->pairs[i].places[side]] = i;
        for (size_t i = 0; i < shutdown->n; i++) {
                size_t unit = find_unit(comparison->pairs, pair_of[i]);
                size_t group = find_unit(comparison->pairs, pair_of[shutdown->devices[i].group]);

                comparison->pairs[MAX(unit, group)].unit = MIN(unit, group);
        }
        return 0;
}

static size_t find_place(const struct kernel_pair *pair)
{
        return MIN(pair->places[FIRST], pair->places[SECOND]);
}

static int compare_pairs(const void *a, const void *b)
{
        const struct kernel_pair *left = a, *right = b;

        if (left->unit != right->unit)
                return left->unit < right->unit ? -1 : 1;
        return find_place(left) < find_place(right) ? -1 : find_place(left) > find_place(right);
}

static int compare_units(const void *a, const void *b)
{
        const struct kernel_unit *left = a, *right = b;
        int64_t left_size = llabs(kernel_unit_difference(left)), right_size = llabs(kernel_unit_difference(right));

        if (left_size != right_size)
                return left_size > right_size ? -1 : 1;
        return left->first_pair < right->first_pair ? -1 : left->first_pair > right->first_pair;
}

static int make_units(struct kernel_comparison *comparison)
{
        struct kernel_pair *pairs = comparison->pairs;
        int r = 0;

        for (size_t i = 0; i < comparison->n_pairs; i++)
                pairs[i].unit = i;
        for (size_t side = 0; r >= 0 && side < _SIDE_MAX; side++)
                r = unite(comparison, side);
        if (r < 0)
                return r;
        for (size_t i = 0; i < comparison->n_pairs; i++)
                pairs[i].unit = find_unit(pairs, i);
        qsort(pairs, comparison->n_pairs, sizeof(*pairs), compare_pairs);

        comparison->units = calloc(comparison->n_pairs + 1, sizeof(*comparison->units));
        if (!comparison->units)
                return -ENOMEM;
        for (size_t i = 0; i < comparison->n_pairs; i++) {
                struct kernel_unit *unit;

                if (i == 0 || pairs[i].unit != pairs[i - 1].unit)
                        comparison->units[comparison->n_units++].first_pair = i;
                unit = &comparison->units[comparison->n_units - 1];
                unit->n_pairs++;
                for (size_t side = 0; side < _SIDE_MAX; side++) {
                        size_t place = pairs[i].places[side];

                        if (place == NOT_THERE)
                                continue;
                        unit->there[side] = true;
                        unit->usec[side] += comparison->sides[side]->devices[place].step_usec;
                }
        }
        qsort(comparison->units, comparison->n_units, sizeof(*comparison->units), compare_units);
        return 0;
}

int kernel_comparison_make(struct kernel_comparison *comparison, const struct kernel_shutdown *first,
        const struct kernel_shutdown *second)
{
        int r;

        comparison->sides[FIRST] = first;
        comparison->sides[SECOND] = second;
        r = make_pairs(comparison);
        return r < 0 ? r : make_units(comparison);
}

void kernel_comparison_done(struct kernel_comparison *comparison)
{
        free(comparison->pairs);
        free(comparison->units);
        *comparison = (struct kernel_comparison){};
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
