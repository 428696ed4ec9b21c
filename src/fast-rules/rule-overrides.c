/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fast-rules/rule-overrides.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "fast-rules/rules-patch.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/program.h"
#include "shared/util.h"

#define RULES_DIRECTORY "run/udev/rules.d"
#define NAMES_DIRECTORY "run/headgate/" FLAGS_DM_NAMES

/* By Debian's names and by lvm2's own. */
static const char *const names[] = {
        "55-dm.rules",
        "56-lvm.rules",
        "10-dm.rules",
        "11-dm-lvm.rules",
        "95-dm-notify.rules",
};

/* Where packages install rules, in the order in which they count (udev(7)). */
static const char *const directories[] = {
        "usr/local/lib/udev/rules.d",
        "usr/lib/udev/rules.d",
        "lib/udev/rules.d",
};

static bool exists(int root_fd, const char *path)
{
        struct stat status;

        return fstatat(root_fd, path, &status, AT_SYMLINK_NOFOLLOW) >= 0;
}

/* One that an earlier call has laid is not somebody else's. */
static bool is_ours(int root_fd, const char *path)
{
        _cleanup_free_ char *text = NULL;

        return read_file_at(root_fd, path, &text, NULL) >= 0 && skip_prefix(text, RULES_PATCH_MARK);
}

/* Whether somebody has replaced the installed file, and `*ret` is theirs, to be freed by the caller. */
static int find_replacement(int root_fd, const char *name, char **ret)
{
        _cleanup_free_ char *of_administrator = string_format("etc/udev/rules.d/%s", name);
        _cleanup_free_ char *of_this_boot = string_format(RULES_DIRECTORY "/%s", name);

        if (!of_administrator || !of_this_boot)
                return -ENOMEM;
        if (exists(root_fd, of_administrator))
                *ret = TAKE_PTR(of_administrator);
        else if (exists(root_fd, of_this_boot) && !is_ours(root_fd, of_this_boot))
                *ret = TAKE_PTR(of_this_boot);
        else
                return 0;
        return 1;
}

/* Reads the installed file. -ENOENT if there is none of this name. */
static int read_installed(int root_fd, const char *name, char **ret_path, char **ret_text)
{
        for (size_t i = 0; i < ELEMENTSOF(directories); i++) {
                _cleanup_free_ char *path = string_format("%s/%s", directories[i], name);

                if (!path)
                        return -ENOMEM;
                if (exists(root_fd, path)) {
                        int r = read_file_at(root_fd, path, ret_text, NULL);

                        *ret_path = TAKE_PTR(path);
                        return r;
                }
        }
        return -ENOENT;
}

/* 1 if it was laid, 0 if the file is left as it is. */
static int lay(int root_fd, int rules_fd, const char *name, const char *program)
{
        _cleanup_free_ char *replacement = NULL, *path = NULL, *text = NULL, *patched = NULL, *origin = NULL;
        size_t line = 0;
        int r;

        r = find_replacement(root_fd, name, &replacement);
        if (r > 0) {
                log_notice("/%s is not the installed file, and left as it is.", replacement);
                return 0;
        }
        if (r >= 0)
                r = read_installed(root_fd, name, &path, &text);
        if (r == -ENOENT)
                return 0;
        if (r >= 0)
                origin = string_format("/%s", path);
        if (r >= 0)
                r = origin ? rules_patch(text, origin, program, &patched, &line) : -ENOMEM;
        if (r == -EBADMSG && line > 0) {
                log_warning("/%s is left as it is: line %zu calls dmsetup in a way that headgate does not know.",
                        path, line);
                return 0;
        }
        if (r == -EBADMSG) {
                log_warning("/%s is left as it is: it does not call dmsetup.", path);
                return 0;
        }
        if (r >= 0)
                r = write_file_atomic_at(rules_fd, name, patched);
        if (r < 0)
                return log_error_errno(r, "Failed to lay a quicker copy over %s: %m", path ?: name);
        return 1;
}

static int open_rules_directory(int root_fd)
{
        int fd;

        if ((mkdirat(root_fd, "run/udev", 0755) < 0 && errno != EEXIST) ||
                (mkdirat(root_fd, RULES_DIRECTORY, 0755) < 0 && errno != EEXIST))
                return -errno;
        fd = openat(root_fd, RULES_DIRECTORY, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

int install_rule_overrides(const char *program)
{
        _cleanup_close_ int root_fd = root_open(), rules_fd = -EBADF;
        _cleanup_string_vector_ struct string_vector laid = {};
        _cleanup_free_ char *joined = NULL;
        int r = 0;

        rules_fd = root_fd < 0 ? root_fd : open_rules_directory(root_fd);
        if (rules_fd < 0)
                return log_error_errno(rules_fd, "Failed to open /" RULES_DIRECTORY ": %m");

        for (size_t i = 0; i < ELEMENTSOF(names) && r >= 0; i++) {
                r = lay(root_fd, rules_fd, names[i], program);
                if (r > 0 && string_vector_add(&laid, names[i]) < 0)
                        r = log_oom();
        }
        if (r < 0) {
                for (size_t i = 0; i < laid.n; i++)
                        (void) unlinkat(rules_fd, laid.strings[i], 0);
                return r;
        }

        /* The worker writes to it if it is there. */
        if (laid.n > 0 && mkdirat(root_fd, NAMES_DIRECTORY, 0700) < 0 && errno != EEXIST)
                log_warning("Failed to make /" NAMES_DIRECTORY ", so udev splits names: %s", strerror(errno));
        joined = string_vector_join(&laid, ", ");
        if (laid.n == 0)
                log_warning("All of device-mapper's udev rules are left as they are.");
        else
                log_info("Quicker copies of udev rules are laid over %s.", joined ?: "them");
        return 0;
}
