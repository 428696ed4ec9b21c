/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "view/sources.h"

/* Shows the progress of a boot or a shutdown: live on a terminal, elsewhere by a line for each change. With names, only these
 * VGs count. Returns 0 at the end: all VGs that were seen are settled or overdue, and udev has handled the events of coldplug;
 * or teardown is over; or headgate has handed over to lvm2. Else a negative errno. */
int follow(struct sources *sources, char *const names[], size_t n_names);
