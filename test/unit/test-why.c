/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What headgate why says of VGs and LVs, by written files and by images of what lvm2 writes. */

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fixture.h"
#include "images.h"
#include "lvm/config.h"
#include "records.h"
#include "shapes.h"
#include "shared/flags.h"
#include "shared/kernel.h"
#include "shared/util.h"
#include "view/snapshot.h"
#include "why/why.h"

/* ------ VGs that are there and not to be activated ------ */

#define FOREIGN "its system ID is \"elsewhere\", and this host"
#define LIST "activation/auto_activation_volume_list in lvm.conf does not name it."

static const struct {
        const char *image, *vg;
        enum vg_status state;
        const char *reason; /* of the worker */
        const char *lvm_conf;
        const char *condition, *answer, *advice;
} unwanted[] = {
        {"exported-1", "exported", VG_STATUS_SKIPPED, "the VG is exported (vgimport makes it usable).", NULL,
                "exported", "VG exported is not active: it is exported.", "vgimport exported"},
        {"systemid-1", "systemid", VG_STATUS_FAILED,
                "Cannot access VG systemid with system ID elsewhere with unknown local system ID.", NULL,
                "foreign", "VG systemid is not active: " FOREIGN " has none.", "vgchange --systemid ID systemid"},
        {"systemid-1", "systemid", VG_STATUS_SKIPPED, "lvm2 does not accept its PV /dev/sda.",
                "global { system_id_source = \"lvmlocal\" }\nlocal { system_id = \"here\" }\n", "foreign",
                "VG systemid is not active: " FOREIGN "'s is \"here\".", "lvmsystemid(7)"},
        {"systemid-1", "systemid", VG_STATUS_SKIPPED, VG_FOREIGN "elsewhere.",
                "global { system_id_source = \"lvmlocal\" }\nlocal { system_id = \"elsewhere\" }\n", "not-wanted",
                "VG systemid is not active: " VG_FOREIGN "elsewhere.",
                "no longer holds, retry: \"headgate activate systemid\""},
        {"shared-1", "shared", VG_STATUS_SKIPPED, "the VG is shared (lock type sanlock), ...", NULL, "shared",
                "VG shared is not active: it is shared by several hosts (lock type sanlock).",
                "vgchange --lockstart shared"},
        {"clustered-1", "clustered", VG_STATUS_SKIPPED, "the VG is clustered.", NULL, "clustered",
                "VG clustered is not active: it is clustered, which lvm2 no longer supports.",
                "--lockopt force clustered"},
        {"noauto-1", "noauto", VG_STATUS_SKIPPED, "the VG's autoactivation is off (...).", NULL,
                "vg-autoactivation-off", "VG noauto is not active: its autoactivation is off.",
                "vgchange -ay noauto"},
        {"plain-1", "plain", VG_STATUS_SKIPPED, "event_activation=0 in lvm.conf.",
                "global { event_activation = 0 }\n", "event-activation-off",
                "VG plain is not active: global/event_activation is 0 in lvm.conf, which disables autoactivation.",
                "vgchange -ay plain"},
        {"plain-1", "plain", VG_STATUS_SKIPPED, "lvm2's configuration excludes all of its LVs.",
                "activation { auto_activation_volume_list = [ \"other\", \"plainer\" ] }\n",
                "auto-activation-volume-list", "VG plain is not active: " LIST, "vgchange -ay plain"},
        {"plain-1", "plain", VG_STATUS_SKIPPED, "lvm2's configuration excludes all of its LVs.",
                "activation { auto_activation_volume_list = [] }\n", "auto-activation-volume-list",
                "VG plain is not active: " LIST, "add \"plain\" to activation/auto_activation_volume_list"},
        {"plain-1", "plain", VG_STATUS_FAILED, "Activation of VG plain is not in volume_list.",
                "activation { volume_list = [ \"@here\" ] }\n", "volume-list",
                "VG plain is not active: activation/volume_list in lvm.conf does not name it, unless by a tag.",
                "add \"plain\" to activation/volume_list"},
        {"plain-1", "plain", VG_STATUS_SKIPPED, "lvm2's configuration excludes all of its LVs.",
                "activation { auto_activation_volume_list = [ \"plain/linear\" ] }\n", "not-wanted",
                "VG plain is not active: lvm2's configuration excludes all of its LVs.", NULL},
        {"plain-1", "plain", VG_STATUS_SKIPPED, "lvm2's configuration excludes all of its LVs.",
                "tags { rack7 { } }\n", "not-wanted",
                "VG plain is not active: lvm2's configuration excludes all of its LVs.",
                "\"lvs -o +vg_tags,lv_tags plain\""},
        {"plain-1", "plain", VG_STATUS_FAILED, "device-mapper: reload ioctl on plain-linear failed: Busy.", NULL,
                "failed",
                "VG plain is not active: lvm2 reported: device-mapper: reload ioctl on "
                "plain-linear failed: Busy.",
                "headgate activate plain"},
        {"plain-1", "plain", VG_STATUS_FAILED, NULL, NULL, "failed",
                "VG plain is not active: lvm2 reported: no reason.", "headgate activate plain"},
        {"plain-1", "plain", VG_STATUS_COMPLETE, NULL, NULL, "queued",
                "VG plain is not active: it is queued, and all of its PVs are there.", "headgate wait plain"},
        {"plain-1", "plain", VG_STATUS_COMPLETE, "lvm2 waits for /dev/sda, which does not answer.", NULL, "silent",
                "VG plain is not active: lvm2 waits for /dev/sda, which does not answer.", "headgate wait plain"},
        {"plain-1", "plain", VG_STATUS_ACTIVATING, NULL, NULL, "activating",
                "VG plain is not active: lvm2 is activating it.", "headgate wait plain"},
};

START_TEST(vgs_that_are_not_wanted)
{
        _cleanup_why_ struct why explanation = {};

        if (unwanted[_i].lvm_conf)
                shape_write("etc/lvm/lvm.conf", unwanted[_i].lvm_conf);
        records_save_settled(unwanted[_i].image, unwanted[_i].state, unwanted[_i].reason);
        explanation = records_ask(unwanted[_i].vg, NULL);
        expect_answer(&explanation, VERDICT_DOWN, vg_status_to_string(unwanted[_i].state), unwanted[_i].answer);
        expect_condition(&explanation, unwanted[_i].condition);
        if (unwanted[_i].advice)
                expect_advice(&explanation, unwanted[_i].advice);
}
END_TEST

/* What the worker has of lvm2's words. */
static const struct {
        const char *words, *lvm_conf, *condition, *fact, *advice;
} refusals[] = {
        {"pvscan[1] %s excluded: device is rejected by filter config.",
                "devices { filter = [ \"r|^/dev/sd.*|\" ] }\n", "filter", "is [ \"r|^/dev/sd.*|\" ].",
                "devices/filter"},
        {"pvscan[1] %s excluded: device is not in devices file.", NULL, "devices-file",
                "/etc/lvm/devices/system.devices does not list this PV.", "lvmdevices(8)"},
        {"pvscan[1] %s excluded: device is a multipath component.", NULL, "multipath-component", "", "multipath"},
        {"pvscan[1] PV %s is duplicate for PVID x on 8:1 and 8:2.", NULL, "duplicate-pv", "", "vgimportclone(8)"},
};

START_TEST(pvs_that_lvm2_does_not_accept)
{
        _cleanup_free_ char *path = records_image_path("orphan-1"), *line = NULL, *reason = NULL;
        _cleanup_why_ struct why explanation = {};
        _cleanup_vg_ struct vg *vg = records_read_image("names-1");

        records_see_pv(vg, 0, "orphan-1");
        shape_write("etc/lvm/devices/system.devices", "VERSION=1.1.1\nIDTYPE=sys_wwid PVID=nothing\n");
        if (refusals[_i].lvm_conf)
                shape_write("etc/lvm/lvm.conf", refusals[_i].lvm_conf);
        line = string_format("%.*s%s%s", (int) strcspn(refusals[_i].words, "%"), refusals[_i].words, path,
                strstr(refusals[_i].words, "%s") + 2);
        reason = string_format("lvm2 does not accept its PV %s: %s", path, line);
        vg->status = VG_STATUS_SKIPPED;
        vg->reason = strdup(reason);
        records_save(vg);

        explanation = records_ask("a.b+c_d", NULL);
        ck_assert_int_eq(explanation.verdict, VERDICT_DOWN);
        ck_assert_ptr_nonnull(strstr(explanation.answer, "lvm2 does not accept its PV"));
        expect_condition(&explanation, "refused");
        expect_condition(&explanation, refusals[_i].condition);
        expect_fact(&explanation, refusals[_i].fact);
        expect_advice(&explanation, refusals[_i].advice);
}
END_TEST

/* ------ PVs ------ */

START_TEST(missing_pvs)
{
        _cleanup_vg_ struct vg *vg = records_read_image("plain-1");
        _cleanup_why_ struct why explanation = {}, lv = {};
        char uuid[LVM_ID_FORMATTED_SIZE];
        _cleanup_free_ char *fact = NULL;

        records_see_pv(vg, 0, "plain-1");
        free(vg->pvs[1].device_name);
        vg->pvs[1].device_name = strdup("/dev/no-such-disk");
        vg->first_seen_usec = now_usec() - 40 * USEC_PER_SEC;
        vg->overdue = true;
        records_save(vg);
        ck_assert_int_eq(flags_post(run_fd, "expect:plain"), 0);
        ck_assert_int_eq(flags_post(run_fd, "8:1"), 0);
        ck_assert_int_eq(flags_clear(run_fd, FLAGS_BOOT_FINISHED), 0);

        explanation = records_ask("plain", NULL);
        expect_answer(&explanation, VERDICT_DOWN, "waiting", "VG plain is not active: 1 of its 2 PVs is missing.");
        expect_condition(&explanation, "missing-pv");
        lvm_id_format(vg->pvs[1].pvid, uuid);
        fact = string_format("PV %s is missing, last seen at /dev/no-such-disk.", uuid);
        expect_fact(&explanation, fact);
        expect_fact(&explanation, "/dev/no-such-disk does not exist now.");
        expect_fact(&explanation, "1 of its 2 PVs is there: ");
        expect_fact(&explanation, "; overdue, its deadline was 30.0s.");
        expect_fact(&explanation, "Needed at boot or requested by name; activated before others.");
        expect_fact(&explanation, "udev has not processed all devices of this boot yet.");
        expect_advice(&explanation, "vgchange -ay --activationmode degraded plain");
        expect_advice(&explanation, "vgreduce --removemissing plain");

        lv = records_ask("plain", "linear");
        expect_answer(&lv, VERDICT_DOWN, "inactive",
                "LV plain/linear is not active because its VG is not: 1 of its 2 PVs is missing.");
        expect_condition(&lv, "missing-pv");
}
END_TEST

/* Nothing has that number, so that whoever reads it notices an error and no disk. */
START_TEST(missing_pv_on_suspended_device)
{
        _cleanup_vg_ struct vg *vg = records_read_image("plain-1");
        _cleanup_free_ char *path = string_format("%s/node", run_directory());
        const dev_t number = makedev(253, 0xffff0);
        _cleanup_why_ struct why explanation = {};
        _cleanup_free_ char *fact = string_format("%s is suspended: I/O to it waits.", path);

        /* Only root may. */
        if (mknod(path, S_IFBLK | 0600, number) < 0)
                return;
        records_see_pv(vg, 0, "plain-1");
        free(vg->pvs[1].device_name);
        vg->pvs[1].device_name = strdup(path);
        records_save(vg);
        shape_write(sysfs_path(number, "dm/suspended").text, "1\n");

        explanation = records_ask("plain", NULL);
        expect_fact(&explanation, fact);
        expect_advice(&explanation, "dmsetup resume");
        ck_assert(!has_fact(&explanation, "cannot be read"));
}
END_TEST

START_TEST(missing_pv_in_luks)
{
        _cleanup_vg_ struct vg *vg = records_read_image("plain-1");
        _cleanup_why_ struct why absent = {}, locked = {}, others = {};

        records_see_pv(vg, 0, "plain-1");
        free(vg->pvs[1].device_name);
        vg->pvs[1].device_name = strdup("/dev/mapper/test-data");
        records_save(vg);
        shape_write(
                "etc/crypttab", "# test-data /dev/sdz\ntest-data\nother UUID=5\n\ttest-data UUID=6 /key luks\n");

        absent = records_ask("plain", NULL);
        expect_condition(&absent, "missing-pv");
        expect_condition(&absent, "luks");
        expect_fact(&absent, "/dev/mapper/test-data does not exist now.");
        expect_fact(&absent, "Line 4 of /etc/crypttab unlocks test-data from UUID=6, which does not exist.");
        ck_assert(!has_advice(&absent, "Unlock it"));

        shape_link("dev/disk/by-uuid/6", "../../sda");
        shape_write("dev/sda", "");
        locked = records_ask("plain", NULL);
        expect_condition(&locked, "luks");
        expect_fact(&locked,
                "Line 4 of /etc/crypttab unlocks test-data from UUID=6 (/dev/sda), which is still locked.");
        expect_advice(&locked, "systemctl start systemd-cryptsetup@$(systemd-escape test-data)");

        shape_write("etc/crypttab", "other UUID=5\n");
        others = records_ask("plain", NULL);
        ck_assert(!strv_has(&others.conditions, "luks"));
}
END_TEST

START_TEST(pvs_that_lvm2_has_marked)
{
        _cleanup_vg_ struct vg *vg = records_read_image("missing-1");
        _cleanup_why_ struct why explanation = {};

        records_see_pv(vg, 0, "missing-1");
        records_save(vg);
        explanation = records_ask("missing", NULL);
        expect_fact(&explanation, "lvm2 has changed the VG without it (flag MISSING).");
}
END_TEST

static void write_backup(const char *image, const char *name)
{
        _cleanup_free_ char *path = string_format("etc/lvm/backup/%s", name), *text = image_read_text(image);

        shape_write(path, text);
}

START_TEST(missing_pv_of_an_exported_vg)
{
        _cleanup_vg_ struct vg *vg = records_read_image("exported-1");
        _cleanup_why_ struct why explanation = {};

        /* Its PV has gone, and what is known of it is in the backup. */
        write_backup("exported-1", "exported");
        vg->first_seen_usec = now_usec();
        records_save(vg);
        explanation = records_ask("exported", NULL);
        expect_answer(&explanation, VERDICT_DOWN, "waiting", "VG exported is not active: it is exported.");
        expect_condition(&explanation, "missing-pv");
        expect_fact(&explanation, "Also, none of its ");
        expect_advice(&explanation, "Find out why the disk does not appear.");
}
END_TEST

START_TEST(all_lvs_active_without_a_pv)
{
        _cleanup_vg_ struct vg *vg = records_read_image("plain-1");
        _cleanup_why_ struct why explanation = {};
        unsigned int minor_number = 0;

        records_see_pv(vg, 0, "plain-1");
        vg->first_seen_usec = now_usec();
        records_save(vg);
        FOREACH_LV(lv, vg)
                records_activate("plain-1", lv->name, minor_number++);
        explanation = records_ask("plain", NULL);
        expect_answer(&explanation, VERDICT_DOWN, "waiting", "VG plain is active, but 1 of its 2 PVs is missing.");
        expect_condition(&explanation, "missing-pv");
        expect_advice(&explanation, "; the VG is activated as soon as the last PV is there.");
}
END_TEST

START_TEST(pv_that_cannot_be_read)
{
        _cleanup_vg_ struct vg *vg = records_read_image("plain-1");
        _cleanup_why_ struct why explanation = {};

        records_see_pv(vg, 0, "plain-1");
        records_see_pv(vg, 1, "plain-1");
        ck_assert_int_eq(string_replace(&vg->pvs[1].device_name, strdup("/")), 0);
        vg->status = VG_STATUS_FAILED;
        records_save(vg);
        explanation = records_ask("plain", NULL);
        expect_condition(&explanation, "unreadable");
        expect_fact(
                &explanation, "/ cannot be read: Is a directory; headgate retries after 1, 2, 4, ... 64 seconds");
}
END_TEST

START_TEST(nothing_but_a_backup)
{
        _cleanup_why_ struct why explanation = {};

        write_backup("plain-1", "plain");
        explanation = records_ask("plain", NULL);
        expect_answer(&explanation, VERDICT_DOWN, "absent", "VG plain is not active: none of its 2 PVs was seen.");
        ck_assert(!has_advice(&explanation, "vgreduce"));
}
END_TEST

START_TEST(unknown_names)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        _cleanup_suggestion_ struct suggestion of_lv = {.wanted = "liner"};
        _cleanup_vg_view_ struct vg_view view = {};
        struct why explanation = {};

        records_save_settled("plain-1", VG_STATUS_ACTIVE, NULL);
        ck_assert_int_eq(sources_read(&sources), 0);
        ck_assert_int_eq(vg_view_find(&sources, "plian", "", &view), 0);
        ck_assert_int_eq(vg_view_find(&sources, "plain", "", &view), 1);
        ck_assert(!logical_volume_explain(&explanation, &view, "liner"));
        for (size_t i = 0; i < view.vg->n_lvs; i++)
                suggestion_consider(&of_lv, view.vg->lvs[i].name);
        ck_assert_pstr_eq(of_lv.nearest, "linear");
}
END_TEST

/* Another VG of the name is not taken for it. */
START_TEST(a_vg_is_found_by_its_identifier)
{
        _cleanup_vg_ struct vg *vg = records_read_image("plain-1");
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        _cleanup_vg_view_ struct vg_view none = {}, view = {};

        write_backup("plain-1", "plain");
        records_save_settled("plain-1", VG_STATUS_ACTIVE, NULL);
        ck_assert_int_eq(sources_read(&sources), 0);
        ck_assert_int_eq(vg_view_find(&sources, "plain", "another", &none), 0);
        ck_assert_int_eq(vg_view_find(&sources, "plain", vg->vgid, &view), 1);
        ck_assert_str_eq(view.vg->vgid, vg->vgid);
}
END_TEST

START_TEST(pvs_that_are_there_twice)
{
        _cleanup_vg_ struct vg *vg = records_read_image("plain-1");
        _cleanup_why_ struct why explanation = {};
        _cleanup_free_ char *text = NULL;

        records_save_settled("plain-1", VG_STATUS_ACTIVE, NULL);
        shape_device("sdx", 8, 0);
        shape_device("sdy", 8, 9);
        text = string_format("pvid = \"%s\"", vg->pvs[0].pvid);
        put_record(run_fd, "8:0", text);
        put_record(run_fd, "8:9", text);
        /* A device that has gone since. */
        put_record(run_fd, "8:10", text);
        records_claim("plain");

        explanation = records_ask("plain", NULL);
        expect_condition(&explanation, "duplicate-pv");
        expect_fact(&explanation, "and /dev/sdy, a copy");
        expect_advice(&explanation, "vgimportclone(8)");
}
END_TEST

START_TEST(vgs_of_one_name)
{
        _cleanup_vg_ struct vg *other = records_read_image("noauto-1");
        _cleanup_why_ struct why explanation = {};

        records_save_settled("plain-1", VG_STATUS_WAITING, NULL);
        ck_assert_int_eq(string_replace(&other->name, strdup("plain")), 0);
        records_save(other);
        explanation = records_ask("plain", NULL);
        expect_condition(&explanation, "duplicate-name");
        expect_fact(&explanation, "1 more VG has this name");
}
END_TEST

/* ------ VGs that are up ------ */

/* The others of its LVs are not to be activated. */
static void activate_plain(void)
{
        records_activate("plain-1", "linear", 0);
        records_activate("plain-1", "striped", 1);
        records_activate("plain-1", "tagged", 2);
        records_claim("plain");
}

START_TEST(active_vg)
{
        _cleanup_why_ struct why explanation = {};

        records_save_settled("plain-1", VG_STATUS_ACTIVE, NULL);
        activate_plain();
        explanation = records_ask("plain", NULL);
        expect_answer(&explanation, VERDICT_UP, "active", "VG plain is active: 3 of 3 LVs.");
        expect_fact(&explanation, "Active since ");
        expect_fact(&explanation, "1.0s in the queue, ");
        expect_fact(&explanation, "LV skipped is not active: its activation skip flag is set.");
        expect_fact(&explanation, "LV noauto is not active: its autoactivation is off.");
        expect_condition(&explanation, "activation-skip");
        expect_condition(&explanation, "lv-autoactivation-off");
        expect_advice(&explanation, "lvchange -ay -K plain/skipped");
        expect_advice(&explanation, "lvchange --setautoactivation y plain/noauto");
}
END_TEST

START_TEST(one_lv_of_an_active_vg)
{
        _cleanup_why_ struct why active = {}, skipped = {}, off = {};

        records_save_settled("plain-1", VG_STATUS_ACTIVE, NULL);
        activate_plain();
        active = records_ask("plain", "linear");
        expect_answer(&active, VERDICT_UP, "active", "LV plain/linear is active.");
        skipped = records_ask("plain", "skipped");
        expect_answer(&skipped, VERDICT_DOWN, "inactive",
                "LV plain/skipped is not active: its activation skip flag is set.");
        off = records_ask("plain", "noauto");
        expect_answer(&off, VERDICT_DOWN, "inactive", "LV plain/noauto is not active: its autoactivation is off.");
        ck_assert_uint_eq(off.conditions.n, 1);
}
END_TEST

START_TEST(lv_that_a_list_leaves_out)
{
        _cleanup_why_ struct why answer = {}, lv = {};

        shape_write("etc/lvm/lvm.conf",
                "activation { auto_activation_volume_list = [ \"plain/linear\", \"plain/striped\" ] }\n");
        records_save_settled("plain-1", VG_STATUS_ACTIVE, "lvm2's configuration excludes the other LVs.");
        records_activate("plain-1", "linear", 0);
        records_activate("plain-1", "striped", 1);
        records_claim("plain");
        answer = records_ask("plain", NULL);
        expect_answer(&answer, VERDICT_UP, "active", "VG plain is active, with 2 of its 3 LVs.");
        expect_condition(&answer, "auto-activation-volume-list");
        lv = records_ask("plain", "tagged");
        expect_answer(&lv, VERDICT_DOWN, "inactive", "LV plain/tagged is not active: " LIST);
        expect_advice(&lv, "lvchange -ay plain/tagged");
}
END_TEST

START_TEST(deactivated_since)
{
        _cleanup_why_ struct why answer = {}, lv = {};

        records_save_settled("plain-1", VG_STATUS_ACTIVE, NULL);
        records_activate("plain-1", "linear", 0);
        answer = records_ask("plain", NULL);
        expect_answer(&answer, VERDICT_DOWN, "deactivated",
                "VG plain is only partly active: LVs were deactivated after it was active.");
        expect_condition(&answer, "deactivated");
        expect_fact(&answer, "LV striped is not active: it was deactivated later.");
        expect_advice(&answer, "headgate activate plain");
        lv = records_ask("plain", "tagged");
        expect_answer(&lv, VERDICT_DOWN, "inactive", "LV plain/tagged is not active: it was deactivated later.");
}
END_TEST

static struct vg *read_degraded(void)
{
        struct vg *vg = records_read_image("plain-1");

        records_see_pv(vg, 0, "plain-1");
        free(vg->pvs[1].device_name);
        vg->pvs[1].device_name = strdup("/dev/no-such-disk");
        vg->status = VG_STATUS_DEGRADED;
        vg->overdue = true;
        vg->first_seen_usec = now_usec() - 50 * USEC_PER_SEC;
        vg->degraded_usec = now_usec() - 20 * USEC_PER_SEC;
        return vg;
}

/* Devices are listed by sysfs then, which does not show whether a RAID lacks a leg. */
static void hide_raids(void)
{
        ck_assert_int_eq(unlinkat(shape_root(), fake_dm, 0), 0);
}

START_TEST(degraded_without_a_pv)
{
        _cleanup_vg_ struct vg *vg = read_degraded();
        _cleanup_why_ struct why answer = {}, lv = {};

        records_save(vg);
        records_activate("plain-1", "linear", 0);
        hide_raids();
        answer = records_ask("plain", NULL);
        expect_condition(&answer, "degraded");
        expect_condition(&answer, "missing-pv");
        ck_assert_str_eq(answer.state, "degraded");
        ck_assert_int_eq(answer.verdict, VERDICT_DOWN);
        ck_assert_ptr_nonnull(strstr(answer.answer, "VG plain is degraded, with 1 of its "));
        ck_assert_ptr_nonnull(strstr(answer.answer, " LVs active: 1 of its 2 PVs is missing."));
        expect_fact(&answer, "Degraded since ");
        expect_fact(&answer, "last seen at /dev/no-such-disk.");
        ck_assert(!has_fact(&answer, "its deadline"));
        ck_assert(!has_advice(&answer, "--activationmode"));
        ck_assert(!has_advice(&answer, "--refresh"));

        lv = records_ask("plain", "striped");
        expect_answer(&lv, VERDICT_DOWN, "inactive", "LV plain/striped is not active: it needs the missing PVs.");
}
END_TEST

/* lvm2 refuses LVs on a PV that it has flagged, wherever that is. */
START_TEST(failed_with_a_flagged_pv)
{
        _cleanup_vg_ struct vg *vg = NULL;
        _cleanup_why_ struct why answer = {};

        vg = records_read_image("plain-1");
        for (size_t i = 0; i < vg->n_pvs; i++)
                records_see_pv(vg, i, "plain-1");
        vg->status = VG_STATUS_FAILED;
        vg->pvs[1].flagged = true;
        records_save(vg);
        answer = records_ask("plain", NULL);
        expect_fact(&answer, "(flag MISSING)");
        expect_advice(&answer, "vgextend --restoremissing plain /");
}
END_TEST

START_TEST(degraded_with_a_late_pv)
{
        _cleanup_vg_ struct vg *vg = read_degraded();
        _cleanup_why_ struct why answer = {};

        records_see_pv(vg, 1, "plain-1");
        vg->pvs[1].late_usec = now_usec() - 5 * USEC_PER_SEC;
        vg->pvs[1].flagged = true;
        records_save(vg);
        records_activate("plain-1", "linear", 0);
        hide_raids();
        answer = records_ask("plain", NULL);
        ck_assert_ptr_nonnull(
                strstr(answer.answer, "all of its PVs are there, but RAIDs do not use all of them."));
        expect_fact(&answer, "Degraded since ");
        expect_fact(&answer, " appeared again at ");
        expect_fact(&answer, "(flag MISSING)");
        expect_advice(&answer, "vgextend --restoremissing plain /");
        expect_advice(&answer, "vgchange --refresh plain");
}
END_TEST

/* What is said of a VG that waits depends on what is to become of it. */
START_TEST(policies)
{
        _cleanup_vg_ struct vg *vg = read_degraded();
        _cleanup_why_ struct why early = {}, late = {}, lost = {};

        shape_write(
                "etc/headgate/headgate.conf", "volume_groups { plain { degraded = \"yes\" deadline = 70 } }\n");
        vg->status = VG_STATUS_WAITING;
        vg->overdue = false;
        records_save(vg);
        early = records_ask("plain", NULL);
        expect_fact(&early, "; its deadline is 1min 10s.");
        expect_fact(&early, "At its deadline, it is activated degraded");
        ck_assert(!has_advice(&early, "--activationmode"));

        vg->overdue = true;
        records_save(vg);
        late = records_ask("plain", NULL);
        expect_advice(&late, "headgate did not activate it without them. ");

        /* Somebody has removed the PV: its deadline is no reason to activate what is left. */
        vg->overdue = false;
        vg->lost_after_active = true;
        records_save(vg);
        lost = records_ask("plain", NULL);
        expect_fact(&lost, "A PV was removed while the VG was settled");
        ck_assert(!has_fact(&lost, "At its deadline, it is activated degraded"));
}
END_TEST

START_TEST(headgate_is_off)
{
        _cleanup_why_ struct why explanation = {};

        ck_assert_int_eq(flags_clear(run_fd, FLAGS_TAKEN_OVER), 0);
        shape_write("proc/cmdline", "root=/dev/sda headgate=0\n");
        write_backup("plain-1", "plain");
        activate_plain();
        explanation = records_ask("plain", NULL);
        expect_answer(&explanation, VERDICT_UP, "active", "VG plain is active: 3 of 3 LVs.");
        expect_condition(&explanation, "headgate-off");
        expect_fact(&explanation, "headgate is not in charge: lvm2's udev rule activates VGs. ");
        expect_fact(&explanation, "headgate=0");
}
END_TEST

START_TEST(users_of_an_lv)
{
        _cleanup_vg_ struct vg *vg = records_read_image("plain-1");
        _cleanup_free_ char *leg = string_format("LVM-%s%s", vg->vgid, vg->vgid);
        _cleanup_why_ struct why answer = {}, root = {};

        records_save_settled("plain-1", VG_STATUS_ACTIVE, NULL);
        activate_plain();
        shape_dm(9, "plain-linear_rimage_0", leg, "linear");
        shape_mount(20, 1, 253, 2, "/");
        shape_mount(21, 20, 253, 0, "/srv/data");
        shape_mount(22, 20, 253, 9, "/srv/leg");
        answer = records_ask("plain", NULL);
        expect_fact(
                &answer, "plain-linear (dm-0) is removed at shutdown once nothing uses it: mounted at /srv/data.");
        ck_assert(!has_fact(&answer, "plain-striped"));
        ck_assert(!has_fact(&answer, "_rimage_"));
        root = records_ask("plain", "tagged");
        expect_fact(&root, "plain-tagged (dm-2) is not removed at shutdown: / stays mounted.");
}
END_TEST

#define MIR_UUID "LVM-mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"

/* A RAID with its legs, whose UUIDs have no suffix before lvm2 2.03.36, and other devices that lvm2 hides. */
static void activate_mir(void)
{
        static const struct {
                const char *name, *uuid, *target;
        } devices[] = {
                {"mir-r1_rmeta_0", MIR_UUID "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "linear"},
                {"mir-r1_rimage_0", MIR_UUID "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "linear"},
                {"mir-pvmove0", MIR_UUID "cccccccccccccccccccccccccccccccc", "mirror"},
                {"mir-sparse_vorigin", MIR_UUID "dddddddddddddddddddddddddddddddd", "snapshot-origin"},
                {"mir-pool-tpool", MIR_UUID "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee-tpool", "thin-pool"},
                {"mir-pool", MIR_UUID "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee-pool", "linear"},
                {"mir-r1", MIR_UUID "ffffffffffffffffffffffffffffffff", "raid"},
                {"mir-short", "LVM-mmmm", "linear"},
        };

        for (unsigned int i = 0; i < ELEMENTSOF(devices); i++)
                shape_dm(i, devices[i].name, devices[i].uuid, devices[i].target);
}

START_TEST(hidden_lvs_are_no_lvs)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        const struct vg *vg;

        activate_mir();
        ck_assert_int_eq(sources_read(&sources), 0);
        ck_assert_int_eq(unrecorded_add(&sources, "mir", NULL), 0);
        vg = snapshot_find(&sources, "mir");
        ck_assert_uint_eq(vg_count(vg).active, 2);
        ck_assert(vg_find_lv(vg, "r1") && vg_find_lv(vg, "pool"));
}
END_TEST

/* Status lists such a VG, so that it is not an unknown name. */
START_TEST(nothing_but_active_lvs)
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;
        _cleanup_vg_view_ struct vg_view none = {};
        _cleanup_why_ struct why vg = {}, lv = {};

        activate_mir();
        shape_mount(20, 1, 253, 6, "/srv/data");
        vg = records_ask("mir", NULL);
        expect_answer(&vg, VERDICT_UNKNOWN, "unknown",
                "VG mir has 2 active LVs; others are not known: lvm2 has no readable backup of it.");
        expect_fact(&vg, "mir-r1 (dm-6) is removed at shutdown once nothing uses it: mounted at /srv/data.");
        ck_assert_uint_eq(vg.conditions.n, 0);
        lv = records_ask("mir", "r1");
        expect_answer(&lv, VERDICT_UP, "active", "LV mir/r1 is active.");
        expect_fact(&lv, "Its VG is unknown.");
        ck_assert_int_eq(sources_read(&sources), 0);
        ck_assert_int_eq(vg_view_find(&sources, "mir", "another", &none), 0);
}
END_TEST

START_TEST(read_only)
{
        _cleanup_why_ struct why vg = {}, lv = {}, other = {};

        records_save_settled("plain-1", VG_STATUS_ACTIVE, NULL);
        activate_plain();
        shape_write("sys/dev/block/8:0/ro", "1\n");
        shape_write("sys/devices/block/dm-0/ro", "1\n");
        vg = records_ask("plain", NULL);
        expect_fact(&vg, " is read-only.");
        ck_assert(!has_fact(&vg, "/dev/mapper/"));
        lv = records_ask("plain", "linear");
        expect_fact(&lv, "/dev/mapper/plain-linear is read-only.");
        other = records_ask("plain", "striped");
        ck_assert(!has_fact(&other, "read-only"));
}
END_TEST

/* ------ the devices file ------ */

#define PVID "6HcCa1MXOX9c6GnXbnO5XxrqYxTEHguq"

START_TEST(devices_file)
{
        ck_assert(!devices_file_lacks_pv(shape_root(), "system.devices", PVID));
        shape_write("etc/lvm/devices/system.devices",
                "# PVID=" PVID "\nVERSION=1.1.2\nIDTYPE=devname IDNAME=/dev/sda DEVNAME=/dev/sda PVID=.\n");
        ck_assert(devices_file_lacks_pv(shape_root(), "system.devices", PVID));
        shape_write("etc/lvm/devices/other", "IDTYPE=sys_wwid IDNAME=x DEVNAME=/dev/sda PVID=" PVID " PART=1\n");
        ck_assert(!devices_file_lacks_pv(shape_root(), "other", PVID));
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("why");
        TCase *tcase = tcase_create("why");

        tcase_add_checked_fixture(tcase, records_set_up, records_tear_down);
        tcase_add_loop_test(tcase, vgs_that_are_not_wanted, 0, ELEMENTSOF(unwanted));
        tcase_add_loop_test(tcase, pvs_that_lvm2_does_not_accept, 0, ELEMENTSOF(refusals));
        tcase_add_test(tcase, missing_pvs);
        tcase_add_test(tcase, missing_pv_on_suspended_device);
        tcase_add_test(tcase, missing_pv_in_luks);
        tcase_add_test(tcase, pvs_that_lvm2_has_marked);
        tcase_add_test(tcase, missing_pv_of_an_exported_vg);
        tcase_add_test(tcase, all_lvs_active_without_a_pv);
        tcase_add_test(tcase, pv_that_cannot_be_read);
        tcase_add_test(tcase, nothing_but_a_backup);
        tcase_add_test(tcase, unknown_names);
        tcase_add_test(tcase, a_vg_is_found_by_its_identifier);
        tcase_add_test(tcase, pvs_that_are_there_twice);
        tcase_add_test(tcase, vgs_of_one_name);
        tcase_add_test(tcase, active_vg);
        tcase_add_test(tcase, one_lv_of_an_active_vg);
        tcase_add_test(tcase, lv_that_a_list_leaves_out);
        tcase_add_test(tcase, deactivated_since);
        tcase_add_test(tcase, degraded_without_a_pv);
        tcase_add_test(tcase, failed_with_a_flagged_pv);
        tcase_add_test(tcase, degraded_with_a_late_pv);
        tcase_add_test(tcase, policies);
        tcase_add_test(tcase, headgate_is_off);
        tcase_add_test(tcase, users_of_an_lv);
        tcase_add_test(tcase, hidden_lvs_are_no_lvs);
        tcase_add_test(tcase, nothing_but_active_lvs);
        tcase_add_test(tcase, read_only);
        tcase_add_test(tcase, devices_file);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
