/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Enters a mount namespace of its own, and makes a socket there in the place of journald's. Returns its descriptor. */
int fake_journald_new(void);
