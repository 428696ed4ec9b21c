/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor/unit.h"

#include <sys/wait.h>

#include "lvm/command.h"
#include "shared/program.h"
#include "shared/util.h"

#define SYSTEMCTL "/bin/systemctl"
#define STAND_IN "systemctl-show"

static const char *const names[] = {
        "blk-availability.service",
        "headgate-coldplug.service",
        "headgate-fallback.service",
        "headgate-takeover.service",
        "headgate-teardown-net.service",
        "headgate-teardown.service",
        "headgate.service",
        "headgate.socket",
        "headgate.target",
        "lvm2-activation-early.service",
        "lvm2-activation-net.service",
        "lvm2-activation.service",
};

/* ------ parsing ------ */

static int add_unit(struct units *units)
{
        struct unit *larger = reallocarray(units->units, units->n + 1, sizeof(*larger));

        if (!larger)
                return -ENOMEM;
        units->units = larger;
        units->units[units->n++] = (struct unit){};
        return 0;
}

static char **field_of(struct units *units, const char *key)
{
        struct unit *unit = units->n > 0 ? &units->units[units->n - 1] : NULL;

        if (streq(key, "Version"))
                return &units->systemd_version;
        if (!unit)
                return NULL;
        if (streq(key, "Id"))
                return &unit->name;
        if (streq(key, "LoadState"))
                return &unit->load_state;
        if (streq(key, "ActiveState"))
                return &unit->active_state;
        return streq(key, "UnitFileState") ? &unit->file_state : NULL;
}

int units_parse(const char *text, struct units *ret)
{
        _cleanup_free_ char *copy = strdup(text);
        char *rest = copy;
        bool between = true;
        int r = copy ? 0 : -ENOMEM;

        for (char *line; r >= 0 && (line = strsep(&rest, "\n"));) {
                char *value = strchr(line, '=');
                char **field;

                if (!value) {
                        between = true;
                        continue;
                }
                *value++ = '\0';
                /* The manager's own, which comes by itself. */
                if (between && !streq(line, "Version"))
                        r = add_unit(ret);
                between = false;
                field = r >= 0 ? field_of(ret, line) : NULL;
                if (field)
                        r = string_replace(field, strdup(value));
        }
        return r;
}

/* ------ asking ------ */

static int ask_systemctl(const struct string_vector *arguments, char **ret)
{
        _cleanup_(lvm_command_done) struct lvm_command command = {.output_fd = -EBADF};
        int r, status;

        r = command_start(SYSTEMCTL, arguments, &command);
        if (r < 0)
                return r;
        while (waitpid(command.pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return -ENODATA;
        return lvm_command_read_output(&command, ret);
}

static int ask_and_parse(const struct string_vector *arguments, struct units *ret)
{
        _cleanup_free_ char *text = NULL;
        int r;

        r = ask_systemctl(arguments, &text);
        return r < 0 ? r : units_parse(text, ret);
}

static int ask_systemd(struct units *ret)
{
        static const char *const unit_words[] = {
                "show", "--property=Id,LoadState,ActiveState,UnitFileState", "--"};
        static const char *const manager_words[] = {"show", "--property=Version"};
        _cleanup_string_vector_ struct string_vector of_units = {}, of_manager = {};
        int r;

        r = string_vector_add_all(&of_units, unit_words, ELEMENTSOF(unit_words));
        if (r >= 0)
                r = string_vector_add_all(&of_units, names, ELEMENTSOF(names));
        if (r >= 0)
                r = string_vector_add_all(&of_manager, manager_words, ELEMENTSOF(manager_words));
        if (r >= 0)
                r = ask_and_parse(&of_units, ret);
        if (r >= 0)
                r = ask_and_parse(&of_manager, ret);
        return r;
}

int units_read(int root_fd, struct units *ret)
{
        _cleanup_free_ char *text = NULL;
        int r;

        *ret = (struct units){};
        if (!root_is_chosen())
                return ask_systemd(ret);
        r = read_file_at(root_fd, STAND_IN, &text, NULL);
        if (r == -ENOENT)
                return -ENODATA;
        return r < 0 ? r : units_parse(text, ret);
}

/* ------ what was said ------ */

const struct unit *units_find(const struct units *units, const char *name)
{
        for (size_t i = 0; i < units->n; i++)
                if (units->units[i].name && streq(units->units[i].name, name))
                        return &units->units[i];
        return NULL;
}

static bool is(const char *state, const char *wanted)
{
        return state && streq(state, wanted);
}

bool unit_is_there(const struct unit *unit)
{
        return unit && unit->load_state && !streq(unit->load_state, "not-found");
}

bool unit_is_masked(const struct unit *unit)
{
        return unit && is(unit->load_state, "masked");
}

bool unit_is_active(const struct unit *unit)
{
        return unit && is(unit->active_state, "active");
}

bool unit_has_failed(const struct unit *unit)
{
        return unit && is(unit->active_state, "failed");
}

bool unit_is_enabled(const struct unit *unit)
{
        return unit && (is(unit->file_state, "enabled") || is(unit->file_state, "enabled-runtime"));
}

void units_done(struct units *units)
{
        for (size_t i = 0; i < units->n; i++) {
                free(units->units[i].name);
                free(units->units[i].load_state);
                free(units->units[i].active_state);
                free(units->units[i].file_state);
        }
        free(units->units);
        free(units->systemd_version);
        *units = (struct units){};
}
