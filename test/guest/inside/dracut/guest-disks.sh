#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In the initrd of a guest, before udev is started.

modprobe dm_raid
sh /usr/lib/guest/initrd-disks
