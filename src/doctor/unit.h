/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "shared/macro.h"

/* What systemd says of a unit, in its own words: see systemctl(1), "show", and systemd's D-Bus properties
 * LoadState ("loaded", "not-found", "masked", ...), ActiveState ("active", "inactive", "failed", ...) and
 * UnitFileState ("enabled", "disabled", "static", ...; "" without a file). */
struct unit {
        char *name;
        char *load_state;
        char *active_state;
        char *file_state;
};

struct units {
        struct unit *units;
        size_t n;
        char *systemd_version; /* NULL if it is not known */
};

/* Asks systemctl(1), which talks to systemd with and without a D-Bus daemon, of all units that the checks are
 * about, at once. Of a root directory that was chosen, the file "systemctl-show" in it stands for what systemctl
 * would print. Returns 0; -ENODATA if systemd does not answer; or another negative errno. `ret` is to be given
 * back with units_done() in any case. */
int units_read(int root_fd, struct units *ret) _nonnull_(2) _must_check_;

/* From a text of lines KEY=VALUE, with an empty line between units. Returns 0 or -ENOMEM. */
int units_parse(const char *text, struct units *ret) _nonnull_(1, 2) _must_check_;

/* NULL if systemd has not told of it. */
const struct unit *units_find(const struct units *units, const char *name) _nonnull_(1, 2);

/* False for NULL, too. */
bool unit_is_there(const struct unit *unit);
bool unit_is_masked(const struct unit *unit);
bool unit_is_active(const struct unit *unit);
bool unit_has_failed(const struct unit *unit);
bool unit_is_enabled(const struct unit *unit);

void units_done(struct units *units) _nonnull_(1);
