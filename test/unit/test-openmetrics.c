/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The text of headgate status --openmetrics. That other programs can read it, test/cli/openmetrics tells. */

#include "report/openmetrics.h"

#include "fixture.h"

#define HEAD(name, help) "# TYPE headgate_" name " gauge\n# HELP headgate_" name " " help "\n"
#define SECONDS(name, help)                                                                                       \
        "# TYPE headgate_" name " gauge\n# UNIT headgate_" name " seconds\n# HELP headgate_" name " " help "\n"

#define UUID(digit) "1234567890123456789012345678901" digit
/* The same as lvm2 prints it. */
#define DASHED(digit) "123456-7890-1234-5678-9012-3456-78901" digit

static const char text_of_all[] = HEAD("in_charge",
        "Whether headgate activates volume groups, not lvm2's udev rule.") "headgate_in_charge 1\n" HEAD("volume_groups",
        "Number of volume groups in each state of headgate status.") "headgate_volume_groups{state=\"waiting\"} "
                                                                     "1\nheadgate_volume_groups{state=\"complete\"} 0\n"
                                                                     "headgate_volume_groups{state=\"activating\"} 0\nheadgate_volume_groups{state=\"active\"} 2\n"
                                                                     "headgate_volume_groups{state=\"degraded\"} "
                                                                     "0\nheadgate_volume_groups{state=\"skipped\"} 0\n"
                                                                     "headgate_volume_groups{state=\"failed\"} "
                                                                     "0\nheadgate_volume_groups{state=\"deactivated\"} 0\n"
                                                                     "headgate_volume_groups{state=\"absent\"} "
                                                                     "3\nheadgate_volume_groups{state=\"unknown\"} 0\n" HEAD(
                                                                             "overdue_volume_groups",
                                                                             "Number of volume groups not active "
                                                                             "at their deadline.") "headgate_overdue_volume_groups 4\n" HEAD("missing_physical_volumes",
                                                                             "Number of missing physical "
                                                                             "volumes.") "headgate_missing_physical_volumes 5\n" HEAD("worker_failures",
                                                                             "Number of failures of the worker "
                                                                             "since it last settled a volume "
                                                                             "group.") "headgate_worker_failures "
                                                                                       "6\n" SECONDS(
                                                                                               "boot_all_active_seconds",
                                                                                               "Time from kernel start until the "
                                                                                               "last volume group was active.") "headgate_boot_all_active_seconds 12.000034\n" SECONDS("boot_needed_active_seconds",
                                                                                               "Time from kernel start until all "
                                                                                               "volume groups that boot waits for "
                                                                                               "were active.") "headgate_boot_needed_active_seconds 0.900000\n" SECONDS("activations_seconds",
                                                                                               "Sum of the durations of the last "
                                                                                               "activation of each volume group.") "headgate_activations_seconds 3.750000\n" SECONDS("activation_seconds",
                                                                                               "Duration of the last activation, "
                                                                                               "from when all physical volumes "
                                                                                               "were there.") "headgate_activation_seconds{vg=\"data\",uuid=\"" DASHED("1") "\"} 2.500000\n"
                                                                                                                                                                            "headgate_activation_seconds{vg=\"data\",uuid=\"" DASHED(
                                                                                                                                                                                    "2") "\"} 1.250000\n"
                                                                                                                                                                                         "# EOF\n";

START_TEST(all_is_known)
{
        struct vg one = {.name = (char *) "data", .vgid = UUID("1"), .complete_usec = 1, .settled_usec = 2500001};
        struct vg two = {.name = (char *) "data", .vgid = UUID("2"), .complete_usec = 1, .settled_usec = 1250001};
        const struct vg *activated[] = {&one, &two};
        const struct metrics metrics = {
                .in_charge = true,
                .n_in_state = {[VG_STATUS_WAITING] = 1, [VG_STATUS_ACTIVE] = 2, [VG_STATUS_ABSENT] = 3},
                .n_overdue = 4,
                .n_missing_pvs = 5,
                .n_failures = 6,
                .all_usec = 12000034,
                .needed_usec = 900000,
                .activated = activated,
                .n_activated = ELEMENTSOF(activated),
        };
        _cleanup_free_ char *text = metrics_format(&metrics);

        ck_assert_pstr_eq(text, text_of_all);
}
END_TEST

START_TEST(nothing_is_known)
{
        const struct metrics metrics = {};
        _cleanup_free_ char *text = metrics_format(&metrics);

        ck_assert_ptr_nonnull(text);
        ck_assert_ptr_nonnull(strstr(text, "headgate_in_charge 0\n"));
        ck_assert_ptr_null(strstr(text, "_seconds"));
        ck_assert_str_eq(text + strlen(text) - strlen("\n# EOF\n"), "\n# EOF\n");
}
END_TEST

/* One more has the sum alone. */
START_TEST(there_are_many)
{
        const struct vg vg = {
                .name = (char *) "data", .vgid = UUID("1"), .complete_usec = 1, .settled_usec = USEC_PER_SEC + 1};
        const struct vg *activated[METRICS_VGS_MAX + 1];

        for (size_t n = METRICS_VGS_MAX; n <= METRICS_VGS_MAX + 1; n++) {
                const struct metrics metrics = {.activated = activated, .n_activated = n};
                _cleanup_free_ char *text = NULL,
                                    *sum = string_format("headgate_activations_seconds %zu.000000\n", n);
                size_t n_lines = 0;

                for (size_t i = 0; i < n; i++)
                        activated[i] = &vg;
                text = metrics_format(&metrics);
                ck_assert_ptr_nonnull(text);
                ck_assert_ptr_nonnull(strstr(text, sum));
                for (const char *line = text; (line = strstr(line, "\nheadgate_activation_seconds{")); line++)
                        n_lines++;
                ck_assert_uint_eq(n_lines, n > METRICS_VGS_MAX ? 0 : n);
        }
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("openmetrics");
        TCase *test_case = tcase_create("openmetrics");

        tcase_add_test(test_case, all_is_known);
        tcase_add_test(test_case, nothing_is_known);
        tcase_add_test(test_case, there_are_many);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
