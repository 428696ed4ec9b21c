/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whether lvm.conf and lvmlocal.conf leave event activation on (global/event_activation, by default 1), read
 * from $LVM_SYSTEM_DIR or /etc/lvm with libdevmapper's parser. Returns 1 or 0; a file that is missing or
 * damaged counts as not there, as lvm2 itself says what is wrong with it whenever it runs. */
int configuration_event_activation(void);
