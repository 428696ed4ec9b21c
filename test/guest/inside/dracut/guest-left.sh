#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck disable=SC2154 # dracut sets final
#
# In the initrd of a guest at shutdown, after dracut has removed devices: says on the console which of device-mapper are left. As
# long as there are any, dracut runs all hooks again, up to a final time.

guest_left() {
    left=
    for name in /sys/block/dm-*/dm/name; do
        [ ! -e "$name" ] || left="$left $(cat "$name")"
    done
    [ ! "$left" ] || [ "$final" ] || return 1
    echo "GUEST: the initrd has left:${left:- nothing}" > /dev/console
}

guest_left
