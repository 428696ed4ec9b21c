/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/shutdown-log-table.h"

#include <inttypes.h>

#include "shared/util.h"

/* A line of either table. Times that are not there, or have no meaning for the kind, are COLUMN_UNKNOWN. */
struct line {
        const char *kind;
        uint64_t n_devices;
        uint64_t began_usec, took_usec[_SIDE_MAX], within_usec[_SIDE_MAX];
        bool at_most; /* it may have taken less */
        const char *name;
};

static struct line line_new(const char *kind, uint64_t n_devices)
{
        return (struct line){
                .kind = kind,
                .n_devices = n_devices,
                .began_usec = COLUMN_UNKNOWN,
                .took_usec = {COLUMN_UNKNOWN, COLUMN_UNKNOWN},
                .within_usec = {COLUMN_UNKNOWN, COLUMN_UNKNOWN},
        };
}

/* ------ columns ------ */

static char *get_took(const void *data)
{
        const struct line *line = data;
        _cleanup_free_ char *time = NULL;

        if (line->took_usec[FIRST] == COLUMN_UNKNOWN)
                return strdup("");
        time = format_short_duration(line->took_usec[FIRST]);
        return time && line->at_most ? string_format("up to %s", time) : TAKE_PTR(time);
}

/* Returns whether it is known. */
static bool find_difference(const struct line *line, int64_t *ret)
{
        *ret = (int64_t) line->took_usec[SECOND] - (int64_t) line->took_usec[FIRST];
        return line->took_usec[FIRST] != COLUMN_UNKNOWN && line->took_usec[SECOND] != COLUMN_UNKNOWN;
}

static char *get_difference(const void *data)
{
        _cleanup_free_ char *time = NULL;
        int64_t difference;

        if (!find_difference(data, &difference))
                return strdup("");
        time = format_short_duration((uint64_t) llabs(difference));
        return time ? string_format("%s%s", difference > 0 ? "+" : difference < 0 ? "-" : "", time) : NULL;
}

static char *get_difference_usec(const void *data)
{
        int64_t difference;

        return find_difference(data, &difference) ? string_format("%" PRIi64, difference) : strdup("");
}

static const char *color_of_difference(const void *data)
{
        int64_t difference;

        return find_difference(data, &difference) && difference > 0 ? "red" : NULL;
}

#define LINE(field) COLUMN_FIELD(struct line, field)
#define TIME_COLUMNS(name, description, ...) COLUMNS_OF_TIME(name, description, COLUMN_SHORT_DURATION, __VA_ARGS__)

#define NAME_COLUMNS                                                                                              \
        {"NAME", "the log, a device with its driver, or a driver", COLUMN_ALWAYS, COLUMN_NAME, LINE(name),        \
                .flags = SCOLS_FL_TREE},                                                                          \
                {"KIND", "shutdown, parallel, device, drivers or driver", COLUMN_IN_JSON, COLUMN_STRING,          \
                        LINE(kind)},                                                                              \
        {                                                                                                         \
                "DEVICES", "how many devices that are", COLUMN_ALWAYS, COLUMN_NUMBER, LINE(n_devices)             \
        }

static const struct column columns[] = {
        NAME_COLUMNS,
        TIME_COLUMNS("BEGAN", "when it was begun with, after the first device", LINE(began_usec)),
        {"TOOK", "until the next device was begun with, or all was done", COLUMN_IN_TABLE, COLUMN_SHORT_DURATION,
                .text = get_took},
        {"TOOK-USEC", "the same, in microseconds", COLUMN_IN_JSON, COLUMN_NUMBER, LINE(took_usec[FIRST])},
        {"AT-MOST", "whether it may have taken less, having gone in parallel with others", COLUMN_IN_JSON,
                COLUMN_BOOL, LINE(at_most), .no = "false", .yes = "true"},
        TIME_COLUMNS("WITHIN", "how far apart the first and the last of several devices were begun with",
                LINE(within_usec[FIRST])),
};

static const struct column comparison_columns[] = {
        NAME_COLUMNS,
        TIME_COLUMNS("FIRST", "what it took in the first log: until the next device was begun with",
                LINE(took_usec[FIRST])),
        TIME_COLUMNS("SECOND", "likewise in the second log", LINE(took_usec[SECOND])),
        {"DIFFERENCE", "how much longer it took in the second", COLUMN_IN_TABLE, COLUMN_SHORT_DURATION,
                .text = get_difference, .color = color_of_difference},
        {"DIFFERENCE-USEC", "the same, in microseconds", COLUMN_IN_JSON, COLUMN_NUMBER,
                .text = get_difference_usec},
        TIME_COLUMNS("FIRST-WITHIN", "how far apart several devices were begun with in the first log",
                LINE(within_usec[FIRST])),
        TIME_COLUMNS("SECOND-WITHIN", "likewise in the second log", LINE(within_usec[SECOND])),
};

const struct table_kind shutdown_log_table = {"shutdowns", columns, ELEMENTSOF(columns)};
const struct table_kind shutdown_log_comparison_table = {
        "shutdowns", comparison_columns, ELEMENTSOF(comparison_columns)};

/* ------ lines ------ */

/* Takes the name over; NULL is -ENOMEM. */
static int add_line(struct table *table, struct libscols_line *parent, struct line line, char *name,
        struct libscols_line **ret)
{
        _cleanup_free_ char *owned = name;

        line.name = name;
        return name ? table_add_line(table, parent, &line, ret) : -ENOMEM;
}

/* The line of the whole shutdown, which all but the drivers are below. */
static struct line line_of_all(size_t n_devices, const struct kernel_shutdown *const sides[], size_t n_sides)
{
        struct line line = line_new("shutdown", n_devices);

        for (size_t side = 0; side < n_sides; side++) {
                line.took_usec[side] = sides[side]->total_usec;
                line.within_usec[side] = sides[side]->devices[sides[side]->n - 1].began_usec;
        }
        return line;
}

static char *name_device(const struct kernel_device *device)
{
        return string_format("%s %s", device->driver, device->name);
}

/* Whether it is the first device of its driver in any of the logs. */
static bool is_first_of_driver(const struct kernel_shutdown *const sides[], size_t side, size_t i)
{
        const char *driver = sides[side]->devices[i].driver;

        for (size_t s = 0; s <= side; s++)
                for (size_t j = 0; j < (s == side ? i : sides[s]->n); j++)
                        if (streq(sides[s]->devices[j].driver, driver))
                                return false;
        return true;
}

static int add_driver(struct table *table, struct libscols_line *parent,
        const struct kernel_shutdown *const sides[], size_t n_sides, const char *driver)
{
        struct line line = line_new("driver", 0);

        for (size_t side = 0; side < n_sides; side++) {
                uint64_t usec, n = kernel_shutdown_measure_driver(sides[side], driver, &usec);

                line.within_usec[side] = n > 1 ? usec : COLUMN_UNKNOWN;
                line.n_devices = MAX(line.n_devices, n);
        }
        return line.n_devices > 1 ? add_line(table, parent, line, strdup(driver), NULL) : 0;
}

static int add_drivers(struct table *table, const struct kernel_shutdown *const sides[], size_t n_sides)
{
        struct libscols_line *parent = NULL;
        int r;

        r = add_line(
                table, NULL, line_new("drivers", COLUMN_UNKNOWN), strdup("drivers with several devices"), &parent);
        for (size_t side = 0; side < n_sides; side++)
                for (size_t i = 0; r >= 0 && i < sides[side]->n; i++)
                        if (is_first_of_driver(sides, side, i))
                                r = add_driver(table, parent, sides, n_sides, sides[side]->devices[i].driver);
        return r;
}

/* ------ one log ------ */

static int add_device(
        struct table *table, struct libscols_line *parent, const struct kernel_shutdown *shutdown, size_t i)
{
        struct line line = line_new("device", 1);

        line.at_most = kernel_shutdown_is_parallel(shutdown, i);
        line.began_usec = shutdown->devices[i].began_usec;
        line.took_usec[FIRST] = kernel_shutdown_took_usec(shutdown, i);
        return add_line(table, parent, line, name_device(&shutdown->devices[i]), NULL);
}

/* All that went in parallel, or a device that went alone. */
static int add_group(
        struct table *table, struct libscols_line *parent, const struct kernel_shutdown *shutdown, size_t from)
{
        size_t to = kernel_shutdown_group_end(shutdown, from);
        struct line line = line_new("parallel", to - from);
        int r = 0;

        line.began_usec = shutdown->devices[from].began_usec;
        line.took_usec[FIRST] = kernel_shutdown_took_usec(shutdown, from);
        line.within_usec[FIRST] = shutdown->devices[to - 1].began_usec - line.began_usec;
        if (to > from + 1)
                r = add_line(table, parent, line, string_format("%zu in parallel", to - from), &parent);
        for (size_t i = from; r >= 0 && i < to; i++)
                r = add_device(table, parent, shutdown, i);
        return r;
}

int shutdown_log_print(
        const struct table_options *options, const struct kernel_shutdown *shutdown, const char *name)
{
        _cleanup_table_ struct table table = {};
        struct libscols_line *parent = NULL;
        struct line line = line_of_all(shutdown->n, &shutdown, 1);
        int r;

        line.began_usec = 0;
        r = table_new(options, &table);
        if (r >= 0)
                r = add_line(&table, NULL, line, strdup(name), &parent);
        for (size_t i = 0; r >= 0 && i < shutdown->n; i = kernel_shutdown_group_end(shutdown, i))
                r = add_group(&table, parent, shutdown, i);
        if (r >= 0)
                r = add_drivers(&table, &shutdown, 1);
        return r < 0 ? r : table_print(&table);
}

/* ------ two logs ------ */

/* What a log has nothing of took no time there; what went in parallel is known of all of it only. */
static int add_pair(struct table *table, struct libscols_line *parent, const struct kernel_comparison *comparison,
        const struct kernel_pair *pair)
{
        struct line line = line_new("device", 1);

        for (size_t side = 0; side < _SIDE_MAX; side++) {
                const struct kernel_shutdown *shutdown = comparison->sides[side];
                size_t place = pair->places[side];

                if (place == NOT_THERE)
                        line.took_usec[side] = 0;
                else if (!kernel_shutdown_is_parallel(shutdown, place))
                        line.took_usec[side] = shutdown->devices[place].step_usec;
        }
        return add_line(table, parent, line, name_device(kernel_pair_device(comparison, pair)), NULL);
}

static int add_unit(struct table *table, struct libscols_line *parent, const struct kernel_comparison *comparison,
        const struct kernel_unit *unit)
{
        struct line line = line_new("parallel", unit->n_pairs);
        int r = 0;

        memcpy(line.took_usec, unit->usec, sizeof(line.took_usec));
        if (unit->n_pairs > 1)
                r = add_line(table, parent, line, string_format("%zu in parallel", unit->n_pairs), &parent);
        for (size_t i = 0; r >= 0 && i < unit->n_pairs; i++)
                r = add_pair(table, parent, comparison, &comparison->pairs[unit->first_pair + i]);
        return r;
}

int shutdown_log_print_comparison(const struct table_options *options, const struct kernel_comparison *comparison,
        const char *const names[_SIDE_MAX])
{
        _cleanup_table_ struct table table = {};
        struct libscols_line *parent = NULL;
        int r;

        r = table_new(options, &table);
        if (r >= 0)
                r = add_line(&table, NULL, line_of_all(comparison->n_pairs, comparison->sides, _SIDE_MAX),
                        string_format("%s, %s", names[FIRST], names[SECOND]), &parent);
        for (size_t i = 0; r >= 0 && i < comparison->n_units; i++)
                r = add_unit(&table, parent, comparison, &comparison->units[i]);
        if (r >= 0)
                r = add_drivers(&table, comparison->sides, _SIDE_MAX);
        return r < 0 ? r : table_print(&table);
}
