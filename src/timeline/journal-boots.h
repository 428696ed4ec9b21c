/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/journal.h"
#include "timeline/boots.h"

/* Adds all boots that the journal has lines of, with the time of their first ones. Returns 0 or a negative
 * errno. */
int journal_note_boots(sd_journal *journal, struct boots *boots) _nonnull_(1, 2) _must_check_;
