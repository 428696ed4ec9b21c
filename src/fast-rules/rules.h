/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"
#include "shared/util.h"

/* Overrides the installed udev rules of device-mapper and lvm2 by patched copies in /run/udev/rules.d, which are gone
 * with the next boot. Below $HEADGATE_ROOT, if that is set. Also makes the directory in which the worker writes names,
 * FLAGS_DM_NAMES.
 *
 * A file is not overridden, and the log says so, if it has been replaced in /etc or /run by somebody else, or if it
 * calls dmsetup in a way that is not known. Returns 0, also if none was overridden, or a negative errno, and then it has
 * logged why and removed what it had installed. */
int install_rule_overrides(void) _must_check_;

/* Adds to `ret` why files of these rules would not be overridden, or the worker does not complete cookies, a sentence for each;
 * none where all is well, or where there are no such rules. Returns 0 or a negative errno. */
int rule_overrides_find_obstacles(int root_fd, struct string_vector *ret) _nonnull_all_ _must_check_;

/* Whether udev may run a program for a change of a device-mapper device because of a file of rules that comes after lvm2's
 * own last one. udev tells of the event when that program has ended, and lvm2 does not wait for it: it may need the lock of the
 * VG that is being activated. Returns 1, and in `*ret_obstacle` a sentence that names the file, to be freed by the caller; 0; or a
 * negative errno. */
int rules_find_late_program(int root_fd, char **ret_obstacle) _nonnull_all_ _must_check_;
