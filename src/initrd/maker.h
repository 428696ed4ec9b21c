/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* Which program makes this machine's initrds, and how headgate is put into what it makes. */

enum initrd_maker {
        INITRD_MAKER_NONE,
        INITRD_MAKER_INITRAMFS_TOOLS,
        INITRD_MAKER_DRACUT,
};

struct initrd_makers {
        enum initrd_maker maker; /* whose initrds the machine boots with */
        bool several;            /* the other one is installed, too */
};

/* Finds them below `root_fd`: by the programs, and where both are installed by what is run for a new kernel. */
struct initrd_makers initrd_find_makers(int root_fd);

/* Its name, and the command that makes an initrd for the running kernel. Constants; not of INITRD_MAKER_NONE. */
const char *initrd_maker_to_string(enum initrd_maker maker);
const char *initrd_maker_get_command(enum initrd_maker maker);

/* Whether initrds that it makes from now on are narrowed: 1, 0, -EEXIST if there is something else in the place of headgate's
 * file, or another negative errno. Not of INITRD_MAKER_NONE. */
int initrd_is_enabled(int root_fd, enum initrd_maker maker) _must_check_;

/* Has them narrowed, or no longer, which changes nothing if it is so already. On this system, not below a root. Return 0 or a
 * negative errno, as initrd_is_enabled(). */
int initrd_enable(enum initrd_maker maker) _must_check_;
int initrd_disable(enum initrd_maker maker) _must_check_;

/* The file that initrd_enable() makes. */
const char *initrd_maker_get_file(enum initrd_maker maker);
