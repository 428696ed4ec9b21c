/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "inventory/batches.h"
#include "shared/macro.h"

/* What is to hold of what is done about deadlines, whatever is known of them. */

#define ANSWER_USEC (1 * USEC_PER_SEC)
#define READ_USEC (30 * USEC_PER_SEC)

/* What is wrong, or NULL. */
static inline const char *find_deadline_fault(const struct deadline_facts *facts)
{
        struct deadline_facts later = *facts;
        uint64_t wake, ignored, now = facts->now_usec;
        enum deadline_action action = deadline_next(facts, &wake);
        bool overdue = facts->earliest_usec <= now,
             answered = facts->asked_usec > 0 && now < facts->asked_usec + ANSWER_USEC;

        if ((action == DEADLINE_PUT_OFF) != facts->announcing)
                return "put off, and udev announces nothing, or the other way round";
        if (action == DEADLINE_TAKE && (!overdue || facts->asking))
                return "taken before its time, or before systemd has answered";
        if (action == DEADLINE_TAKE && !answered)
                return "taken by an answer that is old";
        if (action == DEADLINE_TAKE && facts->reading && now < facts->due_usec + READ_USEC)
                return "taken while devices are being read";
        if (action == DEADLINE_READ && (!facts->reading || !overdue || wake <= now || wake > now + READ_USEC))
                return "devices are waited for that are not read, or for too long";
        if (action == DEADLINE_LOOK && !overdue)
                return "udev is asked for what is not overdue";
        if (action == DEADLINE_ASK && facts->asking)
                return "systemd is asked twice at once";
        /* Whoever waits is woken, by the answer if there is to be one. */
        if (action == DEADLINE_WAIT && !facts->asking && wake == USEC_INFINITY &&
                facts->earliest_usec != USEC_INFINITY)
                return "a deadline passes unseen";
        if (action == DEADLINE_WAIT && !facts->asking && (wake <= now || wake > facts->earliest_usec))
                return "it looks again too late, or at once";
        if (action == DEADLINE_PUT_OFF && wake <= now)
                return "it looks again at once";
        /* Neither is asked without an end. */
        later.asked_usec = action == DEADLINE_ASK ? now : later.asked_usec;
        later.looked_usec = action == DEADLINE_LOOK ? now : later.looked_usec;
        if ((action == DEADLINE_ASK || action == DEADLINE_LOOK) && deadline_next(&later, &ignored) == action)
                return "the same is asked again at once";
        return NULL;
}
