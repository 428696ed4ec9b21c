#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In the initrd of a guest, before udev is started.

guest_disks() (
    guest=/usr/lib/guest
    mkdir -p /run/guest
    modprobe -a sd_mod dm_mod dm_raid
    if [ -e $guest/kept ]; then
        sh $guest/attach-disks $guest/kept "$(getarg guest_kept=)"
    else
        sh $guest/attach-disks $guest/manifest "$(getarg guest_pack=)"
    fi
)

guest_disks
