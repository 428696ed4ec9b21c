/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/shutdown-log-table.h"

#include <inttypes.h>

#include "shared/util.h"

/* A line of either table. What is not there, or has no meaning for the kind, is not known. */
struct line {
        const char *kind;
        char *name;
        size_t n_devices;
        struct figures {
                bool began_known, took_known, within_known;
                bool at_most; /* it may have taken less */
                uint64_t began_usec, took_usec, within_usec;
        } sides[_SIDE_MAX];
};

/* ------ columns: each makes its cell of a line, NULL without memory ------ */

static char *format_name(const void *data)
{
        const struct line *line = data;

        return string_printable(line->name);
}

static char *format_kind(const void *data)
{
        const struct line *line = data;

        return strdup(line->kind);
}

static char *format_devices(const void *data)
{
        const struct line *line = data;

        return line->n_devices > 0 ? string_format("%zu", line->n_devices) : strdup("");
}

static char *format_at_most(const void *data)
{
        const struct line *line = data;

        return strdup(line->sides[FIRST].at_most ? "true" : "false");
}

/* libsmartcols takes 0 and N for false, and all else for true. */
static char *format_at_most_json(const void *data)
{
        const struct line *line = data;

        return strdup(line->sides[FIRST].at_most ? "1" : "0");
}

static char *format_time(bool known, bool at_most, uint64_t usec)
{
        _cleanup_free_ char *time = known ? format_short_duration(usec) : NULL;

        if (!known)
                return strdup("");
        return time && at_most ? string_format("up to %s", time) : TAKE_PTR(time);
}

static char *format_usec(bool known, uint64_t usec)
{
        return known ? string_format("%" PRIu64, usec) : strdup("");
}

#define DEFINE_TIME(name, side, field)                                                                            \
        static char *format_##name(const void *data)                                                              \
        {                                                                                                         \
                const struct figures *values = &((const struct line *) data)->sides[side];                        \
                                                                                                                  \
                return format_time(values->field##_known, values->at_most, values->field##_usec);                 \
        }                                                                                                         \
        static char *format_##name##_usec(const void *data)                                                       \
        {                                                                                                         \
                const struct figures *values = &((const struct line *) data)->sides[side];                        \
                                                                                                                  \
                return format_usec(values->field##_known, values->field##_usec);                                  \
        }

DEFINE_TIME(took, FIRST, took)
DEFINE_TIME(within, FIRST, within)
DEFINE_TIME(second_took, SECOND, took)
DEFINE_TIME(second_within, SECOND, within)

static char *format_began(const void *data)
{
        const struct figures *values = &((const struct line *) data)->sides[FIRST];

        return format_time(values->began_known, false, values->began_usec);
}

static char *format_began_usec(const void *data)
{
        const struct figures *values = &((const struct line *) data)->sides[FIRST];

        return format_usec(values->began_known, values->began_usec);
}

static bool have_difference(const struct line *line)
{
        return line->sides[FIRST].took_known && line->sides[SECOND].took_known;
}

static int64_t find_difference(const struct line *line)
{
        return (int64_t) line->sides[SECOND].took_usec - (int64_t) line->sides[FIRST].took_usec;
}

static char *format_difference(const void *data)
{
        int64_t difference = find_difference(data);
        _cleanup_free_ char *time = format_short_duration((uint64_t) llabs(difference));

        if (!have_difference(data))
                return strdup("");
        return time ? string_format("%s%s", difference > 0 ? "+" : difference < 0 ? "-" : "", time) : NULL;
}

static char *format_difference_usec(const void *data)
{
        return have_difference(data) ? string_format("%" PRIi64, find_difference(data)) : strdup("");
}

static const char *color_of_difference(const void *data)
{
        return have_difference(data) && find_difference(data) > 0 ? "red" : NULL;
}

#define TIME_COLUMN(name, description, format)                                                                    \
        {name, description, COLUMN_IN_TABLE, SCOLS_FL_RIGHT, SCOLS_JSON_STRING, format_##format},                 \
        {                                                                                                         \
                name "-USEC", "the same, in microseconds", COLUMN_IN_JSON, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,     \
                        format_##format##_usec                                                                    \
        }

#define NAME_COLUMNS                                                                                              \
        {"NAME", "the log, a device with its driver, or a driver", COLUMN_ALWAYS, SCOLS_FL_TREE,                  \
                SCOLS_JSON_STRING, format_name},                                                                  \
                {"KIND", "shutdown, parallel, device, drivers or driver", COLUMN_IN_JSON, 0, SCOLS_JSON_STRING,   \
                        format_kind},                                                                             \
        {                                                                                                         \
                "DEVICES", "how many devices that are", COLUMN_ALWAYS, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,         \
                        format_devices                                                                            \
        }

static const struct column columns[] = {
        NAME_COLUMNS,
        TIME_COLUMN("BEGAN", "when it was begun with, after the first device", began),
        TIME_COLUMN("TOOK", "until the next device was begun with, or all was done", took),
        {"AT-MOST", "whether it may have taken less, having gone in parallel with others", COLUMN_IN_JSON, 0,
                SCOLS_JSON_BOOLEAN, format_at_most, format_at_most_json},
        TIME_COLUMN("WITHIN", "how far apart the first and the last of several devices were begun with", within),
};

static const struct column comparison_columns[] = {
        NAME_COLUMNS,
        TIME_COLUMN("FIRST", "what it took in the first log: until the next device was begun with", took),
        TIME_COLUMN("SECOND", "likewise in the second log", second_took),
        {"DIFFERENCE", "how much longer it took in the second", COLUMN_IN_TABLE, SCOLS_FL_RIGHT, SCOLS_JSON_STRING,
                format_difference, .color = color_of_difference},
        {"DIFFERENCE-USEC", "the same, in microseconds", COLUMN_IN_JSON, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,
                format_difference_usec},
        TIME_COLUMN("FIRST-WITHIN", "how far apart several devices were begun with in the first log", within),
        TIME_COLUMN("SECOND-WITHIN", "likewise in the second log", second_within),
};

struct table_verb shutdown_log_table_verb(
        void (*help)(void), const struct table_switch *switches, size_t n_switches)
{
        return (struct table_verb){help, "shutdowns", columns, ELEMENTSOF(columns), switches, n_switches};
}

struct table_verb shutdown_log_comparison_verb(
        void (*help)(void), const struct table_switch *switches, size_t n_switches)
{
        return (struct table_verb){
                help, "shutdowns", comparison_columns, ELEMENTSOF(comparison_columns), switches, n_switches};
}

/* ------ lines ------ */

/* Takes the name over; NULL is -ENOMEM. */
static int add_line(struct table *table, struct libscols_line *parent, struct line line, char *name,
        struct libscols_line **ret)
{
        int r;

        if (!name)
                return -ENOMEM;
        line.name = name;
        r = table_add_line(table, parent, &line, ret);
        free(name);
        return r;
}

static char *name_device(const struct kernel_device *device)
{
        return string_format("%s %s", device->driver, device->name);
}

/* Whether it is the first device of its driver in any of the logs. */
static bool is_first_of_driver(const struct kernel_shutdown *const sides[], size_t n_sides, size_t side, size_t i)
{
        const char *driver = sides[side]->devices[i].driver;

        for (size_t s = 0; s <= side && s < n_sides; s++)
                for (size_t j = 0; j < (s == side ? i : sides[s]->n); j++)
                        if (streq(sides[s]->devices[j].driver, driver))
                                return false;
        return true;
}

static int add_driver(struct table *table, struct libscols_line *parent,
        const struct kernel_shutdown *const sides[], size_t n_sides, const char *driver)
{
        struct line line = {.kind = "driver"};

        for (size_t side = 0; side < n_sides; side++) {
                size_t n = kernel_shutdown_measure_driver(sides[side], driver, &line.sides[side].within_usec);

                line.sides[side].within_known = n > 1;
                line.n_devices = MAX(line.n_devices, n);
        }
        return line.n_devices > 1 ? add_line(table, parent, line, strdup(driver), NULL) : 0;
}

static int add_drivers(struct table *table, const struct kernel_shutdown *const sides[], size_t n_sides)
{
        struct libscols_line *parent = NULL;
        struct line line = {.kind = "drivers"};
        int r;

        r = add_line(table, NULL, line, strdup("drivers with several devices"), &parent);
        for (size_t side = 0; side < n_sides; side++)
                for (size_t i = 0; r >= 0 && i < sides[side]->n; i++)
                        if (is_first_of_driver(sides, n_sides, side, i))
                                r = add_driver(table, parent, sides, n_sides, sides[side]->devices[i].driver);
        return r;
}

/* ------ one log ------ */

static int add_device(
        struct table *table, struct libscols_line *parent, const struct kernel_shutdown *shutdown, size_t i)
{
        struct line line = {
                .kind = "device",
                .n_devices = 1,
                .sides[FIRST] = {.began_known = true,
                        .took_known = true,
                        .at_most = kernel_shutdown_is_parallel(shutdown, i),
                        .began_usec = shutdown->devices[i].began_usec,
                        .took_usec = kernel_shutdown_took_usec(shutdown, i)},
        };

        return add_line(table, parent, line, name_device(&shutdown->devices[i]), NULL);
}

/* All that went in parallel, or a device that went alone. */
static int add_group(
        struct table *table, struct libscols_line *parent, const struct kernel_shutdown *shutdown, size_t from)
{
        size_t to = kernel_shutdown_group_end(shutdown, from);
        struct line line = {
                .kind = "parallel",
                .n_devices = to - from,
                .sides[FIRST] = {.began_known = true,
                        .took_known = true,
                        .within_known = true,
                        .began_usec = shutdown->devices[from].began_usec,
                        .took_usec = kernel_shutdown_took_usec(shutdown, from),
                        .within_usec = shutdown->devices[to - 1].began_usec - shutdown->devices[from].began_usec},
        };
        int r;

        if (to == from + 1)
                return add_device(table, parent, shutdown, from);
        r = add_line(table, parent, line, string_format("%zu in parallel", to - from), &parent);
        for (size_t i = from; r >= 0 && i < to; i++)
                r = add_device(table, parent, shutdown, i);
        return r;
}

int shutdown_log_print(const struct table_verb *verb, const struct table_options *options,
        const struct kernel_shutdown *shutdown, const char *name)
{
        _cleanup_table_ struct table table = {};
        struct libscols_line *parent = NULL;
        struct line line = {
                .kind = "shutdown",
                .n_devices = shutdown->n,
                .sides[FIRST] = {.began_known = true,
                        .took_known = true,
                        .within_known = true,
                        .took_usec = shutdown->total_usec,
                        .within_usec = shutdown->devices[shutdown->n - 1].began_usec},
        };
        int r;

        r = table_new(verb, options, &table);
        if (r >= 0)
                r = add_line(&table, NULL, line, strdup(name), &parent);
        for (size_t i = 0; r >= 0 && i < shutdown->n; i = kernel_shutdown_group_end(shutdown, i))
                r = add_group(&table, parent, shutdown, i);
        if (r >= 0)
                r = add_drivers(&table, &shutdown, 1);
        return r < 0 ? r : table_print(&table);
}

/* ------ two logs ------ */

static int add_pair(struct table *table, struct libscols_line *parent, const struct kernel_comparison *comparison,
        const struct kernel_pair *pair)
{
        struct line line = {.kind = "device", .n_devices = 1};

        for (size_t side = 0; side < _SIDE_MAX; side++) {
                const struct kernel_shutdown *shutdown = comparison->sides[side];
                size_t place = pair->places[side];

                /* What a log has nothing of took no time there; what went in parallel is known of all of it
                 * only. */
                line.sides[side].took_known = place == NOT_THERE || !kernel_shutdown_is_parallel(shutdown, place);
                if (place != NOT_THERE)
                        line.sides[side].took_usec = shutdown->devices[place].step_usec;
        }
        return add_line(table, parent, line, name_device(kernel_pair_device(comparison, pair)), NULL);
}

static int add_unit(struct table *table, struct libscols_line *parent, const struct kernel_comparison *comparison,
        const struct kernel_unit *unit)
{
        struct line line = {.kind = "parallel", .n_devices = unit->n_pairs};
        int r = 0;

        for (size_t side = 0; side < _SIDE_MAX; side++) {
                /* What a log has nothing of took no time there. */
                line.sides[side].took_known = true;
                line.sides[side].took_usec = unit->usec[side];
        }
        if (unit->n_pairs > 1)
                r = add_line(table, parent, line, string_format("%zu in parallel", unit->n_pairs), &parent);
        for (size_t i = 0; r >= 0 && i < unit->n_pairs; i++)
                r = add_pair(table, parent, comparison, &comparison->pairs[unit->first_pair + i]);
        return r;
}

int shutdown_log_print_comparison(const struct table_verb *verb, const struct table_options *options,
        const struct kernel_comparison *comparison, const char *const names[_SIDE_MAX])
{
        _cleanup_table_ struct table table = {};
        struct libscols_line *parent = NULL;
        struct line line = {.kind = "shutdown", .n_devices = comparison->n_pairs};
        int r;

        for (size_t side = 0; side < _SIDE_MAX; side++) {
                const struct kernel_shutdown *shutdown = comparison->sides[side];

                line.sides[side] = (struct figures){.took_known = true,
                        .within_known = true,
                        .took_usec = shutdown->total_usec,
                        .within_usec = shutdown->devices[shutdown->n - 1].began_usec};
        }
        r = table_new(verb, options, &table);
        if (r >= 0)
                r = add_line(&table, NULL, line, string_format("%s, %s", names[FIRST], names[SECOND]), &parent);
        for (size_t i = 0; r >= 0 && i < comparison->n_units; i++)
                r = add_unit(&table, parent, comparison, &comparison->units[i]);
        if (r >= 0)
                r = add_drivers(&table, comparison->sides, _SIDE_MAX);
        return r < 0 ? r : table_print(&table);
}
