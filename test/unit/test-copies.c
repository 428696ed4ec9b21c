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

static const struct surveyed_vg *find(const struct survey *survey, const char *name)
{
        FOREACH_ARRAY(vg, survey->vgs, survey->n_vgs)
                if (streq(vg->name, name))
                        return vg;
        return NULL;
}

/* Of all images whose names begin so, but for every PV after the first `n_max`. */
static void make_survey(struct survey *survey, const char *prefix, size_t n_max)
{
        _cleanup_images_ struct image_list list = images_list();
        _cleanup_strv_ struct strv paths = {};

        for (size_t i = 0; i < list.n && paths.n < n_max; i++) {
                _cleanup_free_ char *path =
                        string_format("%s/%s.img", getenv("HEADGATE_TEST_IMAGES"), list.names[i]);

                if (skip_prefix(list.names[i], prefix))
                        ck_assert_int_eq(strv_add(&paths, path), 0);
        }
        ck_assert_int_eq(survey_make(survey, paths.strings, paths.n), 0);
}

static void assert_vg(const struct survey *survey, const char *name, size_t n_pvs, size_t n_used, size_t n_ignored)
{
        const struct surveyed_vg *vg = find(survey, name);

        ck_assert_ptr_nonnull(vg);
        ck_assert_uint_eq(vg->metadata->n_pvs, n_pvs);
        ck_assert_uint_eq(vg->n_seen, n_pvs);
        ck_assert_uint_eq(vg->copies.n_used, n_used);
        ck_assert_uint_eq(vg->copies.n_ignored, n_ignored);
}

/* Fails unless so many copies are recommended for a VG, for that reason. */
static void assert_recommended(
        const struct surveyed_vg *vg, const struct system_id *host, size_t expected, const char *expected_reason)
{
        _cleanup_free_ char *reason = NULL;
        size_t n;

        ck_assert_int_eq(copies_recommend(vg, host, &n, &reason), 0);
        ck_assert_str_eq(reason, expected_reason);
        ck_assert_uint_eq(n, expected);
}

static void assert_refused(const struct surveyed_vg *vg, const char *expected_reason)
{
        _cleanup_free_ char *reason = NULL;
        size_t n;

        ck_assert_int_eq(copies_recommend(vg, &this_host, &n, &reason), 1);
        ck_assert_str_eq(reason, expected_reason);
        ck_assert_uint_eq(n, 0);
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
        ck_assert_ptr_null(find(&survey, "orphan"));
        /* The text ends with a NUL, which counts. */
        ck_assert_uint_eq(find(&survey, "many")->text_size, strlen(text) + 1);
        for (size_t i = 1; i < survey.n_vgs; i++)
                ck_assert_int_le(strcmp(survey.vgs[i - 1].name, survey.vgs[i].name), 0);
}
END_TEST

START_TEST(some_are_missing)
{
        _cleanup_survey_ struct survey survey = {};
        const struct surveyed_vg *vg;

        make_survey(&survey, "many-", 40);
        vg = find(&survey, "many");
        ck_assert_uint_eq(vg->metadata->n_pvs, 350);
        ck_assert_uint_eq(vg->n_seen, 40);
        ck_assert_uint_eq(vg->copies.n_used, 40);
        assert_recommended(vg, &this_host, COPIES_ENOUGH,
                "each lvm2 command reads 40 copies; 5 survive the loss of any 4 disks");
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
}
END_TEST

START_TEST(no_pv_at_all)
{
        _cleanup_survey_ struct survey none = {}, unreadable = {};

        ck_assert_int_eq(survey_make(&none, NULL, 0), 0);
        ck_assert_int_eq(survey_make(&unreadable, (char *const[]){(char *) "/"}, 1), -ENODATA);
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

                ck_assert_int_eq(survey_make(&survey, orders[i], 2), 0);
                ck_assert_uint_eq(survey.n_vgs, 1);
                ck_assert_uint_eq(survey.vgs[0].n_seen, 2);
                ck_assert_uint_eq(survey.vgs[0].copies.n_used, 2 - i);
        }
}
END_TEST

START_TEST(recommendations)
{
        _cleanup_survey_ struct survey survey = {};
        struct surveyed_vg many;

        make_survey(&survey, "", SIZE_MAX);
        many = *find(&survey, "many");
        assert_recommended(&many, &this_host, COPIES_ENOUGH,
                "each lvm2 command reads 350 copies; 5 survive the loss of any 4 disks");
        many.copies = (struct copies){6, 344};
        assert_recommended(&many, &this_host, COPIES_ENOUGH,
                "each lvm2 command reads 6 copies; 5 survive the loss of any 4 disks");
        many.copies = (struct copies){5, 345};
        assert_recommended(&many, &this_host, 0, "5 copies survive the loss of any 4 disks");
        many.copies = (struct copies){1, 349};
        assert_recommended(
                &many, &this_host, COPIES_ENOUGH, "with 1 in use, one failed disk can lose the metadata");
        many.copies = (struct copies){0, 3};
        assert_recommended(&many, &this_host, 3, "with 0 in use, one failed disk can lose the metadata");
        many.copies = (struct copies){1, 0};
        assert_recommended(&many, &this_host, 0, "no other PV has room for a copy");

        assert_recommended(find(&survey, "ignored"), &this_host, 0, "4 copies survive the loss of any 3 disks");
        assert_recommended(find(&survey, "noauto"), &this_host, 0, "no other PV has room for a copy");
}
END_TEST

START_TEST(small_vgs_keep_their_copies)
{
        struct vg metadata = {.n_pvs = 20};
        const struct surveyed_vg vg = {.metadata = &metadata, .copies = {20, 0}};

        assert_recommended(&vg, &this_host, 0, "20 copies survive the loss of any 19 disks");
        metadata.n_pvs = 21;
        assert_recommended(&vg, &this_host, COPIES_ENOUGH,
                "each lvm2 command reads 20 copies; 5 survive the loss of any 4 disks");
}
END_TEST

START_TEST(others_are_refused)
{
        static const struct system_id unknown = {.known = false};
        _cleanup_survey_ struct survey survey = {};

        make_survey(&survey, "", SIZE_MAX);
        assert_refused(find(&survey, "shared"), "it is shared by several hosts (lock type sanlock)");
        assert_refused(find(&survey, "clustered"), "it is shared by several hosts (lock type clvmd)");
        assert_refused(find(&survey, "systemid"), "it belongs to another host (system ID elsewhere)");
        /* lvm2 knows the system ID even if headgate does not. */
        assert_recommended(find(&survey, "systemid"), &unknown, 0, "no other PV has room for a copy");
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
        tcase_add_test(test_case, no_pv_at_all);
        tcase_add_test(test_case, each_text_once);
        tcase_add_test(test_case, recommendations);
        tcase_add_test(test_case, small_vgs_keep_their_copies);
        tcase_add_test(test_case, others_are_refused);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
