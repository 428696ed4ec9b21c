/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree/order.h"

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

        if (first->number != second->number)
                return first->number > second->number ? -1 : 1;
        return first->index > second->index ? -1 : 1;
}

/* The nodes from the given position on hold each other. */
static int add_part(struct tree *tree, struct tree_node *const *members, size_t n)
{
        struct tree_part *part = calloc(1, sizeof(*part));

        if (!part)
                return -ENOMEM;
        part->next = tree->parts;
        tree->parts = part;
        for (size_t i = 0; i < n; i++) {
                int r = tree_nodes_add(&part->members, members[i]);

                if (r < 0)
                        return r;
                members[i]->part = part;
        }
        qsort(part->members.nodes, n, sizeof(*part->members.nodes), compare_newest_first);
        return 0;
}

static void set_steps(struct tree_node *const *members, size_t n)
{
        size_t step = 0;

        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < members[i]->uppers.n; j++) {
                        const struct tree_node *upper = members[i]->uppers.nodes[j];

                        if (!upper->part || upper->part != members[i]->part)
                                step = MAX(step, upper->step + 1);
                }
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
                r = add_part(search->tree, search->open.nodes + first, search->open.n - first);
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

static int find_circles(struct tree *tree)
{
        _cleanup_(search_done) struct search search = {
                .tree = tree, .visits = calloc(tree->nodes.n + 1, sizeof(*search.visits))};
        int r = search.visits ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++)
                if (search.visits[i].number == 0)
                        r = search_from(&search, tree->nodes.nodes[i]);
        return r;
}

/* ------ storage trees ------ */

/* Marks what is to be removed, and all that is above it. */
static int find_concerned(const struct tree *tree, bool *concerned)
{
        _cleanup_tree_nodes_ struct tree_nodes waiting = {};
        int r = 0;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                if (!tree_node_is_ours(tree->nodes.nodes[i]))
                        continue;
                r = tree_nodes_add(&waiting, tree->nodes.nodes[i]);
                while (r >= 0 && waiting.n > 0) {
                        const struct tree_node *node = waiting.nodes[--waiting.n];

                        if (concerned[node->index])
                                continue;
                        concerned[node->index] = true;
                        for (size_t j = 0; r >= 0 && j < node->uppers.n; j++)
                                r = tree_nodes_add(&waiting, node->uppers.nodes[j]);
                }
        }
        return r;
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

/* LVs of one VG, wherever they lie. */
static int join_vgs(const struct tree *tree, size_t *firsts)
{
        struct dm_hash_table *vgs = dm_hash_create(1024);
        int r = vgs ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < tree->nodes.n; i++) {
                struct tree_node *node = tree->nodes.nodes[i];
                const struct tree_node *other;
                uint32_t length;

                if (!node->vg)
                        continue;
                /* By identifier, as there can be two VGs of the same name. */
                length = (uint32_t) strnlen(node->uuid, TREE_VG_UUID_LENGTH);
                other = dm_hash_lookup_binary(vgs, node->uuid, length);
                if (other)
                        join_two(firsts, other->index, i);
                else
                        r = dm_hash_insert_binary(vgs, node->uuid, length, node) ? 0 : -ENOMEM;
        }
        if (vgs)
                dm_hash_destroy(vgs);
        return r;
}

/* A mount ties what is mounted below it to its own tree only if that has to wait for it. */
static void join_edges(const struct tree *tree, const bool *concerned, size_t *firsts)
{
        for (size_t i = 0; i < tree->nodes.n; i++) {
                const struct tree_node *node = tree->nodes.nodes[i];

                if (node->kind == TREE_MOUNT && !concerned[i])
                        continue;
                for (size_t j = 0; j < node->uppers.n; j++)
                        join_two(firsts, i, node->uppers.nodes[j]->index);
        }
}

static int find_components(struct tree *tree)
{
        _cleanup_free_ bool *concerned = calloc(tree->nodes.n + 1, sizeof(*concerned));
        _cleanup_free_ size_t *firsts = calloc(tree->nodes.n + 1, sizeof(*firsts));
        int r;

        if (!concerned || !firsts)
                return -ENOMEM;
        r = find_concerned(tree, concerned);
        if (r < 0)
                return r;
        for (size_t i = 0; i < tree->nodes.n; i++)
                firsts[i] = i;
        join_edges(tree, concerned, firsts);
        r = join_vgs(tree, firsts);
        if (r < 0)
                return r;

        tree->n_components = 0;
        for (size_t i = 0; i < tree->nodes.n; i++) {
                size_t first = find_first(firsts, i);

                tree->nodes.nodes[i]->component =
                        first == i ? tree->n_components++ : tree->nodes.nodes[first]->component;
        }
        return 0;
}

void tree_parts_free(struct tree_part *parts)
{
        while (parts) {
                struct tree_part *next = parts->next;

                tree_nodes_done(&parts->members);
                free(parts);
                parts = next;
        }
}

int tree_order(struct tree *tree)
{
        int r;

        r = find_circles(tree);
        return r < 0 ? r : find_components(tree);
}
