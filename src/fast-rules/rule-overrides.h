/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* Lays patched copies (rules-patch.h) of the installed rules of device-mapper and lvm2 over these, in
 * /run/udev/rules.d, where they are gone with the next boot. `program` is the path of headgate-dmsetup.static. Below
 * $HEADGATE_ROOT, if that is set. Also makes the directory in which the worker writes down names, FLAGS_DM_NAMES.
 *
 * A file is left as it is, and the log says so, if it has been replaced in /etc or /run by somebody else, or if it
 * calls dmsetup in a way that is not known. Returns 0, also if none was laid, or a negative errno, and then it has
 * logged why and taken away what it had laid. */
int install_rule_overrides(const char *program) _nonnull_(1) _must_check_;
