/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "timeline/record.h"

#include <inttypes.h>

#include "lvm/volume_group.h"
#include "shared/dm.h"
#include "shared/util.h"

#define VERSION 1

/* What is before the bars, and their end. */
#define HEADER_SIZE_MAX 4096

static const char *const kind_names[] = {
        [TIMELINE_BOOT] = "boot",
        [TIMELINE_SHUTDOWN] = "shutdown",
};

static const char *const phase_keys[_TIMELINE_PHASE_MAX] = {
        [TIMELINE_PVS] = "pvs_usec",
        [TIMELINE_QUEUE] = "queue_usec",
        [TIMELINE_LVM2] = "lvm2_usec",
        [TIMELINE_UDEV] = "udev_usec",
        [TIMELINE_HELD] = "held_usec",
        [TIMELINE_REMOVAL] = "removal_usec",
};

static const char *const end_names[] = {
        [TIMELINE_DONE] = "done",
        [TIMELINE_SKIPPED] = "skipped",
        [TIMELINE_UNFINISHED] = "unfinished",
        [TIMELINE_FAILED] = "failed",
};

/* ------ writing ------ */

static void print_number(FILE *file, const char *key, uint64_t number)
{
        if (number > 0)
                fprintf(file, "%s = %" PRIu64 "\n", key, number);
}

static int print_bar(FILE *file, const struct timeline_bar *bar)
{
        const struct {
                const char *key, *value;
        } strings[] = {
                {"name", bar->name},
                {"tree", bar->tree},
                {"kind", bar->kind},
                {"reason", bar->reason},
                {"state", bar->state},
                {"end", end_names[bar->end]},
        };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(strings); i++)
                r = config_print_string(file, strings[i].key, strings[i].value);
        print_number(file, "first_usec", bar->first_usec);
        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; i++)
                print_number(file, phase_keys[i], bar->phases_usec[i]);
        print_number(file, "asked_usec", bar->asked_usec);
        print_number(file, "linked_usec", bar->linked_usec);
        print_number(file, "complete", bar->complete);
        print_number(file, "n_pvs", bar->n_pvs);
        print_number(file, "n_lvs", bar->n_lvs);
        print_number(file, "n_tries", bar->n_tries);
        return r;
}

/* Returns a string to be freed by the caller, or NULL without memory. */
static char *format_bar(const struct timeline_bar *bar, size_t number)
{
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        int r;

        if (!file)
                return NULL;
        fprintf(file, "b%zu {\n", number);
        r = print_bar(file, bar);
        fprintf(file, "}\n");
        if (fclose(file) != 0 || r < 0) {
                free(text);
                return NULL;
        }
        return text;
}

/* The bars that fit, the slowest first. */
static int format_bars(const struct timeline *timeline, struct string_vector *bars)
{
        size_t size = HEADER_SIZE_MAX;

        for (size_t i = 0; i < timeline->n; i++) {
                _cleanup_free_ char *bar = format_bar(&timeline->bars[i], i);

                if (!bar)
                        return -ENOMEM;
                size += strlen(bar);
                if (size > RECORD_SIZE_MAX)
                        return 0;
                if (string_vector_add(bars, bar) < 0)
                        return -ENOMEM;
        }
        return 0;
}

char *record_format(struct timeline *timeline)
{
        _cleanup_string_vector_ struct string_vector bars = {};
        _cleanup_free_ char *text = NULL, *joined = NULL;
        size_t size;
        FILE *file;
        int r;

        timeline_sort_by_blame(timeline);
        if (format_bars(timeline, &bars) < 0)
                return NULL;
        joined = string_vector_join(&bars, "");
        file = joined ? open_memstream(&text, &size) : NULL;
        if (!file)
                return NULL;
        fprintf(file,
                "version = %d\n"
                "kind = \"%s\"\n",
                VERSION, kind_names[timeline->kind]);
        r = config_print_string(file, "host", timeline->host);
        if (r >= 0)
                r = config_print_string(file, "kernel", timeline->kernel);
        print_number(file, "realtime_usec", timeline->realtime_usec);
        fprintf(file, "n_bars = %zu\n", bars.n);
        print_number(file, "n_left_out", timeline->n_left_out + timeline->n - bars.n);
        fprintf(file, "bars {\n%s}\n", joined);
        return fclose(file) != 0 || r < 0 ? NULL : TAKE_PTR(text);
}

/* ------ reading ------ */

/* Numbers below 0 are nothing that was written here. */
static uint64_t find_number(const struct dm_config_node *section, const char *key)
{
        int64_t number = dm_config_find_int64(section, key, 0);

        return number > 0 ? (uint64_t) number : 0;
}

/* Where a string is already, it stays. */
static int copy_string(const struct dm_config_node *section, const char *key, char **ret)
{
        const char *value = dm_config_find_str(section, key, NULL);

        return *ret || !value || (*ret = strdup(value)) ? 0 : -ENOMEM;
}

/* The states that blame and plot know are words that nobody has to free. NULL for any other. */
static const char *find_state(enum timeline_kind kind, const char *word)
{
        static const char *const of_devices[] = {"gone", "left"};

        for (size_t i = 0; kind == TIMELINE_SHUTDOWN && i < ELEMENTSOF(of_devices); i++)
                if (streq(word, of_devices[i]))
                        return of_devices[i];
        for (size_t i = 0; kind == TIMELINE_BOOT && i < _VOLUME_GROUP_STATE_MAX; i++)
                if (streq(word, volume_group_state_to_string(i)))
                        return volume_group_state_to_string(i);
        return NULL;
}

static int find_end(const char *word, enum timeline_end *ret)
{
        for (size_t i = 0; i < ELEMENTSOF(end_names); i++)
                if (streq(word, end_names[i])) {
                        *ret = i;
                        return 0;
                }
        return -EBADMSG;
}

static int parse_bar(const struct dm_config_node *section, struct timeline *timeline)
{
        struct timeline_bar *bar;
        int r;

        r = timeline_add(timeline, &bar);
        if (r < 0)
                return r;
        if (copy_string(section, "name", &bar->name) < 0 || copy_string(section, "tree", &bar->tree) < 0 ||
                copy_string(section, "kind", &bar->kind) < 0 || copy_string(section, "reason", &bar->reason) < 0)
                return -ENOMEM;
        bar->state = find_state(timeline->kind, dm_config_find_str(section, "state", ""));
        bar->first_usec = find_number(section, "first_usec");
        for (size_t i = 0; i < _TIMELINE_PHASE_MAX; i++)
                bar->phases_usec[i] = find_number(section, phase_keys[i]);
        bar->asked_usec = find_number(section, "asked_usec");
        bar->linked_usec = find_number(section, "linked_usec");
        bar->complete = find_number(section, "complete") > 0;
        bar->n_pvs = find_number(section, "n_pvs");
        bar->n_lvs = find_number(section, "n_lvs");
        bar->n_tries = (unsigned int) find_number(section, "n_tries");
        if (!bar->name || !bar->state || (timeline->kind == TIMELINE_SHUTDOWN) != (bar->tree && bar->kind))
                return -EBADMSG;
        return find_end(dm_config_find_str(section, "end", ""), &bar->end);
}

static int parse_tree(const struct dm_config_node *root, struct timeline *timeline)
{
        const struct dm_config_node *bars = dm_config_find_node(root, "bars");
        size_t n_before = timeline->n;
        int r;

        if (find_number(root, "version") == 0)
                return -EBADMSG;
        if (find_number(root, "version") != VERSION)
                return -EPROTONOSUPPORT;
        if (!streq(dm_config_find_str(root, "kind", ""), kind_names[timeline->kind]) || !bars)
                return -EBADMSG;
        if (copy_string(root, "host", &timeline->host) < 0 || copy_string(root, "kernel", &timeline->kernel) < 0)
                return -ENOMEM;
        if (timeline->realtime_usec == 0)
                timeline->realtime_usec = find_number(root, "realtime_usec");
        for (const struct dm_config_node *bar = bars->child; bar; bar = bar->sib) {
                r = parse_bar(bar->child, timeline);
                if (r < 0)
                        return r;
        }
        if (timeline->n - n_before != find_number(root, "n_bars"))
                return -EBADMSG;
        timeline->n_left_out += find_number(root, "n_left_out");
        return 0;
}

int record_parse(const char *text, struct timeline *timeline)
{
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;
        size_t n_before = timeline->n;
        int r;

        r = config_tree_parse(text, &tree);
        if (r >= 0)
                r = parse_tree(tree->root, timeline);
        if (r < 0)
                timeline_truncate(timeline, n_before);
        return r;
}
