#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# For initrds that dracut makes for a guest: disks, and the lvm that the wrapper in its place becomes.

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
}
