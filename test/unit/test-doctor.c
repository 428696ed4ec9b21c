/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each check of "headgate doctor" on a root that is as it should be, and on one with one thing wrong. */

#include "doctor/doctor.h"
#include "lvm/metadata.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "fake-systemd.h"
#include "fixture.h"
#include "headgate-rule.h"
#include "shapes.h"
#include "shared/log.h"
#include "shared/util.h"

#define VG_ID "vvvvvv-vvvv-vvvv-vvvv-vvvv-vvvv-vvvvvv"
#define PVID "pppppppppppppppppppppppppppppppp"
#define DM_UUID "LVM-vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvllllllllllllllllllllllllllllllll"
#define METADATA(name, seqno)                                                                                     \
        name " {\nid = \"" VG_ID "\"\nseqno = " seqno "\nphysical_volumes {\npv0 {\n"                             \
             "id = \"pppppp-pppp-pppp-pppp-pppp-pppp-pppppp\"\n}\n}\nlogical_volumes {\none {\n"                  \
             "id = \"llllll-llll-llll-llll-llll-llll-llllll\"\nstatus = [\"VISIBLE\"]\n}\n}\n}\n"                 \
             "contents = \"Text Format Volume Group\"\nversion = 1\n"

#define UNIT(name, load, active, file)                                                                            \
        "\"" name "\" { LoadState=\"" load "\" ActiveState=\"" active "\" UnitFileState=\"" file "\" }\n"
#define TAKEOVER UNIT("headgate-takeover.service", "loaded", "active", "enabled")
#define SOCKET UNIT("headgate.socket", "loaded", "active", "static")
#define TEARDOWN                                                                                                  \
        UNIT("headgate-teardown.service", "loaded", "active", "static")                                           \
        UNIT("headgate-teardown-net.service", "loaded", "active", "static")
#define WORKER UNIT("headgate.service", "loaded", "inactive", "static")
#define FALLBACK UNIT("headgate-fallback.service", "loaded", "inactive", "static")
#define BLK UNIT("blk-availability.service", "masked", "inactive", "masked")
#define VERSION "Version=\"252.39-1\"\n"
#define FAST_RULES_LINK "etc/systemd/system/headgate-takeover.service.wants/headgate-fast-dm-rules.service"
#define ENABLED_LINK "etc/systemd/system/sysinit.target.wants/headgate-takeover.service"
#define STOCK_RULE "IMPORT{program}=\"pvscan\"\nENV{LVM_VG_NAME_COMPLETE}==\"?*\", RUN+=\"vgchange\"\n"

/* A VG that the worker has written down, as it has found it. */
static void write_record(const char *metadata_text, uint64_t activating_usec)
{
        _cleanup_vg_ struct vg *vg = NULL;
        _cleanup_close_ int state_fd = openat(shape_root(), "run/headgate", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const char *reason;

        ck_assert_int_ge(state_fd, 0);
        ck_assert_int_eq(metadata_parse(metadata_text, &vg, &reason), 0);
        vg->status = VG_STATUS_ACTIVE;
        vg->activating_usec = activating_usec;
        for (size_t i = 0; i < vg->n_lvs; i++)
                vg->lvs[i].active = true;
        save_vg(state_fd, vg);
}

static int fake_systemd;

static void set_up(void)
{
        static const struct {
                const char *variable, *path;
        } places[] = {
                {"HEADGATE_ROOT", "root"},
                {"HEADGATE_RUN_DIRECTORY", "root/run/headgate"},
                {"HEADGATE_LVM_RUN_DIRECTORY", "root/run/lvm"},
        };

        shape_set_up();
        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                _cleanup_free_ char *path = string_format("%s/%s", run_directory(), places[i].path);

                ck_assert_int_eq(setenv(places[i].variable, path, true), 0);
        }

        shape_device("sda", 8, 0);
        shape_dm(0, "data-one", DM_UUID, "linear");
        shape_hold("sda", "dm-0");
        shape_write("run/headgate/taken-over", "");
        write_record(METADATA("data", "3"), 1);
        shape_link("run/udev/rules.d/69-lvm.rules", "/dev/null");
        shape_link("run/udev/rules.d/69-dm-lvm.rules", "/dev/null");
        shape_write("usr/lib/udev/rules.d/69-lvm.rules", STOCK_RULE);
        shape_write("usr/lib/udev/rules.d/68-headgate.rules", HEADGATE_RULE_TEXT);
        shape_write("systemd", TAKEOVER SOCKET TEARDOWN WORKER FALLBACK BLK VERSION);
        shape_write("etc/lvm/backup/data", METADATA("data", "3"));
        shape_write("run/lvm/pvs_online/" PVID, "8:0\nvg:data\ndev:/dev/sda\n");
        shape_write("run/lvm/vgs_online/data", "");
        shape_write("dev/dm-0", "");
        shape_link("dev/mapper/data-one", "../dm-0");
        shape_link("dev/data/one", "../dm-0");
        shape_write("var/log/journal/id", "");
        shape_write("kernel-log", "");
        shape_write("proc/sys/kernel/osrelease", "6.1.0-25-amd64\n");
        fake_systemd = fake_systemd_start(getenv("HEADGATE_ROOT"));
}

static void tear_down(void)
{
        fake_systemd_stop(fake_systemd);
        shape_tear_down();
        unsetenv("HEADGATE_ROOT");
}

static void look(struct doctor *doctor)
{
        ck_assert_int_eq(doctor_run(doctor), 0);
}

/* Every check says something, and none of them anything but ok. */
START_TEST(all_is_well)
{
        static const char *const checks[] = {"versions", "enabled", "in-charge", "units", "failures",
                "headgate-rule", "lvm2-rule", "dm-rules", "blk-availability", "lvm.conf", "headgate.conf",
                "online", "others", "devices-file", "nested", "system-id", "reservations", "command-line", "fstab",
                "timeouts", "cookies", "initrd", "requests", "links", "journal"};
        _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;

        look(&doctor);
        ck_assert_uint_eq(doctor.n_findings, ELEMENTSOF(checks));
        ck_assert_int_eq(doctor.worst, FINDING_OK);
        for (size_t i = 0; i < doctor.n_findings; i++) {
                ck_assert_str_eq(doctor.findings[i].check, checks[i]);
                ck_assert_msg(doctor.findings[i].result == FINDING_OK, "%s: %s", doctor.findings[i].check,
                        doctor.findings[i].detail);
        }
}
END_TEST

#define ROOT_ON_DATA "22 1 253:0 / / rw - ext4 /dev/dm-0 rw\n"
#define DRACUT_CONFIGURATION                                                                                      \
        "# Written by \"headgate enable --initrd\", see headgate-initrd(8).\n"                                    \
        "if [ -e /usr/lib/dracut/modules.d/95headgate/module-setup.sh ]; then\n"                                  \
        "    add_dracutmodules+=\" headgate \"\n"                                                                 \
        "fi\n"

/* As the block layer logs it. */
#define CONFLICT(disk)                                                                                            \
        "<3>[    8.114420] reservation conflict error, dev " disk ", sector 0 op 0x0:(READ) flags 0x0 phys_seg 1\n"

/* What is not as it should be. */
struct change {
        const char *path;
        const char *text;   /* of a file, which is replaced; NULL without one */
        const char *target; /* of a link */
};

static const struct {
        const char *check;
        enum finding_result result;
        const char *detail; /* a part of it */
        struct change changes[4];
} cases[] = {
        {"versions", FINDING_OK, "systemd 252.39-1, Linux 6.1.0-25-amd64", {}},
        {"versions", FINDING_FAILED, "Linux 5.12.1", {{"proc/sys/kernel/osrelease", "5.12.1\n"}}},

        {"enabled", FINDING_WARNING, "is not enabled",
                {{"systemd", UNIT("headgate-takeover.service", "loaded", "active", "disabled")}}},
        {"enabled", FINDING_WARNING, "is masked",
                {{"systemd", UNIT("headgate-takeover.service", "masked", "inactive", "masked")}}},
        {"enabled", FINDING_FAILED, "does not know headgate-takeover.service",
                {{"systemd", UNIT("headgate-takeover.service", "not-found", "inactive", "")}}},
        {"enabled", FINDING_UNKNOWN, "Failed to ask systemd", {{"systemd"}}},

        {"in-charge", FINDING_FAILED, "/usr/lib/udev/rules.d/69-lvm.rules is not masked",
                {{"run/udev/rules.d/69-lvm.rules"}}},
        {"in-charge", FINDING_FAILED, "/etc/udev/rules.d/69-lvm.rules overrides the mask",
                {{"etc/udev/rules.d/69-lvm.rules", STOCK_RULE}}},
        {"in-charge", FINDING_OK, "is masked", {{"etc/udev/rules.d/69-lvm.rules", NULL, "/dev/null"}}},
        {"in-charge", FINDING_OK, "is masked", {{"etc/udev/rules.d/69-lvm.rules", ""}}},
        {"in-charge", FINDING_FAILED, "/usr/lib/udev/rules.d/69-dm-lvm.rules is not masked",
                {{"run/udev/rules.d/69-dm-lvm.rules"}, {"usr/lib/udev/rules.d/69-dm-lvm.rules", STOCK_RULE}}},
        {"in-charge", FINDING_FAILED, "Nothing activates", {{"run/headgate/taken-over"}}},
        {"in-charge", FINDING_FAILED, "Nothing activates",
                {{"run/headgate/taken-over"}, {"run/udev/rules.d/69-lvm.rules"},
                        {"run/udev/rules.d/69-dm-lvm.rules"},
                        {"etc/udev/rules.d/69-lvm.rules", NULL, "/dev/null"}}},
        {"in-charge", FINDING_WARNING, "although headgate is enabled",
                {{"run/headgate/taken-over"}, {"run/udev/rules.d/69-lvm.rules"},
                        {"run/udev/rules.d/69-dm-lvm.rules"}}},
        {"in-charge", FINDING_OK, "takes over at the next boot",
                {{"run/headgate/taken-over"}, {"run/udev/rules.d/69-lvm.rules"},
                        {"run/udev/rules.d/69-dm-lvm.rules"}, {ENABLED_LINK, NULL, "/lib/unit"}}},
        {"in-charge", FINDING_WARNING, "headgate=0",
                {{"run/headgate/taken-over"}, {"run/udev/rules.d/69-lvm.rules"},
                        {"run/udev/rules.d/69-dm-lvm.rules"}, {"proc/cmdline", "quiet headgate=0\n"}}},
        {"in-charge", FINDING_WARNING, "headgate is not in charge",
                {{"run/headgate/taken-over"}, {"run/udev/rules.d/69-lvm.rules"},
                        {"run/udev/rules.d/69-dm-lvm.rules"}, {"systemd", ""}}},

        {"units", FINDING_FAILED, "headgate.socket is failed",
                {{"systemd", TAKEOVER UNIT("headgate.socket", "loaded", "failed", "static") TEARDOWN WORKER}}},
        {"units", FINDING_FAILED, "headgate-teardown.service is inactive: headgate removes no devices at shutdown",
                {{"systemd", TAKEOVER SOCKET UNIT("headgate-teardown.service", "loaded", "inactive", "static")
                                     WORKER}}},
        {"units", FINDING_FAILED, "headgate-teardown-net.service is masked",
                {{"systemd", TAKEOVER SOCKET WORKER UNIT(
                                     "headgate-teardown-net.service", "masked", "inactive", "masked")}}},
        {"units", FINDING_FAILED, "the worker, has failed",
                {{"systemd", TAKEOVER SOCKET TEARDOWN UNIT("headgate.service", "loaded", "failed", "static")}}},
        {"units", FINDING_WARNING, "mine.service is ordered after headgate.target but",
                {{"systemd", TAKEOVER SOCKET TEARDOWN WORKER FALLBACK BLK VERSION
                        "headgate.target {\nBefore = [\"shutdown.target\", \"mine.service\", \"good.service\"]\n"
                        "WantedBy = [\"good.service\"]\n}\n"}}},
        {"units", FINDING_WARNING, "b.service is ordered after headgate-vg@a.service but",
                {{"systemd", TAKEOVER SOCKET TEARDOWN WORKER FALLBACK BLK VERSION
                        "\"headgate-vg@a.service\" {\nBefore = [\"a.service\", \"b.service\"]\nRequiredBy = [\"a.service\"]\n}\n"}}},
        {"units", FINDING_WARNING, "old.service is ordered after headgate-activate@net.service, which waits",
                {{"systemd", TAKEOVER SOCKET TEARDOWN WORKER FALLBACK BLK VERSION
                        "\"headgate-activate@net.service\" {\nBefore = [\"headgate-wait.service\", \"old.service\"]\n}\n"}}},
        {"units", FINDING_OK, "All units that headgate needs",
                {{"systemd", TAKEOVER SOCKET TEARDOWN WORKER FALLBACK BLK VERSION
                        "headgate.target {\nBefore = [\"headgate-x.service\", \"good.service\"]\nUpheldBy = [\"good.service\"]\n}\n"}}},
        {"units", FINDING_OK, "need not run", {{"run/headgate/taken-over"}, {"systemd", TAKEOVER}}},

        {"failures", FINDING_WARNING, "has failed 2 times", {{"run/headgate/failures", "2"}}},
        {"failures", FINDING_FAILED, "The worker failed, and headgate handed over",
                {{"run/headgate/failures", "3"}, {"run/headgate/given-up", ""}, {"run/headgate/taken-over"}}},
        {"failures", FINDING_FAILED, "headgate-fallback.service",
                {{"systemd", UNIT("headgate-fallback.service", "loaded", "failed", "static")}}},

        {"headgate-rule", FINDING_FAILED, "does not exist", {{"usr/lib/udev/rules.d/68-headgate.rules"}}},
        {"headgate-rule", FINDING_WARNING, "changed, or of another version",
                {{"usr/lib/udev/rules.d/68-headgate.rules", "# nothing\n"}}},
        {"headgate-rule", FINDING_WARNING, "/etc/udev/rules.d/68-headgate.rules overrides",
                {{"etc/udev/rules.d/68-headgate.rules", "# nothing\n"}}},
        {"headgate-rule", FINDING_FAILED, "/etc/udev/rules.d/68-headgate.rules masks",
                {{"etc/udev/rules.d/68-headgate.rules", ""}}},
        {"headgate-rule", FINDING_FAILED, "/etc/udev/rules.d/68-headgate.rules masks",
                {{"etc/udev/rules.d/68-headgate.rules", NULL, "/dev/null"}}},

        {"lvm2-rule", FINDING_WARNING, "is not installed", {{"usr/lib/udev/rules.d/69-lvm.rules"}}},
        {"lvm2-rule", FINDING_WARNING, "is not supported",
                {{"usr/lib/udev/rules.d/69-lvm.rules", "RUN+=\"pvscan --background\"\n"}}},

        {"dm-rules", FINDING_OK, "are the distribution's own", {}},
        {"dm-rules", FINDING_OK, "are optimized at each boot", {{FAST_RULES_LINK, "", NULL}}},
        {"dm-rules", FINDING_OK,
                "Line 2 of /usr/lib/udev/rules.d/95-dm-notify.rules calls dmsetup in an unknown way",
                {{FAST_RULES_LINK, "", NULL}, {"usr/lib/udev/rules.d/95-dm-notify.rules",
                                                      "# Complete them.\nRUN+=\"dmsetup udevcomplete\"\n"}}},

        {"blk-availability", FINDING_WARNING, "one after another",
                {{"systemd", TEARDOWN UNIT("blk-availability.service", "loaded", "active", "enabled")}}},
        {"blk-availability", FINDING_OK, "headgate does not",
                {{"systemd", UNIT("blk-availability.service", "loaded", "active", "enabled")}}},
        {"blk-availability", FINDING_FAILED, "No unit removes devices",
                {{"systemd", BLK}, {"run/systemd/generator.early/blk-availability.service", NULL, "/dev/null"}}},
        {"blk-availability", FINDING_WARNING, "Neither", {{"systemd", BLK}}},

        {"lvm.conf", FINDING_WARNING, "event_activation=0",
                {{"etc/lvm/lvm.conf", "global { event_activation = 0 }\n"}}},
        {"lvm.conf", FINDING_FAILED, "/etc/lvm/lvm.conf: Parse error at byte 10 (line 2)",
                {{"etc/lvm/lvm.conf", "global {\n= 3\n}\n"}}},
        {"lvm.conf", FINDING_FAILED, "/etc/lvm/lvmlocal.conf: ", {{"etc/lvm/lvmlocal.conf", "global { } }\n"}}},
        {"lvm.conf", FINDING_OK, "use_lvmlockd=1", {{"etc/lvm/lvm.conf", "global/use_lvmlockd = 1\n"}}},
        {"lvm.conf", FINDING_OK, "auto_activation_volume_list is set",
                {{"etc/lvm/lvm.conf", "activation { auto_activation_volume_list = [ \"data\" ] }\n"}}},
        {"lvm.conf", FINDING_OK, "This host may have tags", {{"etc/lvm/lvm.conf", "tags { rack7 { } }\n"}}},
        {"lvm.conf", FINDING_WARNING, "auto_activation_volume_list is empty",
                {{"etc/lvm/lvmlocal.conf", "activation { auto_activation_volume_list = [ ] }\n"}}},
        {"lvm.conf", FINDING_OK, "devices/filter is set",
                {{"etc/lvm/lvm.conf", "devices { filter = [ \"a|.*|\" ] }\n"}}},
        {"lvm.conf", FINDING_OK, "not in /etc/lvm/devices/system.devices",
                {{"etc/lvm/devices/system.devices", "VERSION=1.1.1\n"}}},
        {"lvm.conf", FINDING_OK, "No setting in it",
                {{"etc/lvm/devices/system.devices", "VERSION=1.1.1\n"},
                        {"etc/lvm/lvm.conf", "devices { use_devicesfile = 0 }\n"}}},
        {"lvm.conf", FINDING_WARNING, "/etc/lvm/devices/mine does not exist",
                {{"etc/lvm/lvm.conf", "devices { use_devicesfile = 1 devicesfile = \"mine\" }\n"}}},
        {"lvm.conf", FINDING_WARNING, "udev_rules=0", {{"etc/lvm/lvm.conf", "activation { udev_rules = 0 }\n"}}},

        {"headgate.conf", FINDING_WARNING,
                "/etc/headgate/headgate.conf: Parse error at byte 14 (line 2): unexpected token, using defaults for all settings.",
                {{"etc/headgate/headgate.conf", "deadline = 5\n= 3\n"}}},
        {"headgate.conf", FINDING_WARNING, "deadlin", {{"etc/headgate/headgate.conf", "deadlin = 3\n"}}},
        {"headgate.conf", FINDING_WARNING, "volume_groups/dta: no known VG has this name.",
                {{"etc/headgate/headgate.conf", "volume_groups { dta { degraded = \"yes\" } }\n"}}},
        {"headgate.conf", FINDING_WARNING, "volume_groups/x*: no known VG matches this pattern.",
                {{"etc/headgate/headgate.conf", "volume_groups { \"x*\" { deadline = 5 } }\n"}}},
        {"headgate.conf", FINDING_OK, "It has no errors.",
                {{"etc/headgate/headgate.conf",
                        "volume_groups { data { deadline = 5 } \"d*\" { deadline = 6 } }\n"}}},
        {"headgate.conf", FINDING_OK, "It has no errors.",
                {{"etc/headgate/headgate.conf", "volume_groups { \".other\" { deadline = 5 } }\n"},
                        {"etc/lvm/backup/.other", ""}}},
        {"headgate.conf", FINDING_OK, "direct_activation=0",
                {{"etc/headgate/headgate.conf", "direct_activation = 0\n"}}},

        {"online", FINDING_WARNING, "Stale pvs_online records, of devices that do not exist: " PVID,
                {{"run/lvm/pvs_online/" PVID, "8:16\nvg:data\n"}}},
        {"online", FINDING_WARNING, "Stale vgs_online records, of VGs without active LVs: other",
                {{"run/lvm/vgs_online/other", ""}}},
        {"online", FINDING_WARNING, "without active LVs: .other", {{"run/lvm/vgs_online/.other", ""}}},
        {"online", FINDING_WARNING, "without active LVs: data", {{fake_dm, ""}}},

        {"others", FINDING_WARNING, "/etc/systemd/system/mine.service activates",
                {{"etc/systemd/system/mine.service", "[Service]\nExecStart=/sbin/vgchange -a y data\n"}}},
        {"others", FINDING_WARNING, "/etc/rc.local activates",
                {{"etc/rc.local", "lvchange --activate y data/one\n"}}},
        {"others", FINDING_WARNING, "/etc/rc.local activates", {{"etc/rc.local", "  vgchange -q -aay\n"}}},
        {"others", FINDING_WARNING, "/etc/rc.local activates", {{"etc/rc.local", "vgchange -qaay\n"}}},
        {"others", FINDING_OK, "No other unit",
                {{"etc/rc.local", "# vgchange -ay\nvgchange -an data\nvgchange -qan\nlvchange -p r a/b\n"}}},
        {"others", FINDING_WARNING, "/usr/lib/udev/rules.d/70-all.rules activates",
                {{"usr/lib/udev/rules.d/70-all.rules", "ACTION==\"add\", RUN+=\"/sbin/lvm vgchange -ay\"\n"}}},
        {"others", FINDING_WARNING, "/usr/lib/systemd/system/all.service activates",
                {{"usr/lib/systemd/system/all.service", "ExecStart=/sbin/vgchange --activate y\n"}}},
        {"others", FINDING_WARNING, "/usr/share/initramfs-tools/scripts/zfs activates",
                {{"usr/share/initramfs-tools/scripts/zfs", "\t/sbin/lvm vgchange -a y --sysinit\n"}}},
        {"others", FINDING_WARNING, "/etc/initramfs-tools/scripts/local-top/mine activates",
                {{"etc/initramfs-tools/scripts/local-top/mine", "vgchange -aay\n"}}},
        {"others", FINDING_WARNING, "/etc/initramfs-tools/scripts/local-top/my-lvm activates",
                {{"etc/initramfs-tools/scripts/local-top/my-lvm", "vgchange -aay\n"}}},
        {"others", FINDING_WARNING, "/etc/udev/rules.d/99-lvm.rules activates",
                {{"etc/udev/rules.d/99-lvm.rules", "RUN+=\"/sbin/lvm vgchange -ay\"\n"}}},
        {"others", FINDING_WARNING, "/etc/systemd/system/lvm2-monitor.service.d/all.conf activates",
                {{"etc/systemd/system/lvm2-monitor.service.d/all.conf", "ExecStartPre=/sbin/vgchange -ay\n"}}},
        {"others", FINDING_WARNING, "/etc/rc.local activates",
                {{"etc/rc.local", "vgchange \\\n\t--sysinit \\\n\t-ay\n"}}},
        {"others", FINDING_OK, "No other unit",
                {{"etc/systemd/system/vg@.service", "ExecStart=/sbin/vgchange -ay %i\n"}}},
        /* lvm2's own, and what activates one VG. */
        {"others", FINDING_OK, "No other unit",
                {{"usr/share/initramfs-tools/scripts/local-block/lvm2", "vgchange -ay\n"},
                        {"usr/share/initramfs-tools/scripts/cryptroot", "lvm lvchange -ay --sysinit \"$vg\"\n"},
                        {"usr/lib/udev/rules.d/69-lvm.rules", STOCK_RULE "# vgchange -ay\n"}}},
        {"others", FINDING_WARNING, "lvm2-activation.service exists",
                {{"systemd", UNIT("lvm2-activation.service", "loaded", "inactive", "generated")}}},

        /* VGs that cannot be read are not known to be well. */
        {"system-id", FINDING_UNKNOWN, "Failed to read VGs: ", {{"run/headgate/records", "damaged"}}},
        {"fstab", FINDING_UNKNOWN, "Failed to read VGs: ",
                {{"run/headgate/records", "damaged"},
                        {"etc/fstab",
                                "/dev/data/one /srv ext4 defaults 0 2\n/dev/gone/lv /mnt ext4 defaults 0 2\n"}}},
        {"command-line", FINDING_UNKNOWN, "Failed to read",
                {{"run/headgate/records", "damaged"}, {"proc/cmdline", "rd.lvm.vg=old"}}},
        {"initrd", FINDING_UNKNOWN, "Failed to read VGs: ", {{"run/headgate/records", "damaged"}}},
        {"links", FINDING_UNKNOWN, "Failed to read VGs: ", {{"run/headgate/records", "damaged"}}},
        {"links", FINDING_WARNING, "1 stale link: /dev/mapper/data-two.",
                {{"run/headgate/records", "damaged"}, {"dev/mapper/data-two", NULL, "../dm-1"}}},
        {"devices-file", FINDING_UNKNOWN, "or lvm2's backups: Not a directory",
                {{"etc/lvm/devices/system.devices", "VERSION=1.1.1\n"},
                        {"etc/lvm/lvm.conf", "backup { backup_dir = \"/dev/dm-0\" }\n"}}},
        {"devices-file", FINDING_UNKNOWN, "Failed to read /etc/lvm/devices/system.devices",
                {{"etc/lvm/devices", "", NULL}}},
        {"devices-file", FINDING_OK, "No PV of a VG",
                {{"etc/lvm/lvm.conf", "backup { backup_dir = \"/dev/dm-0\" }\n"}}},

        {"reservations", FINDING_WARNING,
                "Disk reserved by another host (persistent reservation), by the last error in the kernel log: sda.",
                {{"kernel-log", CONFLICT("sda") CONFLICT("sdb")}}},
        {"reservations", FINDING_OK, "The kernel log shows no disk", {{"kernel-log", CONFLICT("sdb")}}},
        {"reservations", FINDING_OK, "The kernel log shows no disk",
                {{"kernel-log", CONFLICT("sda") "<3>[ 9.114425] I/O error, dev sda, sector 0 op 0x0:(READ)\n"}}},
        {"reservations", FINDING_UNKNOWN, "Failed to find reserved disks in the kernel log: No such",
                {{"kernel-log"}}},

        {"command-line", FINDING_WARNING, "rd.lvm.lv=old/root on the kernel command line: no VG old is known",
                {{"proc/cmdline", "quiet rd.lvm.lv=data/one rd.lvm.lv=old/root\n"}}},
        {"command-line", FINDING_WARNING, "rd.lvm.vg=old on", {{"proc/cmdline", "rd.lvm.vg=old"}}},
        {"command-line", FINDING_OK, "are known",
                {{"proc/cmdline", "rd.lvm.vg=data rd.lvm=0 root=/dev/old/root\n"}}},
        {"command-line", FINDING_OK, "are known", {{"proc/cmdline", "rd.lvm.vg= rd.lvm.lv= quiet\n"}}},

        {"fstab", FINDING_WARNING,
                "VG gone is absent, so that boot waits for it and fails: /etc/fstab names /dev/gone/lv.",
                {{"etc/fstab", "/dev/gone/lv /srv ext4 defaults 0 2\n/dev/data/one / ext4 defaults 0 1\n"}}},
        {"fstab", FINDING_OK, "No VG that boot waits for",
                {{"etc/fstab", "/dev/gone/lv /srv ext4 nofail 0 2\n/dev/gone/a /a ext4 noauto 0 2\n"}}},
        {"fstab", FINDING_OK, "No VG that boot waits for",
                {{"run/headgate/taken-over"}, {"etc/fstab", "/dev/gone/lv /srv ext4 defaults 0 2\n"}}},

        {"fstab", FINDING_WARNING, "VG off is not activated, so that boot waits for it and fails: " VG_EXPORTED,
                {{"etc/lvm/backup/off",
                         "off {\nid = \"wwwwww-wwww-wwww-wwww-wwww-wwww-wwwwww\"\nseqno = 1\nstatus = [\"EXPORTED\"]\n"
                         "physical_volumes {\npv0 {\nid = \"qqqqqq-qqqq-qqqq-qqqq-qqqq-qqqq-qqqqqq\"\n}\n}\n}\n"
                         "contents = \"Text Format Volume Group\"\nversion = 1\n"},
                        {"etc/fstab", "/dev/off/lv /srv ext4 defaults 0 2\n"}}},

        {"timeouts", FINDING_WARNING, "for these devices: sda, sdc.",
                {{"journal-udevd", "sda: Worker [123] processing SEQNUM=456 killed\nsdb: Failed to run: none\n"
                                   "sdc: Spawned process '/sbin/x' [12] timed out after 59s, killing.\n"}}},
        {"timeouts", FINDING_WARNING, "systemd timed out waiting for these devices: dev-gone-lv.device.",
                {{"journal-jobs",
                        "Timed out waiting for device dev-gone-lv.device - /dev/gone/lv.\nOther line\n"}}},
        {"timeouts", FINDING_OK, "No device has timed out", {{"journal-udevd", "sda: Failed to run\n"}}},

        {"command-line", FINDING_WARNING,
                "rd.lvm.lv=data/old on the kernel command line: there is no such active LV",
                {{"proc/cmdline", "rd.lvm.lv=data/one rd.lvm.lv=data/old\n"}}},
        {"initrd", FINDING_WARNING, "/etc/dracut.conf.d/headgate.conf is not headgate's",
                {{"usr/bin/dracut", ""}, {"etc/dracut.conf.d/headgate.conf", "other\n"}}},
        {"initrd", FINDING_WARNING, "The initrd of this boot activated all VGs",
                {{"usr/bin/dracut", ""}, {"etc/dracut.conf.d/headgate.conf", DRACUT_CONFIGURATION}}},
        {"initrd", FINDING_OK, "The initrd activated only the VGs",
                {{"usr/bin/dracut", ""}, {"run/headgate-initrd/vg/data", ""},
                        {"proc/self/mountinfo", ROOT_ON_DATA}}},
        {"initrd", FINDING_WARNING, "The initrd lacks 1 VG that it needs now: data",
                {{"usr/bin/dracut", ""}, {"run/headgate-initrd/vg/old", ""},
                        {"proc/self/mountinfo", ROOT_ON_DATA}}},
        {"initrd", FINDING_WARNING, "and activated all",
                {{"usr/bin/dracut", ""}, {"run/headgate-initrd/all", ""}, {"proc/self/mountinfo", ROOT_ON_DATA}}},
        {"initrd", FINDING_WARNING, "Cannot tell what the initrd needs: / is of type nfs",
                {{"usr/bin/dracut", ""}, {"run/headgate-initrd/vg/data", ""},
                        {"proc/self/mountinfo", "22 1 0:40 / / rw - nfs nas:/ rw\n"}}},
        {"requests", FINDING_OK, "No stale requests", {{"run/headgate/pending.d/8:0", ""}}},
        {"requests", FINDING_FAILED, "/run/headgate/listening", {{"run/headgate/listening", ""}}},

        {"links", FINDING_WARNING, "1 stale link: /dev/mapper/data-two.",
                {{"dev/mapper/data-two", NULL, "../dm-1"}}},
        {"links", FINDING_WARNING, "2 stale links: /dev/mapper/data-one, /dev/data/one.", {{"dev/dm-0"}}},

        {"journal", FINDING_WARNING, "is not persistent",
                {{"var/log/journal/id"}, {"var/log/journal", NULL, NULL}}},
        {"journal", FINDING_WARNING, "Storage=volatile",
                {{"etc/systemd/journald.conf", "[Journal]\nStorage=volatile\n"}}},
        {"journal", FINDING_OK, "is persistent",
                {{"var/log/journal/id"}, {"var/log/journal", NULL, NULL},
                        {"etc/systemd/journald.conf", "[Journal]\nStorage=persistent\n"}}},
        {"journal", FINDING_WARNING, "Storage=none in /usr/lib/systemd/journald.conf:",
                {{"usr/lib/systemd/journald.conf", "[Journal]\n#Storage=auto\n Storage = none \n"}}},
        /* A drop-in counts more than the file, wherever both are; of two, the one whose name is last. */
        {"journal", FINDING_WARNING, "Storage=volatile in /usr/lib/systemd/journald.conf.d/10-a.conf:",
                {{"etc/systemd/journald.conf", "[Journal]\nStorage=persistent\n"},
                        {"usr/lib/systemd/journald.conf.d/10-a.conf", "[Journal]\nStorage=volatile\n"}}},
        {"journal", FINDING_WARNING, "Storage=none in /run/systemd/journald.conf.d/20-b.conf:",
                {{"etc/systemd/journald.conf.d/10-a.conf", "[Journal]\nStorage=persistent\n"},
                        {"run/systemd/journald.conf.d/20-b.conf", "[Journal]\nStorage=none\n"},
                        {"etc/systemd/journald.conf.d/30-c", "[Journal]\nStorage=persistent\n"}}},
        /* Of one name, that in /etc is the only one, also if it says nothing. */
        {"journal", FINDING_WARNING, "Storage=volatile in /etc/systemd/journald.conf.d/20-b.conf:",
                {{"etc/systemd/journald.conf.d/20-b.conf", "[Journal]\nStorage=volatile\n"},
                        {"run/systemd/journald.conf.d/20-b.conf", "[Journal]\nStorage=persistent\n"},
                        {"usr/lib/systemd/journald.conf.d/20-b.conf", "[Journal]\nStorage=persistent\n"}}},
        {"journal", FINDING_OK, "is persistent",
                {{"etc/systemd/journald.conf.d/20-b.conf", NULL, "/dev/null"},
                        {"usr/lib/systemd/journald.conf.d/20-b.conf", "[Journal]\nStorage=volatile\n"}}},
};

static void make(const struct change *change)
{
        bool is_directory = streq(change->path, "var/log/journal");

        if (unlinkat(shape_root(), change->path, is_directory ? AT_REMOVEDIR : 0) < 0)
                ck_assert_int_eq(errno, ENOENT);
        if (change->text)
                shape_write(change->path, change->text);
        if (change->target)
                shape_link(change->path, change->target);
}

START_TEST(one_thing_is_wrong)
{
        _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;
        bool found = false;

        for (size_t i = 0; i < ELEMENTSOF(cases[_i].changes) && cases[_i].changes[i].path; i++)
                make(&cases[_i].changes[i]);
        look(&doctor);
        for (size_t i = 0; i < doctor.n_findings; i++) {
                const struct finding *finding = &doctor.findings[i];

                if (!streq(finding->check, cases[_i].check))
                        continue;
                found |= finding->result == cases[_i].result && strstr(finding->detail, cases[_i].detail);
                ck_assert_msg(finding->result <= cases[_i].result, "%s: %s: %s", cases[_i].detail, finding->check,
                        finding->detail);
        }
        for (size_t i = 0; !found && i < doctor.n_findings; i++)
                if (streq(doctor.findings[i].check, cases[_i].check))
                        fprintf(stderr, "said instead: %s\n", doctor.findings[i].detail);
        ck_assert_msg(found, "%s: %s", cases[_i].check, cases[_i].detail);
}
END_TEST

#define MOUNTS                                                                                                    \
        VERSION "UserspaceTimestampMonotonic=\"1000000\"\n\"local-fs.target\" { Requires=[\"srv.mount\"] "        \
                "Wants=[\"mnt.mount\", \"x.service\"] }\n"                                                        \
                "\"srv.mount\" { After=[\"dev-data-one.device\", \"-.mount\"] }\n"                                \
                "\"mnt.mount\" { After=[\"dev-data-one.device\", \"dev-sda.device\"] }\n"                         \
                "\"x.service\" { After=[\"dev-other.device\"] }\n"
#define DEVICE(name, kernel_name, timeouts)                                                                       \
        "\"" name "\" { SysFSPath=\"/sys/devices/virtual/block/" kernel_name "\" " timeouts " }\n"

static const struct {
        const char *devices;
        uint64_t first_usec, took_usec;
        enum timeline_end end;
        const char *expected;
} forecasts[] = {
        {DEVICE("dev-data-one.device", "dm-0", "JobRunningTimeoutUSec=\"5000000\""), 3000000, 3500000,
                TIMELINE_DONE, "dev-data-one.device (timeout 5.0s, VG data took 5.5s)"},
        {DEVICE("dev-data-one.device", "dm-0", "JobRunningTimeoutUSec=\"90000000\" JobTimeoutUSec=\"250000\""),
                1000000, 300000, TIMELINE_DONE, "dev-data-one.device (timeout 250ms, VG data took 300ms)"},
        /* From the start of the kernel it took longer. */
        {DEVICE("dev-data-one.device", "dm-0", "JobRunningTimeoutUSec=\"5000000\""), 2000000, 3500000,
                TIMELINE_DONE, NULL},
        {DEVICE("dev-data-one.device", "dm-0", "JobRunningTimeoutUSec=\"5000000\""), 3000000, 3500000,
                TIMELINE_FAILED, NULL},
        {DEVICE("dev-data-one.device", "dm-0", "JobTimeoutUSec=\"18446744073709551615\""), 3000000, 3500000,
                TIMELINE_DONE, NULL},
        {DEVICE("dev-data-one.device", "dm-7", "JobRunningTimeoutUSec=\"5000000\""), 3000000, 3500000,
                TIMELINE_DONE, NULL},
        {DEVICE("dev-other.device", "dm-0", "JobRunningTimeoutUSec=\"5000000\""), 3000000, 3500000, TIMELINE_DONE,
                NULL},
        /* One disk was late. */
        {DEVICE("dev-data-one.device", "dm-0", "JobRunningTimeoutUSec=\"90000000\""), 3000000, 120000000,
                TIMELINE_DONE, "dev-data-one.device (timeout 1min 30s, VG data took 2min 2s)"},
        /* Its disk was plugged in an hour later. */
        {DEVICE("dev-data-one.device", "dm-0", "JobRunningTimeoutUSec=\"5000000\""), 3600000000, 3500000,
                TIMELINE_DONE, NULL},
};

/* A VG may have the name of a directory that is not its own. */
START_TEST(links_of_others)
{
        static const char *const names[] = {"mapper", "char", "block"};
        _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_free_ char *text = string_format(METADATA("%s", "3"), names[i]);

                text[strlen(names[i]) + strlen(" {\nid = \"")] = (char) ('a' + i);
                write_record(text, 1);
        }
        shape_link("dev/mapper/data-two", "../dm-1");
        shape_link("dev/char/7:1", "../vcs1");
        shape_link("dev/block/253:7", "../dm-7");
        look(&doctor);
        for (size_t i = 0; i < doctor.n_findings; i++)
                if (streq(doctor.findings[i].check, "links"))
                        ck_assert_str_eq(doctor.findings[i].detail, "1 stale link: /dev/mapper/data-two.");
}
END_TEST

/* That a boot like an earlier one would not end well. */
START_TEST(forecast)
{
        _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;
        _cleanup_timeline_ struct timeline earlier = {};
        _cleanup_enumeration_ struct enumeration late = {};
        _cleanup_strv_ struct strv units = {};
        _cleanup_free_ char *systemd = string_format("%s%s", MOUNTS, forecasts[_i].devices);

        shape_write("systemd", systemd);
        for (size_t i = 0; i < 2; i++) {
                struct timeline_bar *bar = timeline_add(&earlier);

                ck_assert_ptr_nonnull(bar);
                bar->name = strdup(i == 0 ? "other" : "data");
                bar->first_usec = i == 0 ? 1500000 : forecasts[_i].first_usec;
                bar->phases_usec[TIMELINE_LVM2] = i == 0 ? 1000000 : forecasts[_i].took_usec;
                bar->end = forecasts[_i].end;
        }
        ck_assert_int_eq(doctor_open(&doctor), 0);
        timeouts_list_units(&doctor, &units);
        timeouts_forecast(&doctor, &units, &earlier, &late);
        ck_assert_pstr_eq(late.text, forecasts[_i].expected);
        ck_assert(!doctor.out_of_memory);
}
END_TEST

/* The disks of a VG are there, but it is not to be activated. */
START_TEST(waits_for_skipped_vg)
{
        static const char *const entries[] = {
                "/dev/data/one /srv ext4 nofail 0 2\n", "/dev/data/one /srv ext4 defaults 0 2\n"};
        _cleanup_close_ int state_fd = openat(shape_root(), "run/headgate", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;
        _cleanup_vg_ struct vg *vg = NULL;
        const char *reason;

        ck_assert_int_eq(metadata_parse(METADATA("data", "3"), &vg, &reason), 0);
        vg->status = VG_STATUS_SKIPPED;
        vg->exported = true;
        vg->reason = strdup(VG_EXPORTED);
        save_vg(state_fd, vg);
        ck_assert_int_eq(unlinkat(shape_root(), "dev/data/one", 0), 0);
        shape_write("etc/fstab", entries[_i]);
        look(&doctor);
        FOREACH_ARRAY(finding, doctor.findings, doctor.n_findings)
                if (streq(finding->check, "fstab"))
                        ck_assert_str_eq(finding->detail,
                                _i == 0 ? "No VG that boot waits for is absent or not to be activated."
                                        : "VG data is not activated, so that boot waits for it and fails: " VG_EXPORTED);
}
END_TEST

/* Another machine's VG is no reason to worry, unless boot waits for it. */
START_TEST(foreign)
{
        _cleanup_close_ int state_fd = openat(shape_root(), "run/headgate", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_vg_ struct vg *vg = NULL;
        const char *reason;

        ck_assert_int_eq(metadata_parse(METADATA("data", "3"), &vg, &reason), 0);
        vg->status = VG_STATUS_SKIPPED;
        vg->system_id = strdup("other");
        save_vg(state_fd, vg);
        for (size_t i = 0; i < 2; i++) {
                _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;
                size_t n = 0;

                if (i > 0)
                        shape_write("etc/fstab", "/dev/data/one /srv ext4 defaults 0 2\n");
                look(&doctor);
                FOREACH_ARRAY(finding, doctor.findings, doctor.n_findings) {
                        if (!streq(finding->check, "system-id"))
                                continue;
                        n++;
                        ck_assert_int_eq(finding->result, i > 0 ? FINDING_WARNING : FINDING_OK);
                        ck_assert_ptr_nonnull(strstr(finding->detail, ": data."));
                }
                ck_assert_uint_eq(n, 1);
        }
}
END_TEST

static const struct {
        const char *log, *disks;
} conflicts[] = {
        {CONFLICT("sdb"),
                "Disk reserved by another host (persistent reservation), by the last error in the kernel log: mpatha."},
        {CONFLICT("dm-1"), "log: mpatha."},
        {CONFLICT("sdb") CONFLICT("sdc") CONFLICT("dm-1") CONFLICT("sda"),
                "Disks reserved by another host (persistent reservation), by the last error in the kernel log: mpatha, sda."},
        {CONFLICT("nvme0c1n1"), "log: nvme0n1."},
};

/* The paths of a disk are no disks of their own. */
START_TEST(reserved_paths)
{
        _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;
        size_t n = 0;

        shape_device("sdb", 8, 16);
        shape_device("sdc", 8, 32);
        shape_dm(1, "mpatha", "mpath-36001405e3366f045", "multipath");
        shape_hold("sdb", "dm-1");
        shape_hold("sdc", "dm-1");
        shape_device_at("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", 259, 0);
        shape_write("kernel-log", conflicts[_i].log);
        look(&doctor);
        FOREACH_ARRAY(finding, doctor.findings, doctor.n_findings)
                if (streq(finding->check, "reservations")) {
                        n++;
                        ck_assert_int_eq(finding->result, FINDING_WARNING);
                        ck_assert_msg(strstr(finding->detail, conflicts[_i].disks), "%s", finding->detail);
                        ck_assert_ptr_nonnull(strstr(finding->advice, "sg_persist --read-full-status DEVICE"));
                }
        ck_assert_uint_eq(n, 1);
}
END_TEST

/* A journal without a line of this boot shows no timeouts. */
START_TEST(no_journal)
{
        _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;
        _cleanup_free_ char *path = string_format("%s/root/no-journal", run_directory());

        ck_assert_int_eq(setenv("HEADGATE_JOURNAL", path, true), 0);
        look(&doctor);
        ck_assert_int_eq(unsetenv("HEADGATE_JOURNAL"), 0);
        FOREACH_ARRAY(finding, doctor.findings, doctor.n_findings)
                ck_assert_msg((finding->result == FINDING_UNKNOWN) == streq(finding->check, "timeouts"), "%s: %s",
                        finding->check, finding->detail);
        ck_assert_int_eq(doctor.worst, FINDING_UNKNOWN);
}
END_TEST

/* A request that nobody has dealt with. */
START_TEST(old_requests)
{
        static const struct timespec times[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
        _cleanup_doctor_ struct doctor doctor = DOCTOR_NONE;

        shape_write("run/headgate/pending.d/8:0", "");
        ck_assert_int_eq(utimensat(shape_root(), "run/headgate/pending.d/8:0", times, 0), 0);
        look(&doctor);
        ck_assert_int_eq(doctor.worst, FINDING_FAILED);
        for (size_t i = 0; i < doctor.n_findings; i++)
                if (doctor.findings[i].result == FINDING_FAILED)
                        ck_assert_str_eq(
                                doctor.findings[i].detail, "1 request is left, and no worker is running.");
}
END_TEST

START_TEST(many_names)
{
        static const char *const names[] = {"a", "b", "c", "d", "e"};
        static const char *const expected[] = {
                "", "a", "a, b", "a, b, c", "a, b, c and 1 more", "a, b, c and 2 more"};

        for (size_t n = 0; n <= ELEMENTSOF(names); n++) {
                _cleanup_enumeration_ struct enumeration list = {};

                for (size_t i = 0; i < n; i++)
                        enumeration_add(&list, names[i]);
                ck_assert_str_eq(list.text ?: "", expected[n]);
        }
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("doctor");
        TCase *test = tcase_create("doctor");

        /* For libdevmapper's messages. */
        log_open("test-doctor", LOG_TARGET_STDERR);
        tcase_add_checked_fixture(test, set_up, tear_down);
        tcase_add_test(test, all_is_well);
        tcase_add_loop_test(test, one_thing_is_wrong, 0, ELEMENTSOF(cases));
        tcase_add_test(test, links_of_others);
        tcase_add_loop_test(test, forecast, 0, ELEMENTSOF(forecasts));
        tcase_add_loop_test(test, waits_for_skipped_vg, 0, 2);
        tcase_add_test(test, foreign);
        tcase_add_loop_test(test, reserved_paths, 0, ELEMENTSOF(conflicts));
        tcase_add_test(test, no_journal);
        tcase_add_test(test, old_requests);
        tcase_add_test(test, many_names);
        suite_add_tcase(suite, test);
        return run_suite(suite);
}
