/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* What a process that reads disks gives up before it looks at the first one, since what stands on them may be made to harm it:
 * memory beyond 1 GiB more than it has, processor time beyond what `n_devices` may take, all capabilities but
 * CAP_DAC_OVERRIDE, and each system call but those that open for reading, read, get memory, write to what is open, and end.
 * One of these limits that the kernel does not know is left out. */
void sandbox_enter(size_t n_devices);
