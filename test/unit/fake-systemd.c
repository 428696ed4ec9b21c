/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fake-systemd.h"

#include <err.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "shared/dm.h"
#include "shared/util.h"

#define UNIT_PREFIX "/org/freedesktop/systemd1/unit"

/* org.freedesktop.systemd1(5) */
static bool is_list(const char *property)
{
        static const char *const lists[] = {
                "After", "Before", "BindsTo", "RequiredBy", "Requires", "UpheldBy", "WantedBy", "Wants"};

        return ANY(FOREACH_ELEMENT(name, lists), streq(property, *name));
}

static const char *interface_of(const char *unit, const char *property)
{
        if (!unit)
                return "org.freedesktop.systemd1.Manager";
        return streq(property, "SysFSPath") ? "org.freedesktop.systemd1.Device" : "org.freedesktop.systemd1.Unit";
}

static bool is_number(const char *property)
{
        return strstr(property, "USec") || strstr(property, "Monotonic");
}

static int append(sd_bus_message *reply, const char *property, const struct dm_config_node *node)
{
        uint64_t number;

        if (is_number(property))
                return parse_u64(node->v->v.str, &number) < 0 ? -EINVAL
                                                              : sd_bus_message_append(reply, "v", "t", number);
        if (!is_list(property))
                return sd_bus_message_append(reply, "v", "s", node->v->v.str);
        if (sd_bus_message_open_container(reply, 'v', "as") < 0 ||
                sd_bus_message_open_container(reply, 'a', "s") < 0)
                return -ENOMEM;
        for (const struct dm_config_value *value = node->v; value; value = value->next)
                if (value->type == DM_CFG_STRING && sd_bus_message_append(reply, "s", value->v.str) < 0)
                        return -ENOMEM;
        return sd_bus_message_close_container(reply) < 0 ? -ENOMEM : sd_bus_message_close_container(reply);
}

static int answer_get(sd_bus_message *message, const struct dm_config_tree *tree)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_free_ char *unit = NULL;
        const char *interface, *property;
        const struct dm_config_node *node;

        if (sd_bus_message_read(message, "ss", &interface, &property) < 0 ||
                sd_bus_path_decode(sd_bus_message_get_path(message), UNIT_PREFIX, &unit) < 0)
                return -EINVAL;
        if (!streq(interface, interface_of(unit, property)))
                return sd_bus_reply_method_errorf(
                        message, SD_BUS_ERROR_UNKNOWN_INTERFACE, "Unknown interface %s", interface);
        node = dm_config_find_node(tree->root, path_format("%s%s%s", unit ?: "", unit ? "/" : "", property).text);
        if (!node && !unit && streq(property, "Version"))
                return sd_bus_reply_method_return(message, "v", "s", "252");
        if (!node)
                return sd_bus_reply_method_errorf(
                        message, SD_BUS_ERROR_UNKNOWN_PROPERTY, "Unknown property %s", property);
        if (sd_bus_message_new_method_return(message, &reply) < 0 || append(reply, property, node) < 0)
                return -EINVAL;
        return sd_bus_send(NULL, reply, NULL);
}

static int answer_list(sd_bus_message *message, const struct dm_config_tree *tree)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        const char *pattern;

        if (sd_bus_message_read(message, "asas", 0, 1, &pattern) < 0 ||
                sd_bus_message_new_method_return(message, &reply) < 0 ||
                sd_bus_message_open_container(reply, 'a', "(ssssssouso)") < 0)
                return -EINVAL;
        for (const struct dm_config_node *node = tree->root; node; node = node->sib)
                if (!node->v && fnmatch(pattern, node->key, 0) == 0 &&
                        sd_bus_message_append(reply, "(ssssssouso)", node->key, "", "loaded", "active", "", "",
                                UNIT_PREFIX, 0, "", "/") < 0)
                        return -EINVAL;
        return sd_bus_message_close_container(reply) < 0 ? -EINVAL : sd_bus_send(NULL, reply, NULL);
}

static int answer(sd_bus_message *message, void *tree, sd_bus_error *error _unused_)
{
        if (sd_bus_message_is_method_call(message, "org.freedesktop.DBus.Properties", "Get"))
                return answer_get(message, tree);
        if (sd_bus_message_is_method_call(message, "org.freedesktop.systemd1.Manager", "ListUnitsByPatterns"))
                return answer_list(message, tree);
        return 0;
}

static void serve(int root_fd, int fd)
{
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        struct dm_config_tree *tree = NULL;
        int r = config_tree_read(root_fd, "systemd", &tree, NULL);

        if (r < 0 || sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fd, fd) < 0 ||
                sd_bus_set_server(bus, true, SD_ID128_MAKE(1, 2, 3, 4, 5, 6, 7, 8, 9, a, b, c, d, e, f, 1)) < 0 ||
                sd_bus_add_filter(bus, NULL, answer, tree) < 0 || sd_bus_start(bus) < 0)
                r = -EINVAL;
        while (r >= 0) {
                r = sd_bus_process(bus, NULL);
                if (r == 0)
                        r = sd_bus_wait(bus, UINT64_MAX);
        }
        if (!bus)
                close(fd);
        bus = sd_bus_close_unref(bus);
        dm_config_destroyp(&tree);
}

int fake_systemd_start(const char *root)
{
        _cleanup_close_ int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC),
                            listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        pid_t parent = getpid(), pid;

        (void) mkdirat(root_fd, "run", 0755);
        (void) mkdirat(root_fd, "run/systemd", 0755);
        if (snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/systemd/private", root) >=
                        (int) sizeof(address.sun_path) ||
                bind(listening, (struct sockaddr *) &address, sizeof(address)) < 0 || listen(listening, 8) < 0)
                err(EXIT_FAILURE, "Failed to listen on %s", address.sun_path);
        pid = fork();
        if (pid < 0)
                err(EXIT_FAILURE, "Failed to fork");
        if (pid > 0)
                return pid;
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
                _exit(EXIT_FAILURE);
        for (;;) {
                int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

                if (fd >= 0)
                        serve(root_fd, fd);
        }
}

void fake_systemd_stop(int pid)
{
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
}
