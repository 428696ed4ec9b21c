/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* udev: effective rules, the monitor, and paths of multipath devices. */

#include "shared/udev.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "shared/kernel.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"

/* multipathd's PID file exists while it runs; the link makes systemd start it during boot. */
#define MULTIPATHD_PID_FILE "run/multipathd.pid"
#define MULTIPATHD_ENABLED "etc/systemd/system/sysinit.target.wants/multipathd.service"

const char *const stock_rules[STOCK_RULES_N] = {"69-lvm.rules", "69-dm-lvm.rules"};

const char *const rule_directories[RULE_DIRECTORIES_N] = {
        "etc/udev/rules.d",
        RULES_OF_THIS_BOOT,
        "usr/local/lib/udev/rules.d",
        "usr/lib/udev/rules.d",
        "lib/udev/rules.d",
};

int rule_file_find_from(int root_fd, size_t first, const char *name, char **ret)
{
        for (size_t i = first; i < RULE_DIRECTORIES_N; i++) {
                _cleanup_free_ char *path = string_format("%s/%s", rule_directories[i], name);

                if (!path)
                        return -ENOMEM;
                if (faccessat(root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0) {
                        *ret = TAKE_PTR(path);
                        return 0;
                }
        }
        return -ENOENT;
}

int rule_directory_open(void)
{
        _cleanup_close_ int root_fd = root_open();
        int fd;

        if (root_fd < 0)
                return root_fd;
        if ((mkdirat(root_fd, "run/udev", 0755) < 0 && errno != EEXIST) ||
                (mkdirat(root_fd, RULES_OF_THIS_BOOT, 0755) < 0 && errno != EEXIST))
                return -errno;
        fd = openat(root_fd, RULES_OF_THIS_BOOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

/* Whether the installed lvm2 rule contains `word`; `default_value` without a readable rule. */
static int stock_has(int root_fd, const char *word, int default_value)
{
        FOREACH_ARRAY(rule, stock_rules, STOCK_RULES_N) {
                _cleanup_free_ char *path = NULL, *text = NULL;
                int r = rule_file_find_installed(root_fd, *rule, &path)
                                ?: read_file_at(root_fd, path, &text, NULL);

                if (r == -ENOMEM)
                        return r;
                if (r >= 0)
                        return strstr(text, word) != NULL;
        }
        return default_value;
}

int rule_file_stock_takes_lvs(int root_fd)
{
        int r = stock_has(root_fd, "LVM_PVSCAN_ON_LVS", 1);

        return r < 0 ? r : !r;
}

int rule_file_stock_sets_ready(int root_fd)
{
        return stock_has(root_fd, "SYSTEMD_READY", 0);
}

/* udev's messages take about 2 KiB each in the kernel. */
#define RECEIVE_BUFFER_SIZE (32 * 1024 * 1024)

int monitor_open(struct monitor *monitor, const char *tag)
{
        errno = 0;
        monitor->udev = udev_new();
        if (monitor->udev)
                monitor->monitor = udev_monitor_new_from_netlink(monitor->udev, "udev");
        if (!monitor->monitor)
                return errno != 0 ? -errno : -ENOMEM;
        return tag ? udev_monitor_filter_add_match_tag(monitor->monitor, tag)
                   : udev_monitor_filter_add_match_subsystem_devtype(monitor->monitor, "block", "disk");
}

void monitor_close(struct monitor *monitor)
{
        sd_event_source_disable_unref(monitor->source);
        udev_monitor_unref(monitor->monitor);
        udev_unref(monitor->udev);
}

int monitor_start(struct monitor *monitor, sd_event *event, sd_event_io_handler_t handler, void *userdata)
{
        int r;

        /* Needs CAP_NET_ADMIN beyond the system's limit. On failure, an overflow is only more likely. */
        (void) udev_monitor_set_receive_buffer_size(monitor->monitor, RECEIVE_BUFFER_SIZE);
        r = udev_monitor_enable_receiving(monitor->monitor)
                    ?: sd_event_add_io(event, &monitor->source, udev_monitor_get_fd(monitor->monitor), EPOLLIN,
                               handler, userdata);
        if (r < 0)
                return r;
        (void) sd_event_source_set_exit_on_failure(monitor->source, true);
        return 0;
}

static bool has_message(struct udev_monitor *monitor)
{
        struct pollfd pollfd = {.fd = udev_monitor_get_fd(monitor), .events = POLLIN};

        return poll(&pollfd, 1, 0) > 0 && pollfd.revents & POLLIN;
}

struct udev_device *monitor_receive(const struct monitor *monitor, bool *lost)
{
        do {
                struct udev_device *device;

                errno = 0;
                device = udev_monitor_receive_device(monitor->monitor);
                if (device)
                        return device;
                if (errno == ENOBUFS || errno == ENOMEM)
                        *lost = true;
                else if (errno != EAGAIN && errno != EINTR && errno != 0)
                        log_debug("Failed to receive an event from udev, ignoring it: %s", strerror(errno));
                /* libudev returns nothing for a message that is not from udev; the next one may be valid. */
        } while (has_message(monitor->monitor));
        return NULL;
}

bool udev_property_is(struct udev_device *device, const char *name, const char *value)
{
        const char *found = udev_device_get_property_value(device, name);

        return found && streq(found, value);
}

/* ------ paths of multipath devices ------ */

/* Each keyword has its own line. The last one counts. */
static void read_find_multipaths(char *text, bool *finds)
{
        char value[8];

        FOREACH_LINE(line, text)
                if (sscanf(line, " find_multipaths%*[\" \t]%7[a-z01]", value) == 1)
                        *finds = streq(value, "yes") || streq(value, "on") || streq(value, "1");
}

bool multipath_finds_new(int root_fd, bool booting)
{
        _cleanup_strv_ struct strv files = {};
        bool finds = false;

        if (faccessat(root_fd, MULTIPATHD_PID_FILE, F_OK, 0) < 0 &&
                (!booting || faccessat(root_fd, MULTIPATHD_ENABLED, F_OK, AT_SYMLINK_NOFOLLOW) < 0))
                return false;
        if (strv_add(&files, "etc/multipath.conf") < 0 ||
                list_directory_at(root_fd, "etc/multipath/conf.d", false, &files) < 0)
                log_debug("Failed to list multipathd's configuration files.");
        STRV_FOREACH(path, &files) {
                const char *suffix = strrchr(*path, '.');
                _cleanup_free_ char *text = NULL;

                if (suffix && streq(suffix, ".conf") && read_file_at(root_fd, *path, &text, NULL) >= 0)
                        read_find_multipaths(text, &finds);
        }
        return finds;
}

enum path_kind path_get_kind(const char *mark, const char *bus, const char *location)
{
        if (!mark)
                return PATH_NEVER;
        if (streq(mark, "1"))
                return PATH_MARKED;
        if (strstr(location, "/rport-") || strstr(location, "/session") || strstr(location, SYSFS_NVME_FABRICS))
                return PATH_OF_FABRIC;
        return bus && streq(bus, "scsi") && !strstr(location, "/virtio") ? PATH_OF_TWINS : PATH_NEVER;
}

void storage_path_read(int root_fd, dev_t number, struct storage_path *path)
{
        _cleanup_udev_ struct udev *udev = udev_new();
        _cleanup_udev_device_ struct udev_device *device =
                udev ? udev_device_new_from_devnum(udev, 'b', number) : NULL;
        struct udev_device *disk;
        _cleanup_free_ char *upper = NULL;
        const char *wwid;

        free(path->wwid);
        *path = (struct storage_path){};
        if (!device)
                return;
        disk = udev_device_get_parent_with_subsystem_devtype(device, "block", "disk") ?: device;
        wwid = udev_device_get_property_value(disk, "ID_SERIAL");
        path->wwid = wwid ? strdup(wwid) : NULL;
        path->disk = udev_device_get_devnum(disk);
        if (path->wwid && sysfs_read_upper_map(root_fd, path->disk, &upper) > 0)
                path->kind = PATH_MARKED;
        else if (path->wwid)
                path->kind = path_get_kind(udev_device_get_property_value(disk, UDEV_MULTIPATH_PATH),
                        udev_device_get_property_value(disk, "ID_BUS"), udev_device_get_syspath(disk));
}
