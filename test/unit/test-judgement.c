/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the state of a VG is now, by its state on record and what is active. */

#include "view/snapshot.h"

#include "fixture.h"

#define CLAIMED .claimed = true
#define EXPORTED .exported = true
#define LOST .lost_pv = true
#define STRANDED .lost_pv = true, .now.stranded = 1
#define WHOLE .whole_again = true

static const struct {
        enum vg_status recorded;
        size_t n_wanted, n_before, n_active;
        struct judgement_facts flags;
        enum vg_status expected;
} rows[] = {
        /* Nothing has changed. */
        {VG_STATUS_ACTIVE, 2, 2, 2, {CLAIMED}, VG_STATUS_ACTIVE},
        {VG_STATUS_ACTIVE, 2, 2, 2, {}, VG_STATUS_ACTIVE},
        {VG_STATUS_ACTIVE, 0, 0, 0, {}, VG_STATUS_ACTIVE},
        /* lvm2 never activated all of them, by auto_activation_volume_list for instance. */
        {VG_STATUS_ACTIVE, 2, 1, 1, {CLAIMED}, VG_STATUS_ACTIVE},
        {VG_STATUS_ACTIVE, 2, 0, 0, {CLAIMED}, VG_STATUS_ACTIVE},
        {VG_STATUS_ACTIVE, 2, 0, 1, {CLAIMED}, VG_STATUS_ACTIVE},
        /* lvchange -an withdraws the claim, teardown does not. */
        {VG_STATUS_ACTIVE, 2, 2, 1, {}, VG_STATUS_DEACTIVATED},
        {VG_STATUS_ACTIVE, 2, 1, 1, {}, VG_STATUS_DEACTIVATED},
        {VG_STATUS_ACTIVE, 2, 2, 1, {CLAIMED}, VG_STATUS_DEACTIVATED},
        {VG_STATUS_ACTIVE, 2, 2, 0, {CLAIMED}, VG_STATUS_DEACTIVATED},
        /* That it is exported counts more. */
        {VG_STATUS_ACTIVE, 2, 2, 0, {EXPORTED}, VG_STATUS_SKIPPED},
        {VG_STATUS_ACTIVE, 0, 0, 0, {EXPORTED}, VG_STATUS_SKIPPED},
        {VG_STATUS_DEGRADED, 3, 2, 1, {EXPORTED}, VG_STATUS_SKIPPED},
        {VG_STATUS_FAILED, 2, 0, 0, {LOST, EXPORTED}, VG_STATUS_SKIPPED},
        {VG_STATUS_SKIPPED, 2, 2, 2, {EXPORTED}, VG_STATUS_SKIPPED},
        {VG_STATUS_WAITING, 2, 0, 0, {EXPORTED}, VG_STATUS_WAITING},

        {VG_STATUS_DEGRADED, 2, 1, 1, {}, VG_STATUS_DEGRADED},
        {VG_STATUS_DEGRADED, 2, 1, 1, {CLAIMED}, VG_STATUS_DEGRADED},
        {VG_STATUS_DEGRADED, 2, 1, 2, {}, VG_STATUS_DEGRADED},
        {VG_STATUS_DEGRADED, 3, 2, 1, {CLAIMED}, VG_STATUS_DEACTIVATED},
        {VG_STATUS_DEGRADED, 2, 1, 0, {CLAIMED}, VG_STATUS_DEACTIVATED},
        {VG_STATUS_DEGRADED, 2, 2, 2, {WHOLE}, VG_STATUS_ACTIVE},
        {VG_STATUS_DEGRADED, 2, 2, 1, {WHOLE}, VG_STATUS_DEACTIVATED},

        {VG_STATUS_FAILED, 2, 0, 0, {CLAIMED}, VG_STATUS_FAILED},
        {VG_STATUS_FAILED, 2, 1, 1, {}, VG_STATUS_FAILED},
        {VG_STATUS_FAILED, 2, 0, 2, {}, VG_STATUS_ACTIVE},
        {VG_STATUS_FAILED, 0, 0, 0, {}, VG_STATUS_FAILED},
        {VG_STATUS_FAILED, 2, 0, 0, {STRANDED}, VG_STATUS_FAILED},
        {VG_STATUS_FAILED, 2, 0, 1, {STRANDED}, VG_STATUS_FAILED},
        {VG_STATUS_FAILED, 2, 0, 0, {LOST}, VG_STATUS_DEACTIVATED},
        {VG_STATUS_FAILED, 2, 0, 2, {LOST}, VG_STATUS_ACTIVE},

        /* lvm2 is not to activate it; somebody may do so by hand. */
        {VG_STATUS_SKIPPED, 2, 0, 1, {}, VG_STATUS_SKIPPED},
        {VG_STATUS_SKIPPED, 2, 0, 2, {}, VG_STATUS_ACTIVE},
        {VG_STATUS_SKIPPED, 2, 0, 2, {LOST}, VG_STATUS_ACTIVE},
        {VG_STATUS_SKIPPED, 0, 0, 0, {}, VG_STATUS_SKIPPED},

        /* The worker is not done with it. */
        {VG_STATUS_WAITING, 2, 0, 2, {CLAIMED}, VG_STATUS_WAITING},
        {VG_STATUS_COMPLETE, 2, 2, 0, {}, VG_STATUS_COMPLETE},
        {VG_STATUS_ACTIVATING, 2, 0, 1, {}, VG_STATUS_ACTIVATING},
        {VG_STATUS_SKIPPED, 2, 2, 0, {}, VG_STATUS_SKIPPED},
};

START_TEST(recorded)
{
        struct judgement_facts facts = rows[_i].flags;

        facts.now.autoactivated = rows[_i].n_wanted;
        facts.before.active = rows[_i].n_before;
        facts.now.active = rows[_i].n_active;
        ck_assert_str_eq(vg_status_to_string(judge_recorded(rows[_i].recorded, &facts)),
                vg_status_to_string(rows[_i].expected));
}
END_TEST

static const struct {
        size_t n_pvs;
        bool pv_is_there;
        const char *lvs; /* A: active; i: inactive; -: inactive, and autoactivation is off */
        enum vg_status expected;
} unrecorded_rows[] = {
        {1, true, "A", VG_STATUS_ACTIVE},
        {1, false, "AA-", VG_STATUS_ACTIVE},
        {2, true, "Ai", VG_STATUS_UNKNOWN},
        {2, false, "Ai", VG_STATUS_UNKNOWN},
        {1, true, "i", VG_STATUS_UNKNOWN},
        {1, false, "i", VG_STATUS_ABSENT},
        {1, true, "-", VG_STATUS_UNKNOWN},
        {1, false, "", VG_STATUS_ABSENT},
        /* Without a backup there may be more LVs. */
        {0, false, "A", VG_STATUS_UNKNOWN},
};

START_TEST(unrecorded)
{
        const char *lvs = unrecorded_rows[_i].lvs;
        struct vg_lv list[4] = {};
        struct vg_pv pvs[2] = {{.device = unrecorded_rows[_i].pv_is_there}};
        struct vg vg = {.n_pvs = unrecorded_rows[_i].n_pvs, .pvs = pvs, .n_lvs = strlen(lvs), .lvs = list};

        for (size_t i = 0; i < vg.n_lvs; i++)
                list[i] = (struct vg_lv){.autoactivated = lvs[i] != '-', .active = lvs[i] == 'A'};
        ck_assert_str_eq(
                vg_status_to_string(judge_unrecorded(&vg)), vg_status_to_string(unrecorded_rows[_i].expected));
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("judgement");
        TCase *test_case = tcase_create("judgement");

        tcase_add_loop_test(test_case, recorded, 0, ELEMENTSOF(rows));
        tcase_add_loop_test(test_case, unrecorded, 0, ELEMENTSOF(unrecorded_rows));
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
