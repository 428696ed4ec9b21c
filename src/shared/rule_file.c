/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/rule_file.h"

#include <fcntl.h>

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

static int find(int root_fd, const char *name, size_t first, char **ret)
{
        for (size_t i = first; i < ELEMENTSOF(directories); i++) {
                _cleanup_free_ char *path = string_format("%s/%s", directories[i], name);

                if (!path)
                        return -ENOMEM;
                if (faccessat(root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0) {
                        *ret = TAKE_PTR(path);
                        return 0;
                }
        }
        return -ENOENT;
}

int rule_file_find(int root_fd, const char *name, char **ret)
{
        return find(root_fd, name, 0, ret);
}

int rule_file_find_installed(int root_fd, const char *name, char **ret)
{
        return find(root_fd, name, INSTALLED, ret);
}

/* Returns 1 or 0; -ENOENT without a rule that can be read; or -ENOMEM. */
static int stock_has(int root_fd, const char *word)
{
        for (size_t i = 0; i < STOCK_RULES_N; i++) {
                _cleanup_free_ char *path = NULL, *text = NULL;
                int r = rule_file_find_installed(root_fd, stock_rules[i], &path);

                if (r >= 0)
                        r = read_file_at(root_fd, path, &text, NULL);
                if (r == -ENOMEM)
                        return r;
                if (r >= 0)
                        return strstr(text, word) != NULL;
        }
        return -ENOENT;
}

int rule_file_stock_takes_lvs(int root_fd)
{
        int r = stock_has(root_fd, "LVM_PVSCAN_ON_LVS");

        return r == -ENOENT ? 0 : r < 0 ? r : !r;
}

int rule_file_stock_sets_ready(int root_fd)
{
        int r = stock_has(root_fd, "SYSTEMD_READY");

        return r == -ENOENT ? 0 : r;
}
