/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* The program that makes this machine's initrds, and headgate's part in these. */

enum initrd_maker {
        INITRD_MAKER_NONE,
        INITRD_MAKER_INITRAMFS_TOOLS,
        INITRD_MAKER_DRACUT,
};

struct initrd_makers {
        enum initrd_maker maker; /* makes the initrds that are booted */
        bool several;            /* the other one is installed, too */
};

/* Finds the makers below `root_fd`. If both are installed, the one that is run for a new kernel counts. */
struct initrd_makers initrd_find_makers(int root_fd);

struct initrd_maker_info {
        const char *name;
        const char *command; /* makes an initrd for the running kernel */
        const char *file;    /* initrd_enable() creates it */
};

/* Not for INITRD_MAKER_NONE. */
const struct initrd_maker_info *initrd_maker_get(enum initrd_maker maker);

/* Whether new initrds are narrowed: 1, 0, -EEXIST if another file is in the place of headgate's, or another negative errno. Not
 * for INITRD_MAKER_NONE. */
int initrd_is_enabled(int root_fd, enum initrd_maker maker) _must_check_;

/* Enable or disable narrowing of new initrds; no change if it is so already. Only on this system, not below another root. Return
 * 0 or a negative errno, as initrd_is_enabled(). */
int initrd_enable(enum initrd_maker maker) _must_check_;
int initrd_disable(enum initrd_maker maker) _must_check_;
