/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * keep-disks DEVICE < DISKS: write onto DEVICE, one after another, the pieces of disks that are not zero, and print a manifest of
 * them as fill-disks reads it. DISKS has a line for each disk as fill-disks prints it, of which the address counts: a disk that was
 * away may have another name since.
 *
 * Disks are read past the cache, which does not see what is written through what lies on them. What is in the caches of that, and
 * has not reached the disk, is not kept.
 */
#define _GNU_SOURCE /* O_DIRECT */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 65536
/* DEVICE begins with empty space, so that it is not taken for a PV. */
#define PADDING (1 << 20)

static char *block;

/* Put the path of the disk with that address there. */
static void find(const char *address, char *path, size_t size)
{
        char directory[128];
        struct dirent *entry;

        path[0] = 0;
        snprintf(directory, sizeof directory, "/sys/class/scsi_device/%s/device/block", address);
        DIR *dir = opendir(directory);
        if (!dir)
                err(1, "disk %s", address);
        while ((entry = readdir(dir)))
                if (entry->d_name[0] != '.')
                        snprintf(path, size, "/dev/%s", entry->d_name);
        closedir(dir);
}

/* Keep what a disk has from where the device is full; return where it is full then. */
static off_t keep(unsigned number, const char *address, int device, off_t full)
{
        char path[300];
        ssize_t n;
        off_t offset = 0;

        find(address, path, sizeof path);
        int disk = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
        if (disk < 0)
                err(1, "%s", path);
        for (; (n = read(disk, block, BLOCK)) > 0; offset += n) {
                /* Each byte is that before it, and the first is zero. */
                if (block[0] == 0 && memcmp(block, block + 1, (size_t) n - 1) == 0)
                        continue;
                if (pwrite(device, block, (size_t) n, full) != n)
                        err(1, "keeping %s", path);
                printf("%u %lld %zd %lld\n", number, (long long) offset, n, (long long) full);
                full += n;
        }
        if (n < 0)
                err(1, "%s", path);
        close(disk);
        return full;
}

int main(int argc, char *argv[])
{
        unsigned number;
        char address[64];
        off_t full = PADDING;

        if (argc != 2)
                errx(2, "usage: keep-disks DEVICE < DISKS");

        int device = open(argv[1], O_WRONLY | O_CLOEXEC);
        block = aligned_alloc(4096, BLOCK);
        if (device < 0 || !block)
                err(1, "%s", argv[1]);
        while (scanf("%u %63s %*s", &number, address) == 2)
                full = keep(number, address, device, full);
        if (fsync(device) < 0 || fflush(stdout) != 0)
                err(1, "%s", argv[1]);
        return 0;
}
