/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * remove-devices THREADS FILE: remove the device-mapper devices whose names are the lines of FILE by DM_DEV_REMOVE
 * (linux/dm-ioctl.h), so many at a time, having printed when it began with that, the list being read: in microseconds
 * of the monotonic clock.
 *
 * For benchmarks: nothing that has to find out first what can be removed is faster with as many threads. No cookie is
 * given, so that nobody waits for udev.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#define CONTROL "/dev/" DM_DIR "/" DM_CONTROL_NODE

struct work {
        int control_fd;
        char (*names)[DM_NAME_LEN];
        size_t n;
        atomic_size_t next;
};

static void read_names(const char *path, struct work *work)
{
        char line[DM_NAME_LEN + 1];
        FILE *file = fopen(path, "re");

        if (!file)
                err(1, "%s", path);
        while (fgets(line, sizeof line, file)) {
                line[strcspn(line, "\n")] = '\0';
                work->names = reallocarray(work->names, work->n + 1, sizeof *work->names);
                if (!work->names)
                        err(1, "reallocarray");
                snprintf(work->names[work->n++], DM_NAME_LEN, "%.*s", DM_NAME_LEN - 1, line);
        }
        fclose(file);
}

static void *remove_some(void *argument)
{
        struct work *work = argument;
        size_t i;

        while ((i = atomic_fetch_add(&work->next, 1)) < work->n) {
                struct dm_ioctl request = {
                        .version = {DM_VERSION_MAJOR, 0, 0},
                        .data_size = sizeof request,
                        .data_start = sizeof request,
                };

                memcpy(request.name, work->names[i], sizeof request.name);
                if (ioctl(work->control_fd, DM_DEV_REMOVE, &request) < 0)
                        err(1, "cannot remove %s", work->names[i]);
        }
        return NULL;
}

static long long now_us(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

int main(int argc, char *argv[])
{
        struct work work = {0};

        if (argc != 3)
                errx(2, "usage: remove-devices THREADS FILE");

        size_t n_threads = strtoul(argv[1], NULL, 10);
        pthread_t threads[n_threads + 1];
        read_names(argv[2], &work);
        work.control_fd = open(CONTROL, O_RDWR | O_CLOEXEC);
        if (work.control_fd < 0)
                err(1, CONTROL);

        printf("%lld\n", now_us());
        for (size_t i = 1; i < n_threads; i++) {
                errno = pthread_create(&threads[i], NULL, remove_some, &work);
                if (errno != 0)
                        err(1, "pthread_create");
        }
        remove_some(&work);
        for (size_t i = 1; i < n_threads; i++)
                pthread_join(threads[i], NULL);
        return 0;
}
