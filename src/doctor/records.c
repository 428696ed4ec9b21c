/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Records of lvm2, the worker and udev about VGs, PVs and LVs: missing, out of date or stale ones. */

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "doctor/doctor.h"
#include "lvm/online.h"
#include "shared/dm.h"
#include "shared/flags.h"
#include "shared/program.h"

/* ------ /run/lvm ------ */

/* Whether a VG without active LVs is fine: no LV has autoactivation, or lvm2 is activating it. */
static bool expects_nothing(const struct vg *vg)
{
        return vg && (vg->status == VG_STATUS_ACTIVE || vg->status == VG_STATUS_ACTIVATING ||
                             vg->status == VG_STATUS_SKIPPED || vg_count(vg).autoactivated == 0);
}

void check_online(struct doctor *doctor)
{
        _cleanup_strv_ struct strv pvs = {}, vgs = {};
        _cleanup_enumeration_ struct enumeration gone = {}, inactive = {};
        int r = doctor->tree_error, lvm_run_fd = doctor->sources.lvm_run_fd;

        if (lvm_run_fd != -ENOENT)
                r = r ?: MIN(lvm_run_fd, 0)
                                    ?: list_directory_at(lvm_run_fd, "pvs_online", true, &pvs)
                                    ?: list_directory_at(lvm_run_fd, "vgs_online", true, &vgs);
        if (r < 0) {
                finding_unknown(doctor, r, "Failed to read lvm2's records in /run/lvm: %m.");
                return;
        }
        STRV_FOREACH(pv, &pvs) {
                const char *pvid = basename(*pv);
                dev_t device;

                if (online_read_pv(lvm_run_fd, pvid, &device, NULL) == ONLINE_FOUND &&
                        !tree_find_number(doctor->tree, device))
                        enumeration_add(&gone, pvid);
        }
        STRV_FOREACH(record, &vgs) {
                const char *vg = basename(*record);

                if (!ANY(FOREACH_NODE(lv, &doctor->tree->nodes), lv->vg && streq(lv->vg, vg)) &&
                        !expects_nothing(snapshot_find(&doctor->sources, vg)))
                        enumeration_add(&inactive, vg);
        }
        if (gone.n > 0)
                finding_warning(doctor, "Remove them from /run/lvm/pvs_online.",
                        "Stale pvs_online records, of devices that do not exist: %s.", gone.text ?: "?");
        if (inactive.n > 0)
                finding_warning(doctor, "Run: headgate activate VG",
                        "Stale vgs_online records, of VGs without active LVs: %s.", inactive.text ?: "?");
        if (gone.n + inactive.n == 0)
                finding_ok(doctor,
                        "lvm2's records in /run/lvm are right: %zu PV%s online, %zu VG%s autoactivated.", pvs.n,
                        plural(pvs.n), vgs.n, plural(vgs.n));
}

/* ------ requests ------ */

/* A worker is started within a second, and takes requests also while lvm2 is at work. */
#define REQUEST_AGE_MAX_SEC 60

/* Counts old requests in a directory below the run directory. Returns 0 or a negative errno. */
static int count_old(int run_fd, const char *path, size_t *n_old)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(run_fd, path);
        time_t now = time(NULL);
        struct stat status;

        if (!directory)
                return errno == ENOENT ? 0 : -errno;
        FOREACH_ENTRY(name, directory)
                *n_old += fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) >= 0 &&
                          now - status.st_mtime > REQUEST_AGE_MAX_SEC;
        return 0;
}

void check_requests(struct doctor *doctor)
{
        int run_fd = doctor->sources.run_fd, running, r;
        size_t n_old = 0;

        if (!doctor->sources.in_charge)
                return;
        r = count_old(run_fd, FLAGS_PENDING_DIRECTORY, &n_old)
                    ?: count_old(run_fd, FLAGS_WORKING_DIRECTORY, &n_old);
        running = flags_ask_running(run_fd);
        if (r < 0)
                finding_unknown(doctor, r, "Failed to read /run/headgate: %m.");
        else if (n_old > 0 && running == FLAGS_IS_RUNNING)
                finding_warning(doctor,
                        "See: systemctl status headgate.service; checking a thin pool can take that long.",
                        "%zu request%s %s waited for the running worker for more than a minute.", n_old,
                        plural(n_old), n_old == 1 ? "has" : "have");
        else if (n_old > 0)
                finding_failed(doctor, "Run: systemctl restart headgate.service",
                        "%zu request%s left, and no worker is running.", n_old, n_old == 1 ? " is" : "s are");
        else if (running == FLAGS_NOT_RUNNING && flags_is_set(run_fd, FLAGS_LISTENING) > 0)
                finding_failed(doctor, "Run: systemctl restart headgate.service",
                        "/run/headgate/listening exists, but no worker is running; new disks will go unnoticed.");
}

/* ------ links ------ */

/* Finds dangling links. */
void check_links(struct doctor *doctor)
{
        _cleanup_strv_ struct strv links = {};
        _cleanup_enumeration_ struct enumeration orphans = {};
        int root_fd = doctor->sources.root_fd, r;

        r = list_directory_at(root_fd, "/dev/mapper", true, &links);
        FOREACH_ARRAY(entry, doctor->sources.vgs, doctor->sources.n_vgs) {
                const char *vg = (*entry)->name;

                /* Directories with links to all device-mapper devices. */
                if (streq(vg, "mapper") || streq(vg, "block"))
                        continue;
                r = r ?: list_directory_at(root_fd, path_format("/dev/%s", vg).text, true, &links);
                /* A VG may have the name of a file in /dev that is not a directory. */
                r = r == -ENOTDIR ? 0 : r;
        }
        STRV_FOREACH(link, &links) {
                const char *path = root_relative(*link);
                _cleanup_free_ char *target = NULL;

                /* A directory with the name of a VG may have other links. */
                if (read_link_at(root_fd, path, &target) > 0 && skip_prefix(target, "../dm-") &&
                        faccessat(root_fd, path, F_OK, 0) < 0 && errno == ENOENT)
                        enumeration_add(&orphans, *link);
        }
        if (r < 0)
                finding_unknown(doctor, r, "Failed to read /dev: %m.");
        else if (orphans.n > 0)
                finding_warning(doctor, "Remove them, or run: vgmknodes", "%zu stale link%s: %s.", orphans.n,
                        plural(orphans.n), orphans.text ?: "?");
}
