/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate blame --critical-chain: what a unit, such as a mount, waited for last at this boot, down to a disk. Below a unit is
 * the unit that was active last before it started, as in systemd-analyze. Below an LV is the last PV of its VG. */

#include "cli/critical-chain.h"

#include <fnmatch.h>

#include "cli/verb.h"
#include "shared/program.h"
#include "shared/util.h"
#include "tree/read.h"
#include "view/disk-times.h"
#include "view/snapshot.h"
#include "view/systemd.h"

/* Units and devices may form a cycle. */
#define LINKS_MAX 64

struct line {
        const char *color, *name, *kind;
        uint64_t active_usec, took_usec;
};

static const struct column columns[] = {
        COLUMN("NAME", ALWAYS, STRING, name, "the unit, logical volume, volume group, physical volume or device",
                .flags = SCOLS_FL_TREE),
        COLUMN("KIND", IN_JSON, STRING, kind, "unit, lv, vg, pv, device or driver"),
        COLUMNS_OF_TIME(
                "ACTIVE", MOMENT, active_usec, "time at which it was active, since kernel start", .unknown = "-"),
        COLUMNS_OF_TIME("TOOK", SHORT_DURATION, took_usec, "time that it took itself", .unknown = "-"),
};
const struct table_kind chain_table = {"chain", columns, ELEMENTSOF(columns)};

struct chain {
        const struct sources *sources;
        const struct systemd *systemd;
        const struct tree *tree;
        struct milestones milestones;
        uint64_t clock_usec; /* the last VG's, see disk_times_read() */
        struct table *table;
        struct libscols_line *last;
        size_t n;
};

/* `active_usec` and `started_usec` are 0 if they are not known. */
static void add_link(
        struct chain *chain, const char *kind, const char *name, uint64_t active_usec, uint64_t began_usec)
{
        bool known = began_usec > 0 && began_usec <= active_usec;
        const struct line line = {NULL, name, kind, active_usec ?: COLUMN_UNKNOWN,
                known ? active_usec - began_usec : COLUMN_UNKNOWN};

        /* JSON is a flat list. */
        chain->last = table_add_line(chain->table, chain->table->options.json ? NULL : chain->last, &line);
        chain->n++;
}

/* ------ devices ------ */

/* Returns the PV that appeared last. */
static dev_t add_vg(struct chain *chain, const struct vg *vg)
{
        struct vg_times times = vg_first_times(vg);
        struct disk_times disk;
        const struct vg_pv *last = disk_times_read_last(vg, &disk);
        const struct tree_node *node = last ? tree_find_number(chain->tree, last->device) : NULL;

        chain->clock_usec = vg->clock_usec;
        add_link(chain, "vg", path_format("VG %s", vg->name).text,
                vg_describe_activator(vg) ? 0 : times.made_usec ?: times.settled_usec, times.complete_usec);
        if (node)
                add_link(chain, "pv", path_format("PV %s", node->name).text, times.complete_usec,
                        disk.handled_usec);
        return last ? last->device : 0;
}

/* `active_usec` is when systemd had the first one. */
static void add_devices(struct chain *chain, dev_t number, uint64_t active_usec)
{
        const struct tree_node *node;

        for (; (node = tree_find_number(chain->tree, number)) && chain->n < LINKS_MAX; active_usec = 0) {
                const struct vg *vg = node->vg ? snapshot_find(chain->sources, node->vg) : NULL;
                struct disk_times disk;
                uint64_t last_usec = 0;

                number = 0;
                if (vg) {
                        struct vg_times times = vg_first_times(vg);

                        add_link(chain, "lv", path_format("LV %s/%s", node->vg, node->lv).text,
                                active_usec ?: times.linked_usec, times.made_usec);
                        number = add_vg(chain, vg);
                        continue;
                }
                disk = disk_times_read(node->number, chain->clock_usec);
                add_link(chain, "device", node->name, disk.handled_usec,
                        udev_began_usec(&chain->milestones, &disk));
                FOREACH_NODE(lower, &node->lowers) {
                        uint64_t usec = disk_times_read(lower->number, chain->clock_usec).handled_usec;

                        if (!lower->kernel_name || (number != 0 && usec <= last_usec))
                                continue;
                        number = lower->number;
                        last_usec = usec;
                }
                if (number == 0)
                        add_link(chain, "driver", path_format("driver of %s", node->name).text, disk.made_usec, 0);
        }
}

/* ------ units ------ */

/* The unit matching the pattern that was active last before that time; NULL for none. */
static char *find_last_unit(
        const struct systemd *systemd, const struct strv *units, const char *pattern, uint64_t until_usec)
{
        const char *last = NULL;
        uint64_t last_usec = 0;

        STRV_FOREACH(unit, units) {
                bool matches = fnmatch(pattern, *unit, FNM_EXTMATCH) == 0;
                uint64_t usec = matches ? unit_active_since_usec(systemd, *unit) : 0;

                if (usec <= last_usec || usec > until_usec)
                        continue;
                last = *unit;
                last_usec = usec;
        }
        return last ? strdup(last) : NULL;
}

/* Returns the unit that it waited for last. For a file system, its device and its check come first. */
static char *add_unit(struct chain *chain, const char *unit)
{
        uint64_t active_usec = unit_active_since_usec(chain->systemd, unit);
        uint64_t began_usec = unit_began_usec(chain->systemd, unit) ?: active_usec;
        bool has_device = fnmatch("@(*.mount|*.swap|systemd-fsck@*)", unit, FNM_EXTMATCH) == 0;
        _cleanup_strv_ struct strv after = {};
        char *next = NULL;

        add_link(chain, "unit", unit, active_usec, began_usec);
        table_fail(chain->table, systemd_get_list(chain->systemd, unit, "After", &after));
        if (has_device)
                next = find_last_unit(chain->systemd, &after, "@(*.device|systemd-fsck@*)", began_usec);
        return next ?: find_last_unit(chain->systemd, &after, "*", began_usec);
}

/* Goes on below the unit if it is a device. */
static bool add_device_of_unit(struct chain *chain, const char *unit)
{
        _cleanup_free_ char *path = systemd_get_property(chain->systemd, unit, "SysFSPath");
        const char *name = path ? strrchr(path, '/') : NULL;
        const struct tree_node *node = name ? tree_find_kernel_name(chain->tree, name + 1) : NULL;

        if (node)
                add_devices(chain, node->number, unit_active_since_usec(chain->systemd, unit));
        return node;
}

/* ------ the verb ------ */

/* `name` is a mount point, or a unit with or without its suffix. */
static char *name_to_unit(const char *name)
{
        _cleanup_free_ char *path = *name == '/' ? realpath(name, NULL) : NULL;
        char *unit = NULL;

        if (*name != '/')
                return string_format("%s%s", name, strchr(name, '.') ? "" : ".service");
        return unit_name_of_mount(path ?: name, &unit) < 0 ? NULL : unit;
}

static int add_chain(struct chain *chain, const char *name)
{
        _cleanup_free_ char *unit = name_to_unit(name);

        /* The path may be too long for the name of a unit. */
        if (!unit || unit_active_since_usec(chain->systemd, unit) == 0) {
                log_error("%s was not active in this boot.", unit ?: name);
                return EXIT_NOT_ALL_UP;
        }
        while (unit && chain->n < LINKS_MAX && !add_device_of_unit(chain, unit)) {
                char *next = add_unit(chain, unit);

                free(unit);
                unit = next;
        }
        return EXIT_SUCCESS;
}

int chain_run(const char *name, struct table *table)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        _cleanup_(systemd_done) struct systemd systemd = {};
        _cleanup_tree_ struct tree *tree = NULL;
        int r;

        if (sources_open_in_charge(&sources) < 0)
                return EXIT_CANNOT_TELL;
        r = snapshot_read(&sources) ?: tree_read(sources.root_fd, &tree) ?: systemd_connect(&systemd);
        if (r >= 0)
                r = add_chain(&(struct chain){&sources, &systemd, tree, milestones_read(&systemd),
                                      now_realtime_usec() - now_usec(), table},
                        name);
        return verb_print(table, r, "follow the critical chain");
}
