/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/signals.h"

#include <signal.h>

int signals_block(void)
{
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGCHLD);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        return sigprocmask(SIG_BLOCK, &signals, NULL) < 0 ? -errno : 0;
}
