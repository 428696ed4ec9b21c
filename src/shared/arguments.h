/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* For programs whose only options are -h, --help and --version. Libc only. Returns 1 to go on, with what is not an
 * option from argv[optind] on; 0 if `help` or the version was printed, and the program is done; or -EINVAL,
 * getopt_long() having said why. */
int arguments_parse_plain(int argc, char *argv[], void (*help)(void)) _nonnull_(2, 3) _must_check_;
