/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Stands for the kernel's device-mapper. A program that fake-dm.c is linked into lists the devices of a text file that
 * lies where /dev/mapper/control would be. It has a line "MAJOR:MINOR NAME UUID TARGET" for each device, followed by
 * " suspended" for a suspended one. A missing UUID or table is "-"; any byte may be written as \xNN. The machine's own
 * device-mapper is never asked. */

/* The path of the file, below the root. What uses it is linked with fake-dm.c. */
extern const char fake_dm[];
