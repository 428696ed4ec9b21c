/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/account.h"

#include "shared/util.h"

/* Takes over `bar`. */
static void add(struct timeline *timeline, struct timeline_bar *bar)
{
        struct timeline_bar *added;

        if (bar->name && bar->tree && bar->kind && timeline_add(timeline, &added) >= 0) {
                *added = *bar;
                return;
        }
        free(bar->name);
        free(bar->tree);
        free(bar->kind);
        free(bar->reason);
}

static struct timeline_bar make_bar(
        const struct teardown *teardown, const struct attempt *attempt, uint64_t ready_usec, uint64_t end_usec)
{
        const struct tree_node *node = attempt->node;

        return (struct timeline_bar){
                .name = string_printable(node->name),
                .tree = string_printable(teardown->trees[node->component].name),
                .kind = strdup(tree_kind_to_string(node->kind)),
                .first_usec = teardown->started_usec,
                .asked_usec = teardown->started_usec,
                .phases_usec[TIMELINE_HELD] = attempt_since(teardown->started_usec, ready_usec),
                .phases_usec[TIMELINE_REMOVAL] = attempt_since(ready_usec, end_usec),
                .n_tries = attempt->n_tries,
        };
}

void account_gone(const struct teardown *teardown, const struct attempt *attempt)
{
        struct timeline_bar bar;

        if (!teardown->options.account)
                return;
        bar = make_bar(teardown, attempt, attempt->ready_usec, attempt->ended_usec);
        bar.state = "gone";
        bar.end = TIMELINE_DONE;
        add(teardown->options.account, &bar);
}

void account_left(
        const struct teardown *teardown, const struct attempt *attempt, uint64_t until_usec, const char *holders)
{
        struct timeline_bar bar;

        if (!teardown->options.account)
                return;
        bar = make_bar(teardown, attempt, attempt->ready_usec > 0 ? attempt->ready_usec : until_usec, until_usec);
        bar.state = "left";
        bar.end = TIMELINE_FAILED;
        bar.reason = holders ? string_printable(holders) : NULL;
        add(teardown->options.account, &bar);
}
