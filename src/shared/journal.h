/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

#include "shared/macro.h"

/* What is read from the journal of an earlier boot. */

#define _cleanup_journal_ _cleanup_(sd_journal_closep)

/* Opens the machine's own journal, or in tests the file or directory $HEADGATE_JOURNAL. To be given back with
 * sd_journal_close(). Returns 0 or a negative errno. */
int journal_open(sd_journal **ret) _nonnull_(1) _must_check_;

/* Restricts what is read to one boot. Returns 0 or a negative errno. */
int journal_add_boot_match(sd_journal *journal, sd_id128_t boot) _nonnull_(1) _must_check_;

/* The same, and goes to its first line. Returns 1, 0 if there is none, or a negative errno. */
int journal_seek_boot(sd_journal *journal, sd_id128_t boot) _nonnull_(1) _must_check_;

/* The boot of the last line that is not of this boot. Moves the place of reading, and there must be no matches,
 * of which it leaves none. Returns 0, -ENODATA where no other boot has a line that may be read, or another
 * negative errno. */
int journal_find_boot_before(sd_journal *journal, sd_id128_t *ret) _nonnull_(1, 2) _must_check_;

/* A field of the line that is being read. Returns 0 and `*ret`, to be freed by the caller, -ENOENT, or another
 * negative errno. */
int journal_get_field(sd_journal *journal, const char *name, char **ret) _nonnull_(1, 2, 3) _must_check_;
