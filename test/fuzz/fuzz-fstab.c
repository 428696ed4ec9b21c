/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* fstab, as the generator reads it. */

#include "fuzz.h"
#include "plan-check.h"

int fuzz_one(const uint8_t *data, size_t size)
{
        static bool prepared;

        if (!prepared)
                fuzz_write_backups();
        prepared = true;
        fuzz_write("etc/fstab", data, size);
        plan_check();
        return 0;
}
