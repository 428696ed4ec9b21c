/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor/rule-file.h"

#include "shared/util.h"

const char *const stock_rules[STOCK_RULES_N] = {"69-lvm.rules", "69-dm-lvm.rules"};

static const char *const directories[] = {
        "etc/udev/rules.d",
        "run/udev/rules.d",
        "usr/local/lib/udev/rules.d",
        "usr/lib/udev/rules.d",
        "lib/udev/rules.d",
};
/* Of these, the first that a package installs to. */
#define INSTALLED 2

static int find(const struct machine *machine, const char *name, size_t first, char **ret)
{
        for (size_t i = first; i < ELEMENTSOF(directories); i++) {
                _cleanup_free_ char *path = string_format("%s/%s", directories[i], name);

                if (!path)
                        return -ENOMEM;
                if (machine_has(machine, path)) {
                        *ret = TAKE_PTR(path);
                        return 0;
                }
        }
        return -ENOENT;
}

int rule_file_find(const struct machine *machine, const char *name, char **ret)
{
        return find(machine, name, 0, ret);
}

int rule_file_find_installed(const struct machine *machine, const char *name, char **ret)
{
        return find(machine, name, INSTALLED, ret);
}
