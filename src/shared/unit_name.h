/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* Names of systemd units, as systemd.unit(5) describes them; libsystemd has no function for it. */

/* What systemd takes at most. */
#define UNIT_NAME_LENGTH_MAX 255

/* A link that systemd has, for the journal, from when a process of the unit was started until the unit is stopped (systemd,
 * src/core/unit.c), to nothing that is a file. */
#define UDEVD_STARTED_LINK "run/systemd/units/invocation:systemd-udevd.service"

/* `string` as the instance of a unit's name, as systemd-escape(1) writes it. Returns a string to be freed by
 * the caller, or NULL without memory. */
char *unit_name_escape(const char *string) _nonnull_(1) _must_check_;

/* The unit that waits for the VG `name`, "headgate-vg@NAME.service" with NAME escaped. Returns 0 and `*ret`, to
 * be freed by the caller; -ENAMETOOLONG if systemd would not take it; or -ENOMEM. */
int unit_name_of_volume_group(const char *name, char **ret) _nonnull_(1, 2) _must_check_;
