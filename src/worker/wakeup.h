/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The datagrams of headgate-request, R4 of flags.h. */

enum {
        WAKEUP_PLAIN = 0,
        WAKEUP_RESYNC = 1, /* a request could not be written down: ask udev for all devices */
};

/* Takes all datagrams that wait at the socket `fd`. Those that are not from root, or are none of ours, are counted
 * in `*n_ignored`, and the first is reported. Returns one of the above, or a negative errno. */
int wakeup_receive(int fd, unsigned int *n_ignored);
