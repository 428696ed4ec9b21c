/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "shared/macro.h"

/* A cookie tells in its high 16 bits how udev is to handle an event of device-mapper, and in its low 16 bits who waits
 * for it (libdevmapper.h). The kernel writes the whole as a decimal number, of which rules of udev can only compare
 * digits: so all cookies with the same flags are a range of numbers, and that becomes a pattern. */

/* Writes a pattern of udev's (udev(7): shell patterns, with "|" between alternatives) that is matched by the cookies
 * with exactly these flags, of what consists of digits. Cookies with the base 0 are among them. `flags` are not 0. */
void cookie_pattern_write(FILE *file, uint16_t flags) _nonnull_(1);
