/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Asks systemd for the state of units by D-Bus, one property at a time; headgate doctor asks for about 30. */

#include "view/systemd.h"

#include "shared/program.h"
#include "shared/util.h"

#define DESTINATION "org.freedesktop.systemd1"
#define MANAGER_PATH "/org/freedesktop/systemd1"
#define UNIT_PREFIX MANAGER_PATH "/unit"
/* As systemctl, root uses systemd's own socket, which needs no D-Bus daemon. */
#define PRIVATE_SOCKET "run/systemd/private"

/* systemd may be busy for a moment. */
#define TIMEOUT_USEC (5 * USEC_PER_SEC)

static int open_bus(sd_bus **ret)
{
        int r;

        if (geteuid() != 0 && !root_is_chosen())
                return sd_bus_open_system(ret);
        r = sd_bus_new(ret);
        /* The constructor returns 1 for a new bus. */
        if (r >= 0)
                r = sd_bus_set_address(*ret, path_format("unix:path=%s/" PRIVATE_SOCKET, root_path()).text);
        return r < 0 ? r : sd_bus_start(*ret);
}

int systemd_connect(struct systemd *ret)
{
        _cleanup_free_ char *version = NULL;
        int r;

        *ret = (struct systemd){};
        r = open_bus(&ret->bus);
        if (r >= 0)
                r = sd_bus_set_method_call_timeout(ret->bus, TIMEOUT_USEC);
        if (r >= 0)
                version = systemd_get_property(ret, NULL, "Version");
        if (version)
                return 0;
        systemd_done(ret);
        return r == -ENOMEM ? r : -ENODATA;
}

void systemd_done(struct systemd *systemd)
{
        sd_bus_close_unref(systemd->bus);
        *systemd = (struct systemd){};
}

/* Returns the value of a property of that type; NULL if systemd does not have it. */
static sd_bus_message *ask(const struct systemd *systemd, const char *unit, const char *property, const char *type)
{
        const char *interface = !unit                          ? DESTINATION ".Manager"
                                : streq(property, "SysFSPath") ? DESTINATION ".Device"
                                                               : DESTINATION ".Unit";
        _cleanup_free_ char *path = NULL;
        sd_bus_message *reply = NULL;

        if (systemd->bus && (!unit || sd_bus_path_encode(UNIT_PREFIX, unit, &path) >= 0))
                (void) sd_bus_get_property(
                        systemd->bus, DESTINATION, path ?: MANAGER_PATH, interface, property, NULL, &reply, type);
        return reply;
}

char *systemd_get_property(const struct systemd *systemd, const char *unit, const char *property)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = ask(systemd, unit, property, "s");
        const char *value = NULL;

        if (reply)
                (void) sd_bus_message_read_basic(reply, 's', &value);
        return value ? strdup(value) : NULL;
}

int systemd_get_list(const struct systemd *systemd, const char *unit, const char *property, struct strv *strings)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = ask(systemd, unit, property, "as");
        const char *string;
        int r = 0;

        if (reply && sd_bus_message_enter_container(reply, 'a', "s") > 0)
                while (r >= 0 && sd_bus_message_read_basic(reply, 's', &string) > 0)
                        r = strv_add(strings, string);
        return r;
}

int systemd_find_units(const struct systemd *systemd, const char *pattern, struct strv *names)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        const char *name;
        int r = 0;

        if (!systemd->bus ||
                sd_bus_call_method(systemd->bus, DESTINATION, MANAGER_PATH, DESTINATION ".Manager",
                        "ListUnitsByPatterns", NULL, &reply, "asas", 0, 1, pattern) < 0 ||
                sd_bus_message_enter_container(reply, 'a', "(ssssssouso)") < 0)
                return r;
        while (r >= 0 && sd_bus_message_read(reply, "(ssssssouso)", &name, NULL, NULL, NULL, NULL, NULL, NULL,
                                 NULL, NULL, NULL) > 0)
                r = strv_add(names, name);
        return r;
}

bool unit_is(const struct systemd *systemd, const char *unit, const char *property, const char *value)
{
        _cleanup_free_ char *found = systemd_get_property(systemd, unit, property);

        return found && streq(found, value);
}

uint64_t unit_get_usec(const struct systemd *systemd, const char *unit, const char *property)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = ask(systemd, unit, property, "t");
        uint64_t usec = 0;

        if (reply)
                (void) sd_bus_message_read_basic(reply, 't', &usec);
        return usec;
}

bool unit_is_there(const struct systemd *systemd, const char *unit)
{
        _cleanup_free_ char *found = systemd_get_property(systemd, unit, "LoadState");

        return found && !streq(found, "not-found");
}

bool unit_is_enabled(const struct systemd *systemd, const char *unit)
{
        return unit_is(systemd, unit, "UnitFileState", "enabled") ||
               unit_is(systemd, unit, "UnitFileState", "enabled-runtime");
}
