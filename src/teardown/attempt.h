/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/removal.h"

/* What has been tried with one node, and when it is its turn again. Times are those of now_usec(). */
struct attempt {
        struct dm_list list; /* one of the teardown's; or none, before the first try and when it is over */
        struct tree_node *node;
        struct removal *removal; /* while it is the pool's */
        uint64_t ready_usec;     /* when nothing held it any more, as far as the tree says; 0 before */
        uint64_t ended_usec;     /* when it was gone, or the last try had failed */
        uint64_t next_usec;      /* the next try */
        unsigned int n_tries;
        unsigned int n_in_vain; /* since nobody was left who could let go of it */
        int error;              /* of the last try, a negative errno */
};

/* From one time to another; 0 if the first is not known. */
static inline uint64_t attempt_since(uint64_t from, uint64_t to)
{
        return from > 0 && to > from ? to - from : 0;
}

/* How long to wait before the next try with a node that something has open: 5 ms after the first one, for a
 * process of udev that looks at the device as soon as it was unmounted, then longer and longer, up to 200 ms. */
uint64_t attempt_pause_usec(const struct attempt *attempt) _nonnull_(1);

/* Whether there is any sense in the next try: a mount that has come meanwhile has to go first. Among nodes that
 * hold each other in a circle that cannot be told. */
bool attempt_is_possible(const struct attempt *attempt) _nonnull_(1);
