/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A kernel's log for "headgate shutdown-log". Of a complete shutdown the gaps add up to the total. */

#include "fuzz.h"
#include "kernel-log/log.h"

static void check_shutdown(const struct kernel_shutdown *shutdown)
{
        uint64_t sum = 0;

        fuzz_check(shutdown->n > 0);
        for (size_t i = 0; i < shutdown->n; i++) {
                const struct kernel_device *device = &shutdown->devices[i];

                fuzz_check(device->name && fuzz_is_printable(device->name));
                fuzz_check(device->began_usec == sum);
                fuzz_check(device->took_usec >= device->gap_usec);
                fuzz_check(device->parallel || device->took_usec == device->gap_usec);
                fuzz_check(device->began_usec + device->took_usec <= shutdown->total_usec);
                sum += device->gap_usec;
        }
        fuzz_check(sum == shutdown->total_usec);
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_kernel_shutdown_ struct kernel_shutdown shutdown = {};
        _cleanup_free_ char *text = fuzz_text(data, size);
        _cleanup_fclose_ FILE *file = size > 0 ? fmemopen(text, size, "r") : NULL;
        const char *reason;
        int r;

        if (!file)
                return 0;
        r = kernel_log_read_file(&shutdown, file, &reason);
        fuzz_check(r == (reason ? -EBADMSG : 0));
        if (reason)
                return 0;
        check_shutdown(&shutdown);
        return 0;
}
