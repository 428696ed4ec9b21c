/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Stands for systemd: answers on the socket run/systemd/private below a directory, as systemd does by D-Bus. What it
 * knows is in the file "systemd" there, which is read for each connection: in lvm.conf's syntax, properties of the
 * manager, and a section of properties for each unit. A property that is missing is unknown. Without the file,
 * connections are closed.
 *
 * Ends the program on error. Returns the process, which ends with the caller at the latest. */
int fake_systemd_start(const char *root);
void fake_systemd_stop(int pid);
