#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck disable=SC2154 # dracut sets hookdir
#
# In dracut's initrd: sourced each time udev has nothing left to do and dracut still waits for a device. If a needed
# LV is missing after lvm2 was asked, this reports missing PVs, and finds PVs that were added after the initrd was made. It
# activates RAIDs degraded if headgate.conf allows that. See headgate-initrd(8).

headgate_lv_is_missing() { # LV [VG]: of that VG, if it is given
    [ "${1%%/*}" = "${2:-${1%%/*}}" ] && [ ! -e "/dev/$1" ]
}

# Describes what happens to the LVs meanwhile.
headgate_consequence() { # VG
    while read -r lv wait _; do
        headgate_lv_is_missing "$lv" "$1" || continue
        case $wait in
        0) echo "waiting for it" ;;
        -) echo "waiting for it until dracut gives up (degraded = \"no\" in headgate.conf)" ;;
        *) printf '%s\n' "activating LV $lv degraded in $wait s, if it can do without" ;;
        esac
        return
    done < /run/headgate-initrd/lvs
    echo "not needed yet"
}

# Says of each known PV once that it is missing. Succeeds if none is.
headgate_name_missing() {
    missing=0
    while read -r pv _ vg device serial; do
        [ ! -e "/dev/disk/by-id/lvm-pv-uuid-$pv" ] || continue
        missing=1
        [ ! -e "/run/headgate-initrd/named-$pv" ] || continue
        : > "/run/headgate-initrd/named-$pv"
        case $device in
        /dev/*) place="last seen on $device${serial:+ ($serial)}" ;;
        *) place="missing since before this initrd was made" ;;
        esac
        warn "headgate: VG $vg lacks PV $pv, $place; $(headgate_consequence "$vg")."
    done < /run/headgate-initrd/pvs
    return $missing
}

# Has all PVs scanned that lvm2 finds in the VGs now. Succeeds if there is one more than before.
headgate_add_pvs() {
    added=1
    lvm pvs --nolocking --noheadings -o vg_uuid,pv_uuid,pv_name 2> /dev/null > /run/headgate-initrd/found
    while read -r vg_id pv device; do
        case $device in
        /dev/*) ;;
        *) continue ;; # it is missing, too
        esac
        if [ ! -e "/run/headgate-initrd/vg-id/$vg_id" ] || [ -e "/run/headgate-initrd/pv/$pv" ]; then
            continue
        fi
        read -r vg < "/run/headgate-initrd/vg-id/$vg_id"
        : > "/run/headgate-initrd/pv/$pv"
        warn "headgate: VG $vg has PV $pv on $device since this initrd was made; scanning it."
        udevadm trigger --action=change --name-match="$device"
        added=0
    done < /run/headgate-initrd/found
    return $added
}

# Its deadline begins when the first PV of the VG is there.
headgate_vg_since() { # VG: sets since
    since=$now
    while read -r pv _ vg _; do
        if [ "$vg" != "$1" ] || [ ! -e "/dev/disk/by-id/lvm-pv-uuid-$pv" ]; then
            continue
        fi
        [ -e "/run/headgate-initrd/since-$1" ] || echo "$now" > "/run/headgate-initrd/since-$1"
        read -r since < "/run/headgate-initrd/since-$1"
        return
    done < /run/headgate-initrd/pvs
}

headgate_degrade() { # LV WAIT
    case $2 in
    0) [ -e /run/headgate-initrd/complete ] || return ;;
    -) return ;;
    *)
        headgate_vg_since "${1%%/*}"
        [ $((now - since)) -ge "$2" ] || return
        ;;
    esac
    tried=/run/headgate-initrd/tried-${1%/*}-${1#*/}
    [ ! -e "$tried" ] || return
    : > "$tried"
    warn "headgate: Activating LV $1 degraded, if it can do without the missing PVs."
    lvm lvchange --yes -K -ay --sysinit --activationmode degraded "$1" 2>&1 | vinfo
}

headgate_wait() (
    # dracut's script runs later in this round.
    [ -d /run/headgate-initrd ] && [ ! -e "$hookdir/initqueue/settled/lvm_scan.sh" ] || exit 0
    any=
    while read -r lv _; do
        headgate_lv_is_missing "$lv" && any=1
    done < /run/headgate-initrd/lvs
    [ "$any" ] || exit 0
    # PVs may be on disks that somebody is unlocking.
    for ask in /run/systemd/ask-password/ask.*; do
        [ ! -e "$ask" ] || { rm -f /run/headgate-initrd/since /run/headgate-initrd/since-* && exit 0; }
    done
    read -r now _ < /proc/uptime
    now=${now%.*}
    # PVs may just be appearing, one after the other.
    if [ ! -e /run/headgate-initrd/since ]; then
        echo "$now" > /run/headgate-initrd/since
        exit 0
    fi
    read -r since < /run/headgate-initrd/since

    seen=$(echo /dev/disk/by-id/lvm-pv-uuid-*)
    # Without any PV lvm2 was not asked yet.
    case $seen in
    *'*') [ $((now - since)) -ge 10 ] || exit 0 ;;
    esac
    if [ "$seen" != "$(cat /run/headgate-initrd/seen 2> /dev/null)" ]; then
        printf '%s\n' "$seen" > /run/headgate-initrd/seen
        rm -f /run/headgate-initrd/tried-*
        headgate_add_pvs
        added=$?
        if headgate_name_missing && [ $added != 0 ] && [ ! -e /run/headgate-initrd/all ]; then
            : > /run/headgate-initrd/all
            warn "headgate: All PVs that this initrd knows are there, but not all LVs; activating every VG."
            udevadm trigger --action=change --subsystem-match=block --property-match=ID_FS_TYPE=LVM2_member
        fi
    fi
    while read -r lv wait _; do
        headgate_lv_is_missing "$lv" && headgate_degrade "$lv" "$wait"
    done < /run/headgate-initrd/lvs
)

headgate_wait
