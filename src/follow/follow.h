/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "view/sources.h"

/* Shows how a boot or a shutdown goes on, as it goes on: live on a terminal, elsewhere by a line for each change.
 * With names only these VGs count. Returns 0 when there is nothing more to follow: what was seen is settled or
 * overdue, and udev has worked off the events of coldplug; or teardown is over; or headgate has given activation
 * back. Or a negative errno. */
int follow(struct sources *sources, char *const names[], size_t n_names);
