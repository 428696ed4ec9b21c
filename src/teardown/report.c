/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/report.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/sysmacros.h>
#include <systemd/sd-daemon.h>

#include "shared/fields.h"
#include "shared/log.h"
#include "shared/messages.h"
#include "teardown/sought.h"
#include "tree/order.h"

/* How often systemd is told how far it is, and how long after the longest pause it may kill us. */
#define STATUS_USEC (500 * USEC_PER_MSEC)
#define MARGIN_USEC (30 * USEC_PER_SEC)

/* How many names stand in one sentence. */
#define NAMES_MAX 3

/* ------ names ------ */

/* Some names, as "a, b, c and 4 more". Starts empty: all zeros. Without memory there are fewer. */
struct enumeration {
        char *text; /* NULL while it is empty */
        size_t n;
};

static void enumerate(struct enumeration *enumeration, const char *name)
{
        _cleanup_free_ char *printable = NULL;

        if (enumeration->n++ >= NAMES_MAX)
                return;
        printable = string_printable(name);
        if (string_replace(&enumeration->text, string_format("%s%s%s", enumeration->text ?: "",
                                                       enumeration->text ? ", " : "", printable ?: "?")) < 0)
                enumeration->n = NAMES_MAX;
}

static void enumerate_end(struct enumeration *enumeration)
{
        if (enumeration->n <= NAMES_MAX)
                return;
        if (string_replace(&enumeration->text,
                    string_format("%s and %zu more", enumeration->text ?: "?", enumeration->n - NAMES_MAX)) < 0)
                log_oom();
}

static void enumeration_done(struct enumeration *enumeration)
{
        free(enumeration->text);
}

/* "vg0-lv (dm-3)" */
static char *describe(const struct tree_node *node)
{
        _cleanup_free_ char *name = string_printable(node->name);

        return !node->kernel_name || streq(node->name, node->kernel_name)
                       ? TAKE_PTR(name)
                       : string_format("%s (%s)", name ?: "?", node->kernel_name);
}

static const char *plural(size_t n)
{
        return n == 1 ? "" : "s";
}

/* ------ circles ------ */

void report_circles(const struct tree *tree)
{
        for (const struct tree_part *part = tree->parts; part; part = part->next) {
                _cleanup_(enumeration_done) struct enumeration names = {};

                for (size_t i = 0; i < part->members.n; i++)
                        enumerate(&names, part->members.nodes[i]->name);
                enumerate_end(&names);
                log_warning("%s hold each other in a circle and are taken down one after another.",
                        names.text ?: "Devices");
        }
}

/* ------ storage trees ------ */

static uint64_t since(uint64_t from, uint64_t to)
{
        return from > 0 && to > from ? to - from : 0;
}

static int compare_ends(const void *a, const void *b)
{
        const struct attempt *const *first = a, *const *second = b;

        return (*first)->ended_usec < (*second)->ended_usec   ? -1
               : (*first)->ended_usec > (*second)->ended_usec ? 1
                                                              : 0;
}

static void print_attempt(FILE *file, const struct teardown *teardown, const struct attempt *attempt)
{
        _cleanup_free_ char *name = string_printable(attempt->node->name);

        fprintf(file, "%" PRIu64 " %" PRIu64 " %u %s %s\n", since(teardown->started_usec, attempt->ready_usec),
                since(attempt->ready_usec, attempt->ended_usec), attempt->n_tries,
                tree_kind_to_string(attempt->node->kind), name ?: "?");
}

/* The field with what has gone of a storage tree; NULL without memory. */
static char *format_nodes(const struct teardown *teardown, size_t component)
{
        const struct storage_tree *tree = &teardown->trees[component];
        _cleanup_free_ const struct attempt **gone = calloc(tree->n_gone + 1, sizeof(*gone));
        char *text = NULL;
        size_t n = 0, size;
        FILE *file;

        if (!gone)
                return NULL;
        for (size_t i = 0; i < tree->members.n; i++) {
                const struct attempt *attempt = &teardown->attempts[tree->members.nodes[i]->index];

                if (attempt->node->state == TREE_GONE && n < tree->n_gone)
                        gone[n++] = attempt;
        }
        qsort(gone, n, sizeof(*gone), compare_ends);

        file = open_memstream(&text, &size);
        if (!file)
                return NULL;
        fputs("HEADGATE_NODES=", file);
        for (size_t i = 0; i < n; i++)
                print_attempt(file, teardown, gone[i]);
        (void) fclose(file);
        return text;
}

static void report_tree(
        int level, const char *message_id, const struct teardown *teardown, size_t component, const char *message)
{
        const struct storage_tree *tree = &teardown->trees[component];
        _cleanup_fields_ struct fields fields = {};

        if (!message)
                return;
        fields_add(&fields, string_format("HEADGATE_TREE=%s", tree->name));
        fields_add(&fields, string_format("HEADGATE_N_NODES=%zu", tree->members.n));
        fields_add(&fields, string_format("HEADGATE_N_NODES_GONE=%zu", tree->n_gone));
        fields_add(&fields,
                string_format("HEADGATE_DURATION_USEC=%" PRIu64, since(tree->first_usec, tree->last_usec)));
        fields_add(&fields, format_nodes(teardown, component));
        log_event(level, message_id, message, fields.vector, fields.n);
}

void report_tree_down(const struct teardown *teardown, size_t component)
{
        const struct storage_tree *tree = &teardown->trees[component];
        _cleanup_free_ char *name = string_printable(tree->name);
        _cleanup_free_ char *time = format_duration(since(tree->first_usec, tree->last_usec));
        _cleanup_free_ char *message = string_format("Storage tree %s is down: %zu device%s in %s.", name ?: "?",
                tree->n_gone, plural(tree->n_gone), time ?: "?");

        report_tree(LOG_INFO, MESSAGE_STORAGE_TREE_DOWN, teardown, component, message);
}

static void report_tree_left(const struct teardown *teardown, size_t component)
{
        const struct storage_tree *tree = &teardown->trees[component];
        _cleanup_free_ char *name = string_printable(tree->name);
        _cleanup_free_ char *message = string_format("Storage tree %s is not down: %zu of %zu device%s left.",
                name ?: "?", tree->members.n - tree->n_gone, tree->members.n, plural(tree->members.n));

        report_tree(LOG_WARNING, MESSAGE_STORAGE_TREE_LEFT, teardown, component, message);
}

/* ------ what is left ------ */

/* One that is not gone, because of something that is not a failure told of already. */
static bool is_cause(const struct tree_node *node)
{
        if (!tree_node_is_ours(node) || node->state == TREE_GONE)
                return false;
        if (node->state == TREE_FAILED || node->uppers.n == 0)
                return true;
        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->state != TREE_GONE && !tree_node_is_ours(node->uppers.nodes[i]))
                        return true;
        return false;
}

/* What the kernel says now of what lies on it; the tree may be older. */
static void enumerate_holders(const struct tree_node *node, struct enumeration *names)
{
        _cleanup_free_ char *path =
                string_format("/sys/dev/block/%u:%u/holders", major(node->number), minor(node->number));
        _cleanup_closedir_ DIR *directory = path ? opendir(path) : NULL;

        if (!directory)
                return;
        for (const struct dirent *entry; (entry = readdir(directory));)
                if (entry->d_name[0] != '.')
                        enumerate(names, entry->d_name);
}

/* "held by /srv/a, dm-4; process 123 (cat) has it open"; "" if nothing is known to hold it; NULL without memory. */
static char *describe_holders(const struct tree_node *node, const struct users *users)
{
        _cleanup_(enumeration_done) struct enumeration holders = {};
        _cleanup_free_ char *processes = users_describe(users);

        for (size_t i = 0; i < node->uppers.n; i++)
                if (node->uppers.nodes[i]->state != TREE_GONE && !node->uppers.nodes[i]->kernel_name)
                        enumerate(&holders, node->uppers.nodes[i]->name);
        enumerate_holders(node, &holders);
        enumerate_end(&holders);

        return string_format("%s%s%s%s", holders.text ? "held by " : "", holders.text ?: "",
                holders.text && processes && *processes ? "; " : "", processes ?: "");
}

static const char *describe_reason(const struct attempt *attempt)
{
        if (attempt->error == -ETIMEDOUT)
                return "its removal does not come to an end in the kernel";
        if (attempt->error < 0 && attempt->error != -EBUSY)
                return strerror(-attempt->error);
        return attempt->n_tries > 0 || attempt->node->n_holders > 0 ? "it is in use" : "it was not its turn yet";
}

static void report_node_left(
        const struct teardown *teardown, const struct tree_node *node, const struct users *users)
{
        const struct attempt *attempt = &teardown->attempts[node->index];
        _cleanup_free_ char *name = describe(node), *holders = describe_holders(node, users);
        _cleanup_free_ char *message = string_format("%s is left, %s%s%s.", name ?: "?", describe_reason(attempt),
                holders && *holders ? ": " : "", holders ?: "");
        _cleanup_fields_ struct fields fields = {};

        if (!message)
                return;
        fields_add(&fields, string_format("HEADGATE_NODE=%s", node->name));
        fields_add(&fields, string_format("HEADGATE_DEVNAME=%s", node->kernel_name));
        fields_add(&fields, string_format("HEADGATE_TREE=%s", teardown->trees[node->component].name));
        if (node->vg)
                fields_add(&fields, string_format("HEADGATE_VG=%s", node->vg));
        fields_add(&fields, string_format("HEADGATE_HOLDERS=%s", holders ?: ""));
        fields_add(&fields, string_format("HEADGATE_N_TRIES=%u", attempt->n_tries));
        fields_add(&fields, string_format("ERRNO=%d", -attempt->error));
        log_event(LOG_WARNING, MESSAGE_NODE_LEFT, message, fields.vector, fields.n);
}

/* Who it is cannot always be told, and the rest is worth telling all the same. */
static void look_for_users(struct sought *sought, size_t n)
{
        int r = sought_find_users(sought, n);

        if (r < 0)
                log_debug("Failed to look for processes: %s", strerror(-r));
}

/* All processes are looked at once, however many nodes there are. */
static void report_nodes_left(const struct teardown *teardown)
{
        _cleanup_tree_nodes_ struct tree_nodes left = {};
        _cleanup_free_ struct sought *sought = NULL;

        for (size_t i = 0; i < teardown->n_attempts; i++)
                if (is_cause(teardown->attempts[i].node) && tree_nodes_add(&left, teardown->attempts[i].node) < 0)
                        return;
        if (left.n == 0)
                return;
        sought = calloc(left.n, sizeof(*sought));
        if (!sought)
                return;
        for (size_t i = 0; i < left.n; i++)
                sought[i].number = left.nodes[i]->number;
        look_for_users(sought, left.n);
        for (size_t i = 0; i < left.n; i++) {
                report_node_left(teardown, left.nodes[i], &sought[i].users);
                users_done(&sought[i].users);
        }
}

void report_end(const struct teardown *teardown)
{
        const struct tree *tree = teardown->tree;
        uint64_t usec = since(teardown->started_usec, now_usec());
        _cleanup_free_ char *time = format_duration(usec), *message = NULL;
        _cleanup_fields_ struct fields fields = {};

        report_nodes_left(teardown);
        for (size_t i = 0; i < tree->n_components; i++)
                if (teardown->trees[i].n_gone < teardown->trees[i].members.n)
                        report_tree_left(teardown, i);

        message = tree->n_to_go == 0 ? strdup("There is no device to be taken down.")
                                     : string_format("%zu of %zu device%s down after %s.", tree->n_gone,
                                               tree->n_to_go, plural(tree->n_to_go), time ?: "?");
        fields_add(&fields, string_format("HEADGATE_N_NODES=%zu", tree->n_to_go));
        fields_add(&fields, string_format("HEADGATE_N_NODES_GONE=%zu", tree->n_gone));
        fields_add(&fields, string_format("HEADGATE_DURATION_USEC=%" PRIu64, usec));
        if (message)
                log_event(tree->n_gone < tree->n_to_go ? LOG_WARNING : LOG_NOTICE, MESSAGE_TEARDOWN_ENDED, message,
                        fields.vector, fields.n);
        (void) sd_notifyf(0, "STATUS=%s", message ?: "");
}

/* ------ on the way ------ */

/* What is still mounted, or swapped to, on something that is to go. */
static int find_waited_for(const struct teardown *teardown, struct tree_nodes *ret)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < teardown->tree->nodes.n; i++) {
                struct tree_node *node = teardown->tree->nodes.nodes[i];

                if (teardown_awaits(teardown, node))
                        r = tree_nodes_add(ret, node);
        }
        return r;
}

void report_waiting(const struct teardown *teardown)
{
        _cleanup_tree_nodes_ struct tree_nodes nodes = {};
        _cleanup_free_ struct sought *sought = NULL;

        if (find_waited_for(teardown, &nodes) < 0 || nodes.n == 0)
                return;
        sought = calloc(nodes.n, sizeof(*sought));
        if (!sought)
                return;
        for (size_t i = 0; i < nodes.n; i++)
                if (nodes.nodes[i]->kind == TREE_MOUNT)
                        sought[i].mount_point = nodes.nodes[i]->name;
        look_for_users(sought, nodes.n);
        for (size_t i = 0; i < nodes.n; i++) {
                _cleanup_free_ char *name = string_printable(nodes.nodes[i]->name);
                _cleanup_free_ char *users = users_describe(&sought[i].users);

                log_notice("Waiting for %s to be %s%s%s.", name ?: "?",
                        nodes.nodes[i]->kind == TREE_MOUNT ? "unmounted" : "swapped off",
                        users && *users ? ": " : "", users ?: "");
                users_done(&sought[i].users);
        }
}

/* The storage trees that the nodes are in. */
static size_t count_trees(const struct teardown *teardown, const struct tree_nodes *nodes)
{
        _cleanup_free_ bool *counted = calloc(teardown->tree->n_components + 1, sizeof(*counted));
        size_t n = 0;

        for (size_t i = 0; counted && i < nodes->n; i++) {
                bool *here = &counted[nodes->nodes[i]->component];

                n += !*here;
                *here = true;
        }
        return n;
}

/* "412 of 1015 devices down, 3 trees waiting for: /srv/a, /srv/b, /srv/c" */
static char *describe_progress(const struct teardown *teardown, const struct tree_nodes *waited_for)
{
        _cleanup_(enumeration_done) struct enumeration names = {};
        size_t n_trees = count_trees(teardown, waited_for);
        const struct tree *tree = teardown->tree;

        for (size_t i = 0; i < waited_for->n; i++)
                enumerate(&names, waited_for->nodes[i]->name);
        enumerate_end(&names);
        if (!names.text)
                return string_format(
                        "%zu of %zu device%s down", tree->n_gone, tree->n_to_go, plural(tree->n_to_go));
        return string_format("%zu of %zu device%s down, %zu tree%s waiting for: %s", tree->n_gone, tree->n_to_go,
                plural(tree->n_to_go), n_trees, plural(n_trees), names.text);
}

void report_progress(struct teardown *teardown)
{
        _cleanup_tree_nodes_ struct tree_nodes waited_for = {};
        _cleanup_free_ char *status = NULL;
        uint64_t now = now_usec();

        if (teardown->status_usec + STATUS_USEC > now || find_waited_for(teardown, &waited_for) < 0)
                return;
        status = describe_progress(teardown, &waited_for);
        if (status)
                (void) sd_notifyf(0, "STATUS=%s", status);
        /* As long as something happens, it may go on. */
        if (teardown->progress_usec >= teardown->status_usec)
                (void) sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%" PRIu64, teardown->options.stall_usec + MARGIN_USEC);
        teardown->status_usec = now;
}
