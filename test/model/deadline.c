/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* For cbmc(1): what holds of what is done about deadlines, proved for all that may be known of them. */

#include <assert.h>

#include "shared/macro.h"
/* cbmc does not see that the variables of one within another are two. */
#undef MAX
#undef MIN
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

#include "inventory/batches.c"
#include "unit/deadline-rules.h"

/* Some thousand years. The worker has been there for longer than an answer holds. */
#define TIME_MAX (1ULL << 56)

int main(void)
{
        /* To cbmc, anything. */
        struct deadline_facts facts;

        __CPROVER_assume(facts.now_usec >= ANSWER_USEC && facts.now_usec < TIME_MAX);
        __CPROVER_assume(facts.earliest_usec < TIME_MAX || facts.earliest_usec == USEC_INFINITY);
        __CPROVER_assume(facts.asked_usec <= facts.now_usec && facts.looked_usec <= facts.now_usec);
        __CPROVER_assume(facts.due_usec <= facts.now_usec);
        /* To cbmc a truth may also be 16. */
        facts.announcing = facts.announcing ? true : false;
        assert(!find_deadline_fault(&facts));
}
