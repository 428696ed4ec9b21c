/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How many copies of their metadata VGs have, by images that lvm2 has made, and what is said of them. */

#include <fcntl.h>
#include <sys/sendfile.h>

#include "copies/copies.h"

#include "fixture.h"
#include "images.h"
#include "lvm/pv.h"
#include "shared/util.h"

static const struct system_id this_host = {.known = true};
static const struct copies_cost costs = {.read_usec = 1250000, .fewer = 5, .fewer_usec = 30000};

/* Of all images whose names begin so, but for every PV after the first `n_max`. */
static void make_survey(struct survey *survey, const char *prefix, size_t n_max)
{
        _cleanup_images_ struct image_list list = images_list();
        _cleanup_string_vector_ struct string_vector paths = {};

        for (size_t i = 0; i < list.n && paths.n < n_max; i++) {
                _cleanup_free_ char *path =
                        string_format("%s/%s.img", getenv("HEADGATE_TEST_IMAGES"), list.names[i]);

                if (skip_prefix(list.names[i], prefix))
                        ck_assert_int_eq(string_vector_add(&paths, path), 0);
        }
        ck_assert_int_eq(survey_make(survey, paths.strings, paths.n), 0);
        ck_assert_int_eq(survey->error, 0);
}

static void assert_vg(const struct survey *survey, const char *name, size_t n_pvs, size_t n_used, size_t n_ignored)
{
        const struct surveyed_vg *vg = survey_find(survey, name);

        ck_assert_ptr_nonnull(vg);
        ck_assert_uint_eq(vg->metadata->n_pvs, n_pvs);
        ck_assert_uint_eq(vg->n_seen, n_pvs);
        ck_assert_uint_eq(vg->n_used, n_used);
        ck_assert_uint_eq(vg->n_ignored, n_ignored);
        ck_assert_uint_eq(vg->n_damaged, 0);
}

/* What is recommended for a VG, which has to have these words in its reason. */
static size_t recommended(const struct surveyed_vg *vg, const struct system_id *host, const char *words)
{
        _cleanup_free_ char *reason = NULL;
        size_t n;

        ck_assert_int_eq(copies_advise(vg, host, &costs, &n, &reason), 0);
        ck_assert_msg(strstr(reason, words), "%s", reason);
        return n;
}

START_TEST(counts)
{
        _cleanup_survey_ struct survey survey = {};
        _cleanup_free_ char *text = image_read_text("many-1");

        make_survey(&survey, "", SIZE_MAX);
        assert_vg(&survey, "many", 350, 350, 0);
        /* PVs without an area, with one, and with two. */
        assert_vg(&survey, "copies", 3, 3, 0);
        assert_vg(&survey, "ignored", 3, 4, 2);
        assert_vg(&survey, "chosen", 3, 3, 3);
        ck_assert_ptr_null(survey_find(&survey, "orphan"));
        /* The text ends with a NUL, which counts. */
        ck_assert_uint_eq(survey_find(&survey, "many")->text_size, strlen(text) + 1);
        for (size_t i = 1; i < survey.n_vgs; i++)
                ck_assert_int_le(strcmp(survey.vgs[i - 1].metadata->name, survey.vgs[i].metadata->name), 0);
}
END_TEST

START_TEST(some_are_missing)
{
        _cleanup_survey_ struct survey survey = {};
        const struct surveyed_vg *vg;

        make_survey(&survey, "many-", 40);
        vg = survey_find(&survey, "many");
        ck_assert_uint_eq(vg->metadata->n_pvs, 350);
        ck_assert_uint_eq(vg->n_seen, 40);
        ck_assert_uint_eq(vg->n_used, 40);
        ck_assert_uint_eq(recommended(vg, &this_host, "40 copies"), COPIES_ENOUGH);
}
END_TEST

START_TEST(same_pv_twice)
{
        _cleanup_survey_ struct survey survey = {};
        _cleanup_free_ char *path = string_format("%s/plain-1.img", getenv("HEADGATE_TEST_IMAGES"));
        char *const paths[] = {path, path, (char *) "/nonexistent", (char *) "/dev/null", (char *) "/"};

        ck_assert_int_eq(survey_make(&survey, paths, ELEMENTSOF(paths)), 0);
        ck_assert_uint_eq(survey.n_pvs, 1);
        ck_assert_uint_eq(survey.n_vgs, 1);
        ck_assert_int_eq(survey.error, -EISDIR);
}
END_TEST

/* An image whose text is not what its header says. The reader closes what its parent has open, so it is a file. */
static void damage_text(const char *name, const char *path)
{
        const size_t size = (size_t) 1024 * 1024;
        _cleanup_close_ int fd = image_copy(name, size);
        _cleanup_close_ int copy_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        const char *reason;
        struct metadata_location location;
        struct label label;

        ck_assert_int_eq(label_read(fd, &label, &reason), LABEL_FOUND);
        ck_assert_int_eq(metadata_area_read_location(fd, &label.metadata_areas[0], &location, &reason), 0);
        ck_assert_int_eq(
                pwrite(fd, "damage", 6, (off_t) (label.metadata_areas[0].offset + location.offset + 100)), 6);
        ck_assert_int_eq(sendfile(copy_fd, fd, &(off_t){0}, size), size);
}

START_TEST(each_text_once)
{
        _cleanup_free_ char *good = string_format("%s/many-1.img", getenv("HEADGATE_TEST_IMAGES"));
        _cleanup_free_ char *damaged = string_format("%s/damaged", run_directory());
        char *const orders[][2] = {{good, damaged}, {damaged, good}};

        damage_text("many-2", damaged);
        /* That a text is damaged is not seen by who does not read it. */
        for (size_t i = 0; i < ELEMENTSOF(orders); i++) {
                _cleanup_survey_ struct survey survey = {};
                const struct surveyed_vg *vg;

                ck_assert_int_eq(survey_make(&survey, orders[i], 2), 0);
                ck_assert_uint_eq(survey.n_vgs, 1);
                ck_assert_uint_eq(survey.vgs[0].n_seen, 2);
                ck_assert_uint_eq(survey.vgs[0].n_damaged, i);
                ck_assert_uint_eq(survey.vgs[0].n_used, 2 - i);

                /* Each is read then, and the one that is damaged takes no time that would count. */
                vg = &survey.vgs[0];
                ck_assert_int_eq(survey_measure(&survey, &vg, 1), 0);
                ck_assert_uint_eq(vg->pvs[0]->n_read, 1);
                ck_assert_uint_eq(vg->pvs[1]->n_read, 0);
        }
}
END_TEST

START_TEST(advice)
{
        _cleanup_survey_ struct survey survey = {};
        struct surveyed_vg few = {}, one = {};

        make_survey(&survey, "", SIZE_MAX);
        ck_assert_uint_eq(
                recommended(survey_find(&survey, "many"), &this_host,
                        "reads 350 copies, and each change writes them: 1.3s, against 30.0ms with 5, which "
                        "outlive the loss of any 4 disks."),
                COPIES_ENOUGH);
        ck_assert_uint_eq(recommended(survey_find(&survey, "ignored"), &this_host, "no more than 20 PVs"), 0);
        ck_assert_uint_eq(copies_fewer(survey_find(&survey, "many")), 5);
        ck_assert_uint_eq(copies_fewer(survey_find(&survey, "copies")), 1);

        few = *survey_find(&survey, "many");
        few.n_used = 5;
        few.n_ignored = 345;
        ck_assert_uint_eq(
                recommended(&few, &this_host, "5 copies are read fast, and outlive the loss of any 4"), 0);
        few.n_used = 1;
        ck_assert_uint_eq(recommended(&few, &this_host, "one copy in use"), COPIES_ENOUGH);
        ck_assert_uint_eq(copies_fewer(&few), 0);

        one = *survey_find(&survey, "noauto");
        ck_assert_uint_eq(recommended(&one, &this_host, "It has one PV."), 0);
}
END_TEST

START_TEST(left_alone)
{
        static const struct system_id unknown = {.known = false};
        _cleanup_survey_ struct survey survey = {};

        make_survey(&survey, "", SIZE_MAX);
        ck_assert_uint_eq(
                recommended(survey_find(&survey, "shared"), &this_host, "is shared with other hosts"), 0);
        ck_assert_uint_eq(recommended(survey_find(&survey, "clustered"), &this_host, "is clustered"), 0);
        ck_assert_uint_eq(recommended(survey_find(&survey, "systemid"), &this_host, "belongs to another host"), 0);
        /* lvm2 knows what its system ID is, if nobody else does. */
        ck_assert_uint_eq(recommended(survey_find(&survey, "systemid"), &unknown, "It has one PV."), 0);
}
END_TEST

/* The least of five: on a busy machine a single measurement can take any time. */
START_TEST(measures)
{
        _cleanup_survey_ struct survey survey = {};
        const struct surveyed_vg *vg;
        uint64_t with_all = UINT64_MAX, with_none = UINT64_MAX;

        make_survey(&survey, "many-", SIZE_MAX);
        vg = survey_find(&survey, "many");
        for (int i = 0; i < 5; i++) {
                for (size_t j = 0; j < survey.n_pvs; j++)
                        survey.pvs[j].measured = false;
                ck_assert_int_eq(survey_measure(&survey, &vg, 1), 0);
                with_all = MIN(with_all, survey_read_usec(vg, vg->n_used));
                with_none = MIN(with_none, survey_read_usec(vg, 0));
        }
        /* 350 texts of 58 KiB, with their checksums, against none. */
        ck_assert_uint_gt(with_none, 0);
        ck_assert_uint_gt(with_all, with_none);
        ck_assert_uint_le(survey_read_usec(vg, 5), survey_read_usec(vg, 6));
        ck_assert_uint_eq(survey_read_usec(vg, 350), survey_read_usec(vg, 351));
        ck_assert_uint_eq(vg->pvs[0]->n_read, 1);
}
END_TEST

/* Nothing else is, and each PV once, also one that two VGs claim; no PV has more copies than it had. */
START_TEST(measures_what_is_asked_for)
{
        _cleanup_survey_ struct survey survey = {};
        const struct surveyed_vg *vgs[2];

        make_survey(&survey, "", SIZE_MAX);
        vgs[0] = vgs[1] = survey_find(&survey, "copies");
        ck_assert_int_eq(survey_measure(&survey, vgs, 2), 0);
        ck_assert_uint_gt(survey_read_usec(vgs[0], 0), 0);
        ck_assert_uint_gt(survey_read_usec(vgs[0], 3), survey_read_usec(vgs[0], 0));
        ck_assert_uint_eq(survey_read_usec(survey_find(&survey, "many"), 350), 0);
        for (size_t i = 0; i < survey.n_pvs; i++)
                ck_assert_uint_eq(survey.pvs[i].n_read, survey.pvs[i].measured ? survey.pvs[i].n_used : 0);
        ck_assert_int_eq(survey_measure(&survey, NULL, 0), 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("copies");
        TCase *test_case = tcase_create("copies");

        tcase_set_timeout(test_case, 60);
        tcase_add_checked_fixture(test_case, run_directory_set_up, run_directory_tear_down);
        tcase_add_test(test_case, counts);
        tcase_add_test(test_case, some_are_missing);
        tcase_add_test(test_case, same_pv_twice);
        tcase_add_test(test_case, each_text_once);
        tcase_add_test(test_case, measures_what_is_asked_for);
        tcase_add_test(test_case, advice);
        tcase_add_test(test_case, left_alone);
        tcase_add_test(test_case, measures);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
