/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is remembered of devices, as the generator reads it, and then writes it anew. */

#include "boot/plan.h"
#include "fuzz.h"
#include "plan-check.h"

int fuzz_one(const uint8_t *data, size_t size)
{
        static const char fstab[] =
                "UUID=1 /1 ext4\nLABEL=my\\040data /2 ext4\n/dev/disk/by-label/x\\012 /3 ext4\n";
        static bool prepared;

        if (!prepared) {
                fuzz_write_backups();
                fuzz_write("etc/fstab", fstab, strlen(fstab));
        }
        prepared = true;
        fuzz_write("etc/headgate/uuids", data, size);
        plan_check();
        fuzz_check(plan_remember(fuzz_root()) == 0);
        plan_check();
        return 0;
}
