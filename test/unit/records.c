/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "records.h"

#include <check.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "images.h"
#include "lvm/metadata.h"
#include "shapes.h"
#include "shared/flags.h"
#include "shared/util.h"
#include "why/why.h"

void records_set_up(void)
{
        _cleanup_free_ char *root = NULL;

        shape_set_up();
        root = string_format("%s/root", run_directory());
        ck_assert_int_eq(setenv("HEADGATE_ROOT", root, true), 0);
        ck_assert_int_eq(flags_set(run_fd, FLAGS_TAKEN_OVER), 0);
        ck_assert_int_eq(flags_set(run_fd, FLAGS_BOOT_FINISHED), 0);
}

void records_tear_down(void)
{
        unsetenv("HEADGATE_ROOT");
        shape_tear_down();
}

/* ------ a VG on record, with its PVs on images ------ */

char *records_image_path(const char *name)
{
        return string_format("%s/%s.img", getenv("HEADGATE_TEST_IMAGES"), name);
}

struct vg *records_read_image(const char *image)
{
        _cleanup_free_ char *text = image_read_text(image);
        struct vg *vg = NULL;
        const char *reason;

        ck_assert_int_eq(metadata_parse(text, &vg, &reason), 0);
        return vg;
}

/* "plain-1" is PV 0 of the VG. */
void records_see_pv(struct vg *vg, size_t index, const char *image)
{
        vg->pvs[index].device = makedev(8, (unsigned int) index);
        free(vg->pvs[index].device_name);
        vg->pvs[index].device_name = records_image_path(image);
}

void records_save(const struct vg *vg)
{
        save_vg(run_fd, vg);
}

/* With all PVs there. */
void records_save_settled(const char *image, enum vg_status state, const char *reason)
{
        _cleanup_vg_ struct vg *vg = records_read_image(image);

        for (size_t i = 0; i < vg->n_pvs; i++)
                records_see_pv(vg, i, image);
        vg->status = state;
        vg->reason = reason ? strdup(reason) : NULL;
        vg->first_seen_usec = vg->complete_usec = now_usec() - 2 * USEC_PER_SEC;
        vg->activating_usec = now_usec() - USEC_PER_SEC;
        vg->settled_usec = now_usec();
        records_save(vg);
}

/* The LV is active, as dm device 253:MINOR. */
void records_activate(const char *image, const char *lv_name, unsigned int minor_number)
{
        _cleanup_vg_ struct vg *vg = records_read_image(image);

        for (size_t i = 0; i < vg->n_lvs; i++)
                if (streq(vg->lvs[i].name, lv_name)) {
                        _cleanup_free_ char *uuid = string_format("LVM-%s%s", vg->vgid, vg->lvs[i].lvid);
                        _cleanup_free_ char *name = string_format("%s-%s", vg->name, lv_name);

                        shape_dm(minor_number, name, uuid, "linear");
                        return;
                }
        ck_abort_msg("no LV %s", lv_name);
}

void records_claim(const char *name)
{
        _cleanup_free_ char *path = string_format("lvm/vgs_online/%s", name);
        int fd;

        ck_assert(mkdirat(run_fd, "lvm", 0700) == 0 || errno == EEXIST);
        ck_assert(mkdirat(run_fd, "lvm/vgs_online", 0700) == 0 || errno == EEXIST);
        fd = openat(run_fd, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        ck_assert_int_ge(fd, 0);
        close(fd);
}

/* ------ questions ------ */

void records_print(const struct why *explanation)
{
        printf("%s\n", explanation->answer);
        for (size_t i = 0; i < explanation->facts.n; i++)
                printf("  %s\n", explanation->facts.strings[i]);
        for (size_t i = 0; i < explanation->advice.n; i++)
                printf("  -> %s\n", explanation->advice.strings[i]);
}

/* `lv` is NULL for the VG. */
struct why records_ask(const char *vg, const char *lv)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        _cleanup_vg_view_ struct vg_view view = {};
        struct why explanation = {.sources = &sources};

        ck_assert_int_eq(sources_read(&sources), 0);
        ck_assert_int_eq(vg_view_find(&sources, vg, "", &view), 1);
        if (lv)
                ck_assert(logical_volume_explain(&explanation, &view, lv));
        else
                vg_explain(&explanation, &view);
        ck_assert_int_eq(explanation.error, 0);
        ck_assert_ptr_nonnull(explanation.answer);
        records_print(&explanation);
        return explanation;
}

static bool any_has(const struct strv *texts, const char *part)
{
        for (size_t i = 0; i < texts->n; i++)
                if (strstr(texts->strings[i], part))
                        return true;
        return false;
}

void expect_answer(const struct why *explanation, enum verdict verdict, const char *state, const char *answer)
{
        ck_assert_int_eq(explanation->verdict, verdict);
        ck_assert_str_eq(explanation->state, state);
        ck_assert_str_eq(explanation->answer, answer);
}

bool has_fact(const struct why *explanation, const char *part)
{
        return any_has(&explanation->facts, part);
}

bool has_advice(const struct why *explanation, const char *part)
{
        return any_has(&explanation->advice, part);
}
