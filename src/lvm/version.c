/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/version.h"

#include <libdevmapper.h>
#include <stdio.h>

/* libdevmapper of lvm2 2.03.19. The first two numbers have been the same for ever. */
#define LINKS_FROM_UDEV_SINCE 191

bool lvm_version_takes_links_from_udev(void)
{
        char version[64];
        unsigned int number;

        /* As in "1.02.205 (2025-02-27)". */
        return dm_get_library_version(version, sizeof(version)) && sscanf(version, "1.02.%u", &number) == 1 &&
               number >= LINKS_FROM_UDEV_SINCE;
}
