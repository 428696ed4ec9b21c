/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One VG: facts from its metadata, seen PVs, and the progress of its activation. */

#include "lvm/vg.h"

#include <fcntl.h>
#include <libdevmapper.h>

#include "lvm/config.h"
#include "shared/dm.h"
#include "shared/kernel.h"
#include "shared/program.h"
#include "shared/util.h"

static const char *const state_names[_VG_STATUS_MAX] = {
        [VG_STATUS_WAITING] = "waiting",
        [VG_STATUS_COMPLETE] = "complete",
        [VG_STATUS_ACTIVATING] = "activating",
        [VG_STATUS_ACTIVE] = "active",
        [VG_STATUS_DEGRADED] = "degraded",
        [VG_STATUS_SKIPPED] = "skipped",
        [VG_STATUS_FAILED] = "failed",
        [VG_STATUS_DEACTIVATED] = "deactivated",
        [VG_STATUS_ABSENT] = "absent",
        [VG_STATUS_UNKNOWN] = "unknown",
};

uint64_t vg_since_usec(const struct vg *vg)
{
        const uint64_t since[_VG_STATUS_MAX] = {
                [VG_STATUS_WAITING] = vg->first_seen_usec,
                [VG_STATUS_COMPLETE] = vg->complete_usec,
                [VG_STATUS_ACTIVATING] = vg->activating_usec,
                [VG_STATUS_ACTIVE] = vg->settled_usec,
                [VG_STATUS_DEGRADED] = vg->degraded_usec,
                [VG_STATUS_SKIPPED... VG_STATUS_DEACTIVATED] = vg->settled_usec,
        };

        return since[vg->status];
}

/* When all PVs were present, or a degraded activation was decided. */
static uint64_t ready_usec(const struct vg *vg)
{
        return vg->status == VG_STATUS_DEGRADED && vg_is_incomplete(vg) ? vg->degraded_usec : vg->complete_usec;
}

struct vg_times vg_first_times(const struct vg *vg)
{
        if (vg->first.settled_usec != 0)
                return vg->first;
        return (struct vg_times){
                .first_seen_usec = vg->first_seen_usec,
                .complete_usec = ready_usec(vg),
                .activating_usec = vg->activating_usec,
                .settled_usec = vg->settled_usec,
        };
}

static void read_links(const struct vg *vg, struct vg_times *times)
{
        _cleanup_close_ int root_fd = root_open();
        uint64_t last_made = 0, last_linked = 0;

        FOREACH_LV(lv, vg) {
                struct path path = path_format("dev/%s/%s", vg->name, lv->name);
                uint64_t made = 0, linked = 0;

                if (!lv->autoactivated || !lv->active)
                        continue;
                if (read_birth_at(root_fd, path.text, AT_SYMLINK_NOFOLLOW, &linked) < 0 ||
                        read_birth_at(root_fd, path.text, 0, &made) < 0)
                        return;
                last_made = MAX(last_made, made - vg->clock_usec);
                last_linked = MAX(last_linked, linked - vg->clock_usec);
        }
        /* vgchange has waited for the links. Younger ones were created again, for example by udev after mkfs. */
        if (last_made + FILE_TIME_TICK_USEC < times->activating_usec || last_made > last_linked ||
                last_linked > times->settled_usec)
                return;
        times->made_usec = MAX(last_made, times->activating_usec);
        times->linked_usec = MAX(last_linked, times->activating_usec);
}

static bool was_asked_for(const struct vg_times *times)
{
        return times->activating_usec >= times->complete_usec;
}

void vg_note_first(struct vg *vg)
{
        struct vg_times *first = &vg->first;

        if (first->settled_usec != 0)
                return;
        *first = vg_first_times(vg);
        if (was_asked_for(first))
                read_links(vg, first);
}

/* A program that was seen once may have run only for a moment. */
#define PROGRAM_MIN_USEC (2 * USEC_PER_SEC)

void vg_note_program(struct vg *vg, const char *name, uint64_t usec)
{
        if (vg->first.settled_usec != 0 || usec < PROGRAM_MIN_USEC)
                return;
        if (string_replace(&vg->program, string_printable(name)) >= 0)
                vg->program_usec = usec;
}

char *vg_describe_program(const struct vg *vg)
{
        bool checks = vg->program && (streq(vg->program, "thin_check") || streq(vg->program, "cache_check"));

        if (!vg->program)
                return NULL;
        return string_format("lvm2 waited %s for %s%s%s%s.", DURATION_TO_STRING(vg->program_usec), vg->program,
                checks ? "; global/" : "", checks ? vg->program : "",
                checks ? "_options in lvm.conf sets how much it checks" : "");
}

const char *vg_describe_activator(const struct vg *vg)
{
        struct vg_times times = vg_first_times(vg);
        bool is_active = vg->status == VG_STATUS_ACTIVE;

        if (vg_count(vg).autoactivated == 0)
                return NULL;
        if (vg->first.settled_usec != 0)
                return was_asked_for(&times) ? NULL : "before headgate saw it, for example by the initrd";
        return is_active && (times.settled_usec == 0 || !was_asked_for(&times)) ? "by hand" : NULL;
}

int64_t vg_to_realtime(const struct vg *vg, uint64_t usec)
{
        /* Modulo 2^64 this is right for any setting of the clock. */
        return (int64_t) (usec + vg->clock_usec) / (int64_t) USEC_PER_SEC;
}

const char *vg_status_to_string(enum vg_status state)
{
        return state_names[state];
}

struct vg *vg_free(struct vg *vg)
{
        if (!vg)
                return NULL;

        FOREACH_PV(pv, vg)
                free(pv->device_name);
        FOREACH_LV(lv, vg)
                free(lv->name);
        dm_hash_destroyp(&vg->pvs_by_pvid);
        free(vg->pvs);
        free(vg->lvs);
        free(vg->name);
        free(vg->reason);
        free(vg->program);
        free(vg->skip_reason);
        free(vg->system_id);
        free(vg->lock_type);
        free(vg);
        return NULL;
}

static int index_pvs(struct vg *vg)
{
        size_t n = vg->n_pvs;

        vg->pvs_by_pvid = dm_hash_create((unsigned int) n + 1);
        if (!vg->pvs_by_pvid)
                return -ENOMEM;
        /* Duplicate identifiers, which only forged metadata has: the first counts. */
        while (n-- > 0)
                if (!dm_hash_insert(vg->pvs_by_pvid, vg->pvs[n].pvid, &vg->pvs[n]))
                        return -ENOMEM;
        return 0;
}

/* Whether this is the type of a lock manager (lvm2, is_lockd_type() in lib/locking/lvmlockd.c). lvm2 takes a VG of
 * any other type for a local one. */
static bool is_shared(const char *lock_type)
{
        return lock_type && (streq(lock_type, "dlm") || streq(lock_type, "sanlock") || streq(lock_type, "idm"));
}

int vg_finish(struct vg *vg)
{
        if (vg->exported)
                vg->skip_reason = strdup(VG_EXPORTED);
        else if (is_shared(vg->lock_type))
                vg->skip_reason =
                        string_format("the VG is shared (lock type %s), its cluster activates it.", vg->lock_type);
        else if (vg->clustered)
                vg->skip_reason = strdup("the VG is clustered.");
        else if (vg->autoactivation_off)
                vg->skip_reason = strdup("the VG's autoactivation is off (vgchange --setautoactivation y).");
        else
                return index_pvs(vg);
        return vg->skip_reason ? index_pvs(vg) : -ENOMEM;
}

int vg_compare_host(struct vg *vg, const struct system_id *host)
{
        if (skip_prefix(vg->skip_reason ?: "", VG_FOREIGN))
                free(TAKE_PTR(vg->skip_reason));
        if (vg->skip_reason || !system_id_is_foreign(host, vg->system_id))
                return 0;
        return string_replace(&vg->skip_reason, string_format(VG_FOREIGN "%s.", vg->system_id));
}

struct vg_pv *vg_find_pv(const struct vg *vg, const char *pvid)
{
        return dm_hash_lookup(vg->pvs_by_pvid, pvid);
}

const struct vg_lv *vg_find_lv(const struct vg *vg, const char *name)
{
        FOREACH_LV(lv, vg)
                if (streq(lv->name, name))
                        return lv;
        return NULL;
}

struct vg_counts vg_count(const struct vg *vg)
{
        struct vg_counts counts = {};

        FOREACH_PV(pv, vg)
                counts.seen += pv->device != 0;
        counts.missing = vg->n_pvs - counts.seen;
        FOREACH_LV(lv, vg) {
                counts.autoactivated += lv->autoactivated;
                counts.active += lv->autoactivated && lv->active;
                counts.stranded += lv->stranded;
                counts.any_active |= lv->active;
        }
        counts.all_active = counts.autoactivated > 0 && counts.active == counts.autoactivated;
        return counts;
}

char *vg_describe_missing(const struct vg *vg)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        size_t n_missing = 0;

        if (!file)
                return NULL;
        FOREACH_PV(pv, vg) {
                if (pv->device != 0 || n_missing++ >= VG_NAMED_MISSING_MAX)
                        continue;
                fprintf(file, "%sPV %s (last at %s)", n_missing > 1 ? ", " : "", LVM_ID_TO_STRING(pv->pvid),
                        pv->device_name ?: "an unknown path");
        }
        if (n_missing > VG_NAMED_MISSING_MAX)
                fprintf(file, ", %zu more", n_missing - VG_NAMED_MISSING_MAX);
        return memstream_finish(&stream);
}

bool vg_is_untouched(const struct vg *vg)
{
        struct vg_counts n = vg_count(vg);

        return n.active == 0 && n.autoactivated > 0;
}

bool vg_is_settled(const struct vg *vg)
{
        return vg->status != VG_STATUS_COMPLETE && vg->status != VG_STATUS_ACTIVATING;
}

/* An LV by its identifier. Sorted instead of hashed, as a forged disk could choose identifiers with the same hash. */
struct known_lv {
        const char *lvid;
        const struct vg_lv *lv;
};

int vg_update(struct vg *vg, struct vg *newer)
{
        _cleanup_free_ struct known_lv *lvs = calloc(vg->n_lvs + 1, sizeof(*lvs));
        char former[offsetof(struct vg, status)]; /* all that is from metadata, see struct vg */

        if (!lvs)
                return -ENOMEM;
        for (size_t i = 0; i < vg->n_lvs; i++)
                lvs[i] = (struct known_lv){vg->lvs[i].lvid, &vg->lvs[i]};
        SORT(lvs, vg->n_lvs, compare_strings);

        FOREACH_LV(lv, newer) {
                const char *lvid = lv->lvid;
                const struct known_lv *known = bsearch(&lvid, lvs, vg->n_lvs, sizeof(*lvs), compare_strings);

                lv->active = known && known->lv->active;
                lv->stranded = known && known->lv->stranded;
        }
        FOREACH_PV(pv, newer) {
                const struct vg_pv *known = vg_find_pv(vg, pv->pvid);

                if (known && known->device_name &&
                        string_replace(&pv->device_name, strdup(known->device_name)) < 0)
                        return -ENOMEM;
                pv->device = known ? known->device : 0;
                pv->late_usec = known ? known->late_usec : 0;
        }

        memcpy(former, vg, sizeof(former));
        memcpy(vg, newer, sizeof(former));
        memcpy(newer, former, sizeof(former));
        return 0;
}
