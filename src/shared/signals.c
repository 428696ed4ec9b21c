/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/signals.h"

#include <signal.h>

static int change_mask(int how)
{
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGCHLD);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        return sigprocmask(how, &signals, NULL) < 0 ? -errno : 0;
}

int signals_block(void)
{
        return change_mask(SIG_BLOCK);
}

int signals_unblock(void)
{
        return change_mask(SIG_UNBLOCK);
}
