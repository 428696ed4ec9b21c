#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck disable=SC2154 # dracut sets hookdir
#
# In dracut's initrd, before udev is started: limits dracut's udev rule to the PVs of the VGs that are needed. Nothing is changed
# before, so that an initrd in which this file is broken is dracut's own. See headgate-initrd(8).

# In front of dracut's rule. The links tell which PVs are there. Only the note for arrays that dracut's rule makes has to be made
# for the others, too: udev's database outlives the initrd.
headgate_front() {
    cat << 'END'
# Put in front of dracut's rule by headgate: other PVs than these are not scanned. See headgate-initrd(8).
SUBSYSTEM!="block", GOTO="headgate_stock"
ACTION!="add|change", GOTO="headgate_stock"
ENV{ID_FS_TYPE}!="LVM2_member", GOTO="headgate_stock"
SYMLINK+="disk/by-id/lvm-pv-uuid-$env{ID_FS_UUID_ENC}"
TEST=="/run/headgate-initrd/all", GOTO="headgate_stock"
TEST=="/run/headgate-initrd/pv/$env{ID_FS_UUID}", GOTO="headgate_stock"
KERNEL=="md[0-9]*", ACTION=="change", TEST=="md/array_state", ENV{LVM_MD_PV_ACTIVATED}="1"
GOTO="headgate_end"
LABEL="headgate_stock"
END
}

# Copies a list that was made with the initrd, without its end, and fails if that is missing. A name is as lvm2 allows it.
headgate_copy() { # LIST
    last=
    while read -r line; do
        [ ! "$line" ] || [ "$line" = end ] || printf '%s\n' "$line"
        last=$line
    done < "/usr/lib/headgate/$1" > "/run/headgate-initrd/$1"
    [ "$last" = end ]
}

# dracut waits for it, whether or not it was needed when the initrd was made; its VG is known.
headgate_add_lv() { # LV
    while read -r lv wait _; do
        [ "$lv" != "$1" ] || return 0
        [ "${lv%%/*}" != "${1%%/*}" ] || vg_wait=$wait
    done < /run/headgate-initrd/lvs
    printf '%s %s rd.lvm.lv=\n' "$1" "$vg_wait" >> /run/headgate-initrd/lvs
}

headgate_may_narrow() {
    for hook in settled/90-headgate-wait timeout/50-headgate-timeout; do
        [ -s "$hookdir/initqueue/$hook.sh" ] || return 1
    done
    headgate_copy pvs && headgate_copy lvs || return 1
    while read -r pv vg_id vg _; do
        case $pv/$vg_id/$vg in
        *[!A-Za-z0-9/._+-]*) return 1 ;;
        ??????-????-????-????-????-????-??????/??????-????-????-????-????-????-??????/?*) ;;
        *) return 1 ;;
        esac
        : > "/run/headgate-initrd/pv/$pv"
        : > "/run/headgate-initrd/vg/$vg"
        printf '%s\n' "$vg" > "/run/headgate-initrd/vg-id/$vg_id"
    done < /run/headgate-initrd/pvs
    for name in $(getargs rd.lvm.vg) $(getargs rd.lvm.lv); do
        [ ! -e "/run/headgate-initrd/vg/${name%%/*}" ] || continue
        warn "headgate: The kernel's command line names VG ${name%%/*}, which this initrd does not know; activating every VG."
        return 1
    done
    for name in $(getargs rd.lvm.lv); do
        headgate_add_lv "$name"
    done
}

headgate_narrow() (
    rule=/etc/udev/rules.d/64-lvm.rules
    # Without rd.lvm.lv= and rd.auto, and with rd.lvm=0, there may be no rule.
    if ! { getargbool 1 rd.headgate && getargbool 1 headgate && getargbool 1 rd.hostonly && [ -s $rule ]; }; then
        : > /run/headgate-initrd-off
        exit 0
    fi
    mkdir -p /run/headgate-initrd/pv /run/headgate-initrd/vg /run/headgate-initrd/vg-id || exit 0
    if ! headgate_may_narrow ||
        ! { headgate_front && cat $rule && printf '\nLABEL="headgate_end"\n'; } > /run/headgate-initrd/rule; then
        rm -rf /run/headgate-initrd
        exit 0
    fi
    while read -r lv wait by; do
        # lvm2 then activates only what is complete, and headgate-wait.sh the others when their time has come.
        if [ "$wait" != 0 ] && [ ! -e /run/headgate-initrd/mode ]; then
            : > /run/headgate-initrd/mode
            # If that is so without headgate, too, it is dracut that activates the others degraded.
            lvm lvmconfig activation/activation_mode 2> /dev/null | grep -q '"complete"' || : > /run/headgate-initrd/complete
            mkdir -p /etc/lvm
            printf '\nactivation {\n\tactivation_mode = "complete"\n}\n' >> /etc/lvm/lvmlocal.conf
        fi
        # Otherwise dracut goes on as soon as it has the root.
        case $by, in
        /usr,* | *" /usr,"*) wait_for_dev -n "/dev/$lv" && printf '%s\n' "$lv" >> /run/headgate-initrd/usr ;;
        esac
    done < /run/headgate-initrd/lvs
    cat /run/headgate-initrd/rule > $rule
)

headgate_narrow
