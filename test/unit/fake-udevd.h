/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Sends what udevd would, by the kernel's own netlink in a network namespace of the test's. Whatever goes wrong ends the
 * test. */

/* Takes the process out of the machine: nobody else hears of it. In the eyes of libudev there is an udevd then. */
void fake_udevd_begin(void);

/* Opens the socket, and closes it. */
void fake_udevd_set_up(void);
void fake_udevd_tear_down(void);

/* Sends the properties of a device, each with its NUL, as if it was a disk and had all tags. What does not fit into
 * the socket of who listens is lost, as with udevd. */
void fake_udevd_send(const char *properties, size_t size);

/* Sends something that udevd does not. */
void fake_udevd_send_nonsense(void);

/* Gives all other netlink sockets of the process the smallest buffer that the kernel allows. */
void fake_udevd_shrink_buffers(void);
