/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "teardown/teardown.h"

/* What is said while storage is being taken down. */

/* When nothing has happened for a while: what is waited for, and who uses it. */
void progress_report_waiting(const struct teardown *teardown) _nonnull_(1);

/* In the status that systemd shows: how far it is, and what is waited for. Not more often than twice a second. As
 * long as something happens, systemd is asked for more time, too. */
void progress_report(struct teardown *teardown) _nonnull_(1);
