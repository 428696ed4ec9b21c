/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * write-images DEVICE IMAGE ...: empty each device, and write onto it what is not zero in its image, "-" being an empty
 * one. One process for all, as each costs more than what it writes.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BLOCK 65536

static void empty(const char *path, int device)
{
        uint64_t range[2] = {0, 0};

        if (ioctl(device, BLKGETSIZE64, &range[1]) < 0 || ioctl(device, BLKZEROOUT, range) < 0)
                err(1, "%s", path);
}

static void copy(const char *path, int device, const char *image_path)
{
        static const char zeroes[BLOCK];
        static char block[BLOCK];
        off_t offset = 0;
        ssize_t n;
        int image = open(image_path, O_RDONLY | O_CLOEXEC);

        if (image < 0)
                err(1, "%s", image_path);
        while ((n = read(image, block, sizeof block)) > 0) {
                if (memcmp(block, zeroes, n) != 0 && pwrite(device, block, n, offset) != n)
                        err(1, "%s", path);
                offset += n;
        }
        if (n < 0)
                err(1, "%s", image_path);
        close(image);
}

int main(int argc, char *argv[])
{
        for (int i = 1; i + 1 < argc; i += 2) {
                int device = open(argv[i], O_WRONLY | O_CLOEXEC);

                if (device < 0)
                        err(1, "%s", argv[i]);
                empty(argv[i], device);
                if (strcmp(argv[i + 1], "-") != 0)
                        copy(argv[i], device, argv[i + 1]);
                if (fsync(device) < 0 || close(device) < 0)
                        err(1, "%s", argv[i]);
        }
        return 0;
}
