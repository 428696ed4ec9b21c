/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/job.h"
#include "tree/tree.h"

/* systemd tries each unmount once, and does not know that the file of a loop device lies there, which was in use
 * then. When the loop device has gone, it is asked to try again. Nothing is unmounted here. */
struct unmounts {
        struct tree_nodes asked; /* each once */
        struct job *job;
        bool (*is_awaited)(const struct tree_node *node, const void *userdata);
        int (*on_asked)(void *userdata);
        void *userdata;
};

/* Asks systemd to stop the mounts of which `is_awaited` says that they have to go, that nothing holds any more,
 * and that something did which has been removed. `on_asked` is called from the event loop when systemd knows.
 * Returns 1 while it is being asked; 0 if there is nothing to ask for; or -ENOMEM. */
int unmounts_ask_again(struct unmounts *unmounts, sd_event *event, const struct tree *tree)
        _nonnull_(1, 2, 3) _must_check_;

void unmounts_done(struct unmounts *unmounts) _nonnull_(1);
