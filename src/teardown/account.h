/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/teardown.h"

/* The teardown's options.account, if there is one: a bar for each node, with the times that the journal gets, see
 * teardown/report.h. Without memory for it, a node is left out. */

void account_gone(const struct teardown *teardown, const struct attempt *attempt) _nonnull_(1, 2);

/* One that was given up at `until_usec`. `holders` is what holds it, in words, or NULL. */
void account_left(const struct teardown *teardown, const struct attempt *attempt, uint64_t until_usec,
        const char *holders) _nonnull_(1, 2);
