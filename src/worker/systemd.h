/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "worker/worker.h"

/* Has systemd say whether a disk is being unlocked. The answer is in worker->deadlines, and a step follows it. */
void ask_about_unlocking(struct worker *worker) _nonnull_(1);

/* Has systemd forget the failure of units headgate-vg@.service whose VGs have become active. Comes after their records were
 * written. */
void forget_failed_waits(struct worker *worker) _nonnull_(1);
