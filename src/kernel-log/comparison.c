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

/* The places of devices, in the order of their names if there is something to be compared. NULL without memory. */
static size_t *sort_by_name(const struct kernel_comparison *comparison, size_t side)
{
        const struct kernel_shutdown *shutdown = comparison->sides[side];
        size_t *places = calloc(shutdown->n + 1, sizeof(*places));

        for (size_t i = 0; places && i < shutdown->n; i++)
                places[i] = i;
        if (places && comparison->n_sides > 1)
                qsort_r(places, shutdown->n, sizeof(*places), compare_places, (void *) shutdown);
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
        struct kernel_unit *unit;

        qsort(pairs, comparison->n_pairs, sizeof(*pairs), compare_pairs);
        comparison->units = calloc(comparison->n_pairs + 1, sizeof(*comparison->units));
        if (!comparison->units)
                return -ENOMEM;
        for (size_t i = 0; i < comparison->n_pairs; i++) {
                if (i == 0 || pairs[i].unit != pairs[i - 1].unit)
                        comparison->units[comparison->n_units++].first_pair = i;
                unit = &comparison->units[comparison->n_units - 1];
                unit->n_pairs++;
                for (size_t side = 0; side < _SIDE_MAX; side++)
                        if (pairs[i].places[side] != NOT_THERE)
                                unit->usec[side] +=
                                        comparison->sides[side]->devices[pairs[i].places[side]].step_usec;
        }
        qsort(comparison->units, comparison->n_units, sizeof(*comparison->units), compare_units);
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
        *comparison = (struct kernel_comparison){};
}

struct kernel_unit kernel_comparison_group(const struct kernel_comparison *comparison, size_t i)
{
        return (struct kernel_unit){
                .first_pair = i,
                .n_pairs = kernel_shutdown_group_end(comparison->sides[FIRST], i) - i,
                .usec = {kernel_shutdown_took_usec(comparison->sides[FIRST], i)},
        };
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
