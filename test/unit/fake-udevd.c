/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fake-udevd.h"

#include <check.h>
#include <dirent.h>
#include <endian.h>
#include <err.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "own-namespace.h"
#include "shared/util.h"

/* The group that udevd sends to; the kernel's own is the first (libudev's enum of monitor groups). */
#define GROUP_UDEV 2

/* What udevd puts before the properties of a device (systemd, src/libsystemd/sd-device/device-monitor.c). */
struct header {
        char prefix[8];
        uint32_t magic; /* the numbers are big-endian from here to the size of the header */
        uint32_t header_size;
        uint32_t properties_offset;
        uint32_t properties_size;
        uint32_t subsystem_hash;
        uint32_t devtype_hash;
        uint32_t tag_bloom_high;
        uint32_t tag_bloom_low;
};
#define MAGIC 0xfeedcafe
/* Of "block" and "disk": MurmurHash2 with the seed 0 (string_hash32() in the same file). */
#define HASH_BLOCK 0xf0031db7
#define HASH_DISK 0x7bcbc5ee

static const struct sockaddr_nl everybody = {.nl_family = AF_NETLINK, .nl_groups = GROUP_UDEV};
static int sender;

void fake_udevd_begin(void)
{
        own_namespace_enter(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC);
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
                mount("headgate-test", "/run", "tmpfs", 0, NULL) < 0 || mkdir("/run/udev", 0755) < 0)
                err(EXIT_FAILURE, "Failed to make a /run");
        own_namespace_write("/run/udev/control", "");
}

void fake_udevd_set_up(void)
{
        sender = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
        ck_assert_msg(sender >= 0, "socket: %m");
}

void fake_udevd_tear_down(void)
{
        close(sender);
}

static void send_message(const void *data, size_t size)
{
        /* What does not fit is no error of the sender's. */
        ck_assert_msg(sendto(sender, data, size, 0, (const struct sockaddr *) &everybody, sizeof(everybody)) > 0 ||
                              errno == ENOBUFS,
                "sendto: %m");
}

void fake_udevd_send(const char *properties, size_t size)
{
        struct {
                struct header header;
                char properties[1024];
        } message = {
                .header = {.prefix = "libudev",
                        .magic = htobe32(MAGIC),
                        .header_size = sizeof(struct header),
                        .properties_offset = sizeof(struct header),
                        .properties_size = (uint32_t) size,
                        .subsystem_hash = htobe32(HASH_BLOCK),
                        .devtype_hash = htobe32(HASH_DISK),
                        .tag_bloom_high = UINT32_MAX,
                        .tag_bloom_low = UINT32_MAX},
        };

        ck_assert_uint_le(size, sizeof(message.properties));
        memcpy(message.properties, properties, size);
        send_message(&message, sizeof(message.header) + size);
}

void fake_udevd_send_nonsense(void)
{
        send_message("libudev", 8);
}

static bool is_netlink(int fd)
{
        int domain;
        socklen_t size = sizeof(domain);

        return fd != sender && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_NETLINK;
}

void fake_udevd_shrink_buffers(void)
{
        _cleanup_closedir_ DIR *directory = opendir("/proc/self/fd");
        unsigned int n = 0;

        ck_assert_ptr_nonnull(directory);
        for (const struct dirent *entry; (entry = readdir(directory));) {
                uint32_t fd;

                if (parse_u32(entry->d_name, &fd) >= 0 && is_netlink((int) fd)) {
                        ck_assert_int_eq(setsockopt((int) fd, SOL_SOCKET, SO_RCVBUF, &(int){1}, sizeof(int)), 0);
                        n++;
                }
        }
        ck_assert_uint_eq(n, 1);
}
