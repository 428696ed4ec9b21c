/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Which disk it is that has a device number now. The kernel gives each disk that comes a sequence number, which it never gives
 * again (since 5.15, DISKSEQ in /sys/dev/block/MAJOR:MINOR/uevent): so a disk that went and came back, or another one in its
 * place, can be told from one that stayed. */

/* Whether the kernel has a block device of that number. */
bool diskseq_device_exists(dev_t number);

/* The sequence number of the disk that has that number, or of the one that it is a partition of; 0 if there is no
 * such device, and where the kernel does not tell. */
uint64_t diskseq_read(dev_t number);
