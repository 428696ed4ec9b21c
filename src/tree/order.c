/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In which order the nodes of a storage tree can go, which storage trees there are, and the executor's way through them. */

#include "tree/order.h"

#include "shared/util.h"

/* ------ cycles and steps ------ */

/* Tarjan's algorithm for strongly connected components, which looks at each edge once and finds what is above
 * before what is below. Not recursive: a stack of devices can be as high as it likes. */

struct visit {
        size_t number; /* in which order it was met, from 1; 0 if it was not yet */
        size_t low;    /* the least number that can be reached from it */
        size_t next;   /* the holder to be looked at next */
        bool open;     /* its circle is not complete yet */
};

struct search {
        struct tree *tree;
        struct visit *visits; /* by index */
        size_t n_visited;
        struct tree_nodes path; /* from where the search began to where it is */
        struct tree_nodes open; /* what was met and whose circle is not complete yet */
};

static void search_done(struct search *search)
{
        free(search->visits);
        tree_nodes_done(&search->path);
        tree_nodes_done(&search->open);
}

static int enter(struct search *search, struct tree_node *node)
{
        struct visit *visit = &search->visits[node->index];
        int r;

        visit->number = visit->low = ++search->n_visited;
        visit->open = true;
        r = tree_nodes_add(&search->path, node);
        return r < 0 ? r : tree_nodes_add(&search->open, node);
}

static int compare_newest_first(const void *a, const void *b)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;

        return CMP(second->number, first->number) ?: CMP(second->index, first->index);
}

static int add_cycle(struct tree *tree, struct tree_node *const *members, size_t n)
{
        struct tree_cycle *cycle = calloc(1, sizeof(*cycle));

        if (!cycle)
                return -ENOMEM;
        cycle->next = tree->cycles;
        tree->cycles = cycle;
        for (size_t i = 0; i < n; i++) {
                int r = tree_nodes_add(&cycle->members, members[i]);

                if (r < 0)
                        return r;
                members[i]->cycle = cycle;
        }
        qsort(cycle->members.nodes, n, sizeof(*cycle->members.nodes), compare_newest_first);
        return 0;
}

static void set_steps(struct tree_node *const *members, size_t n)
{
        size_t step = 0;

        for (size_t i = 0; i < n; i++)
                FOREACH_NODE(upper, &members[i]->uppers)
                        if (!upper->cycle || upper->cycle != members[i]->cycle)
                                step = MAX(step, upper->step + 1);
        for (size_t i = 0; i < n; i++)
                members[i]->step = step;
}

/* All above the node has been looked at. */
static int leave(struct search *search, struct tree_node *node)
{
        const struct visit *visit = &search->visits[node->index];
        size_t first = search->open.n;
        int r = 0;

        search->path.n--;
        if (search->path.n > 0) {
                struct visit *before = &search->visits[search->path.nodes[search->path.n - 1]->index];

                before->low = MIN(before->low, visit->low);
        }
        if (visit->low != visit->number)
                return 0;

        do
                search->visits[search->open.nodes[--first]->index].open = false;
        while (search->open.nodes[first] != node);
        if (search->open.n - first > 1)
                r = add_cycle(search->tree, search->open.nodes + first, search->open.n - first);
        set_steps(search->open.nodes + first, search->open.n - first);
        search->open.n = first;
        return r;
}

static int search_from(struct search *search, struct tree_node *start)
{
        int r = enter(search, start);

        while (r >= 0 && search->path.n > 0) {
                struct tree_node *node = search->path.nodes[search->path.n - 1];
                struct visit *visit = &search->visits[node->index];
                const struct visit *above;

                if (visit->next == node->uppers.n) {
                        r = leave(search, node);
                        continue;
                }
                above = &search->visits[node->uppers.nodes[visit->next]->index];
                if (above->number == 0)
                        r = enter(search, node->uppers.nodes[visit->next]);
                else if (above->open)
                        visit->low = MIN(visit->low, above->number);
                visit->next++;
        }
        return r;
}

static int find_cycles(struct tree *tree)
{
        _cleanup_(search_done) struct search search = {
                .tree = tree, .visits = calloc(tree->nodes.n + 1, sizeof(*search.visits))};

        if (!search.visits)
                return -ENOMEM;
        FOREACH_NODE(node, &tree->nodes) {
                int r = search.visits[node->index].number == 0 ? search_from(&search, node) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ storage trees ------ */

/* Marks what is to be removed, and all that is above it. */
static int find_concerned(const struct tree *tree, bool *concerned)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};

        FOREACH_NODE(start, &tree->nodes) {
                int r = tree_node_is_ours(start) ? tree_nodes_add(&waiting, start) : 0;

                while (r >= 0 && waiting.n > 0) {
                        const struct tree_node *node = waiting.nodes[--waiting.n];

                        if (concerned[node->index])
                                continue;
                        concerned[node->index] = true;
                        r = tree_nodes_add_all(&waiting, &node->uppers);
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

static size_t find_first(size_t *firsts, size_t index)
{
        while (firsts[index] != index) {
                firsts[index] = firsts[firsts[index]];
                index = firsts[index];
        }
        return index;
}

static void join_two(size_t *firsts, size_t a, size_t b)
{
        a = find_first(firsts, a);
        b = find_first(firsts, b);
        firsts[MAX(a, b)] = MIN(a, b);
}

/* A mount ties what is mounted below it to its own tree only if that has to wait for it. */
static void join_edges(const struct tree *tree, const bool *concerned, size_t *firsts)
{
        FOREACH_NODE(node, &tree->nodes) {
                if (node->kind == TREE_MOUNT && !concerned[node->index])
                        continue;
                FOREACH_NODE(upper, &node->uppers)
                        join_two(firsts, node->index, upper->index);
        }
}

static int find_components(struct tree *tree)
{
        _cleanup_free_ bool *concerned = calloc(tree->nodes.n + 1, sizeof(*concerned));
        _cleanup_free_ size_t *firsts = calloc(tree->nodes.n + 1, sizeof(*firsts));
        _cleanup_tree_nodes_ struct tree_nodes lvs = {};
        int r;

        if (!concerned || !firsts)
                return -ENOMEM;
        r = find_concerned(tree, concerned);
        if (r < 0)
                return r;
        for (size_t i = 0; i < tree->nodes.n; i++)
                firsts[i] = i;
        join_edges(tree, concerned, firsts);
        r = tree_find_lvs(tree, &lvs);
        if (r < 0)
                return r;
        /* LVs of one VG, wherever they lie. */
        for (size_t i = 1; i < lvs.n; i++)
                if (tree_are_in_one_vg(lvs.nodes[i - 1], lvs.nodes[i]))
                        join_two(firsts, lvs.nodes[i - 1]->index, lvs.nodes[i]->index);

        tree->n_components = 0;
        FOREACH_NODE(node, &tree->nodes) {
                size_t first = find_first(firsts, node->index);

                node->component =
                        first == node->index ? tree->n_components++ : tree->nodes.nodes[first]->component;
        }
        return 0;
}

/* ------ names ------ */

/* What is found out of one storage tree. */
struct label {
        const char *vg; /* the first of the alphabet */
        size_t n_vgs;
        const struct tree_node *bottom;
};

/* By the alphabet. */
static int compare_names(const void *a, const void *b)
{
        const struct tree_node *first = *(struct tree_node *const *) a, *second = *(struct tree_node *const *) b;

        return CMP(first->component, second->component) ?: strcmp(first->vg, second->vg);
}

/* A disk rather than anything else, and then the first one. */
static bool is_better(const struct tree_node *node, const struct tree_node *other)
{
        if (!other)
                return true;
        if ((node->kind == TREE_DISK) != (other->kind == TREE_DISK))
                return node->kind == TREE_DISK;
        if (node->lowers.n != other->lowers.n)
                return node->lowers.n < other->lowers.n;
        return node->number != other->number ? node->number < other->number : node->index < other->index;
}

static int set_names(struct tree *tree)
{
        _cleanup_free_ struct label *labels = calloc(tree->n_components + 1, sizeof(*labels));
        _cleanup_tree_nodes_ struct tree_nodes lvs = {};
        int r;

        tree->names = calloc(tree->n_components + 1, sizeof(*tree->names));
        r = labels && tree->names ? tree_find_lvs(tree, &lvs) : -ENOMEM;
        if (r < 0)
                return r;
        if (lvs.n > 0)
                qsort(lvs.nodes, lvs.n, sizeof(*lvs.nodes), compare_names);
        for (size_t i = 0; i < lvs.n; i++) {
                struct label *label = &labels[lvs.nodes[i]->component];

                label->vg = label->vg ?: lvs.nodes[i]->vg;
                label->n_vgs += i == 0 || compare_names(&lvs.nodes[i - 1], &lvs.nodes[i]) != 0;
        }
        FOREACH_NODE(node, &tree->nodes)
                if (is_better(node, labels[node->component].bottom))
                        labels[node->component].bottom = node;
        for (size_t i = 0; i < tree->n_components; i++) {
                const struct label *label = &labels[i];
                const char *bottom = label->bottom ? label->bottom->name : "";

                tree->names[i] = label->n_vgs > 1 ? string_format("%s and %zu more", label->vg, label->n_vgs - 1)
                                                  : strdup(label->vg ?: bottom);
                if (!tree->names[i])
                        return -ENOMEM;
        }
        return 0;
}

int tree_order(struct tree *tree)
{
        int r;

        r = find_cycles(tree);
        if (r >= 0)
                r = find_components(tree);
        return r < 0 ? r : set_names(tree);
}

/* ------ the executor ------ */

static bool are_in_one_cycle(const struct tree_node *a, const struct tree_node *b)
{
        return a->cycle && a->cycle == b->cycle;
}

/* Whether a member of a circle is there and somebody else's to remove. */
static bool is_awaited(const struct tree_node *node)
{
        return node->state != TREE_GONE && !tree_node_is_ours(node);
}

static void put_ready(struct tree *tree, struct tree_node *node)
{
        node->state = TREE_READY;
        dm_list_add(&tree->ready, &node->ready);
}

static void put_back(struct tree_node *node)
{
        dm_list_del(&node->ready);
        dm_list_init(&node->ready);
        node->state = TREE_HELD;
}

static bool is_being_tried(const struct tree_cycle *cycle)
{
        FOREACH_NODE(member, &cycle->members)
                if (member->state == TREE_READY || member->state == TREE_TAKEN)
                        return true;
        return false;
}

static void fail_cycle(struct tree *tree, struct tree_cycle *cycle)
{
        FOREACH_NODE(member, &cycle->members)
                if (member->state == TREE_HELD) {
                        member->state = TREE_FAILED;
                        tree->n_failed++;
                }
}

/* Has the next member tried. */
static void offer_cycle(struct tree *tree, struct tree_cycle *cycle)
{
        if (cycle->n_holders > 0 || is_being_tried(cycle))
                return;
        for (;;) {
                while (cycle->position < cycle->members.n) {
                        struct tree_node *member = cycle->members.nodes[cycle->position++];

                        if (member->state == TREE_HELD) {
                                put_ready(tree, member);
                                return;
                        }
                }
                if (cycle->n_gone == 0)
                        break;
                cycle->position = 0;
                cycle->n_gone = 0;
        }
        fail_cycle(tree, cycle);
}

static void offer(struct tree *tree, struct tree_node *node)
{
        if (node->cycle)
                offer_cycle(tree, node->cycle);
        else if (node->n_holders > 0 || node->state != TREE_HELD)
                return;
        else if (tree_node_is_ours(node))
                put_ready(tree, node);
        else if (node->kind == TREE_PARTITION && !node->skip_reason)
                tree_node_gone(tree, node);
}

static size_t *holders_of(struct tree_node *node)
{
        return node->cycle ? &node->cycle->n_holders : &node->n_holders;
}

void tree_schedule(struct tree *tree)
{
        FOREACH_NODE(node, &tree->nodes) {
                if (tree_node_is_ours(node)) {
                        tree->n_to_go++;
                        tree->n_gone += node->state == TREE_GONE;
                }
                if (node->cycle && is_awaited(node))
                        node->cycle->n_holders++;
                FOREACH_NODE(upper, &node->uppers)
                        if (upper->state != TREE_GONE && !are_in_one_cycle(node, upper))
                                ++*holders_of(node);
        }
        tree->scheduled = true;
        FOREACH_NODE(node, &tree->nodes)
                offer(tree, node);
}

struct tree_node *tree_next_ready(struct tree *tree)
{
        struct tree_node *node;

        if (dm_list_empty(&tree->ready))
                return NULL;
        node = dm_list_struct_base(dm_list_first(&tree->ready), struct tree_node, ready);
        put_back(node);
        node->state = TREE_TAKEN;
        return node;
}

static void holder_went(struct tree *tree, struct tree_node *lower, const struct tree_node *upper)
{
        if (are_in_one_cycle(lower, upper))
                return;
        --*holders_of(lower);
        offer(tree, lower);
}

void tree_node_gone(struct tree *tree, struct tree_node *node)
{
        if (node->state == TREE_GONE)
                return;
        if (!tree->scheduled) {
                node->state = TREE_GONE;
                return;
        }
        if (node->cycle && is_awaited(node))
                node->cycle->n_holders--;
        if (node->state == TREE_READY)
                put_back(node);
        tree->n_failed -= node->state == TREE_FAILED;
        tree->n_gone += tree_node_is_ours(node);
        node->state = TREE_GONE;
        FOREACH_NODE(lower, &node->lowers)
                holder_went(tree, lower, node);
        if (node->cycle) {
                node->cycle->n_gone++;
                offer_cycle(tree, node->cycle);
        }
}

void tree_node_failed(struct tree *tree, struct tree_node *node)
{
        if (node->state != TREE_TAKEN)
                return;
        if (node->cycle) {
                node->state = TREE_HELD;
                offer_cycle(tree, node->cycle);
        } else {
                node->state = TREE_FAILED;
                tree->n_failed++;
        }
}

int tree_hold(struct tree *tree, struct tree_node *lower, struct tree_node *upper)
{
        size_t n_before = lower->uppers.n;
        int r;

        r = tree_add_edge(lower, upper);
        if (r < 0 || lower->uppers.n == n_before || !tree->scheduled || lower->state == TREE_GONE ||
                upper->state == TREE_GONE)
                return r;
        ++*holders_of(lower);
        if (lower->state == TREE_READY)
                put_back(lower);
        return 0;
}
