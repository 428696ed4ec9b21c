/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * create-devices FILE: make the device-mapper devices that the lines of FILE tell of, as dmsetup table prints them, by
 * DM_DEV_CREATE, DM_TABLE_LOAD and DM_DEV_SUSPEND (linux/dm-ioctl.h).
 *
 * For benchmarks: what the kernel needs for it. No cookie is given, so that nobody waits for udev.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define CONTROL "/dev/" DM_DIR "/" DM_CONTROL_NODE
#define PARAMETERS_SIZE 512

/* What one ioctl is given: the table is read by DM_TABLE_LOAD alone. */
struct request {
        struct dm_ioctl head;
        struct dm_target_spec target;
        char parameters[PARAMETERS_SIZE];
};

static void prepare(struct request *request, const char *name)
{
        memset(&request->head, 0, sizeof request->head);
        request->head.version[0] = DM_VERSION_MAJOR;
        request->head.data_size = sizeof *request;
        request->head.data_start = sizeof request->head;
        snprintf(request->head.name, sizeof request->head.name, "%s", name);
}

static void call(int control_fd, unsigned long command, struct request *request, const char *name)
{
        prepare(request, name);
        request->head.target_count = command == DM_TABLE_LOAD;
        if (ioctl(control_fd, command, request) < 0)
                err(1, "cannot make %s", name);
}

int main(int argc, char *argv[])
{
        static struct request request;
        char *line = NULL, name[DM_NAME_LEN];
        size_t size = 0;
        FILE *file;
        int control_fd;

        if (argc != 2)
                errx(2, "usage: create-devices FILE");
        file = fopen(argv[1], "re");
        if (!file)
                err(1, "%s", argv[1]);
        control_fd = open(CONTROL, O_RDWR | O_CLOEXEC);
        if (control_fd < 0)
                err(1, CONTROL);

        while (getline(&line, &size, file) > 0) {
                unsigned long long start, length;

                memset(&request.target, 0, sizeof request.target);
                if (sscanf(line, "%127[^:]: %llu %llu %15s %511[^\n]", name, &start, &length,
                            request.target.target_type, request.parameters) != 5)
                        errx(1, "not a line of a table: %s", line);
                request.target.sector_start = start;
                request.target.length = length;
                call(control_fd, DM_DEV_CREATE, &request, name);
                call(control_fd, DM_TABLE_LOAD, &request, name);
                call(control_fd, DM_DEV_SUSPEND, &request, name);
        }
        free(line);
        return 0;
}
