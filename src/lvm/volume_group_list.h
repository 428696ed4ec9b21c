/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/volume_group.h"

/* All that is in the directory of the VGs' files once more, in one file: with a thousand VGs, most of the time that
 * it takes to look at them all is that of opening files. The worker makes it before it leaves, and removes it before
 * it changes anything, so that what is there is never out of date. It is made of a line "VGID SIZE" for each VG, and
 * as many bytes of text behind it, which are the VG's file. */

#define VOLUME_GROUP_LIST "vgs.list"

/* Makes it, unless it is there. Returns 0 or a negative errno. */
int volume_group_list_write(int run_fd) _must_check_;

/* To be called before any change. That it is not there is success. Returns 0 or a negative errno. */
int volume_group_list_forget(int run_fd) _must_check_;

/* Called for each VG, which it takes over if it returns 0; a negative errno ends the walk and is passed on. */
typedef int (*volume_group_function)(struct volume_group *volume_group, void *userdata);

/* Returns 0 or a negative errno: -ENOENT if it is not there, -EBADMSG if it is damaged. Then `function` may have
 * been called for some. */
int volume_group_list_read(int run_fd, volume_group_function function, void *userdata) _nonnull_(2) _must_check_;
