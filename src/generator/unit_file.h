/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* Files in a directory of the generator's, `unit_fd`. They return 0 or a negative errno, having said nothing. */

/* Makes a directory, or leaves it as it is. */
int unit_file_make_directory(int unit_fd, const char *name) _nonnull_(2) _must_check_;

/* Writes UNIT.d/NAME.conf, see systemd.unit(5), as a whole or not at all. systemd empties the directory before
 * each run of the generator: what is there already is an error. */
int unit_file_write_drop_in(int unit_fd, const char *unit, const char *name, const char *text)
        _nonnull_(2, 3, 4) _must_check_;
