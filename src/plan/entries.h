/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "plan/device_name.h"
#include "shared/macro.h"

/* What boot waits for: the devices that fstab, crypttab and the kernel's command line name, in this order.
 * Those that can be no LV are left out. Starts empty: all zeros. */

struct entry {
        const char *source; /* "/etc/fstab", a constant */
        char *device;       /* as it is written there, but printable */
        struct device_name name;
        bool net; /* has _netdev: it waits for the network, and boot does not wait for it */
};

struct entries {
        struct entry *entries;
        size_t n;
        const char
                *unread; /* a source that there is and that could not be read, so that nobody knows; else NULL */
};

/* One to be added. */
struct entry_text {
        const char *source;
        const char *device;
        bool net;
        bool mounted; /* the device is in use by now: if it is unresolved, there is nothing to resolve any more */
};

/* Returns 0 or -ENOMEM. */
int entries_add(struct entries *entries, const struct entry_text *text) _nonnull_(1, 2) _must_check_;

/* Adds what names a VG, not a device; `text` is how. A name that no VG can have is left out. Returns 0 or
 * -ENOMEM. */
int entries_add_volume_group(struct entries *entries, const char *source, const char *text, const char *name)
        _nonnull_(1, 2, 3, 4) _must_check_;

void entries_done(struct entries *entries) _nonnull_(1);
#define _cleanup_entries_ _cleanup_(entries_done)

/* What the options of an entry say of it, "defaults,_netdev", as fstab(5) and crypttab(5) have them; NULL for
 * none. */
bool options_have_netdev(const char *options);
/* Of "auto" and "noauto" the last one counts. */
bool options_have_noauto(const char *options);
