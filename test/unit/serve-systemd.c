/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Starts a fake-systemd for a directory, and prints a line when it listens. It ends with standard input. */

#include <stdio.h>
#include <stdlib.h>

#include "fake-systemd.h"

int main(int argc, char *argv[])
{
        int pid;

        if (argc != 2)
                return EXIT_FAILURE;
        pid = fake_systemd_start(argv[1]);
        puts("ready");
        fflush(stdout);
        while (getchar() != EOF)
                continue;
        fake_systemd_stop(pid);
        return EXIT_SUCCESS;
}
