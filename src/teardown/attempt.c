/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/attempt.h"

#include "shared/util.h"

#define PAUSE_MIN_USEC (5 * USEC_PER_MSEC)
#define PAUSE_MAX_USEC (200 * USEC_PER_MSEC)
#define DOUBLINGS_MAX 6

uint64_t attempt_pause_usec(const struct attempt *attempt)
{
        unsigned int doublings = MIN(MAX(attempt->n_tries, 1U) - 1, (unsigned int) DOUBLINGS_MAX);

        return MIN(PAUSE_MIN_USEC << doublings, PAUSE_MAX_USEC);
}

bool attempt_is_possible(const struct attempt *attempt)
{
        return attempt->node->cycle || attempt->node->n_holders == 0;
}
