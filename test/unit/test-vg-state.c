/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of a VG: each transition by itself, with what is expected written by hand; then what holds of each step, by all
 * combinations of state, event and facts; then what holds of a life, by a random walk. */

#include <check.h>

#include "fixture.h"
#include "shared/util.h"
#include "vg-state-rules.h"

/* ------ each row of the table ------ */

/* Facts of a row. Those that are not named are: all PVs are there, and none of the LVs is active. */
enum {
        NONE = 1 << 0,     /* no PV is there */
        SOME = 1 << 1,     /* some are */
        UNWANTED = 1 << 2, /* no LV has autoactivation enabled */
        PARTLY = 1 << 3,   /* some LVs are active */
        UP = 1 << 4,       /* all are */
        PERMITTED = 1 << 5,
        ANYWAY = 1 << 6,
        CHANGED = 1 << 7,
        REMOVED = 1 << 8,
        RAIDS = 1 << 9,
        REASON = 1 << 10,
        METADATA = 1 << 11,
        CONFIG = 1 << 12,
        PV = 1 << 13,
        NAME = 1 << 14,
        EARLIER = 1 << 15,
        LVM_FAILS = 1 << 16,
};

static struct vg_facts make_facts(unsigned int bits)
{
        return (struct vg_facts){
                .pvs = bits & NONE   ? VG_PVS_NONE
                       : bits & SOME ? VG_PVS_SOME
                                     : VG_PVS_ALL,
                .lvs = bits & UNWANTED ? VG_LVS_UNWANTED
                       : bits & PARTLY ? VG_LVS_SOME
                       : bits & UP     ? VG_LVS_ALL
                                       : VG_LVS_NONE,
                .obstacle = bits & METADATA    ? VG_OBSTACLE_METADATA
                            : bits & CONFIG    ? VG_OBSTACLE_CONFIG
                            : bits & PV        ? VG_OBSTACLE_PV
                            : bits & NAME      ? VG_OBSTACLE_NAME
                            : bits & EARLIER   ? VG_OBSTACLE_UNKNOWN_HISTORY
                            : bits & LVM_FAILS ? VG_OBSTACLE_LVM
                                               : VG_OBSTACLE_NONE,
                .degraded_allowed = bits & PERMITTED,
                .always_activate = bits & ANYWAY,
                .activate_again = bits & CHANGED,
                .on_removed = bits & REMOVED,
                .raids_degraded = bits & RAIDS,
                .has_reason = bits & REASON,
        };
}

static const struct {
        enum vg_state state;
        enum vg_event event;
        unsigned int facts;
        struct vg_step expected;
} rows[] = {
#define ROW(before, what, given, after, ...) {VG_##before, VG_##what, given, {.state = VG_##after, __VA_ARGS__}},
#define STAYS(before, what, given) ROW(before, what, given, before, )
#define SAY(what) .report = VG_SAY_##what
#define DO(what) .action = VG_DO_##what
#define WHY(what) .reason = VG_REASON_##what
#define ANEW .effects = VG_EFFECT_DEADLINE
#include "vg-state-rows.h"
};

#define NAMED(name) [VG_##name] = #name
static const char *const event_names[_VG_EVENT_MAX] = {NAMED(PV_APPEARED), NAMED(PV_WRITTEN), NAMED(PV_FOUND),
        NAMED(PV_ANNOUNCED), NAMED(PV_REMOVED), NAMED(REREAD), NAMED(REREAD_LEFT), NAMED(DEADLINE_PASSED),
        NAMED(REQUESTED), NAMED(RETRY), NAMED(SLOT_FREE), NAMED(ENDED_UNKNOWN), NAMED(ENDED_OK),
        NAMED(ENDED_FAILED), NAMED(ENDED_UNCLEAR), NAMED(STUCK_OWN), NAMED(STUCK_OTHER), NAMED(WORKER_LOST),
        NAMED(ADOPTED)};

static bool is_same(const struct vg_step *one, const struct vg_step *two)
{
        return one->state == two->state && one->action == two->action && one->report == two->report &&
               one->reason == two->reason && ((one->effects ^ two->effects) & VG_EFFECT_DEADLINE) == 0;
}

START_TEST(each_row_holds)
{
        size_t n_wrong = 0;

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                struct vg_facts facts = make_facts(rows[i].facts);
                struct vg_step step = vg_next(rows[i].state, rows[i].event, &facts), expected = rows[i].expected;

                if (is_same(&step, &expected))
                        continue;
                n_wrong++;
                printf("%s: %s with facts %#x: %s, action %i, report %i, reason %i, deadline %i; expected %s, %i, %i, %i, %i\n",
                        vg_state_to_string(rows[i].state), event_names[rows[i].event], rows[i].facts,
                        vg_state_to_string(step.state), step.action, step.report, step.reason,
                        step.effects & VG_EFFECT_DEADLINE, vg_state_to_string(expected.state), expected.action,
                        expected.report, expected.reason, expected.effects);
        }
        ck_assert_uint_eq(n_wrong, 0);
        ck_assert_uint_ge(ELEMENTSOF(rows), 250);
}
END_TEST

/* ------ each combination ------ */

static size_t for_each_facts(bool (*function)(const struct vg_facts *facts, void *userdata), void *userdata)
{
        size_t n = 0;

        for (enum vg_pvs pvs = 0; pvs < _VG_PVS_MAX; pvs++)
                for (enum vg_lvs lvs = 0; lvs < _VG_LVS_MAX; lvs++)
                        for (enum vg_obstacle obstacle = 0; obstacle < _VG_OBSTACLE_MAX; obstacle++)
                                for (unsigned int bits = 0; bits < 1 << 6; bits++, n++)
                                        if (!function(&(struct vg_facts){pvs, lvs, obstacle, bits & 1, bits & 2,
                                                              bits & 4, bits & 8, bits & 16, bits & 32},
                                                    userdata))
                                                return n;
        return n;
}

struct combination {
        enum vg_state state;
        enum vg_event event;
        const char *fault;
        unsigned int leads_to; /* a bit for each state */
};

static bool check_combination(const struct vg_facts *facts, void *userdata)
{
        struct combination *combination = userdata;
        struct vg_step step = vg_next(combination->state, combination->event, facts);

        combination->fault = find_fault(combination->state, combination->event, facts, &step);
        combination->leads_to |= 1U << step.state;
        return !combination->fault;
}

START_TEST(each_state_has_its_word)
{
        for (enum vg_state one = 0; one < _VG_STATE_MAX; one++) {
                ck_assert_ptr_nonnull(vg_state_to_string(one));
                for (enum vg_state two = 0; two < one; two++)
                        ck_assert_str_ne(vg_state_to_string(one), vg_state_to_string(two));
        }
}
END_TEST

START_TEST(each_combination_is_sound)
{
        size_t n = 0;

        for (enum vg_state state = 0; state < _VG_STATE_SETTABLE; state++) {
                unsigned int leads_to = 0;

                for (enum vg_event event = 0; event < _VG_EVENT_MAX; event++) {
                        struct combination combination = {.state = state, .event = event};

                        n += for_each_facts(check_combination, &combination);
                        ck_assert_msg(!combination.fault, "%s, %s: %s", vg_state_to_string(state),
                                event_names[event], combination.fault);
                        leads_to |= combination.leads_to;
                }
                ck_assert_msg((leads_to & ~(1U << state)) != 0, "no way out of %s", vg_state_to_string(state));
                /* Wherever it is, it can become active. */
                ck_assert_msg(
                        leads_to & (1U << VG_COMPLETE | 1U << VG_ACTIVATING | 1U << VG_ACTIVE | 1U << VG_WAITING),
                        "%s leads nowhere", vg_state_to_string(state));
        }
        ck_assert_uint_ge(n, 1000000);
}
END_TEST

/* ------ lives ------ */

/* Each ck_assert() is a system call. */
#define require(condition, ...)                                                                                   \
        do {                                                                                                      \
                if (!(condition))                                                                                 \
                        ck_abort_msg(__VA_ARGS__);                                                                \
        } while (0)

/* What is around a VG of three PVs, fair: lvm2 ends, PVs are removed and appear, workers die, settings change. */
struct world {
        enum vg_state state;
        unsigned int n_pvs, n_active; /* of three each */
        bool permitted, due_once, vgchange, asked_degraded, requested;
        unsigned int n_since_settled; /* steps */
        uint64_t seed;
};

static unsigned int draw(struct world *world, unsigned int n)
{
        world->seed ^= world->seed << 13;
        world->seed ^= world->seed >> 7;
        world->seed ^= world->seed << 17;
        return (unsigned int) (world->seed >> 32) % n;
}

static struct vg_facts see(struct world *world)
{
        return (struct vg_facts){
                .pvs = world->n_pvs == 3   ? VG_PVS_ALL
                       : world->n_pvs == 0 ? VG_PVS_NONE
                                           : VG_PVS_SOME,
                .lvs = world->n_active == 3   ? VG_LVS_ALL
                       : world->n_active == 0 ? VG_LVS_NONE
                                              : VG_LVS_SOME,
                .obstacle = draw(world, 20) == 0 ? VG_OBSTACLE_PV : VG_OBSTACLE_NONE,
                .degraded_allowed = world->permitted,
                .always_activate = draw(world, 4) == 0,
                .activate_again = draw(world, 8) == 0,
        };
}

static void take(struct world *world, enum vg_event event)
{
        struct vg_facts facts = see(world);
        struct vg_step step = vg_next(world->state, event, &facts);
        const char *fault = find_fault(world->state, event, &facts, &step);
        bool starts = is_normal_activation(step.action) || step.action == VG_DO_ACTIVATE_DEGRADED;
        bool ends = event >= VG_ENDED_UNKNOWN && event <= VG_ENDED_UNCLEAR;

        require(!fault, "%s, %s: %s", vg_state_to_string(world->state), event_names[event], fault);
        if (ends)
                world->vgchange = false;
        /* One that stands still, or a dead worker's that nobody follows, does not count. */
        if (event >= VG_STUCK_OWN && event <= VG_WORKER_LOST && !is_activating(step.state))
                world->vgchange = false;
        require(!starts || !world->vgchange, "a second vgchange in %s", vg_state_to_string(world->state));
        world->vgchange |= starts;

        /* The policy and the deadline come before. */
        if (event == VG_DEADLINE_PASSED || (event == VG_REQUESTED && facts.degraded_allowed))
                world->due_once = true;
        require(step.action != VG_DO_ACTIVATE_DEGRADED || (world->due_once && facts.degraded_allowed),
                "degraded too early");
        if (event == VG_PV_REMOVED && !is_activating(world->state))
                world->due_once = false;

        /* What was settled once is not reported as settled once more. */
        if (step.report >= VG_SAY_ACTIVE && step.report <= VG_SAY_FAILED)
                require(!vg_state_is_settled(world->state) || event == VG_REREAD || event == VG_REREAD_LEFT,
                        "%s is reported in %s", vg_state_to_string(step.state), vg_state_to_string(world->state));
        world->state = step.state == VG_REMOVED ? VG_WAITING : step.state;
        world->n_since_settled = vg_state_is_settled(world->state) ? 0 : world->n_since_settled + 1;
        require(world->n_since_settled < 1000, "%s does not end", vg_state_to_string(world->state));
}

static void remove_pv(struct world *world)
{
        if (world->n_pvs == 0)
                return;
        world->n_pvs--;
        take(world, VG_PV_REMOVED);
}

static void add_pv(struct world *world)
{
        static const enum vg_event events[] = {VG_PV_WRITTEN, VG_PV_FOUND, VG_PV_ANNOUNCED, VG_PV_ANNOUNCED};
        enum vg_event event = events[draw(world, ELEMENTSOF(events))];

        if (world->n_pvs < 3) {
                world->n_pvs++;
                take(world, VG_PV_APPEARED);
        }
        take(world, event);
        if (event == VG_PV_WRITTEN)
                take(world, VG_REREAD);
        /* A complete VG is asked for, or is not to be. */
        require(world->n_pvs < 3 || event == VG_PV_WRITTEN || !vg_state_is_waiting(world->state),
                "%s though all PVs are there", vg_state_to_string(world->state));
}

static void end(struct world *world)
{
        static const enum vg_event events[] = {VG_ENDED_OK, VG_ENDED_FAILED, VG_ENDED_UNCLEAR, VG_ENDED_UNKNOWN,
                VG_STUCK_OTHER, VG_STUCK_OWN, VG_WORKER_LOST};

        if (!is_activating(world->state))
                return;
        /* lvm2 manages to, mostly. */
        world->n_active = draw(world, 3) == 0 ? draw(world, 4) : world->state == VG_ACTIVATING ? 3 : world->n_pvs;
        take(world, events[draw(world, ELEMENTSOF(events))]);
}

START_TEST(life_keeps_the_promises)
{
        struct world world = {.seed = 88172645463325252U};
        unsigned int seen = 0;

        for (size_t i = 0; i < 1000000; i++) {
                switch (draw(&world, 10)) {
                case 0:
                        remove_pv(&world);
                        break;
                case 1:
                case 2:
                        add_pv(&world);
                        break;
                case 3:
                        take(&world, VG_DEADLINE_PASSED);
                        break;
                case 4:
                        take(&world, VG_REQUESTED);
                        break;
                case 5:
                        world.permitted = draw(&world, 2);
                        break;
                case 6:
                        world.n_active = draw(&world, 4);
                        take(&world, draw(&world, 8) == 0 ? VG_REREAD_LEFT : VG_REREAD);
                        break;
                case 7:
                        take(&world, VG_SLOT_FREE);
                        break;
                default:
                        end(&world);
                        break;
                }
                seen |= 1U << world.state;
        }
        /* All states but those for which facts have to be drawn that are not here. */
        ck_assert_uint_eq(seen | 1U << VG_DEGRADED_COMPLETE, (1U << _VG_STATE_SETTABLE) - 1);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("vg-state");
        TCase *test_case = tcase_create("vg-state");

        tcase_set_timeout(test_case, 60);
        tcase_add_test(test_case, each_row_holds);
        tcase_add_test(test_case, each_state_has_its_word);
        tcase_add_test(test_case, each_combination_is_sound);
        tcase_add_test(test_case, life_keeps_the_promises);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
