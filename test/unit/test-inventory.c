/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the worker knows, and what of it a successor finds. Each "worker" of a test is an inventory over the same
 * run directory. */

#include <check.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "inventory/expectations.h"
#include "inventory/inventory.h"
#include "lvm/online.h"
#include "shared/flags.h"
#include "shared/util.h"

#define VGID "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static int lvm_run_fd = -EBADF;

static void set_up(void)
{
        run_directory_set_up();
        lvm_run_fd = online_open_directory();
        ck_assert_int_ge(lvm_run_fd, 0);
}

static void tear_down(void)
{
        close(lvm_run_fd);
        run_directory_tear_down();
}

/* Identifiers that differ in their last digits. */
static void make_id(char id[LVM_ID_SIZE], char kind, unsigned int number)
{
        snprintf(id, LVM_ID_SIZE, "%c%031u", kind, number);
}

static struct vg *make_metadata(unsigned int number, uint64_t seqno, size_t n_pvs)
{
        struct vg *metadata = calloc(1, sizeof(*metadata));

        ck_assert_ptr_nonnull(metadata);
        metadata->name = string_format("vg%u", number);
        make_id(metadata->vgid, 'v', number);
        metadata->seqno = seqno;
        metadata->n_pvs = n_pvs;
        metadata->pvs = calloc(n_pvs, sizeof(*metadata->pvs));
        metadata->n_lvs = 1;
        metadata->lvs = calloc(1, sizeof(*metadata->lvs));
        metadata->lvs[0].name = strdup("lv");
        metadata->lvs[0].autoactivated = true;
        make_id(metadata->lvs[0].lvid, 'l', number);
        for (size_t i = 0; i < n_pvs; i++) {
                make_id(metadata->pvs[i].pvid, 'p', number * 1000 + (unsigned int) i);
                metadata->pvs[i].device_name = string_format("/dev/hint%zu", i);
        }
        ck_assert_int_ge(vg_finish(metadata), 0);
        return metadata;
}

static struct vg_entry *add(struct inventory *inventory, unsigned int number, uint64_t seqno, size_t n_pvs)
{
        _cleanup_vg_ struct vg *metadata = make_metadata(number, seqno, n_pvs);
        struct vg_entry *group;

        ck_assert_int_eq(inventory_add_metadata(inventory, &metadata, &group), 0);
        return group;
}

static struct inventory *start(void)
{
        struct inventory *inventory;

        ck_assert_int_eq(inventory_new(run_fd, lvm_run_fd, &inventory), 0);
        return inventory;
}

/* A device that surely exists on no machine, so that a successor finds it gone. */
static dev_t absent_device(unsigned int number)
{
        return makedev(4000, number);
}

static struct device *see(struct inventory *inventory, dev_t number, const char *pvid)
{
        struct device *device;

        ck_assert_int_eq(inventory_get_device(inventory, number, &device), 0);
        ck_assert_int_eq(inventory_set_pvid(inventory, device, pvid), 0);
        inventory_move_device(inventory, device, DEVICE_KNOWN);
        return device;
}

/* Metadata may name thousands of PVs. Few are named, and all of them lead to their VG. */
START_TEST(missing_pvs_lead_to_their_group)
{
        _cleanup_inventory_ struct inventory *first = start(), *second = NULL;
        struct vg_entry *group = add(first, 1, 7, 900), *found;
        _cleanup_free_ char *missing = vg_describe_missing(group->vg);
        char last[LVM_ID_SIZE];

        ck_assert_ptr_nonnull(strstr(missing, "/dev/hint15), 884 more"));
        ck_assert_int_eq(inventory_save(first), 0);
        make_id(last, 'p', 1899);
        second = start();
        found = inventory_find_group_of_pv(second, last);
        ck_assert_ptr_nonnull(found);
        ck_assert_str_eq(found->vg->vgid, group->vg->vgid);
}
END_TEST

START_TEST(group_outlives_its_worker)
{
        _cleanup_inventory_ struct inventory *first = start(), *second = NULL;
        struct vg_entry *group = add(first, 1, 7, 3), *found;

        group->vg->reason = strdup("it said \"no\", and a \\ too.");
        group->vg->settled_usec = 1234567;
        group->vg->first.settled_usec = 1800000;
        group->vg->degraded_usec = 2345678;
        group->vg->pvs[1].flagged = true;
        group->vg->pvs[1].late_usec = 3456789;
        inventory_enter(first, group, &(struct vg_step){.state = VG_FAILED});
        ck_assert_int_eq(inventory_save(first), 0);

        second = start();
        found = inventory_find_group(second, group->vg->vgid);
        ck_assert_ptr_nonnull(found);
        ck_assert_str_eq(found->vg->name, "vg1");
        ck_assert_uint_eq(found->vg->seqno, 7);
        ck_assert_int_eq(found->vg->status, VG_STATUS_FAILED);
        ck_assert_str_eq(found->vg->reason, "it said \"no\", and a \\ too.");
        ck_assert_uint_eq(found->vg->settled_usec, 1234567);
        ck_assert_uint_eq(found->vg->first.settled_usec, 1800000);
        ck_assert_uint_eq(found->vg->degraded_usec, 2345678);
        ck_assert_uint_eq(found->vg->n_pvs, 3);
        ck_assert(found->vg->pvs[1].flagged && !found->vg->pvs[2].flagged);
        ck_assert_uint_eq(found->vg->pvs[1].late_usec, 3456789);
        ck_assert_str_eq(found->vg->pvs[2].device_name, "/dev/hint2");
        ck_assert_uint_eq(found->vg->n_lvs, 1);
        ck_assert_str_eq(found->vg->lvs[0].name, "lv");
        ck_assert(found->vg->lvs[0].autoactivated);
}
END_TEST

/* By a PV, one that was seen or one that was not, and by name. */
START_TEST(successor_is_led_to_the_group)
{
        _cleanup_inventory_ struct inventory *first = start(), *second = NULL;
        struct vg_entry *group = add(first, 1, 1, 2), *found;
        char pvid[LVM_ID_SIZE];

        (void) add(first, 2, 1, 2);
        ck_assert_int_eq(inventory_save(first), 0);

        second = start();
        found = inventory_find_group_of_pv(second, group->vg->pvs[1].pvid);
        ck_assert_ptr_nonnull(found);
        ck_assert_str_eq(found->vg->name, "vg1");
        found = inventory_find_named(second, "vg2");
        ck_assert_ptr_nonnull(found);
        ck_assert_str_eq(found->vg->name, "vg2");
        ck_assert_ptr_null(inventory_find_named(second, "vg3"));
        make_id(pvid, 'p', 999999);
        ck_assert_ptr_null(inventory_find_group_of_pv(second, pvid));
}
END_TEST

/* All of them, and those in which lvm2 was at work as if it had not been asked. */
START_TEST(state_outlives_its_worker)
{
        static const enum vg_state others[_VG_STATE_SETTABLE] = {
                [VG_ACTIVATING] = VG_COMPLETE,
                [VG_ACTIVATING_DEGRADED] = VG_DUE,
        };
        _cleanup_inventory_ struct inventory *first = start(), *second = NULL;
        enum vg_state state = (enum vg_state) _i;
        struct vg_entry *group = add(first, 1, 1, 1), *found;

        inventory_enter(first, group, &(struct vg_step){.state = state});
        ck_assert_int_eq(inventory_save(first), 0);
        second = start();
        found = inventory_find_group(second, group->vg->vgid);
        ck_assert_ptr_nonnull(found);
        ck_assert_int_eq(found->state, others[state] != 0 ? others[state] : state);
        ck_assert_str_eq(found->vg->worker_state, vg_state_to_string(found->state));
}
END_TEST

/* The record of a state that nobody knows is damaged. The state has the others in it; without one a VG waits. */
START_TEST(state_of_a_record_is_known)
{
        _cleanup_inventory_ struct inventory *first = start(), *second = NULL;
        struct vg_entry *group = add(first, 1, 1, 1);
        _cleanup_vg_ struct vg *parsed = NULL, *damaged = NULL;
        _cleanup_free_ char *text = NULL;
        char *word;

        ck_assert_int_eq(vg_state_from_string("waiting, for ever"), -EBADMSG);
        ck_assert_int_eq(group->vg->status, VG_STATUS_WAITING);
        ck_assert_int_eq(vg_state_from_string("waiting, lost and overdue"), VG_LOST_OVERDUE);
        vg_state_enter(group->vg, VG_LOST_OVERDUE);
        ck_assert(group->vg->overdue && group->vg->lost_after_active);
        ck_assert_int_eq(vg_print(group->vg, &text), 0);
        ck_assert_int_eq(vg_parse(text, &parsed), 0);
        ck_assert(parsed->status == VG_STATUS_WAITING && parsed->overdue && parsed->lost_after_active);
        word = strstr(text, "lost and overdue");
        ck_assert_ptr_nonnull(word);
        word[0] = 'c';
        ck_assert_int_eq(vg_parse(text, &damaged), -EBADMSG);

        group->vg->worker_state = NULL;
        inventory_note_change(first, group);
        ck_assert_int_eq(inventory_save(first), 0);
        second = start();
        ck_assert_int_eq(inventory_find_group(second, group->vg->vgid)->state, VG_WAITING);
}
END_TEST

START_TEST(disk_that_left_meanwhile_is_missed)
{
        _cleanup_inventory_ struct inventory *first = start(), *second = NULL;
        struct vg_entry *group = add(first, 1, 1, 1), *found;

        group->vg->pvs[0].device = absent_device(1);
        inventory_enter(first, group, &(struct vg_step){.state = VG_ACTIVE});
        ck_assert_int_eq(inventory_save(first), 0);
        second = start();
        found = inventory_find_group(second, group->vg->vgid);
        ck_assert_ptr_nonnull(found);
        ck_assert_int_eq(found->vg->status, VG_STATUS_WAITING);
        ck_assert_uint_eq(vg_count(found->vg).seen, 0);
}
END_TEST

/* A PV without metadata comes first; the VG that needs it is known only later. */
START_TEST(pv_is_seen_before_its_group)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        _cleanup_vg_ struct vg *metadata = make_metadata(1, 1, 2);
        struct vg_entry *group;
        struct device *device = see(inventory, absent_device(1), metadata->pvs[1].pvid);

        ck_assert_int_eq(inventory_add_metadata(inventory, &metadata, &group), 0);
        ck_assert_uint_eq(vg_count(group->vg).seen, 1);
        ck_assert_ptr_eq(device->group, group);
}
END_TEST

START_TEST(newer_metadata_counts)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *group = add(inventory, 1, 5, 2);

        group->vg->pvs[1].device = absent_device(1);
        ck_assert_ptr_eq(add(inventory, 1, 4, 1), group);
        ck_assert_uint_eq(group->vg->n_pvs, 2);
        ck_assert_ptr_eq(add(inventory, 1, 6, 3), group);
        ck_assert_uint_eq(group->vg->n_pvs, 3);
        ck_assert_uint_eq(group->vg->pvs[1].device, absent_device(1));
        ck_assert_uint_eq(vg_count(group->vg).seen, 1);
}
END_TEST

static uint64_t found_seqno;

static struct vg_entry *find_text(const struct inventory *inventory, uint64_t size, uint32_t checksum)
{
        return inventory_find_text(inventory, &(struct text_id){size, checksum}, &found_seqno);
}

static int roll_back(struct inventory *inventory, struct vg_entry *group, uint64_t seqno, size_t n_pvs)
{
        vg_entry_note_older(group, make_metadata(1, seqno, n_pvs), &(struct text_id){1000, 42});
        ck_assert_ptr_eq(find_text(inventory, 1000, 42), group);
        ck_assert_uint_eq(found_seqno, seqno);
        ck_assert_ptr_null(find_text(inventory, 1000, 43));
        return inventory_roll_back(inventory, group);
}

START_TEST(older_metadata_counts_where_nothing_newer_is)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *group = add(inventory, 1, 10, 3);
        struct vg_pv *pvs = group->vg->pvs;
        struct device *device = see(inventory, absent_device(1), pvs[0].pvid);

        /* A PV that is there carries it. */
        pvs[0].device = device->number;
        device->seqno = 10;
        ck_assert_int_eq(roll_back(inventory, group, 8, 2), 0);
        ck_assert_uint_eq(group->vg->seqno, 10);
        ck_assert_uint_eq(group->vg->n_pvs, 3);

        /* An earlier worker has seen it, and so it may carry it. */
        inventory_drop_device(inventory, device);
        ck_assert_int_eq(roll_back(inventory, group, 8, 2), 0);
        ck_assert_uint_eq(group->vg->seqno, 10);
        device = inventory_find_device(inventory, absent_device(1));
        ck_assert_ptr_nonnull(device);
        ck_assert_int_eq(device->stage, DEVICE_UNREAD);

        /* It is in memory and yet to be read. */
        ck_assert_int_eq(roll_back(inventory, group, 8, 2), 0);
        ck_assert_uint_eq(group->vg->seqno, 10);

        /* It has been read, and does not. */
        device->seqno = 8;
        ck_assert_int_eq(roll_back(inventory, group, 8, 2), 1);
        ck_assert_ptr_eq(find_text(inventory, 1000, 42), group);
        ck_assert_ptr_null(group->older);
        ck_assert_uint_eq(group->vg->seqno, 8);
        ck_assert_uint_eq(group->vg->n_pvs, 2);
        ck_assert_uint_eq(group->vg->pvs[0].device, absent_device(1));
}
END_TEST

START_TEST(text_is_known_until_a_pv_goes)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *group = add(inventory, 1, 1, 1);

        group->vg->pvs[0].device = absent_device(1);
        ck_assert_ptr_null(find_text(inventory, 1000, 77));
        group->text = (struct text_id){1000, 77};
        ck_assert_ptr_eq(find_text(inventory, 1000, 77), group);
        ck_assert_ptr_null(find_text(inventory, 1000, 78));
        ck_assert_ptr_null(find_text(inventory, 1001, 77));
        inventory_lose_pv(inventory, group, absent_device(1));
        ck_assert_ptr_null(find_text(inventory, 1000, 77));
        ck_assert_int_eq(group->vg->status, VG_STATUS_WAITING);
}
END_TEST

/* Nor does its older text lead to a VG that has been removed. */
START_TEST(older_text_is_forgotten_with_its_group)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *group = add(inventory, 1, 10, 3);

        vg_entry_note_older(group, make_metadata(1, 8, 2), &(struct text_id){1000, 42});
        ck_assert_ptr_eq(find_text(inventory, 1000, 42), group);
        ck_assert_int_eq(inventory_drop_group(inventory, group), 0);
        ck_assert_ptr_null(find_text(inventory, 1000, 42));
}
END_TEST

/* A VG that was settled and loses a PV: somebody has deactivated it, or it broke. */
START_TEST(pv_is_lost)
{
        static const struct {
                enum vg_state before, after;
        } rows[] = {
                {VG_WAITING, VG_WAITING},
                {VG_COMPLETE, VG_WAITING},
                {VG_ACTIVATING, VG_ACTIVATING},
                {VG_ACTIVE, VG_LOST},
                {VG_DEGRADED, VG_LOST},
        };
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *group = add(inventory, 1, 1, 3);
        struct vg *vg = group->vg;

        vg->pvs[0].device = absent_device(1);
        vg->pvs[1].device = absent_device(2);
        inventory_enter(inventory, group, &(struct vg_step){.state = rows[_i].before});
        vg->degraded_usec = 1;
        inventory_lose_pv(inventory, group, absent_device(2));
        ck_assert_int_eq(group->state, rows[_i].after);
        ck_assert(vg->lost_pv);
        ck_assert_uint_eq(vg_count(vg).seen, 1);
        ck_assert_uint_eq(vg->degraded_usec, vg_state_is_waiting(rows[_i].after) ? 0 : 1);
}
END_TEST

/* With the disk that it was. */
START_TEST(device_is_remembered_until_it_goes)
{
        _cleanup_inventory_ struct inventory *first = start(), *second = NULL, *third = NULL;
        struct device *device;

        ck_assert_int_eq(inventory_get_device(first, absent_device(1), &device), 0);
        device->diskseq = 4711;
        ck_assert_int_eq(inventory_set_pvid(first, device, VGID), 0);
        ck_assert_int_eq(inventory_save(first), 0);

        second = start();
        device = inventory_find_device(second, absent_device(1));
        ck_assert_ptr_nonnull(device);
        ck_assert_int_eq(device->stage, DEVICE_KNOWN);
        ck_assert_str_eq(device->recorded.pvid, VGID);
        ck_assert_uint_eq(device->recorded.diskseq, 4711);
        ck_assert_str_eq(device->pvid, "");
        /* It is not there. */
        ck_assert(!inventory_is_still(second, absent_device(1), VGID));

        ck_assert_int_eq(inventory_set_pvid(second, device, VGID), 0);
        inventory_drop_device(second, device);
        ck_assert_ptr_null(inventory_find_device_of_pv(second, VGID));
        ck_assert_int_eq(inventory_save(second), 0);
        third = start();
        ck_assert_ptr_null(inventory_find_device(third, absent_device(1)));
}
END_TEST

/* A device that was only put down is not lost when all is written anew. */
START_TEST(all_is_written_anew)
{
        _cleanup_inventory_ struct inventory *first = start(), *second = NULL;
        struct vg_entry *group = add(first, 1, 1, 2);

        (void) see(first, absent_device(1), group->vg->pvs[0].pvid);
        (void) see(first, absent_device(2), group->vg->pvs[1].pvid);
        inventory_drop_device(first, inventory_find_device(first, absent_device(2)));
        ck_assert_int_eq(inventory_save(first), 0);
        for (unsigned int i = 0; i < 1000; i++) {
                inventory_note_change(first, group);
                ck_assert_int_eq(inventory_save(first), 0);
        }
        second = start();
        ck_assert_ptr_nonnull(inventory_find_group(second, group->vg->vgid));
        ck_assert_ptr_nonnull(inventory_find_device(second, absent_device(1)));
        ck_assert_ptr_null(inventory_find_device(second, absent_device(2)));
        ck_assert(!second->records_lost);
}
END_TEST

static struct device *announce(
        struct inventory *inventory, unsigned int minor_number, enum path_kind kind, const char *wwid)
{
        struct device *device = NULL;

        ck_assert_int_eq(inventory_get_device(inventory, absent_device(minor_number), &device), 0);
        device->ready = true;
        device->path =
                (struct storage_path){.kind = kind, .wwid = wwid ? strdup(wwid) : NULL, .disk = device->number};
        return device;
}

START_TEST(new_path_is_undecided)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct device *fabric = announce(inventory, 0, PATH_OF_FABRIC, "3600a");
        struct device *alone = announce(inventory, 1, PATH_OF_TWINS, "3600b c");
        struct device *part = announce(inventory, 2, PATH_OF_TWINS, "3600b c");
        struct device *never = announce(inventory, 3, PATH_NEVER, "3600b c");
        struct device *marked = announce(inventory, 4, PATH_MARKED, "3600d");

        part->path.disk = alone->path.disk;
        ck_assert(inventory_is_undecided(inventory, fabric));
        ck_assert(!inventory_is_undecided(inventory, alone));
        ck_assert(!inventory_is_undecided(inventory, part));
        ck_assert(!inventory_is_undecided(inventory, never));
        ck_assert(!inventory_is_undecided(inventory, marked));
        ck_assert(!inventory_is_undecided(inventory, announce(inventory, 5, PATH_NEVER, NULL)));

        /* A second disk with the WWID makes the first one a path, too, also if it was read long ago. */
        ck_assert(inventory_is_undecided(inventory, announce(inventory, 6, PATH_OF_TWINS, "3600d")));
        inventory_move_device(inventory, announce(inventory, 7, PATH_OF_TWINS, "3600b c"), DEVICE_KNOWN);
        ck_assert(inventory_is_undecided(inventory, alone));
        ck_assert(inventory_is_undecided(inventory, part));
        ck_assert(!inventory_is_undecided(inventory, never));

        /* It has been there before. */
        fabric->ready = false;
        ck_assert(!inventory_is_undecided(inventory, fabric));
        snprintf(alone->recorded.pvid, sizeof(alone->recorded.pvid), "%s", "pv");
        ck_assert(!inventory_is_undecided(inventory, alone));
}
END_TEST

/* For three seconds at most, since it was first asked for. */
START_TEST(device_is_held_for_a_while)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct device *devices[2];

        ck_assert_uint_eq(inventory_end_holds(inventory), USEC_INFINITY);
        for (unsigned int i = 0; i < ELEMENTSOF(devices); i++) {
                devices[i] = announce(inventory, i, PATH_OF_FABRIC, "3600a");
                ck_assert_uint_eq(devices[i]->held_until_usec, inventory->now_usec + 3 * USEC_PER_SEC);
                inventory_move_device(inventory, devices[i], DEVICE_HELD);
        }
        ck_assert(!inventory_has_device_before(inventory, DEVICE_HELD));
        devices[0]->held_until_usec = inventory->now_usec;
        ck_assert_uint_eq(inventory_end_holds(inventory), devices[1]->held_until_usec);
        ck_assert_int_eq(devices[0]->stage, DEVICE_UNREAD);
        ck_assert(!inventory_is_undecided(inventory, devices[0]));
        ck_assert_int_eq(devices[1]->stage, DEVICE_HELD);

        /* An event has it looked at again, and its time goes on. */
        ck_assert_int_eq(inventory_get_device(inventory, devices[1]->number, &devices[0]), 0);
        inventory_read_again(inventory, devices[1]);
        ck_assert_int_eq(devices[1]->stage, DEVICE_UNREAD);
        ck_assert_uint_lt(devices[1]->held_until_usec, inventory->now_usec + 3 * USEC_PER_SEC);

        /* Its number may be another disk's by now, whose time begins; announced again, that goes on. */
        inventory_note_disk(inventory, devices[1], 2);
        ck_assert_uint_eq(devices[1]->held_until_usec, inventory->now_usec + 3 * USEC_PER_SEC);
        devices[1]->held_until_usec = inventory->now_usec;
        inventory_note_disk(inventory, devices[1], 2);
        ck_assert_uint_eq(devices[1]->held_until_usec, inventory->now_usec);
}
END_TEST

/* With growing pauses, and not for ever; and as ready as it was. */
START_TEST(unreadable_device_is_read_again)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct device *device = announce(inventory, 0, PATH_NEVER, NULL);
        uint64_t begin = inventory->now_usec, waited = 0;
        unsigned int n = 0;

        inventory_move_device(inventory, device, DEVICE_KNOWN);
        for (;; n++) {
                bool first = inventory_retry(inventory, device);

                ck_assert(first == (n == 0));
                if (device->retry_usec == 0)
                        break;
                device->ready = false;
                ck_assert_uint_eq(inventory_end_holds(inventory), device->retry_usec);
                ck_assert_int_eq(device->stage, DEVICE_KNOWN);
                ck_assert_uint_gt(device->retry_usec - inventory->now_usec, waited);
                waited = device->retry_usec - inventory->now_usec;
                inventory->now_usec = device->retry_usec;
                ck_assert_uint_eq(inventory_end_holds(inventory), USEC_INFINITY);
                ck_assert_int_eq(device->stage, DEVICE_UNREAD);
                ck_assert(device->ready);
                inventory_move_device(inventory, device, DEVICE_KNOWN);
        }
        ck_assert_uint_eq(inventory->now_usec - begin, 127 * USEC_PER_SEC);
}
END_TEST

/* What two VGs claim says itself whose it is. */
START_TEST(contested_pv_is_asked)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *former = add(inventory, 1, 5, 2), *group, *found;
        _cleanup_vg_ struct vg *metadata = make_metadata(2, 1, 2);
        const char *pvid = former->vg->pvs[1].pvid;
        struct device *device = see(inventory, absent_device(1), pvid);

        device->group = former;
        former->vg->pvs[1].device = absent_device(1);
        memcpy(metadata->pvs[1].pvid, pvid, LVM_ID_SIZE);
        ck_assert(dm_hash_insert(metadata->pvs_by_pvid, pvid, &metadata->pvs[1]));
        ck_assert_int_eq(inventory_add_metadata(inventory, &metadata, &group), 0);
        ck_assert_uint_eq(vg_count(group->vg).seen, 0);
        ck_assert_int_eq(device->stage, DEVICE_UNREAD);
        found = inventory_find_group_of_pv(inventory, pvid);
        ck_assert_ptr_nonnull(found);
        ck_assert_ptr_eq(found, group);

        /* It says that it is not the first one's. */
        ck_assert_int_eq(inventory_leave_group(inventory, former, absent_device(1), pvid), 0);
        ck_assert_uint_eq(vg_count(former->vg).seen, 0);
        ck_assert(former->left && former->needs_recheck);
        group->vg->pvs[1].device = absent_device(2);
        ck_assert_int_eq(inventory_leave_group(inventory, group, absent_device(1), pvid), 0);
        ck_assert(!group->left);
}
END_TEST

/* A VG was merged into another one, and its disks were removed before they were read again. */
START_TEST(group_without_a_claim_is_rechecked)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *former = add(inventory, 1, 5, 2), *group;

        for (size_t i = 0; i < 2; i++) {
                _cleanup_vg_ struct vg *metadata = make_metadata(2, 1 + i, 1 + i);

                for (size_t j = 0; j <= i; j++) {
                        memcpy(metadata->pvs[j].pvid, former->vg->pvs[j].pvid, LVM_ID_SIZE);
                        ck_assert(dm_hash_insert(metadata->pvs_by_pvid, metadata->pvs[j].pvid, &metadata->pvs[j]));
                }
                ck_assert(inventory_has_claim(inventory, former));
                ck_assert_int_eq(inventory_add_metadata(inventory, &metadata, &group), 0);
        }
        ck_assert(!inventory_has_claim(inventory, former) && former->needs_recheck && inventory->needs_recheck);
        ck_assert(inventory_has_claim(inventory, group));
}
END_TEST

START_TEST(other_pvs_of_a_group_that_one_has_left_are_asked)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *group = add(inventory, 1, 5, 2);
        struct device *devices[] = {see(inventory, absent_device(1), group->vg->pvs[0].pvid),
                see(inventory, absent_device(2), group->vg->pvs[1].pvid)};

        for (size_t i = 0; i < 2; i++)
                group->vg->pvs[i].device = devices[i]->number;
        inventory_move_device(inventory, devices[1], DEVICE_READING);
        ck_assert_int_eq(inventory_leave_group(inventory, group, absent_device(1), group->vg->pvs[0].pvid), 0);
        ck_assert(!devices[0]->again);
        ck_assert_int_eq(devices[0]->stage, DEVICE_KNOWN);
        ck_assert(devices[1]->again);
}
END_TEST

START_TEST(renamed_and_reduced_group_is_followed)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *group = add(inventory, 1, 5, 3), *found;
        _cleanup_vg_ struct vg *metadata = make_metadata(1, 6, 2);
        char pvid[LVM_ID_SIZE];

        memcpy(pvid, group->vg->pvs[2].pvid, sizeof(pvid));
        free(metadata->name);
        metadata->name = strdup("renamed");
        ck_assert_int_eq(inventory_add_metadata(inventory, &metadata, &found), 0);
        ck_assert_ptr_eq(found, group);
        ck_assert_str_eq(group->vg->name, "renamed");
        ck_assert_str_eq(group->former_name, "vg1");
        ck_assert(group->needs_recheck && inventory->needs_recheck);
        ck_assert_ptr_null(inventory_find_group_of_pv(inventory, pvid));
}
END_TEST

START_TEST(group_is_forgotten)
{
        _cleanup_inventory_ struct inventory *inventory = start(), *second = NULL;
        struct vg_entry *group = add(inventory, 1, 5, 2), *other = add(inventory, 2, 5, 1), *found;
        struct device *device = see(inventory, absent_device(1), group->vg->pvs[0].pvid);
        char vgid[LVM_ID_SIZE], pvid[LVM_ID_SIZE];

        device->group = group;
        memcpy(vgid, group->vg->vgid, sizeof(vgid));
        memcpy(pvid, group->vg->pvs[1].pvid, sizeof(pvid));
        group->text = (struct text_id){1000, 77};
        ck_assert_int_eq(inventory_save(inventory), 0);
        ck_assert_int_eq(inventory_drop_group(inventory, group), 0);

        ck_assert_ptr_null(device->group);
        ck_assert_ptr_null(find_text(inventory, 1000, 77));
        ck_assert_ptr_null(inventory_find_group(inventory, vgid));
        ck_assert_ptr_null(inventory_find_group_of_pv(inventory, pvid));
        found = inventory_find_group(inventory, other->vg->vgid);
        ck_assert_ptr_nonnull(found);
        ck_assert_int_eq(inventory_save(inventory), 0);
        second = start();
        ck_assert_ptr_null(inventory_find_group(second, vgid));
        found = inventory_find_named(second, "vg2");
        ck_assert_ptr_nonnull(found);
}
END_TEST

/* A damaged record is as none: the VG is made anew of its metadata. That there was one is known. */
START_TEST(damaged_record_is_replaced)
{
        static const char *const contents[] = {
                "x", "name = ", "state = \"active\"\n", "\x01\x02{{{{", "name = \"x\"\n"};

        for (size_t i = 0; i < ELEMENTSOF(contents); i++) {
                _cleanup_vg_ struct vg *metadata = make_metadata(1, 1, 1);
                _cleanup_inventory_ struct inventory *inventory = NULL;
                struct vg_entry *group;

                put_record(run_fd, metadata->vgid, contents[i]);
                put_record(run_fd, "1:1", "pvid = \"A\"");
                inventory = start();
                ck_assert(inventory->records_lost);
                ck_assert_ptr_null(inventory_find_group(inventory, metadata->vgid));
                ck_assert_ptr_null(inventory_find_device(inventory, makedev(1, 1)));
                ck_assert_int_eq(inventory_add_metadata(inventory, &metadata, &group), 0);
                ck_assert_str_eq(group->vg->name, "vg1");
        }
}
END_TEST

/* What cannot be used is left alone until something is to be written. */
START_TEST(useless_records_are_noticed)
{
        static const char *const texts[] = {"", "VG 1\nx", "headgate 27\nversion = 2\nboot = \"other\"\nend 0\n",
                "headgate 27\nversion = 3\nboot = \"other\"\nend 0\n"};
        _cleanup_inventory_ struct inventory *inventory = start();

        ck_assert(!inventory->records_lost);
        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_inventory_ struct inventory *successor = NULL;

                inventory_free(inventory);
                write_file_and_directories(RECORD_FILE, texts[i]);
                inventory = start();
                ck_assert(inventory->records_lost);
                (void) add(inventory, 1, 1, 1);
                ck_assert_int_eq(inventory_save(inventory), 0);
                successor = start();
                ck_assert(!successor->records_lost);
                ck_assert_ptr_nonnull(inventory_find_named(successor, "vg1"));
        }
}
END_TEST

/* A worker that finds none is the first one only as long as boot has not finished; it leaves some though it knows no VG. */
START_TEST(missing_records_are_noticed)
{
        _cleanup_inventory_ struct inventory *first = start(), *second = NULL, *third = NULL;

        ck_assert(!first->records_lost);
        ck_assert_int_eq(inventory_save(first), 0);
        write_file_and_directories(FLAGS_BOOT_FINISHED, "");
        second = start();
        ck_assert(!second->records_lost);
        ck_assert_int_eq(unlinkat(run_fd, RECORD_FILE, 0), 0);
        third = start();
        ck_assert(third->records_lost);
}
END_TEST

/* A VG of `number`, of one PV which lvm2 has recorded as well, that has the name of VG 1. */
static struct vg_entry *add_same_name(struct inventory *inventory, unsigned int number)
{
        _cleanup_vg_ struct vg *metadata = make_metadata(number, 1, 1);
        _cleanup_close_ int records_fd = openat(lvm_run_fd, "pvs_online", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct vg_entry *group;

        free(metadata->name);
        metadata->name = strdup("vg1");
        ck_assert_int_ge(write_file_atomic_at(records_fd, metadata->pvs[0].pvid, "8:1\n"), 0);
        ck_assert_int_eq(inventory_add_metadata(inventory, &metadata, &group), 0);
        inventory_enter(inventory, group, &(struct vg_step){.state = VG_COMPLETE});
        return group;
}

START_TEST(first_of_a_name_has_it)
{
        _cleanup_inventory_ struct inventory *inventory = start(), *successor = NULL;
        struct vg_entry *first = add_same_name(inventory, 1), *second = add_same_name(inventory, 2);

        ck_assert_int_eq(names_is_taken(inventory, first), false);
        ck_assert_int_eq(names_is_taken(inventory, second), true);

        inventory_enter(inventory, first, &(struct vg_step){.state = VG_ACTIVATING});
        ck_assert_int_eq(names_is_taken(inventory, second), true);

        /* What is deactivated by hand gives its name up. */
        inventory_enter(inventory, first, &(struct vg_step){.state = VG_ACTIVE});
        ck_assert_int_eq(names_is_taken(inventory, second), false);
        ck_assert_int_eq(online_claim(lvm_run_fd, "vg1"), 0);
        ck_assert_int_eq(names_is_taken(inventory, second), true);
        inventory_enter(inventory, second, &(struct vg_step){.state = VG_SKIPPED});
        ck_assert_int_eq(names_is_taken(inventory, first), false);

        inventory_enter(inventory, first, &(struct vg_step){.state = VG_FAILED});
        ck_assert_int_eq(names_is_taken(inventory, second), false);
        first->vg->activating_usec = 1;
        ck_assert_int_eq(names_is_taken(inventory, second), true);

        /* A successor finds the one that was active before. */
        inventory_enter(inventory, first, &(struct vg_step){.state = VG_ACTIVE});
        ck_assert_int_eq(inventory_save(inventory), 0);
        successor = start();
        ck_assert_int_eq(names_is_taken(successor, add_same_name(successor, 3)), true);
}
END_TEST

static bool written;

static int write_lookup(_unused_ int lvm_run_directory_fd, _unused_ const struct vg *vg)
{
        written = true;
        return 0;
}

/* The list of PVs of that name is then the elder one's. */
static bool has_elder(const struct inventory *inventory, const struct vg_entry *group)
{
        written = false;
        ck_assert_int_eq(names_write_lookup(inventory, group, write_lookup), 0);
        return !written;
}

START_TEST(elder_is_the_one_that_was_seen_first)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *first = add_same_name(inventory, 1), *second = add_same_name(inventory, 2),
                        *other = add(inventory, 5, 1, 1);

        first->vg->first_seen_usec = 1;
        second->vg->first_seen_usec = 2;
        ck_assert(names_is_shared(inventory, first, USEC_INFINITY) &&
                  names_is_shared(inventory, second, USEC_INFINITY));
        ck_assert(!has_elder(inventory, first) && has_elder(inventory, second));
        ck_assert(!names_is_shared(inventory, other, USEC_INFINITY) && !has_elder(inventory, other));

        ck_assert_int_eq(online_forget(lvm_run_fd, first->vg->pvs[0].pvid, NULL), 0);
        ck_assert(names_is_shared(inventory, first, USEC_INFINITY) &&
                  !names_is_shared(inventory, second, USEC_INFINITY));
        ck_assert(!has_elder(inventory, second));
}
END_TEST

/* One whose disks lvm2 does not accept is no reason. */
START_TEST(name_of_a_refused_group_is_free)
{
        _cleanup_inventory_ struct inventory *inventory = start();
        struct vg_entry *first = add_same_name(inventory, 1), *second = add_same_name(inventory, 2);

        ck_assert_int_eq(online_forget(lvm_run_fd, first->vg->pvs[0].pvid, NULL), 0);
        ck_assert_int_eq(names_is_taken(inventory, second), false);
}
END_TEST

/* The worker may use 8 MiB of memory of its own at 1000 VGs; what it knows of them is to be a small part of
 * that. */
START_TEST(thousand_groups_are_small)
{
        _cleanup_inventory_ struct inventory *inventory = NULL;
        size_t before = mallinfo2().uordblks, used;

        inventory = start();
        for (unsigned int i = 0; i < 1000; i++) {
                struct vg_entry *group = add(inventory, i, 1, 1);
                struct device *device = see(inventory, absent_device(i), group->vg->pvs[0].pvid);

                device->name = strdup("/dev/sdabc");
        }
        used = mallinfo2().uordblks - before;
        ck_assert_uint_lt(used, 3U * 1024 * 1024);
        ck_assert_int_eq(inventory_save(inventory), 0);
}
END_TEST

/* Of files, only those that lvm2 has not finished do not count. */
START_TEST(absent_vgs)
{
        _cleanup_strv_ struct strv names = {};
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_inventory_ struct inventory *inventory = start();
        struct config config = {.backup_dir = string_format("%s/backup", run_directory())};

        for (unsigned int i = 0; i < 2; i++) {
                _cleanup_free_ char *path = string_format("backup/%s", i == 0 ? ".vg" : ".lvm_host_1_2");
                _cleanup_free_ char *text = string_format(
                        ".vg {\nid = \"vvvvvv-vvvv-vvvv-vvvv-vvvv-vvvv-vvvvv%u\"\nseqno = 1\n"
                        "physical_volumes {\npv0 {\nid = \"pppppp-pppp-pppp-pppp-pppp-pppp-pppppp\"\n}\n}\n"
                        "logical_volumes {\nlv {\nid = \"llllll-llll-llll-llll-llll-llll-llllll\"\n"
                        "status = [\"VISIBLE\"]\n}\n}\n}\n"
                        "contents = \"Text Format Volume Group\"\nversion = 1\n",
                        i);

                write_file_and_directories(path, text);
        }
        ck_assert_int_eq(settings_read(run_fd, &settings, &problems), 0);
        ck_assert_int_eq(absent_list(inventory, &config, &settings, &names), 0);
        ck_assert_uint_eq(names.n, 1);
        ck_assert_str_eq(names.strings[0], ".vg");
        free(config.backup_dir);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("inventory");
        TCase *test_case = tcase_create("inventory");

        tcase_set_timeout(test_case, 60);
        tcase_add_checked_fixture(test_case, set_up, tear_down);
        tcase_add_test(test_case, absent_vgs);
        tcase_add_test(test_case, missing_pvs_lead_to_their_group);
        tcase_add_test(test_case, group_outlives_its_worker);
        tcase_add_test(test_case, successor_is_led_to_the_group);
        tcase_add_loop_test(test_case, state_outlives_its_worker, 0, _VG_STATE_SETTABLE);
        tcase_add_test(test_case, state_of_a_record_is_known);
        tcase_add_test(test_case, disk_that_left_meanwhile_is_missed);
        tcase_add_test(test_case, pv_is_seen_before_its_group);
        tcase_add_test(test_case, newer_metadata_counts);
        tcase_add_test(test_case, older_metadata_counts_where_nothing_newer_is);
        tcase_add_test(test_case, older_text_is_forgotten_with_its_group);
        tcase_add_test(test_case, text_is_known_until_a_pv_goes);
        tcase_add_loop_test(test_case, pv_is_lost, 0, 5);
        tcase_add_test(test_case, device_is_remembered_until_it_goes);
        tcase_add_test(test_case, all_is_written_anew);
        tcase_add_test(test_case, new_path_is_undecided);
        tcase_add_test(test_case, device_is_held_for_a_while);
        tcase_add_test(test_case, unreadable_device_is_read_again);
        tcase_add_test(test_case, contested_pv_is_asked);
        tcase_add_test(test_case, group_without_a_claim_is_rechecked);
        tcase_add_test(test_case, other_pvs_of_a_group_that_one_has_left_are_asked);
        tcase_add_test(test_case, renamed_and_reduced_group_is_followed);
        tcase_add_test(test_case, group_is_forgotten);
        tcase_add_test(test_case, damaged_record_is_replaced);
        tcase_add_test(test_case, useless_records_are_noticed);
        tcase_add_test(test_case, missing_records_are_noticed);
        tcase_add_test(test_case, first_of_a_name_has_it);
        tcase_add_test(test_case, elder_is_the_one_that_was_seen_first);
        tcase_add_test(test_case, name_of_a_refused_group_is_free);
        tcase_add_test(test_case, thousand_groups_are_small);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
