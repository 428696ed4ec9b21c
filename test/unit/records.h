/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/vg.h"
#include "why/why.h"

/* A machine of files, for what headgate why says of it: the worker's records below a run directory, the rest below
 * a root, see shapes.h, and images in the place of disks. Whatever goes wrong ends the test. */

/* headgate is in charge, boot is over, and there is nothing else. */
void records_set_up(void);
void records_tear_down(void);

/* "plain-1": the path of the image. To be freed by the caller. */
char *records_image_path(const char *name);

/* A VG as its metadata on the image has it, of which nothing was seen yet. */
struct vg *records_read_image(const char *image);
/* PV number `index` of the VG was seen as 8:INDEX, and is read from the image. */
void records_see_pv(struct vg *vg, size_t index, const char *image);
/* As the worker does it. */
void records_save(const struct vg *vg);
/* Of a VG whose PVs are all there. `reason` may be NULL. */
void records_save_settled(const char *image, enum vg_status state, const char *reason);

/* An LV of the image's VG is there as device 253:MINOR. */
void records_activate(const char *image, const char *lv_name, unsigned int minor_number);
/* lvm2 takes the VG for autoactivated. */
void records_claim(const char *name);

/* What there is to say of a VG, or of an LV of it if that is not NULL. */
struct why records_ask(const char *vg, const char *lv);
/* For who reads the log of a test that has failed. */
void records_print(const struct why *explanation);

void expect_answer(const struct why *explanation, enum verdict verdict, const char *state, const char *answer);

bool has_fact(const struct why *explanation, const char *part);
bool has_advice(const struct why *explanation, const char *part);
#define expect_fact(explanation, part) ck_assert_msg(has_fact(explanation, part), "no fact: %s", part)
#define expect_advice(explanation, part) ck_assert_msg(has_advice(explanation, part), "no advice: %s", part)
#define expect_condition(explanation, name)                                                                       \
        ck_assert_msg(strv_has(&(explanation)->conditions, name), "no condition: %s", name)
