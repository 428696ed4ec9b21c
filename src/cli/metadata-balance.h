/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "copies/survey.h"
#include "lvm/configuration.h"

enum balance_consent {
        BALANCE_ASK,  /* somebody at a terminal */
        BALANCE_GIVEN /* by an option */
};

/* Has lvm2 keep `n_copies` copies of a VG's metadata, after saying so and, if that is wanted, asking. What
 * comes of it is said on standard error. Returns 1 if lvm2 has done it, 0 if it has not, for whatever reason,
 * or a negative errno. */
int metadata_balance(const struct surveyed_vg *vg, const struct system_id *host, uint32_t n_copies,
        enum balance_consent consent) _nonnull_(1, 2) _must_check_;
