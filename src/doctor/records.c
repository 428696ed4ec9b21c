/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>

#include "doctor/checks.h"
#include "lvm/metadata.h"
#include "lvm/online.h"
#include "shared/dm.h"
#include "shared/program.h"

/* ------ backups ------ */

struct backups {
        struct finding_names missing, damaged, stale;
        size_t n_good;
};

static void backups_done(struct backups *backups)
{
        finding_names_done(&backups->missing);
        finding_names_done(&backups->damaged);
        finding_names_done(&backups->stale);
}

/* `seqno` is that which the worker has read from the disks; 0 if it has not. It does not hear of later changes. */
static int look_at_backup(const struct machine *machine, const char *vg, uint64_t seqno, struct backups *backups)
{
        _cleanup_metadata_ struct metadata *metadata = NULL;
        int r;

        r = backup_read(
                machine->sources.root_fd, root_relative(machine->sources.configuration.backup_dir), vg, &metadata);
        if (r == -ENOENT)
                finding_names_add(&backups->missing, vg);
        else if (r == -EBADMSG)
                finding_names_add(&backups->damaged, vg);
        else if (r < 0)
                return r;
        else if (metadata->seqno < seqno)
                finding_names_add(&backups->stale, vg);
        else
                backups->n_good++;
        return 0;
}

/* Those of the worker, and what else is active. */
static int look_at_backups(const struct machine *machine, struct backups *backups)
{
        _cleanup_dm_hash_ struct dm_hash_table *seen = dm_hash_create(1024);
        int r = seen ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < machine->snapshot.n; i++)
                r = look_at_backup(machine, machine->snapshot.volume_groups[i]->name,
                        machine->snapshot.volume_groups[i]->seqno, backups);
        for (size_t i = 0; r >= 0 && machine->tree && i < machine->tree->nodes.n; i++) {
                const char *vg = machine->tree->nodes.nodes[i]->vg;

                if (!vg || dm_hash_lookup(seen, vg))
                        continue;
                if (!dm_hash_insert(seen, vg, seen))
                        return -ENOMEM;
                if (!snapshot_find(&machine->snapshot, vg))
                        r = look_at_backup(machine, vg, 0, backups);
        }
        return r;
}

static void add_names(struct findings *findings, const struct finding_names *names, const char *advice,
        const char *one, const char *many)
{
        _cleanup_free_ char *joined = finding_names_join(names);

        if (names->n > 0)
                findings_add(
                        findings, FINDING_WARNING, advice, "%s: %s.", names->n == 1 ? one : many, joined ?: "?");
}

#define ADVICE_BACKUP "Run: vgcfgbackup VG, and see backup/backup in lvm.conf(5)."

void check_backups(const struct machine *machine, struct findings *findings)
{
        _cleanup_(backups_done) struct backups backups = {};
        int r = machine->tree_error;

        if (r >= 0)
                r = look_at_backups(machine, &backups);
        if (r < 0) {
                findings_add_unknown(findings, r, "It cannot be told which VGs have backups: %m.");
                return;
        }
        add_names(findings, &backups.missing, ADVICE_BACKUP,
                "A VG has no backup, and at boot it is not known before its disks come",
                "VGs have no backup, and at boot they are not known before their disks come");
        add_names(findings, &backups.damaged, ADVICE_BACKUP, "The backup of a VG is damaged",
                "The backups of VGs are damaged");
        add_names(findings, &backups.stale, ADVICE_BACKUP,
                "The backup of a VG is older than the metadata on its disks",
                "The backups of VGs are older than the metadata on their disks");
        if (backups.missing.n + backups.damaged.n + backups.stale.n == 0)
                findings_add(findings, FINDING_OK, NULL, "%zu VG%s known or active, all with a backup.",
                        backups.n_good, backups.n_good == 1 ? " is" : "s are");
}

/* ------ /run/lvm ------ */

/* Whether the PV's record is of a device that is not there. */
static bool is_of_nothing(const struct machine *machine, int lvm_run_fd, const char *pvid)
{
        dev_t device;

        return online_read_pv(lvm_run_fd, pvid, &device) == ONLINE_FOUND && machine->tree &&
               !tree_find_number(machine->tree, device);
}

/* Whether there is a good reason why none of its LVs is active: lvm2 is to activate none, or it is at work. */
static bool expects_nothing(const struct machine *machine, const char *vg)
{
        const struct volume_group *volume_group = snapshot_find(&machine->snapshot, vg);

        if (!volume_group)
                return false;
        switch (volume_group->state) {
        case VOLUME_GROUP_ACTIVE:
        case VOLUME_GROUP_ACTIVATING:
        case VOLUME_GROUP_SKIPPED:
                return true;
        default:
                return volume_group_count_autoactivated(volume_group) == 0;
        }
}

void check_online(const struct machine *machine, struct findings *findings)
{
        _cleanup_string_vector_ struct string_vector pvs = {}, vgs = {};
        _cleanup_finding_names_ struct finding_names gone = {}, inactive = {};
        int r = machine->tree_error, lvm_run_fd = machine->sources.lvm_run_fd;

        if (lvm_run_fd < 0 && lvm_run_fd != -ENOENT)
                r = lvm_run_fd;
        if (r >= 0 && lvm_run_fd >= 0)
                r = machine_list(lvm_run_fd, "pvs_online", &pvs);
        if (r >= 0 && lvm_run_fd >= 0)
                r = machine_list(lvm_run_fd, "vgs_online", &vgs);
        if (r < 0) {
                findings_add_unknown(findings, r, "lvm2's records in /run/lvm cannot be looked at: %m.");
                return;
        }
        for (size_t i = 0; i < pvs.n; i++)
                if (is_of_nothing(machine, lvm_run_fd, pvs.strings[i]))
                        finding_names_add(&gone, pvs.strings[i]);
        for (size_t i = 0; i < vgs.n; i++)
                if (!machine_has_active(machine, vgs.strings[i]) && !expects_nothing(machine, vgs.strings[i]))
                        finding_names_add(&inactive, vgs.strings[i]);
        add_names(findings, &gone, "Remove them from /run/lvm/pvs_online.",
                "lvm2 takes a PV for online whose device is not there",
                "lvm2 takes PVs for online whose devices are not there");
        add_names(findings, &inactive, "Run: headgate activate VG",
                "lvm2 takes a VG for activated of which nothing is active",
                "lvm2 takes VGs for activated of which nothing is active");
        if (gone.n + inactive.n == 0)
                findings_add(findings, FINDING_OK, NULL,
                        "lvm2's records in /run/lvm are right: %zu PV%s online, %zu VG%s autoactivated.", pvs.n,
                        plural(pvs.n), vgs.n, plural(vgs.n));
}
