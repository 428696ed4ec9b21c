#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck disable=SC2154 # dracut sets root and hookdir
#
# In dracut's initrd: sourced when dracut has waited for two thirds of rd.retry=. Needed LVs may be on other PVs since
# the initrd was made. A VG that lacks only some PVs is activated degraded first. See headgate-initrd(8).

headgate_vg_is_partial() { # VG
    there=0 missing=0
    while read -r pv _ vg _; do
        if [ "$vg" != "$1" ]; then
            continue
        elif [ -e "/dev/disk/by-id/lvm-pv-uuid-$pv" ]; then
            there=1
        else
            missing=1
        fi
    done < /run/headgate-initrd/pvs
    [ $there$missing = 11 ]
}

headgate_timeout() (
    [ -d /run/headgate-initrd ] || exit 0
    partial=
    while read -r lv _; do
        [ ! -e "/dev/$lv" ] && headgate_vg_is_partial "${lv%%/*}" && partial=1
    done < /run/headgate-initrd/lvs
    # dracut's own try without the missing PVs is next, and only once. After that, what is needed may be in another VG.
    degraded=
    [ ! -e "$hookdir/initqueue/timeout/51-lvm_scan.sh" ] || degraded=1
    if { [ ! "$partial" ] || [ ! "$degraded" ]; } && [ ! -e /run/headgate-initrd/all ]; then
        : > /run/headgate-initrd/all
        warn "headgate: What dracut waits for is in no VG that this initrd knows; activating every VG."
        udevadm trigger --action=change --subsystem-match=block --property-match=ID_FS_TYPE=LVM2_member
    fi
    [ ! "$degraded" ] && [ -e /run/headgate-initrd/usr ] && [ -e "${root#block:}" ] || exit 0
    while read -r lv; do
        if [ ! -e "/dev/$lv" ]; then
            warn "headgate: LV $lv, which had /usr, is not there; no longer waiting for it."
            cancel_wait_for_dev "/dev/$lv"
        fi
    done < /run/headgate-initrd/usr
    rm /run/headgate-initrd/usr
)

headgate_timeout
