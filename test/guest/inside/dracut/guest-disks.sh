#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In the initrd of a guest, before udev is started. Under qemu the disks come by themselves.

modprobe dm_raid
[ ! -e /usr/lib/guest/initrd-disks ] || sh /usr/lib/guest/initrd-disks
