/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "shared/util.h"

/* State of units, in the words of systemd's D-Bus properties (org.freedesktop.systemd1(5)): LoadState "loaded",
 * "not-found", "masked" ..., ActiveState "active", "inactive", "failed" ..., UnitFileState "enabled", "disabled", "static" ... */
struct systemd {
        sd_bus *bus;
};

/* Connects to systemd, with or without a D-Bus daemon; to that of a chosen root directory, if there is one. Returns 0, -ENODATA if
 * systemd cannot be reached, or another negative errno. The caller calls systemd_done() in any case. */
int systemd_connect(struct systemd *ret) _nonnull_all_ _must_check_;
void systemd_done(struct systemd *systemd) _nonnull_all_;

/* Gets a property of a unit, or of the manager if `unit` is NULL. Returns a string to be freed by the caller, or NULL if systemd
 * does not have it. */
char *systemd_get_property(const struct systemd *systemd, const char *unit, const char *property)
        _nonnull_(1, 3) _must_check_;

/* Gets a property that is a list, and adds it to `strings`. Returns 0 or -ENOMEM. */
int systemd_get_list(const struct systemd *systemd, const char *unit, const char *property,
        struct strv *strings) _nonnull_all_ _must_check_;

/* Adds the names of loaded units that match the pattern, see fnmatch(3). Returns 0 or -ENOMEM. */
int systemd_find_units(
        const struct systemd *systemd, const char *pattern, struct strv *names) _nonnull_all_ _must_check_;

/* Whether the property of the unit has that value; false if systemd does not have it. */
bool unit_is(
        const struct systemd *systemd, const char *unit, const char *property, const char *value) _nonnull_all_;

#define unit_is_active(systemd, unit) unit_is(systemd, unit, "ActiveState", "active")
#define unit_has_failed(systemd, unit) unit_is(systemd, unit, "ActiveState", "failed")
#define unit_is_masked(systemd, unit) unit_is(systemd, unit, "LoadState", "masked")

/* Gets a number, such as a time of now_usec()'s clock: a property of a unit, or of the manager if `unit` is NULL. Returns 0 if
 * systemd does not have it. */
uint64_t unit_get_usec(const struct systemd *systemd, const char *unit, const char *property) _nonnull_(1, 3);

/* When the unit became active last, and when it began to; 0 if it did not. */
#define unit_active_since_usec(systemd, unit) unit_get_usec(systemd, unit, "ActiveEnterTimestampMonotonic")
#define unit_began_usec(systemd, unit) unit_get_usec(systemd, unit, "InactiveExitTimestampMonotonic")

/* Whether systemd knows the unit. */
bool unit_is_there(const struct systemd *systemd, const char *unit) _nonnull_all_;

/* Whether the unit is enabled, also if only for this boot. */
bool unit_is_enabled(const struct systemd *systemd, const char *unit) _nonnull_all_;
