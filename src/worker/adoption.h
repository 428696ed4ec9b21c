/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* Takes over the vgchanges that an earlier worker has left running, and leaves their VGs alone until they have
 * ended. Returns 0, or a negative errno if the worker cannot go on, which is logged. */
int adoption_start(struct worker *worker);

/* Likewise for VGs that were not known then, since the records were lost. */
int adoption_go_on(struct worker *worker);
