/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "doctor/checks.h"
#include "shared/flags.h"

/* ------ requests ------ */

/* A worker is started within a second; one that is busy with lvm2 takes requests all the same. */
#define REQUEST_AGE_MAX_SEC 60

/* Counts entries in a directory of the run directory. Returns 0 or a negative errno. */
static int count_old(const struct machine *machine, const char *directory, size_t *n_old)
{
        _cleanup_string_vector_ struct string_vector names = {};
        time_t now = time(NULL);
        int r;

        r = machine_list(machine->sources.run_fd, directory, &names);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_free_ char *file = string_format("%s/%s", directory, names.strings[i]);
                struct stat status;

                if (!file)
                        return -ENOMEM;
                if (fstatat(machine->sources.run_fd, file, &status, AT_SYMLINK_NOFOLLOW) >= 0 &&
                        now - status.st_mtime > REQUEST_AGE_MAX_SEC)
                        (*n_old)++;
        }
        return r;
}

void check_requests(const struct machine *machine, struct findings *findings)
{
        size_t n_old = 0;
        int r = machine->taken_over, running = 0;

        if (r > 0)
                r = count_old(machine, FLAGS_PENDING_DIRECTORY, &n_old);
        if (r >= 0 && machine->taken_over > 0) {
                r = count_old(machine, FLAGS_WORKING_DIRECTORY, &n_old);
                running = flags_ask_running(machine->sources.run_fd);
        }
        if (r < 0)
                findings_add_unknown(findings, r, "/run/headgate cannot be looked into: %m.");
        else if (n_old > 0 && running == FLAGS_IS_RUNNING)
                findings_add(findings, FINDING_WARNING,
                        "See: systemctl status headgate.service; a check of a thin pool can take that long.",
                        "%zu request%s %s waited for more than a minute for the worker, which is running.", n_old,
                        plural(n_old), n_old == 1 ? "has" : "have");
        else if (n_old > 0)
                findings_add(findings, FINDING_FAILED, "Run: systemctl restart headgate.service",
                        "%zu request%s left, and no worker is running.", n_old, n_old == 1 ? " is" : "s are");
        else if (running == FLAGS_NOT_RUNNING && machine->taken_over > 0 &&
                 flags_is_set(machine->sources.run_fd, FLAGS_LISTENING) > 0)
                findings_add(findings, FINDING_FAILED, "Run: systemctl restart headgate.service",
                        "/run/headgate/listening is there and no worker is: disks that come are not told of.");
        else
                findings_add(findings, FINDING_OK, NULL, "No request is left.");
}

/* ------ links ------ */

/* Adds the links of a directory that lead nowhere. */
static int find_orphans(const struct machine *machine, const char *directory, struct finding_names *orphans)
{
        _cleanup_string_vector_ struct string_vector names = {};
        int r;

        r = machine_list(machine->sources.root_fd, directory, &names);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_free_ char *path = string_format("%s/%s", directory, names.strings[i]);
                _cleanup_free_ char *shown = path ? string_format("/%s", path) : NULL;

                if (!shown)
                        return -ENOMEM;
                if (machine_has(machine, path) && faccessat(machine->sources.root_fd, path, F_OK, 0) < 0 &&
                        errno == ENOENT)
                        finding_names_add(orphans, shown);
        }
        return r;
}

/* A VG may have a name that is a directory of its own in /dev; what lies in that is no directory of links. */
static int find_orphans_of_volume_groups(const struct machine *machine, struct finding_names *orphans)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < machine->snapshot.n; i++) {
                _cleanup_free_ char *directory = string_format("dev/%s", machine->snapshot.volume_groups[i]->name);

                r = directory ? find_orphans(machine, directory, orphans) : -ENOMEM;
                if (r == -ENOTDIR)
                        r = 0;
        }
        return r;
}

void check_links(const struct machine *machine, struct findings *findings)
{
        _cleanup_finding_names_ struct finding_names orphans = {};
        _cleanup_free_ char *joined = NULL;
        int r;

        r = find_orphans(machine, "dev/mapper", &orphans);
        if (r >= 0)
                r = find_orphans_of_volume_groups(machine, &orphans);
        joined = finding_names_join(&orphans);
        if (r < 0)
                findings_add_unknown(findings, r, "/dev cannot be looked into: %m.");
        else if (orphans.n > 0)
                findings_add(findings, FINDING_WARNING,
                        "Remove them, or: vgmknodes; they are left where something was removed without udev.",
                        "%zu link%s to no device: %s.", orphans.n, orphans.n == 1 ? " leads" : "s lead",
                        joined ?: "?");
        else
                findings_add(findings, FINDING_OK, NULL, "No link in /dev leads to an LV that is not there.");
}
