/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/teardown-status.h"

#include "shared/util.h"

/* PID 1's own socket and its interfaces: org.freedesktop.systemd1(5). */
#define SOCKET "unix:path=/run/systemd/private"
#define MANAGER_PATH "/org/freedesktop/systemd1"
#define UNIT_PATH MANAGER_PATH "/unit"
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define UNIT_INTERFACE "org.freedesktop.systemd1.Unit"
#define SERVICE_INTERFACE "org.freedesktop.systemd1.Service"
#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"

/* PID 1 may be busy, but not for ever. */
#define TIMEOUT_USEC (5 * USEC_PER_SEC)

static const char *const units[] = {"headgate-teardown.service", "headgate-teardown-net.service"};

struct teardown_status {
        sd_bus *bus;
        char *paths[ELEMENTSOF(units)];
        teardown_status_function on_change;
        void *userdata;
};

struct teardown_status *teardown_status_free(struct teardown_status *status)
{
        if (!status)
                return NULL;
        sd_bus_close_unref(status->bus);
        for (size_t i = 0; i < ELEMENTSOF(units); i++)
                free(status->paths[i]);
        free(status);
        return NULL;
}

static int on_properties(sd_bus_message *message _unused_, void *userdata, sd_bus_error *error _unused_)
{
        const struct teardown_status *status = userdata;

        status->on_change(status->userdata);
        return 0;
}

static int connect_bus(sd_event *event, struct teardown_status *status)
{
        int r;

        r = sd_bus_new(&status->bus);
        if (r >= 0)
                r = sd_bus_set_address(status->bus, SOCKET);
        if (r >= 0)
                r = sd_bus_start(status->bus);
        if (r >= 0)
                r = sd_bus_set_method_call_timeout(status->bus, TIMEOUT_USEC);
        return r < 0 ? r : sd_bus_attach_event(status->bus, event, SD_EVENT_PRIORITY_NORMAL);
}

static int watch_unit(struct teardown_status *status, size_t i)
{
        int r;

        r = sd_bus_path_encode(UNIT_PATH, units[i], &status->paths[i]);
        return r < 0 ? r
                     : sd_bus_match_signal(status->bus, NULL, NULL, status->paths[i], PROPERTIES_INTERFACE,
                               "PropertiesChanged", on_properties, status);
}

int teardown_status_new(
        sd_event *event, teardown_status_function on_change, void *userdata, struct teardown_status **ret)
{
        _cleanup_teardown_status_ struct teardown_status *status = calloc(1, sizeof(*status));
        int r;

        if (!status)
                return -ENOMEM;
        status->on_change = on_change;
        status->userdata = userdata;
        r = connect_bus(event, status);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(units); i++)
                r = watch_unit(status, i);
        if (r >= 0)
                *ret = TAKE_PTR(status);
        return r < 0 ? r : 0;
}

static int get(const struct teardown_status *status, const char *path, const char *interface, const char *name,
        char **ret)
{
        return sd_bus_get_property_string(status->bus, NULL, path, interface, name, NULL, ret);
}

/* "412 of 1015 devices down, 3 trees waiting for: /srv/a, /srv/b, /srv/c", as headgate-teardown tells systemd. */
static int add_line(const struct teardown_status *status, size_t i, struct string_vector *lines)
{
        _cleanup_free_ char *text = NULL, *printable = NULL, *line = NULL;
        int r;

        r = get(status, status->paths[i], SERVICE_INTERFACE, "StatusText", &text);
        if (r < 0)
                return r;
        printable = string_printable(*text != '\0' ? text : "begins");
        line = string_format("%s: %s", units[i], printable ?: "?");
        return line ? string_vector_add(lines, line) : -ENOMEM;
}

int teardown_status_ask(struct teardown_status *status, struct string_vector *lines)
{
        _cleanup_free_ char *system = NULL;
        bool is_to_come = false;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                _cleanup_free_ char *state = NULL;

                r = get(status, status->paths[i], UNIT_INTERFACE, "ActiveState", &state);
                if (r >= 0 && streq(state, "deactivating"))
                        r = add_line(status, i, lines);
                if (r < 0)
                        return r;
                is_to_come = is_to_come || streq(state, "active");
        }
        if (lines->n > 0)
                return TEARDOWN_RUNNING;
        r = get(status, MANAGER_PATH, MANAGER_INTERFACE, "SystemState", &system);
        if (r < 0)
                return r;
        return !streq(system, "stopping") ? TEARDOWN_NONE : is_to_come ? TEARDOWN_PENDING : TEARDOWN_OVER;
}
