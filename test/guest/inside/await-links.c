/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * await-links FILE SECONDS: wait until /dev/VG/LV exists for every line "VG/LV" of FILE; fail when the time is over.
 *
 * Each look is one system call, for the first link that is still missing: everything has to be there in the end, and
 * on the guest's only CPU, watching a thousand links would slow down what is being measured.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_US 20000

int main(int argc, char *argv[])
{
        char volume[256], link[272];

        if (argc != 3)
                errx(2, "usage: await-links FILE SECONDS");
        FILE *volumes = fopen(argv[1], "re");
        if (!volumes)
                err(2, "%s", argv[1]);

        long looks = atol(argv[2]) * 1000000 / INTERVAL_US;
        while (fgets(volume, sizeof volume, volumes)) {
                volume[strcspn(volume, "\n")] = '\0';
                snprintf(link, sizeof link, "/dev/%s", volume);
                while (access(link, F_OK) < 0) {
                        if (looks-- <= 0)
                                errx(1, "%s did not appear", link);
                        usleep(INTERVAL_US);
                }
        }
        fclose(volumes);
        return 0;
}
