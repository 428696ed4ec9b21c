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
        enum volume_group_state recorded;
        size_t n_wanted, n_before, n_active;
        struct judgement_facts flags;
        enum volume_group_state expected;
} rows[] = {
        /* Nothing has changed. */
        {VOLUME_GROUP_ACTIVE, 2, 2, 2, {CLAIMED}, VOLUME_GROUP_ACTIVE},
        {VOLUME_GROUP_ACTIVE, 2, 2, 2, {}, VOLUME_GROUP_ACTIVE},
        {VOLUME_GROUP_ACTIVE, 0, 0, 0, {}, VOLUME_GROUP_ACTIVE},
        /* lvm2 never activated all of them, by auto_activation_volume_list for instance. */
        {VOLUME_GROUP_ACTIVE, 2, 1, 1, {CLAIMED}, VOLUME_GROUP_ACTIVE},
        {VOLUME_GROUP_ACTIVE, 2, 0, 0, {CLAIMED}, VOLUME_GROUP_ACTIVE},
        {VOLUME_GROUP_ACTIVE, 2, 0, 1, {CLAIMED}, VOLUME_GROUP_ACTIVE},
        /* lvchange -an withdraws the claim, teardown does not. */
        {VOLUME_GROUP_ACTIVE, 2, 2, 1, {}, VOLUME_GROUP_DEACTIVATED},
        {VOLUME_GROUP_ACTIVE, 2, 1, 1, {}, VOLUME_GROUP_DEACTIVATED},
        {VOLUME_GROUP_ACTIVE, 2, 2, 1, {CLAIMED}, VOLUME_GROUP_DEACTIVATED},
        {VOLUME_GROUP_ACTIVE, 2, 2, 0, {CLAIMED}, VOLUME_GROUP_DEACTIVATED},
        /* That it is exported counts more. */
        {VOLUME_GROUP_ACTIVE, 2, 2, 0, {EXPORTED}, VOLUME_GROUP_SKIPPED},
        {VOLUME_GROUP_ACTIVE, 0, 0, 0, {EXPORTED}, VOLUME_GROUP_SKIPPED},
        {VOLUME_GROUP_DEGRADED, 3, 2, 1, {EXPORTED}, VOLUME_GROUP_SKIPPED},
        {VOLUME_GROUP_FAILED, 2, 0, 0, {LOST, EXPORTED}, VOLUME_GROUP_SKIPPED},
        {VOLUME_GROUP_SKIPPED, 2, 2, 2, {EXPORTED}, VOLUME_GROUP_SKIPPED},
        {VOLUME_GROUP_WAITING, 2, 0, 0, {EXPORTED}, VOLUME_GROUP_WAITING},

        {VOLUME_GROUP_DEGRADED, 2, 1, 1, {}, VOLUME_GROUP_DEGRADED},
        {VOLUME_GROUP_DEGRADED, 2, 1, 1, {CLAIMED}, VOLUME_GROUP_DEGRADED},
        {VOLUME_GROUP_DEGRADED, 2, 1, 2, {}, VOLUME_GROUP_DEGRADED},
        {VOLUME_GROUP_DEGRADED, 3, 2, 1, {CLAIMED}, VOLUME_GROUP_DEACTIVATED},
        {VOLUME_GROUP_DEGRADED, 2, 1, 0, {CLAIMED}, VOLUME_GROUP_DEACTIVATED},
        {VOLUME_GROUP_DEGRADED, 2, 2, 2, {WHOLE}, VOLUME_GROUP_ACTIVE},
        {VOLUME_GROUP_DEGRADED, 2, 2, 1, {WHOLE}, VOLUME_GROUP_DEACTIVATED},

        {VOLUME_GROUP_FAILED, 2, 0, 0, {CLAIMED}, VOLUME_GROUP_FAILED},
        {VOLUME_GROUP_FAILED, 2, 1, 1, {}, VOLUME_GROUP_FAILED},
        {VOLUME_GROUP_FAILED, 2, 0, 2, {}, VOLUME_GROUP_ACTIVE},
        {VOLUME_GROUP_FAILED, 0, 0, 0, {}, VOLUME_GROUP_FAILED},
        {VOLUME_GROUP_FAILED, 2, 0, 0, {STRANDED}, VOLUME_GROUP_FAILED},
        {VOLUME_GROUP_FAILED, 2, 0, 1, {STRANDED}, VOLUME_GROUP_FAILED},
        {VOLUME_GROUP_FAILED, 2, 0, 0, {LOST}, VOLUME_GROUP_DEACTIVATED},
        {VOLUME_GROUP_FAILED, 2, 0, 2, {LOST}, VOLUME_GROUP_ACTIVE},

        /* lvm2 is not to activate it; somebody may do so by hand. */
        {VOLUME_GROUP_SKIPPED, 2, 0, 1, {}, VOLUME_GROUP_SKIPPED},
        {VOLUME_GROUP_SKIPPED, 2, 0, 2, {}, VOLUME_GROUP_ACTIVE},
        {VOLUME_GROUP_SKIPPED, 2, 0, 2, {LOST}, VOLUME_GROUP_ACTIVE},
        {VOLUME_GROUP_SKIPPED, 0, 0, 0, {}, VOLUME_GROUP_SKIPPED},

        /* The worker is not done with it. */
        {VOLUME_GROUP_WAITING, 2, 0, 2, {CLAIMED}, VOLUME_GROUP_WAITING},
        {VOLUME_GROUP_COMPLETE, 2, 2, 0, {}, VOLUME_GROUP_COMPLETE},
        {VOLUME_GROUP_ACTIVATING, 2, 0, 1, {}, VOLUME_GROUP_ACTIVATING},
        {VOLUME_GROUP_SKIPPED, 2, 2, 0, {}, VOLUME_GROUP_SKIPPED},
};

START_TEST(recorded)
{
        struct judgement_facts facts = rows[_i].flags;

        facts.now.autoactivated = rows[_i].n_wanted;
        facts.before.active = rows[_i].n_before;
        facts.now.active = rows[_i].n_active;
        ck_assert_str_eq(volume_group_state_to_string(judge_recorded(rows[_i].recorded, &facts)),
                volume_group_state_to_string(rows[_i].expected));
}
END_TEST

static const struct {
        size_t n_pvs;
        bool pv_is_there;
        const char *lvs; /* A: active; i: inactive; -: inactive, and autoactivation is off */
        enum volume_group_state expected;
} unrecorded_rows[] = {
        {1, true, "A", VOLUME_GROUP_ACTIVE},
        {1, false, "AA-", VOLUME_GROUP_ACTIVE},
        {2, true, "Ai", VOLUME_GROUP_UNKNOWN},
        {2, false, "Ai", VOLUME_GROUP_UNKNOWN},
        {1, true, "i", VOLUME_GROUP_UNKNOWN},
        {1, false, "i", VOLUME_GROUP_ABSENT},
        {1, true, "-", VOLUME_GROUP_UNKNOWN},
        {1, false, "", VOLUME_GROUP_ABSENT},
        /* Without a backup there may be more LVs. */
        {0, false, "A", VOLUME_GROUP_UNKNOWN},
};

START_TEST(unrecorded)
{
        const char *lvs = unrecorded_rows[_i].lvs;
        struct volume_group_lv list[4] = {};
        struct volume_group_pv pvs[2] = {{.device = unrecorded_rows[_i].pv_is_there}};
        struct volume_group volume_group = {
                .n_pvs = unrecorded_rows[_i].n_pvs, .pvs = pvs, .n_lvs = strlen(lvs), .lvs = list};

        for (size_t i = 0; i < volume_group.n_lvs; i++)
                list[i] = (struct volume_group_lv){.autoactivated = lvs[i] != '-', .active = lvs[i] == 'A'};
        ck_assert_str_eq(volume_group_state_to_string(judge_unrecorded(&volume_group)),
                volume_group_state_to_string(unrecorded_rows[_i].expected));
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
