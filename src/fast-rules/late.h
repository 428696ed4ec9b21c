/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

/* Rules files after 95-dm-notify.rules, the last of device-mapper's. udev reports an event when all programs of RUN have ended. With
 * the distribution's rules, lvm2 does not wait for programs of later files, and one may need the lock of the VG that is being
 * activated. Where one may run for an LV, the worker must not complete cookies. */

#define LATE_AFTER "95-dm-notify.rules"

/* Whether rules may run a program when an LV has changed. They are read as udev reads them (udev(7); rules_parse_file() and
 * parse_line() in systemd's src/udev/udev-rules.c); rules that are not understood may. `text` is modified. Returns 1, 0 or -ENOMEM. */
int late_text_runs_program(char *text) _nonnull_all_ _must_check_;

/* The same for a file. One that is not a regular file masks others of its name, and has no rules. Returns 1, 0 or a negative errno. */
int late_file_runs_program(int root_fd, const char *path) _nonnull_all_ _must_check_;
