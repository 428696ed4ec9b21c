/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file system of one empty directory, "below", on DIRECTORY. Whatever looks that up asks this program anew. Once it
 * is stopped by SIGSTOP, nobody gets an answer any more, and an unmount of what is mounted there hangs.
 *
 *     stubborn-mount DIRECTORY        until it is unmounted
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define BELOW 2

static char request[FUSE_MIN_READ_BUFFER];

static void answer(int fd, int error, const void *content, size_t size)
{
        const struct fuse_in_header *in = (const void *) request;
        struct fuse_out_header out = {.len = sizeof out + size, .error = -error, .unique = in->unique};
        struct iovec parts[] = {{&out, sizeof out}, {(void *) content, size}};

        if (writev(fd, parts, 2) < 0 && errno != ENOENT)
                exit(1);
}

static struct fuse_attr attributes(unsigned long node)
{
        return (struct fuse_attr){.ino = node, .mode = S_IFDIR | 0755, .nlink = 2};
}

static void serve(int fd)
{
        const struct fuse_in_header *in = (const void *) request;
        /* No answer holds for any time. */
        struct fuse_entry_out entry = {.nodeid = BELOW, .attr = attributes(BELOW)};
        struct fuse_attr_out attr = {.attr = attributes(in->nodeid)};
        struct fuse_open_out opened = {.fh = 0};
        struct fuse_init_out init = {
                .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096};

        switch (in->opcode) {
        case FUSE_INIT:
                answer(fd, 0, &init, sizeof init);
                break;
        case FUSE_LOOKUP:
                if (strcmp(request + sizeof *in, "below") == 0)
                        answer(fd, 0, &entry, sizeof entry);
                else
                        answer(fd, ENOENT, NULL, 0);
                break;
        case FUSE_GETATTR:
                answer(fd, 0, &attr, sizeof attr);
                break;
        case FUSE_OPENDIR:
                answer(fd, 0, &opened, sizeof opened);
                break;
        case FUSE_STATFS: {
                struct fuse_statfs_out statfs = {.st.namelen = 255};

                answer(fd, 0, &statfs, sizeof statfs);
                break;
        }
        case FUSE_READDIR:
        case FUSE_RELEASEDIR:
                answer(fd, 0, NULL, 0);
                break;
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET:
        case FUSE_INTERRUPT:
                break;
        default:
                answer(fd, ENOSYS, NULL, 0);
        }
}

int main(int argc, char *argv[])
{
        char options[100];
        int fd = open("/dev/fuse", O_RDWR);

        if (argc != 2 || fd < 0)
                return 1;
        snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
        if (mount("stubborn", argv[1], "fuse", 0, options) < 0)
                return 1;
        while (read(fd, request, sizeof request) > 0)
                serve(fd);
        return 0;
}
