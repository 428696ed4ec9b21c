/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* What differs between the versions of lvm2, as far as headgate has to heed it. lvm2 is asked for nothing: its
 * version is told by that of libdevmapper, which comes from the same source (lvm2, VERSION and VERSION_DM). */

/* Whether pvscan, being shown a device, knows it by no names but those that it is called by and those in $DEVLINKS,
 * which it reads if it is shown one device only: lvm2 2.03.19 and later (lvm2, tools/pvscan.c). Before that, it
 * looks for links itself if a filter accepts some, whatever it is shown. */
bool lvm_version_takes_links_from_udev(void);
