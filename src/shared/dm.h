/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libdevmapper.h>

#include "shared/macro.h"

/* libdevmapper's pools and hash tables, destroyed by scope. */

DEFINE_CLEANUP(struct dm_pool *, dm_pool_destroy)
#define _cleanup_dm_pool_ _cleanup_(dm_pool_destroyp)

DEFINE_CLEANUP(struct dm_hash_table *, dm_hash_destroy)
#define _cleanup_dm_hash_ _cleanup_(dm_hash_destroyp)
