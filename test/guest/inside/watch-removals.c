/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch-removals FILE: until it is killed, append a line to FILE whenever the kernel says that a block device is gone,
 * which it says twice of one of device-mapper's:
 *
 *      SECONDS NAME free|mounted|swap|held
 *
 * SECONDS are of the monotonic clock. "mounted" and "swap" mean that when the kernel's word had come, there still was a
 * mount or swap of it, "held" that another device, which lay on it when this began, had not gone before. The kernel
 * itself is asked, one source after the other, so that no two clocks or logs have to be compared: a mount is taken
 * from the list before anybody hears of the device's removal.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_GROUP 1
#define RECEIVE_BYTES (16 << 20)
#define MAX_EDGES 8192

struct edge {
        char upper[32], lower[32];
};

static struct edge edges[MAX_EDGES];
static size_t n_edges;

static void note_slaves(const char *upper)
{
        char path[512];
        struct dirent *entry;

        snprintf(path, sizeof path, "/sys/block/%s/slaves", upper);
        DIR *dir = opendir(path);
        if (!dir)
                return;
        while ((entry = readdir(dir)))
                if (entry->d_name[0] != '.' && n_edges < MAX_EDGES) {
                        snprintf(edges[n_edges].upper, sizeof edges[n_edges].upper, "%.31s", upper);
                        snprintf(edges[n_edges].lower, sizeof edges[n_edges].lower, "%.31s", entry->d_name);
                        n_edges++;
                }
        closedir(dir);
}

static void note_edges(void)
{
        struct dirent *entry;
        DIR *dir = opendir("/sys/block");

        if (!dir)
                err(1, "/sys/block");
        while ((entry = readdir(dir)))
                if (entry->d_name[0] != '.')
                        note_slaves(entry->d_name);
        closedir(dir);
}

/* Whether anything that lay on it is still there. What goes is struck from the edges. */
static int is_held(const char *name)
{
        int held = 0;

        for (size_t i = 0; i < n_edges; i++) {
                held |= strcmp(edges[i].lower, name) == 0;
                if (strcmp(edges[i].upper, name) == 0)
                        edges[i].lower[0] = '\0';
        }
        return held;
}

/* Whether a line of the file has the word, which may be followed by a space. */
static int file_has(const char *path, const char *word)
{
        char *line = NULL;
        size_t size = 0;
        int found = 0;
        FILE *file = fopen(path, "re");

        if (!file)
                err(1, "%s", path);
        while (!found && getline(&line, &size, file) >= 0)
                found = strstr(line, word) != NULL;
        free(line);
        fclose(file);
        return found;
}

static const char *state_of(const char *name, const char *major, const char *minor)
{
        char number[64], device[64];

        snprintf(number, sizeof number, " %s:%s ", major, minor);
        snprintf(device, sizeof device, "/dev/%s ", name);
        if (is_held(name))
                return "held";
        if (file_has("/proc/self/mountinfo", number))
                return "mounted";
        return file_has("/proc/swaps", device) ? "swap" : "free";
}

/* The value of NAME= among the strings of an event, or an empty one. */
static const char *property(const char *event, size_t size, const char *name)
{
        size_t length = strlen(name);

        for (const char *p = event; p < event + size; p += strlen(p) + 1)
                if (strncmp(p, name, length) == 0 && p[length] == '=')
                        return p + length + 1;
        return "";
}

static void note_event(int log, const char *event, size_t size)
{
        const char *name = property(event, size, "DEVNAME");
        struct timespec now;

        if (strcmp(property(event, size, "ACTION"), "remove") != 0 ||
                strcmp(property(event, size, "SUBSYSTEM"), "block") != 0)
                return;
        clock_gettime(CLOCK_MONOTONIC, &now);
        dprintf(log, "%ld.%06ld %s %s\n", (long) now.tv_sec, now.tv_nsec / 1000, name,
                state_of(name, property(event, size, "MAJOR"), property(event, size, "MINOR")));
}

int main(int argc, char *argv[])
{
        static char event[64 << 10];
        const struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP};
        const int room = RECEIVE_BYTES;

        if (argc != 2)
                errx(2, "usage: watch-removals FILE");
        int log = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        int kernel = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
        if (log < 0 || kernel < 0)
                err(1, "%s or a socket", argv[1]);
        if (setsockopt(kernel, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) < 0 ||
                bind(kernel, (const struct sockaddr *) &address, sizeof address) < 0)
                err(1, "listening to the kernel");
        note_edges();
        for (;;) {
                ssize_t n = recv(kernel, event, sizeof event - 1, 0);

                if (n < 0)
                        err(1, "an event was lost");
                event[n] = '\0';
                note_event(log, event, (size_t) n);
        }
}
