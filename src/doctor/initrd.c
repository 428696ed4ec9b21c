/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The initrd of this boot: the VGs that it activated, whether it was narrowed, and whether it lacks VGs that it needs now. */

#include <fcntl.h>

#include "doctor/doctor.h"
#include "initrd/maker.h"
#include "initrd/needed.h"

/* dracut's initrd lists here the VGs that it was narrowed to, see src/initrd/dracut. */
#define NARROWED "run/headgate-initrd"

/* Advice if it was not narrowed, or to other VGs. */
#define NEW_INITRD "Run: dracut -f"

/* Reports needed VGs that the initrd of this boot did not know. */
static void check_known(struct doctor *doctor)
{
        _cleanup_enumeration_ struct enumeration unknown = {};
        _cleanup_needed_ struct needed needed = {};
        int r = needed_find(doctor->sources.root_fd, NULL, 0, &needed);

        if (r == -ENXIO)
                finding_warning(doctor, "See headgate-initrd(8).", "Cannot tell what the initrd needs: %s.",
                        needed.obstacle);
        for (size_t i = 0; r >= 0 && i < needed.n; i++) {
                struct path known = path_format(NARROWED "/vg/%s", needed.lvs[i].vg);

                if ((i == 0 || !streq(needed.lvs[i].vg, needed.lvs[i - 1].vg)) && !doctor_has(doctor, known.text))
                        enumeration_add(&unknown, needed.lvs[i].vg);
        }
        if (unknown.n > 0)
                finding_warning(doctor, NEW_INITRD, "The initrd lacks %zu VG%s that it needs now: %s.", unknown.n,
                        plural(unknown.n), unknown.text ?: "?");
}

/* Whether the initrd of this boot was narrowed, by its files in /run. */
static void check_narrowed(struct doctor *doctor, const struct initrd_makers *makers)
{
        int enabled =
                makers->maker == INITRD_MAKER_NONE ? 0 : initrd_is_enabled(doctor->sources.root_fd, makers->maker);

        if (enabled == -EEXIST)
                finding_warning(doctor, "Remove that file, then run: headgate enable --initrd",
                        "%s is not headgate's.", initrd_maker_get(makers->maker)->file);
        if (doctor_has(doctor, NARROWED "/all"))
                finding_warning(doctor, NEW_INITRD,
                        "The initrd did not find a needed LV in the VGs that it knows, and activated all VGs.");
        else if (doctor_has(doctor, NARROWED))
                finding_ok(doctor, "The initrd activated only the VGs that it needs.");
        else if (enabled > 0 && makers->maker == INITRD_MAKER_DRACUT && !doctor_has(doctor, NARROWED "-off"))
                finding_warning(doctor, NEW_INITRD,
                        "The initrd of this boot activated all VGs: it is older than \"headgate enable "
                        "--initrd\", or damaged.");
        if (doctor_has(doctor, NARROWED))
                check_known(doctor);
}

void check_initrd(struct doctor *doctor)
{
        struct initrd_makers makers = initrd_find_makers(doctor->sources.root_fd);
        _cleanup_enumeration_ struct enumeration before = {};

        check_narrowed(doctor, &makers);
        /* VGs that headgate found active without activating them. */
        FOREACH_ARRAY(vg, doctor->sources.vgs, doctor->sources.n_vgs)
                if ((*vg)->status == VG_STATUS_ACTIVE && (*vg)->activating_usec == 0 &&
                        vg_count(*vg).autoactivated > 0)
                        enumeration_add(&before, (*vg)->name);
        if (!doctor->sources.in_charge)
                finding_ok(doctor, "headgate is not in charge.");
        else if (before.n > 1 && makers.maker != INITRD_MAKER_NONE &&
                 initrd_is_enabled(doctor->sources.root_fd, makers.maker) == 0)
                finding_add(doctor, FINDING_OK, 0,
                        path_format(
                                "Run: headgate enable --initrd, then %s", initrd_maker_get(makers.maker)->command)
                                .text,
                        "%zu VGs were active before headgate saw them: %s.", before.n, before.text ?: "?");
        else if (before.n > 0)
                finding_ok(doctor, "Active before headgate saw %s: %s.", before.n == 1 ? "it" : "them",
                        before.text ?: "?");
}
