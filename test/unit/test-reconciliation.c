/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What becomes of VGs that change while the machine runs, and of LVs whose disk has gone. */

#include <fcntl.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "lvm/dm-devices.h"
#include "lvm/online.h"
#include "shapes.h"
#include "shared/util.h"
#include "worker/vg.h"
#include "worker/worker.h"

#define ID "00000000000000000000000000000000"
#define FIRST_DM 1

static struct worker worker;
static struct vg_entry *group;

static int on_step(_unused_ sd_event_source *source, _unused_ uint64_t usec, _unused_ void *userdata)
{
        return 0;
}

static void set_up(void)
{
        _cleanup_free_ char *root = NULL;

        shape_set_up();
        root = string_format("/proc/self/fd/%i", shape_root());
        ck_assert_ptr_nonnull(root);
        ck_assert_int_eq(setenv("HEADGATE_ROOT", root, true), 0);

        worker = (struct worker){.run_fd = run_fd, .event_activation = true};
        worker.lvm_run_fd = online_open_directory();
        ck_assert_int_ge(worker.lvm_run_fd, 0);
        ck_assert_int_ge(sd_event_new(&worker.event), 0);
        ck_assert_int_ge(sd_event_add_time(worker.event, &worker.step_source, CLOCK_MONOTONIC, USEC_INFINITY, 1,
                                 on_step, NULL),
                0);
        ck_assert_int_ge(inventory_new(run_fd, worker.lvm_run_fd, &worker.inventory), 0);
        ck_assert_int_ge(readers_new(worker.event, NULL, NULL, NULL, NULL, &worker.readers), 0);
        dm_list_init(&worker.expectations);
}

static void tear_down(void)
{
        expectations_done(&worker.expectations);
        readers_free(worker.readers);
        inventory_free(worker.inventory);
        sd_event_source_disable_unref(worker.step_source);
        sd_event_unref(worker.event);
        close(worker.lvm_run_fd);
        shape_tear_down();
}

/* A VG with two PVs and one LV. */
static struct vg *metadata_of(const char *name, uint64_t seqno)
{
        struct vg *metadata = calloc(1, sizeof(*metadata));

        ck_assert_ptr_nonnull(metadata);
        *metadata = (struct vg){
                .name = strdup(name),
                .vgid = ID,
                .seqno = seqno,
                .n_pvs = 2,
                .pvs = calloc(2, sizeof(*metadata->pvs)),
                .n_lvs = 1,
                .lvs = calloc(1, sizeof(*metadata->lvs)),
        };
        metadata->lvs[0] = (struct vg_lv){.name = strdup("lv"), .lvid = ID, .autoactivated = true};
        for (unsigned int i = 0; i < 2; i++)
                snprintf(metadata->pvs[i].pvid, sizeof(metadata->pvs[i].pvid), "p%031u", i);
        ck_assert_int_ge(vg_finish(metadata), 0);
        return metadata;
}

/* Both PVs are seen. */
static void take_metadata(const char *name, uint64_t seqno)
{
        _cleanup_vg_ struct vg *metadata = metadata_of(name, seqno);

        ck_assert_int_ge(inventory_add_metadata(worker.inventory, &metadata, &group), 0);
        for (unsigned int i = 0; i < 2; i++)
                group->vg->pvs[i].device = makedev(8, i);
}

static void make_group(enum vg_state state)
{
        take_metadata("data", 1);
        inventory_enter(worker.inventory, group, &(struct vg_step){.state = state});
        ck_assert_int_ge(inventory_save(worker.inventory), 0);
        ck_assert_int_ge(online_claim(worker.lvm_run_fd, "data"), 0);
        ck_assert_int_ge(online_write_lookup(worker.lvm_run_fd, group->vg), 0);
}

static void activate(void)
{
        shape_dm(FIRST_DM, "data-lv", "LVM-" ID ID, "linear");
}

/* The other PVs are read again because of that, and say nothing new. */
static void leave(unsigned int number)
{
        struct device *device, *next;

        ck_assert_int_ge(
                inventory_leave_group(worker.inventory, group, makedev(8, number), group->vg->pvs[number].pvid),
                0);
        ck_assert_int_ge(intake_recheck(&worker), 0);
        dm_list_iterate_items_safe(device, next, &worker.inventory->devices[DEVICE_UNREAD])
                inventory_move_device(worker.inventory, device, DEVICE_KNOWN);
}

static bool is_there(const char *path)
{
        return faccessat(worker.lvm_run_fd, path, F_OK, 0) >= 0;
}

START_TEST(removed_group_is_forgotten)
{
        make_group(VG_ACTIVE);
        leave(0);
        /* What the other one says is not known yet. */
        ck_assert_int_eq(group->vg->status, VG_STATUS_ACTIVE);
        leave(1);
        ck_assert_int_ge(intake_recheck(&worker), 0);
        ck_assert_ptr_null(inventory_find_group(worker.inventory, ID));
        ck_assert(!is_there("vgs_online/data") && !is_there("pvs_lookup/data"));
}
END_TEST

START_TEST(group_that_one_pv_has_left_waits)
{
        make_group(VG_ACTIVE);
        leave(0);
        ck_assert_int_ge(intake_recheck(&worker), 0);
        ck_assert_int_eq(group->vg->status, VG_STATUS_WAITING);
        ck_assert(group->vg->lost_pv);
        ck_assert(!group->left);
}
END_TEST

START_TEST(renamed_group_keeps_its_claim)
{
        make_group(VG_ACTIVE);
        activate();
        take_metadata("renamed", 2);
        ck_assert_int_ge(intake_recheck(&worker), 0);
        ck_assert_int_eq(group->vg->status, VG_STATUS_ACTIVE);
        ck_assert(is_there("vgs_online/renamed"));
        ck_assert(!is_there("vgs_online/data") && !is_there("pvs_lookup/data"));
}
END_TEST

START_TEST(nothing_is_activated_by_a_change)
{
        make_group(VG_WAITING);
        take_metadata("data", 2);
        ck_assert_int_ge(intake_recheck(&worker), 0);
        ck_assert_int_eq(group->vg->status, VG_STATUS_SKIPPED);
        ck_assert_ptr_nonnull(group->vg->reason);

        activate();
        take_metadata("data", 3);
        ck_assert_int_ge(intake_recheck(&worker), 0);
        ck_assert_int_eq(group->vg->status, VG_STATUS_ACTIVE);
        ck_assert_ptr_null(group->vg->reason);
}
END_TEST

/* What was active when it was seen last is not any more. */
START_TEST(exported_group_is_skipped)
{
        make_group(VG_ACTIVE);
        group->vg->lvs[0].active = true;
        group->vg->skip_reason = strdup("the VG is exported.");
        inventory_recheck(worker.inventory, group);
        ck_assert_int_ge(intake_recheck(&worker), 0);
        ck_assert_int_eq(group->vg->status, VG_STATUS_SKIPPED);
        ck_assert_str_eq(group->vg->reason, "the VG is exported.");
}
END_TEST

/* Why lvm2 has not activated it is as true after a change as before, unless it was the metadata that forbade it. */
START_TEST(verdict_outlives_a_change)
{
        make_group(VG_SKIPPED);
        group->vg->reason = strdup("lvm2 does not accept its PV /dev/sda.");
        take_metadata("data", 2);
        ck_assert_int_ge(intake_recheck(&worker), 0);
        ck_assert_int_eq(group->vg->status, VG_STATUS_SKIPPED);
        ck_assert_str_eq(group->vg->reason, "lvm2 does not accept its PV /dev/sda.");

        ck_assert_int_eq(string_replace(&group->vg->reason, strdup("the VG is exported.")), 0);
        group->vg->skip_reason = strdup("the VG is exported.");
        take_metadata("data", 3);
        ck_assert_int_ge(intake_recheck(&worker), 0);
        ck_assert_int_eq(group->vg->status, VG_STATUS_SKIPPED);
        ck_assert_str_ne(group->vg->reason, "the VG is exported.");
}
END_TEST

START_TEST(group_at_work_is_left_alone)
{
        int enabled;

        make_group(VG_ACTIVATING);
        take_metadata("data", 2);
        ck_assert_int_ge(sd_event_source_set_enabled(worker.step_source, SD_EVENT_OFF), 0);
        ck_assert_int_ge(intake_recheck(&worker), 0);
        /* Nothing is to be done before lvm2 ends: the next step would do the same. */
        ck_assert_int_ge(sd_event_source_get_enabled(worker.step_source, &enabled), 0);
        ck_assert_int_eq(enabled, SD_EVENT_OFF);
        ck_assert_int_eq(group->vg->status, VG_STATUS_ACTIVATING);
        ck_assert(group->needs_recheck && worker.inventory->needs_recheck);
}
END_TEST

/* What vgchange has printed is a reason only for what is not active. */
START_TEST(outcome_is_carried_out)
{
        static const struct {
                bool active;
                enum vg_event event;
                const char *words;
                enum vg_state state;
                const char *reason;
        } rows[] = {
                {true, VG_ENDED_OK, "vgchange exited with status 0.", VG_ACTIVE, NULL},
                {true, VG_ENDED_FAILED, "vgchange exited with status 5.", VG_ACTIVE, NULL},
                /* The devices of its PVs are none of this machine's. */
                {false, VG_ENDED_FAILED, "vgchange exited with status 5.", VG_WAITING,
                        "a PV was removed during activation."},
                {false, VG_ENDED_UNKNOWN, NULL, VG_COMPLETE, "earlier."},
        };
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;

        make_group(VG_ACTIVATING);
        group->vg->reason = strdup("earlier.");
        if (rows[_i].active)
                activate();
        ck_assert_int_eq(dm_devices_get(&devices), 0);
        ck_assert_int_ge(
                vg_take(&worker, group,
                        &(struct vg_input){.event = rows[_i].event, .devices = devices, .words = rows[_i].words}),
                0);
        ck_assert_int_eq(group->state, rows[_i].state);
        if (rows[_i].reason)
                ck_assert_str_eq(group->vg->reason, rows[_i].reason);
        else
                ck_assert_ptr_null(group->vg->reason);
        ck_assert_int_eq(group->vg->settled_usec != 0, vg_state_is_settled(group->state));
}
END_TEST

/* The host may get the system ID of the VG, or lose it: each event counts with the present one. */
START_TEST(foreign_group_is_compared_again)
{
        make_group(VG_COMPLETE);
        group->vg->system_id = strdup("elsewhere");
        worker.config.system_id.known = true;
        ck_assert_int_ge(vg_take(&worker, group, &(struct vg_input){.event = VG_SLOT_FREE}), 0);
        ck_assert_int_eq(group->state, VG_SKIPPED);
        ck_assert_str_eq(group->vg->reason, VG_FOREIGN "elsewhere.");

        worker.config.system_id.id = (char *) "elsewhere";
        worker.imports_devices = true;
        ck_assert_int_ge(online_unclaim(worker.lvm_run_fd, "data"), 0);
        ck_assert_int_ge(vg_take(&worker, group, &(struct vg_input){.event = VG_REQUESTED}), 0);
        ck_assert_int_eq(group->state, VG_COMPLETE);
        ck_assert_int_eq(vg_take(&worker, group, &(struct vg_input){.event = VG_SLOT_FREE}), VG_DO_ACTIVATE);
        ck_assert_ptr_null(group->vg->skip_reason);

        /* A reason of the metadata stays. */
        group->vg->skip_reason = strdup(VG_EXPORTED);
        worker.config.system_id.id = NULL;
        ck_assert_int_ge(vg_compare_host(group->vg, &worker.config.system_id), 0);
        ck_assert_str_eq(group->vg->skip_reason, VG_EXPORTED);
}
END_TEST

/* Whoever asks has lvm2 asked: it may have been mended, also while lvm2 is at work. */
START_TEST(refusal_counts_until_it_is_tried_again)
{
        make_group(VG_COMPLETE);
        ck_assert_int_ge(vg_entry_note_refusal(group, makedev(8, 0), strdup("it does not like it.")), 0);
        ck_assert_int_ge(vg_take(&worker, group, &(struct vg_input){.event = VG_SLOT_FREE}), 0);
        ck_assert_int_eq(group->state, VG_SKIPPED);
        ck_assert_str_eq(group->vg->reason, "it does not like it.");
        ck_assert_ptr_nonnull(group->refusal);

        inventory_enter(worker.inventory, group, &(struct vg_step){.state = VG_ACTIVATING});
        ck_assert_int_ge(vg_take(&worker, group, &(struct vg_input){.event = VG_RETRY}), 0);
        ck_assert_ptr_null(group->refusal);
        ck_assert(group->activate_again);
}
END_TEST

/* That pvscan has failed says nothing of the PV, and that lvm2 has failed for eight VGs alike is as good as for this one. */
START_TEST(failure_is_no_verdict)
{
        make_group(VG_COMPLETE);
        ck_assert_int_ge(vg_entry_note_refusal(group, makedev(8, 0), strdup("pvscan failed.")), 0);
        group->unjudged = true;
        ck_assert_int_ge(vg_take(&worker, group, &(struct vg_input){.event = VG_SLOT_FREE}), 0);
        ck_assert_int_eq(group->state, VG_FAILED);
        ck_assert_str_eq(group->vg->reason, "pvscan failed.");

        vg_entry_forget_refusal(group, makedev(8, 0));
        inventory_enter(worker.inventory, group, &(struct vg_step){.state = VG_COMPLETE_ALONE});
        for (size_t i = 0; i < ALIKE_MAX; i++)
                ck_assert_int_eq(alike_note(&worker.alike, "out of order", worker.inventory->now_usec), 0);
        ck_assert_int_ge(vg_take(&worker, group, &(struct vg_input){.event = VG_SLOT_FREE}), 0);
        ck_assert_int_eq(group->state, VG_FAILED);
        ck_assert_str_eq(group->vg->reason, "other VGs failed likewise: out of order");
        free(worker.alike.words);
        worker.alike = (struct alike){};
}
END_TEST

/* Whether it is a PV is not known: it outlives its request, and is read again. */
START_TEST(unreadable_device_is_kept)
{
        const dev_t number = makedev(8, 9);
        struct device *device;

        ck_assert_int_ge(inventory_get_device(worker.inventory, number, &device), 0);
        device->name = strdup("/dev/sda9");
        device->ready = true;
        ck_assert_int_ge(intake_result(&(struct reader_result){.device = number, .error = -EIO}, &worker), 0);
        ck_assert_int_ge(requests_release(&worker), 0);
        ck_assert_ptr_eq(inventory_find_device(worker.inventory, number), device);
        ck_assert_int_eq(device->stage, DEVICE_KNOWN);
        worker.inventory->now_usec = device->retry_usec;
        (void) inventory_end_holds(worker.inventory);
        ck_assert_int_eq(device->stage, DEVICE_UNREAD);
        ck_assert(device->ready);
}
END_TEST

/* The label is readable, no copy of the metadata is. lvm2 accepts such a PV if another one lists it, so it is seen; that it
 * holds no newer metadata than the other one is not known. */
START_TEST(pv_with_unreadable_metadata_is_seen)
{
        const dev_t number = makedev(8, 1);
        struct reader_result result = {.device = number, .error = -EIO, .n_copies = 1, .copies[0].error = -EIO};
        _cleanup_vg_ struct vg *older = NULL;
        struct device *device;

        make_group(VG_WAITING);
        older = metadata_of("data", 2);
        ck_assert_int_eq(vg_update(group->vg, older), 0);
        vg_entry_note_older(group, TAKE_PTR(older), &(struct text_id){1, 1});
        group->vg->pvs[0].device = group->vg->pvs[1].device = 0;
        memcpy(result.pvid, group->vg->pvs[1].pvid, sizeof(result.pvid));
        ck_assert_int_ge(inventory_get_device(worker.inventory, number, &device), 0);
        device->name = strdup("/dev/sda1");
        device->ready = true;
        ck_assert_int_ge(intake_result(&result, &worker), 0);
        ck_assert_uint_eq(group->vg->pvs[1].device, number);
        ck_assert_uint_eq(device->n_failed, 1);
        ck_assert_int_eq(inventory_roll_back(worker.inventory, group), 0);
        ck_assert_uint_eq(group->vg->seqno, 2);

        inventory_move_device(worker.inventory, device, DEVICE_KNOWN);
        worker.inventory->now_usec = device->retry_usec;
        (void) inventory_end_holds(worker.inventory);
        ck_assert_int_eq(device->stage, DEVICE_UNREAD);
        /* Metadata that can be read is none: lvm2 uses the older one. */
        result.error = result.n_copies = 0;
        ck_assert_int_ge(intake_result(&result, &worker), 0);
        ck_assert_uint_eq(device->n_failed, 0);
        ck_assert_uint_eq(group->vg->seqno, 1);
}
END_TEST

/* An earlier worker has read the PV, and the disk may still be there: its VG must not lose it. */
START_TEST(unresponsive_pv_is_kept)
{
        const dev_t number = makedev(8, 9);
        struct device *device;

        ck_assert_int_ge(inventory_get_device(worker.inventory, number, &device), 0);
        device->name = strdup("/dev/sda9");
        snprintf(device->recorded.pvid, sizeof(device->recorded.pvid), "p%031u", 9U);
        ck_assert_int_ge(
                intake_result(&(struct reader_result){.device = number, .error = -ETIMEDOUT}, &worker), 0);
        ck_assert_int_ge(requests_release(&worker), 0);
        ck_assert_ptr_eq(inventory_find_device(worker.inventory, number), device);
        ck_assert_int_eq(device->stage, DEVICE_KNOWN);
}
END_TEST

/* RAIDs of it may do without the PV, unless lvm2 was never asked for that. */
START_TEST(degraded_activation_is_remembered)
{
        make_group(VG_DUE);
        group->vg->degraded_usec = 1000;
        group->vg->activating_usec = _i == 0 ? 500 : 2000;
        ck_assert_int_ge(vg_take(&worker, group, &(struct vg_input){.event = VG_PV_FOUND}), 0);
        ck_assert_int_eq(group->state, VG_COMPLETE);
        ck_assert_uint_eq(group->vg->degraded_usec, _i == 0 ? 0 : 1000);
}
END_TEST

/* Directly, or below an LV that is a part of it. */
START_TEST(lv_on_a_removed_disk)
{
        static const char *const lower[] = {
                "sys/devices/block/dm-1/slaves/sda", "sys/devices/block/dm-2/slaves/sda"};
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;

        make_group(VG_ACTIVE);
        activate();
        if (_i == 1) {
                shape_dm(2, "data-lv_part", "LVM-" ID "1" ID "-real", "linear");
                shape_write("sys/devices/block/dm-2/dev", "253:2\n");
                shape_hold("dm-2", "dm-1");
        }
        shape_link(lower[_i], "../../../../nowhere/block/sda");
        ck_assert_int_ge(dm_devices_get(&devices), 0);
        dm_devices_mark_active(devices, group->vg);
        ck_assert(group->vg->lvs[0].active);

        group->vg->lost_pv = true;
        dm_devices_mark_active(devices, group->vg);
        ck_assert(!group->vg->lvs[0].active);
        ck_assert_uint_eq(vg_count(group->vg).stranded, 1);
}
END_TEST

START_TEST(lv_on_a_disk_that_is_there)
{
        _cleanup_dm_devices_ struct dm_devices *devices = NULL;

        make_group(VG_ACTIVE);
        activate();
        shape_device("sda", 8, 0);
        shape_write("sys/devices/block/sda/dev", "8:0\n");
        shape_hold("sda", "dm-1");
        group->vg->lost_pv = true;
        ck_assert_int_ge(dm_devices_get(&devices), 0);
        dm_devices_mark_active(devices, group->vg);
        ck_assert(group->vg->lvs[0].active);
        ck_assert_uint_eq(vg_count(group->vg).stranded, 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("reconciliation");
        TCase *test_case = tcase_create("reconciliation");

        tcase_add_checked_fixture(test_case, set_up, tear_down);
        tcase_add_test(test_case, removed_group_is_forgotten);
        tcase_add_test(test_case, group_that_one_pv_has_left_waits);
        tcase_add_test(test_case, renamed_group_keeps_its_claim);
        tcase_add_test(test_case, nothing_is_activated_by_a_change);
        tcase_add_test(test_case, exported_group_is_skipped);
        tcase_add_test(test_case, verdict_outlives_a_change);
        tcase_add_test(test_case, group_at_work_is_left_alone);
        tcase_add_loop_test(test_case, outcome_is_carried_out, 0, 4);
        tcase_add_test(test_case, foreign_group_is_compared_again);
        tcase_add_test(test_case, refusal_counts_until_it_is_tried_again);
        tcase_add_test(test_case, failure_is_no_verdict);
        tcase_add_test(test_case, unreadable_device_is_kept);
        tcase_add_test(test_case, pv_with_unreadable_metadata_is_seen);
        tcase_add_test(test_case, unresponsive_pv_is_kept);
        tcase_add_loop_test(test_case, degraded_activation_is_remembered, 0, 2);
        tcase_add_loop_test(test_case, lv_on_a_removed_disk, 0, 2);
        tcase_add_test(test_case, lv_on_a_disk_that_is_there);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
