#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# For initrds that dracut makes for a guest: disks, the lvm that the wrapper in its place becomes, and a look at what is left at
# shutdown.

check() {
    return 255
}

# shellcheck disable=SC2154 # dracut sets moddir
install() {
    inst_multiple blockdev /usr/sbin/lvm.real
    inst_simple /etc/lvm/lvmlocal.conf
    # Coldplug of what has to do with storage, as on the system.
    inst_simple /etc/systemd/system/systemd-udev-trigger.service.d/guest.conf
    inst_hook pre-udev 10 "$moddir/guest-disks.sh"
    # dracut's own hooks for device-mapper and arrays have lower numbers.
    inst_hook shutdown 90 "$moddir/guest-left.sh"
}
