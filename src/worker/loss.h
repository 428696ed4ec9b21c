/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/context.h"

/* VGs that were complete and have lost a PV. A shelf that is unplugged takes hundreds of disks with it, so all that
 * were lost by one step are told of together: the kernel is asked once which LVs are left. */

/* Says in the journal which VGs are WAITING that have lost a PV, once of each. */
void loss_tell(struct worker *worker);
