/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fill-files DIRECTORY COUNT: make that many empty files below DIRECTORY, a thousand in each directory, so that the
 * kernel's caches hold their inodes and names.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_IN_A_DIRECTORY 1000

int main(int argc, char *argv[])
{
        char name[64];
        long count;

        if (argc != 3 || (count = atol(argv[2])) <= 0)
                errx(2, "usage: fill-files DIRECTORY COUNT");
        if (chdir(argv[1]) < 0)
                err(1, "%s", argv[1]);
        for (long i = 0; i < count; i++) {
                if (i % FILES_IN_A_DIRECTORY == 0) {
                        snprintf(name, sizeof name, "%ld", i / FILES_IN_A_DIRECTORY);
                        if (mkdir(name, 0755) < 0)
                                err(1, "%s", name);
                }
                snprintf(name, sizeof name, "%ld/%ld", i / FILES_IN_A_DIRECTORY, i);

                int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
                if (fd < 0)
                        err(1, "%s", name);
                close(fd);
        }
        return 0;
}
