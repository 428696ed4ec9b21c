/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/util.h"

/* Rules of others that come after 95-dm-notify.rules, the last of device-mapper's. udev tells of an event when all programs have
 * ended that rules have it run (RUN). lvm2 does not wait for those of later files: one may need the lock of the VG that is being
 * activated. So where there may be one for an LV, the worker must not complete cookies. */

#define LATE_AFTER "95-dm-notify.rules"

/* Whether rules may have udev run a program when an LV has changed. Read as udev reads them (udev(7); rules_parse_file() and
 * parse_line() in systemd's src/udev/udev-rules.c); what is not understood may. `text` is taken apart. Returns 1, 0 or -ENOMEM. */
int late_text_runs_program(char *text) _nonnull_all_ _must_check_;

/* The same of a file; one that is no regular file masks others of its name, and has no rules. Returns 1, 0 or a negative errno. */
int late_file_runs_program(int root_fd, const char *path) _nonnull_all_ _must_check_;
