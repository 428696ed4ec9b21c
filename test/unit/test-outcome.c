/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What vgchange has printed and how it has ended, as facts about one VG. The outputs were recorded in guests: with lvm2
 * 2.03.16 (bookworm) and 2.03.31 (forky), which differ in none of these. */

#include <check.h>
#include <errno.h>
#include <libdevmapper.h>
#include <stdlib.h>

#include "fixture.h"
#include "inventory/outcome.h"
#include "shared/util.h"

#define ACTIVE(vg) "  1 logical volume(s) in volume group \"" vg "\" now active\n"
#define CHECKSUM                                                                                                  \
        "  WARNING: Checksum error on /dev/sde at offset 5632.\n"                                                 \
        "  WARNING: invalid metadata text from /dev/sde at 5632.\n"                                               \
        "  WARNING: metadata on /dev/sde at 5632 has invalid summary for VG.\n"                                   \
        "  WARNING: repair VG metadata on /dev/sde with vgck --updatemetadata.\n"
#define ONLINE_ERROR                                                                                              \
        "  Cannot access device /dev/sda for 8:0.\n"                                                              \
        "  No device name found from 8:0.\n"                                                                      \
        "  No device found for 8:0 PVID 2f8jfXjt6Kh8f9uZqVf7mYqvBkPHlZfq\n"                                       \
        "  PVs online error, using all devices.\n"
#define REFUSING(lv) "  Refusing activation of partial LV " lv ".  Use '--activationmode partial' to override.\n"
#define BUSY                                                                                                      \
        "  device-mapper: reload ioctl on  (254:6) failed: Device or resource busy\n"                             \
        "  1 logical volume(s) in volume group \"bb\" now active\n"
#define TRANSACTION                                                                                               \
        "  Thin pool thin1-pool-tpool (254:5) transaction_id is 2, while expected 5.\n"                           \
        "  Thin pool thin1-pool-tpool (254:5) transaction_id is 2, while expected 5.\n"
#define MISSING                                                                                                   \
        "  WARNING: Couldn't find device with uuid tpnLzz-XABy-sySI-pzUB-WUvZ-qQq8-d9lOZZ.\n"                     \
        "  WARNING: VG mirror is missing PV tpnLzz-XABy-sySI-pzUB-WUvZ-qQq8-d9lOZZ (last written to /dev/sdl).\n"

/* After so many allocations there is no memory. A sanitizer has allocations of its own. */
#if !defined(__SANITIZE_ADDRESS__)
#define HAS_LIMIT 1
static size_t n_allocations = SIZE_MAX;

void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
        if (n_allocations == 0) {
                errno = ENOMEM;
                return NULL;
        }
        n_allocations -= n_allocations != SIZE_MAX;
        return __libc_malloc(size);
}
#endif

static const struct config no_lists;
static struct vg_lv lvs[12];
static char names[ELEMENTSOF(lvs)][8];

/* A VG with LVs "a" and so on, or with those of `lv_names`; of `n_active` of them the first are active. */
static struct vg make_vg(const char *name, size_t n_lvs, size_t n_active, const char *const *lv_names)
{
        for (size_t i = 0; i < n_lvs; i++) {
                snprintf(names[i], sizeof(names[i]), "%s",
                        lv_names ? lv_names[i] : (char[]){(char) ('a' + i), '\0'});
                lvs[i] = (struct vg_lv){.name = names[i], .autoactivated = true, .active = i < n_active};
        }
        return (struct vg){.name = (char *) name, .n_lvs = n_lvs, .lvs = lvs};
}

START_TEST(normal_activation)
{
        static const char *const root[] = {"root"};
        static const struct {
                const char *vg;
                size_t n_vgs;
                int status;
                const char *output;
                enum vg_event event;
                const char *words;
        } rows[] = {
                /* Success that leaves an LV out, and no list of the configuration does. */
                {"vg0001", 1, 0, ACTIVE("vg0001"), VG_ENDED_FAILED, "vgchange exited with status 0."},
                {"vg0001", 2, 0, ACTIVE("vg0001") ACTIVE("vg0002"), VG_ENDED_UNCLEAR, NULL},
                /* Of several, what is said of one may be the others' fault, and silence says nothing. */
                {"alone", 2, 5,
                        ONLINE_ERROR ACTIVE("left") "  Volume group \"alone\" not found\n"
                                                    "  Cannot process volume group alone\n",
                        VG_ENDED_UNCLEAR, NULL},
                {"left", 2, 5, ONLINE_ERROR ACTIVE("left") "  Volume group \"alone\" not found\n",
                        VG_ENDED_UNCLEAR, NULL},
                {"half", 2, 5, REFUSING("half/root") ACTIVE("left"), VG_ENDED_UNCLEAR, NULL},
                {"vg0004", 2, 139, ACTIVE("vg0003"), VG_ENDED_UNCLEAR, NULL},
                /* Alone, all lines count. */
                {"aa", 1, 5, BUSY, VG_ENDED_FAILED,
                        "device-mapper: reload ioctl on  (254:6) failed: Device or resource busy"},
                {"thin1", 1, 5, TRANSACTION ACTIVE("thin1"), VG_ENDED_FAILED,
                        "Thin pool thin1-pool-tpool (254:5) transaction_id is 2, while expected 5."},
                {"vg0005", 1, 5,
                        CHECKSUM "  Volume group \"vg0005\" not found\n  Cannot process volume group vg0005\n",
                        VG_ENDED_FAILED, "Volume group \"vg0005\" not found"},
                {"vg0004", 1, 5, CHECKSUM BUSY, VG_ENDED_FAILED,
                        "device-mapper: reload ioctl on  (254:6) failed: Device or resource busy"},
                {"vg0004", 1, 5, "", VG_ENDED_FAILED, "vgchange exited with status 5."},
                {"vg0004", 1, 139, "", VG_ENDED_FAILED, "vgchange was ended by signal 11."},
                {"vg0004", 1, -1, "", VG_ENDED_FAILED, "vgchange exited with status -1."},
                /* By the VG's name, by the LV's, and by device-mapper's; a warning only without an error. */
                {"mirror", 1, 0, MISSING ACTIVE("mirror"), VG_ENDED_FAILED,
                        "WARNING: VG mirror is missing PV tpnLzz-XABy-sySI-pzUB-WUvZ-qQq8-d9lOZZ (last written to /dev/sdl)."},
                {"mirror", 1, 5, MISSING REFUSING("mirror/root"), VG_ENDED_FAILED,
                        "Refusing activation of partial LV mirror/root.  Use '--activationmode partial' to override."},
                {"my-vg", 1, 5,
                        "  device-mapper: create ioctl on my--vg-root LVM-x failed: Device or resource busy\n",
                        VG_ENDED_FAILED,
                        "device-mapper: create ioctl on my--vg-root LVM-x failed: Device or resource busy"},
        };
        _cleanup_free_ char *words = NULL;
        struct vg vg = make_vg(rows[_i].vg, 1, 0, root);
        const struct vgchange_end end = {rows[_i].n_vgs, rows[_i].status, rows[_i].output, &no_lists};

        ck_assert_int_eq(outcome_read(&vg, &end, &words), rows[_i].event);
        if (rows[_i].words)
                ck_assert_str_eq(words, rows[_i].words);
        else
                ck_assert_ptr_null(words);
}
END_TEST

/* What the lists leave out is no failure, whatever the status; what they may leave out by a tag is none if lvm2 succeeds. */
START_TEST(lists_leave_out)
{
        static const struct {
                const char *listed, *also;
                int status;
                enum vg_event event;
        } rows[] = {
                {"vg/a", "other", 5, VG_ENDED_OK},
                {"vg/a", "vg/b", 5, VG_ENDED_FAILED},
                {"vg", "other", 0, VG_ENDED_FAILED},
                {"vg/a", "@tag", 0, VG_ENDED_OK},
                {"vg/a", "@tag", 5, VG_ENDED_FAILED},
        };
        char *values[] = {(char *) rows[_i].listed, (char *) rows[_i].also};
        const struct config_list list = {true, {.strings = values, .n = 2}};
        const struct config by_itself = {.auto_activation_volume_list = list}, at_all = {.volume_list = list};
        const struct config *const configs[] = {&by_itself, &at_all};
        struct vg vg = make_vg("vg", 2, 1, NULL);

        for (size_t i = 0; i < ELEMENTSOF(configs); i++) {
                _cleanup_free_ char *words = NULL;
                const struct vgchange_end end = {1, rows[_i].status, "", configs[i]};

                ck_assert_int_eq(outcome_read(&vg, &end, &words), rows[_i].event);
        }
}
END_TEST

/* Which LVs have one of the host's tags, and what lvm_TAG.conf says, only lvm2 knows: its success is an answer. */
START_TEST(host_tags_may_leave_out)
{
        static char *others[] = {(char *) "other"};
        const struct config configs[] = {
                {.host_tags = true}, {.host_tags = true, .volume_list = {true, {.strings = others, .n = 1}}}};
        struct vg vg = make_vg("vg", 2, _i % 2, NULL);

        FOREACH_ELEMENT(config, configs) {
                _cleanup_free_ char *words = NULL;
                const int status = _i < 2 ? 0 : 5;
                const struct vgchange_end end = {1, status, "", config};

                ck_assert_int_eq(outcome_read(&vg, &end, &words), status == 0 ? VG_ENDED_OK : VG_ENDED_FAILED);
        }
}
END_TEST

/* An LV that is active is not what lvm2 complains of. */
START_TEST(words_are_about_an_inactive_lv)
{
        _cleanup_free_ char *words = NULL;
        struct vg vg = make_vg("data", 3, 1, NULL);
        const struct vgchange_end end = {1, 5, "  LV data/a is odd.\n  LV data/c is in use.\n", &no_lists};

        ck_assert_int_eq(outcome_read(&vg, &end, &words), VG_ENDED_FAILED);
        ck_assert_str_eq(words, "LV data/c is in use.");
}
END_TEST

/* What lvm2 has said is no matter, and is not looked for. */
START_TEST(nothing_is_explained_of_an_active_vg)
{
        _cleanup_free_ char *words = NULL;
        struct vg vg = make_vg("half", 2, 2, NULL);
        const struct vgchange_end end = {2, 139, REFUSING("half/a"), &no_lists};

        ck_assert_int_eq(outcome_read(&vg, &end, &words), VG_ENDED_OK);
        ck_assert_ptr_null(words);
}
END_TEST

/* Eight that fail with the same words speak for others, for a moment. */
START_TEST(same_words_speak_for_others)
{
        struct alike alike = {};
        char words[64];

        for (size_t i = 0; i < ALIKE_MAX; i++) {
                ck_assert(!alike_applies_to_others(&alike, 1000));
                snprintf(words, sizeof(words), "reload ioctl on vg%04zu-lv (254:%zu) failed", i, i);
                ck_assert_int_eq(alike_note(&alike, words, 1000), 0);
        }
        ck_assert(alike_applies_to_others(&alike, 1000));
        ck_assert(!alike_applies_to_others(&alike, 1000 + 60 * USEC_PER_SEC));
        ck_assert_int_eq(alike_note(&alike, "another reason", 1000), 0);
        ck_assert(!alike_applies_to_others(&alike, 1000));
        for (size_t i = 0; i < ALIKE_MAX; i++)
                ck_assert_int_eq(alike_note(&alike, "another reason", 1000), 0);
        ck_assert_int_eq(alike_note(&alike, NULL, 1000), 0);
        ck_assert(!alike_applies_to_others(&alike, 1000));
        free(alike.words);
}
END_TEST

START_TEST(degraded_activation)
{
        static const char *const half[] = {"whole", "torn", "both"}, *const mirror[] = {"raid", "linear"};
        _cleanup_free_ char *words = NULL;
        struct vg vg = make_vg("half", 3, 1, half);

        ck_assert_int_eq(
                outcome_read_degraded(&vg, 5, REFUSING("half/torn") REFUSING("half/both") ACTIVE("half"), &words),
                VG_ENDED_FAILED);
        ck_assert_str_eq(words, "not activated: torn, both (lvm2: Refusing activation of partial LV half/torn).");
        free(TAKE_PTR(words));

        vg = make_vg("mirror", 2, 1, mirror);
        ck_assert_int_eq(outcome_read_degraded(&vg, 5, MISSING REFUSING("mirror/linear") ACTIVE("mirror"), &words),
                VG_ENDED_FAILED);
        ck_assert_str_eq(words, "not activated: linear (lvm2: Refusing activation of partial LV mirror/linear).");
        free(TAKE_PTR(words));

        /* All of a line without advice, and not one about an LV that nobody wants active. */
        vg = make_vg("mirror", 2, 0, mirror);
        vg.lvs[0].autoactivated = false;
        ck_assert_int_eq(
                outcome_read_degraded(&vg, 5, "  LV mirror/raid is odd.\n  LV mirror/linear is in use.\n", &words),
                VG_ENDED_FAILED);
        ck_assert_str_eq(words, "not activated: linear (lvm2: LV mirror/linear is in use.).");
        free(TAKE_PTR(words));

        vg = make_vg("mirror", 2, 2, mirror);
        ck_assert_int_eq(outcome_read_degraded(&vg, 0, MISSING ACTIVE("mirror"), &words), VG_ENDED_OK);
        ck_assert_ptr_null(words);
}
END_TEST

START_TEST(many_inactive_lvs_are_counted)
{
        _cleanup_free_ char *words = NULL;
        struct vg vg = make_vg("vg", 12, 1, NULL);

        /* One that is not to be activated is not missed. */
        lvs[2].autoactivated = false;
        ck_assert_int_eq(outcome_read_degraded(&vg, 0, "", &words), VG_ENDED_OK);
        ck_assert_str_eq(words, "not activated: b, d, e and 7 more.");
        free(TAKE_PTR(words));
        ck_assert_int_eq(outcome_read_degraded(&vg, 3, "", &words), VG_ENDED_FAILED);
        ck_assert_str_eq(words, "not activated: b, d, e and 7 more (lvm2: vgchange exited with status 3).");
}
END_TEST

#ifdef HAS_LIMIT
static void print_nothing(_unused_ int level, _unused_ const char *file, _unused_ int line, _unused_ int error,
        _unused_ const char *format, ...)
{
}

START_TEST(no_memory_is_survived)
{
        static const char *const half[] = {"whole", "torn", "both"};
        struct vg normal = make_vg("half", 3, 1, half), many;
        int r = -ENOMEM, degraded = -ENOMEM;
        size_t n = 0;

        dm_log_with_errno_init(print_nothing);
        for (; r < 0 || degraded < 0; n++) {
                _cleanup_free_ char *one = NULL, *two = NULL;

                many = make_vg("vg", 12, n % 2, NULL);
                n_allocations = n / 2;
                r = outcome_read(&normal,
                        &(struct vgchange_end){1, 5, n % 4 < 2 ? REFUSING("half/torn") : BUSY, &no_lists}, &one);
                n_allocations = n / 2;
                degraded = outcome_read_degraded(&many, 5, REFUSING("vg/f"), &two);
                n_allocations = SIZE_MAX;
                ck_assert(r >= 0 || r == -ENOMEM);
                ck_assert(degraded >= 0 || degraded == -ENOMEM);
        }
        ck_assert_uint_gt(n, 10);
}
END_TEST
#endif

int main(void)
{
        Suite *suite = suite_create("outcome");
        TCase *test_case = tcase_create("outcome");

        tcase_add_loop_test(test_case, normal_activation, 0, 16);
        tcase_add_loop_test(test_case, lists_leave_out, 0, 5);
        tcase_add_loop_test(test_case, host_tags_may_leave_out, 0, 4);
        tcase_add_test(test_case, same_words_speak_for_others);
        tcase_add_test(test_case, words_are_about_an_inactive_lv);
        tcase_add_test(test_case, nothing_is_explained_of_an_active_vg);
        tcase_add_test(test_case, degraded_activation);
        tcase_add_test(test_case, many_inactive_lvs_are_counted);
#ifdef HAS_LIMIT
        tcase_add_test(test_case, no_memory_is_survived);
#endif
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
