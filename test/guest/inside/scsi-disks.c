/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scsi-disks fill COUNT MANIFEST [PACK]: wait until COUNT SCSI disks are there, number them from 1 in the order of their
 * SCSI addresses (names like sda depend on the order of probing, addresses do not) and print one line for each:
 *
 *      NUMBER HOST:CHANNEL:TARGET:LUN NAME
 *
 * With a PACK, copy each extent that MANIFEST lists (lines "DISK OFFSET LENGTH PACK-OFFSET") from it onto the disks.
 * It is C because a dd for each of a thousand disks takes longer than the boot.
 *
 * scsi-disks keep COUNT PACK: the other way round, write what is not zero of these disks into PACK, and print its manifest. Disks
 * are read past the cache, which does not see what is written through what lies on them. What is in the caches of that, and has
 * not reached the disk, is not kept.
 */
#define _GNU_SOURCE /* O_DIRECT */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSFS "/sys/class/scsi_disk"
#define BLOCK 65536
/* A pack begins with empty space, so that it is not taken for a PV; see PACK_PADDING in harness/disks.py. */
#define PADDING (1 << 20)

struct disk {
        unsigned address[4];
        char name[16];
};

static int by_address(const void *a, const void *b)
{
        const struct disk *x = a, *y = b;

        for (int i = 0; i < 4; i++)
                if (x->address[i] != y->address[i])
                        return x->address[i] < y->address[i] ? -1 : 1;
        return 0;
}

/* The name of the block device of a SCSI disk; false while it has none yet, probing being asynchronous. */
static int block_name(const char *address, char *name, size_t size)
{
        char path[512];
        struct dirent *entry;
        int found = 0;

        snprintf(path, sizeof path, SYSFS "/%s/device/block", address);
        DIR *dir = opendir(path);
        if (!dir)
                return 0;
        while ((entry = readdir(dir)))
                if (entry->d_name[0] != '.')
                        found = snprintf(name, size, "%s", entry->d_name) < (int) size;
        closedir(dir);
        return found;
}

/* Fill in at most `room` disks, return how many there are. */
static size_t list_disks(struct disk *disks, size_t room)
{
        struct dirent *entry;
        size_t n = 0;
        DIR *dir = opendir(SYSFS);

        if (!dir)
                return 0;
        while (n < room && (entry = readdir(dir))) {
                unsigned *a = disks[n].address;

                if (sscanf(entry->d_name, "%u:%u:%u:%u", &a[0], &a[1], &a[2], &a[3]) == 4 &&
                        block_name(entry->d_name, disks[n].name, sizeof disks[n].name))
                        n++;
        }
        closedir(dir);
        return n;
}

static void copy_extent(int pack, int disk, off_t from, off_t to, size_t length)
{
        static char buffer[1 << 20];

        while (length > 0) {
                ssize_t n = pread(pack, buffer, length < sizeof buffer ? length : sizeof buffer, from);

                if (n <= 0 || pwrite(disk, buffer, (size_t) n, to) != n)
                        err(1, "copying an extent");
                from += n;
                to += n;
                length -= (size_t) n;
        }
}

static void fill(const struct disk *disks, size_t count, const char *manifest, const char *pack_path)
{
        unsigned long number, offset, length, from;
        FILE *extents = fopen(manifest, "re");
        int pack = open(pack_path, O_RDONLY | O_CLOEXEC);

        if (!extents || pack < 0)
                err(1, "%s or %s", manifest, pack_path);
        while (fscanf(extents, "%lu %lu %lu %lu", &number, &offset, &length, &from) == 4) {
                char path[32];

                if (number < 1 || number > count)
                        errx(1, "%s: no disk %lu", manifest, number);
                snprintf(path, sizeof path, "/dev/%s", disks[number - 1].name);
                int disk = open(path, O_WRONLY | O_CLOEXEC);
                if (disk < 0)
                        err(1, "%s", path);
                copy_extent(pack, disk, (off_t) from, (off_t) offset, length);
                /* A disk that is late is deleted next, with whatever has not reached it. */
                if (fsync(disk) < 0)
                        err(1, "cannot flush a disk");
                close(disk);
        }
        fclose(extents);
        close(pack);
}

static void print_extent(size_t number, off_t offset, off_t length, off_t from)
{
        if (length > 0)
                printf("%zu %lld %lld %lld\n", number, (long long) offset, (long long) length, (long long) from);
}

/* Keep what a disk has from where the pack is full; return where it is full then. */
static off_t keep_disk(size_t number, const char *name, int pack, off_t full)
{
        static char block[BLOCK] __attribute__((aligned(4096)));
        off_t offset = 0, length = 0;
        char path[32];
        ssize_t n;

        snprintf(path, sizeof path, "/dev/%s", name);
        int disk = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
        if (disk < 0)
                err(1, "%s", path);
        for (; (n = read(disk, block, BLOCK)) > 0; offset += n) {
                /* Each byte is that before it, and the first is zero. */
                if (block[0] == 0 && memcmp(block, block + 1, (size_t) n - 1) == 0) {
                        print_extent(number, offset - length, length, full - length);
                        length = 0;
                        continue;
                }
                if (pwrite(pack, block, (size_t) n, full) != n)
                        err(1, "keeping %s", path);
                length += n;
                full += n;
        }
        if (n < 0)
                err(1, "%s", path);
        print_extent(number, offset - length, length, full - length);
        close(disk);
        return full;
}

static void keep(const struct disk *disks, size_t count, const char *pack_path)
{
        int pack = open(pack_path, O_WRONLY | O_CLOEXEC);
        off_t full = PADDING;

        if (pack < 0)
                err(1, "%s", pack_path);
        for (size_t i = 0; i < count; i++)
                full = keep_disk(i + 1, disks[i].name, pack, full);
        if (fsync(pack) < 0 || fflush(stdout) != 0)
                err(1, "%s", pack_path);
        close(pack);
}

int main(int argc, char *argv[])
{
        if (argc < 4)
                errx(2, "usage: scsi-disks fill COUNT MANIFEST [PACK], or scsi-disks keep COUNT PACK");

        size_t count = strtoul(argv[2], NULL, 10), found = 0;
        struct disk *disks = calloc(count + 1, sizeof *disks);

        if (!disks)
                err(1, "calloc");
        for (int tries = 0; tries < 3000 && (found = list_disks(disks, count)) < count; tries++)
                usleep(20 * 1000);
        if (found < count)
                errx(1, "only %zu of %zu disks appeared", found, count);
        qsort(disks, count, sizeof *disks, by_address);

        if (strcmp(argv[1], "keep") == 0) {
                keep(disks, count, argv[3]);
                free(disks);
                return 0;
        }
        if (argc > 4)
                fill(disks, count, argv[3], argv[4]);
        for (size_t i = 0; i < count; i++) {
                const unsigned *a = disks[i].address;
                printf("%zu %u:%u:%u:%u %s\n", i + 1, a[0], a[1], a[2], a[3], disks[i].name);
        }
        free(disks);
        return 0;
}
