/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of the plan. The whole is held to trees of files, in test/generator. */

#include "boot/plan.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "boot/switches.h"
#include "fixture.h"

#define ID32 "6HcCa1MXOX9c6GnXbnO5XxrqYxTEHguq"

static const struct {
        const char *device;
        enum device_kind kind;
        const char *vg;
} devices[] = {
        {"/dev/data/srv", DEVICE_OF_NAME, "data"},
        {"/dev//data/./srv/", DEVICE_OF_NAME, "data"},
        {"/dev/a.b+c_d-e/x", DEVICE_OF_NAME, "a.b+c_d-e"},
        {"/dev/7/1", DEVICE_OF_NAME, "7"},
        {"/dev/md/0", DEVICE_OF_NAME, "md"}, /* no VG of that name is known */
        {"/dev/data", DEVICE_OTHER, NULL},
        {"/dev/-x/srv", DEVICE_OTHER, NULL},
        {"/dev/data/-x", DEVICE_OTHER, NULL},
        {"/dev/data/a b", DEVICE_OTHER, NULL},
        {"/dev/data/srv/more", DEVICE_OTHER, NULL},
        {"/dev", DEVICE_OTHER, NULL},
        {"/", DEVICE_OTHER, NULL},
        {"", DEVICE_OTHER, NULL},
        {"dev/data/srv", DEVICE_OTHER, NULL},
        {"data/srv", DEVICE_OTHER, NULL},
        {"/srv/data/srv", DEVICE_OTHER, NULL},
        {"/dev/../dev/data/srv", DEVICE_OTHER, NULL},
        {"/dev/mapper/data-srv", DEVICE_OF_NAME, "data"},
        {"/dev/mapper/my--data-srv", DEVICE_OF_NAME, "my-data"},
        {"/dev/mapper/my----data-s--r--v", DEVICE_OF_NAME, "my--data"},
        {"/dev/mapper/data-pool-tpool", DEVICE_OF_NAME, "data"},
        {"/dev/mapper/data--srv", DEVICE_OTHER, NULL},
        {"/dev/mapper/root_crypt", DEVICE_OTHER, NULL},
        {"/dev/mapper/-x", DEVICE_OTHER, NULL},
        {"/dev/mapper/data-", DEVICE_OTHER, NULL},
        {"/dev/mapper/a/b", DEVICE_OTHER, NULL},
        {"/dev/mapper", DEVICE_OTHER, NULL},
        {"/dev/disk/by-id/dm-name-data-srv", DEVICE_OF_NAME, "data"},
        {"/dev/disk/by-id/dm-uuid-LVM-" ID32 ID32, DEVICE_OF_ID, ID32},
        {"/dev/disk/by-id/dm-uuid-LVM-" ID32 ID32 "-tpool", DEVICE_OF_ID, ID32},
        {"/dev/disk/by-id/dm-uuid-LVM-" ID32, DEVICE_OTHER, NULL},
        {"/dev/disk/by-id/dm-uuid-LVM-" ID32 "short", DEVICE_OTHER, NULL},
        {"/dev/disk/by-id/dm-uuid-LVM-6-cCa1MXOX9c6GnXbnO5XxrqYxTEHguq" ID32, DEVICE_OTHER, NULL},
        {"/dev/disk/by-id/dm-uuid-CRYPT-LUKS2-" ID32 "-x", DEVICE_OTHER, NULL},
        {"/dev/disk/by-id/lvm-pv-uuid-6HcCa1-MXOX-9c6G-nXbn-O5Xx-rqYx-TEHguq", DEVICE_OTHER, NULL},
        {"/dev/disk/by-id/ata-data-srv", DEVICE_OTHER, NULL},
        {"/dev/disk/by-uuid/0b5e2d5e-1111-2222-3333-444455556666", DEVICE_TAGGED, NULL},
        {"/dev/disk/by-label/my\\x20data", DEVICE_TAGGED, NULL},
        {"/dev/disk/by-partuuid/01234567-01", DEVICE_OTHER, NULL},
        {"/dev/disk/by-partlabel/data", DEVICE_OTHER, NULL},
        {"/dev/disk/by-path/pci-0000:00:1f.2-ata-1", DEVICE_OTHER, NULL},
        {"/dev/dm-0", DEVICE_OTHER, NULL},
        {"/dev/dm-1234", DEVICE_OTHER, NULL},
        {"/dev/dm-", DEVICE_OTHER, NULL},
        {"/dev/dm-x", DEVICE_OTHER, NULL},
        {"/dev/block/253:0", DEVICE_OTHER, NULL},
        {"/dev/sda1", DEVICE_OTHER, NULL},
        {"/dev/nvme0n1p1", DEVICE_OTHER, NULL},
        {"UUID=0b5e2d5e-1111-2222-3333-444455556666", DEVICE_TAGGED, NULL},
        {"UUID=\"0b5e2d5e\"", DEVICE_TAGGED, NULL},
        {"LABEL=data", DEVICE_TAGGED, NULL},
        {"PARTUUID=01234567-01", DEVICE_OTHER, NULL},
        {"PARTLABEL=data", DEVICE_OTHER, NULL},
        {"LABELS=data", DEVICE_OTHER, NULL},
        {"tmpfs", DEVICE_OTHER, NULL},
        {"server:/dev/data/srv", DEVICE_OTHER, NULL},
};

START_TEST(names_of_devices)
{
        struct device_name name;

        ck_assert_int_eq(device_name_read(devices[_i].device, &name), 0);
        ck_assert_msg(name.kind == devices[_i].kind, "%s is %d", devices[_i].device, name.kind);
        ck_assert_str_eq(name.vg, devices[_i].vg ?: "");
}
END_TEST

/* What systemd-fstab-generator 252 takes them for. */
static const struct {
        const char *text;
        const char *words[4];
} command_lines[] = {
        {"", {}},
        {" \t\n", {}},
        {"a b\n", {"a", "b"}},
        {"  a\t\tb  ", {"a", "b"}},
        {"a=\"b c\" d", {"a=b c", "d"}},
        {"a='b c' d", {"a=b c", "d"}},
        {"\"a=b c\"", {"a=b c"}},
        {"a=\"it's\" b", {"a=it's", "b"}},
        {"a='say \"x y\"' b", {"a=say \"x y\"", "b"}},
        {"a=b\\ c", {"a=b\\", "c"}},
        {"a=\"b\\\"c", {"a=b\\c"}},
        {"a=\"b c", {"a=b c"}},
        {"'' \"\"", {"", ""}},
        {"a\"b\"'c'd", {"abcd"}},
};

START_TEST(words_of_the_command_line)
{
        _cleanup_strv_ struct strv words = {};
        size_t n = 0;

        ck_assert_int_eq(command_line_split(command_lines[_i].text, &words), 0);
        for (; command_lines[_i].words[n]; n++) {
                ck_assert_uint_gt(words.n, n);
                ck_assert_str_eq(words.strings[n], command_lines[_i].words[n]);
        }
        ck_assert_uint_eq(words.n, n);
}
END_TEST

START_TEST(a_word_is_found_whole)
{
        _cleanup_strv_ struct strv words = {};

        ck_assert_int_eq(command_line_split("xheadgate=0 headgate=01 'rd.headgate=0'", &words), 0);
        ck_assert(strv_has(&words, "rd.headgate=0"));
        ck_assert(!strv_has(&words, "headgate=0"));
}
END_TEST

/* ------ entries ------ */

/* The run directory of the fixture serves as root. */
static void write_file(const char *path, const char *text)
{
        _cleanup_close_ int fd = -EBADF;

        ck_assert(mkdirat(run_fd, "etc", 0755) == 0 || errno == EEXIST);
        ck_assert(mkdirat(run_fd, "proc", 0755) == 0 || errno == EEXIST);
        fd = openat(run_fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_all(fd, text, strlen(text)), 0);
}

/* Has entries claim the VGs "a" to "f" and "data". */
static void claim(struct plan *plan, struct problems *problems)
{
        static const char *const names[] = {"f", "a", "c", "data", "b", "d", "e", "b"};
        struct planned_vg *vg;

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                ck_assert_int_eq(plan_add(plan, names[i], &vg), 0);
        ck_assert_uint_eq(plan->n, ELEMENTSOF(names) - 1);
        ck_assert_int_eq(entries_claim(run_fd, NULL, plan, problems), 0);
}

static void assert_claim(const struct plan *plan, const char *name, enum plan_group group, const char *reason)
{
        const struct planned_vg *vg = plan_find(plan, name);

        ck_assert_ptr_nonnull(vg);
        ck_assert_msg(vg->group == group, "%s: group %d", name, vg->group);
        ck_assert_str_eq(vg->reason, reason);
}

/* What of one word becomes an entry. */
static const struct {
        const char *word;
        const char *device; /* NULL: none */
        bool net;
} entry_words[] = {
        {"root=/dev/data/root", "/dev/data/root"},
        {"root=UUID=0b5e2d5e", NULL},
        {"root=/dev/sda1", NULL},
        {"mount.usr=/dev/mapper/data-usr", "/dev/mapper/data-usr"},
        {"mount.usr=LABEL=usr", NULL},
        {"resume=/dev/data/swap", "/dev/data/swap"},
        {"rd.lvm.lv=data/root", "data/root"},
        {"rd.lvm.vg=data", "data"},
        {"rd.lvm.lv=-x/root", NULL},
        {"rd.lvm.lv=", NULL},
        {"rd.lvm=0", NULL},
        {"xroot=/dev/data/root", NULL},
        {"root", NULL},
        {"systemd.mount-extra=/dev/data/a:/a", "/dev/data/a"},
        {"systemd.mount_extra=/dev/data/a:/a:ext4:ro,_netdev", "/dev/data/a", .net = true},
        {"systemd.mount-extra=/dev/data/a:/a:ext4:noauto", NULL},
        {"systemd.mount-extra=LABEL=a:/a", NULL},
        {"systemd.mount-extra=/dev/data/a", NULL},
        {"systemd.swap-extra=/dev/data/s", "/dev/data/s"},
        {"systemd.swap-extra=/dev/data/s:_netdev", "/dev/data/s", .net = true},
        {"systemd.swap-extra=/dev/data/s:noauto", NULL},
};

START_TEST(entries_of_the_command_line)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};
        const char *device = entry_words[_i].device;
        _cleanup_free_ char *reason = string_format("/proc/cmdline names %s.", device);

        write_file("proc/cmdline", entry_words[_i].word);
        claim(&plan, &problems);
        ck_assert_int_eq(problems.error, 0);
        if (!device)
                assert_claim(&plan, "data", PLAN_UNNAMED, "Not in fstab or crypttab.");
        else
                assert_claim(&plan, "data", entry_words[_i].net ? PLAN_NET : PLAN_BOOT, reason);
}
END_TEST

static const struct {
        const char *options;
        enum plan_group group;
} option_rows[] = {
        {"", PLAN_BOOT},
        {"defaults", PLAN_BOOT},
        {"_netdev", PLAN_NET},
        {"ro,_netdev,nofail", PLAN_NET},
        {"x_netdev,_netdevx", PLAN_BOOT},
        {"noauto", PLAN_UNNAMED},
        {"auto,noauto", PLAN_UNNAMED},
        {"noauto,auto", PLAN_BOOT},
        {"noauto,ro", PLAN_UNNAMED},
        {"_netdev,noauto", PLAN_UNNAMED},
        {"context=\"a,noauto,b\",ro", PLAN_BOOT},
        {"context=\"a,_netdev,b\",ro", PLAN_BOOT},
        {"x-systemd.requires=noauto", PLAN_BOOT},
};

START_TEST(options_of_entries)
{
        _cleanup_free_ char *line = string_format("x /dev/a/x none %s", option_rows[_i].options);
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        write_file("etc/crypttab", line);
        claim(&plan, &problems);
        assert_claim(&plan, "a", option_rows[_i].group,
                option_rows[_i].group == PLAN_UNNAMED ? "Not in fstab or crypttab."
                                                      : "/etc/crypttab names /dev/a/x.");
}
END_TEST

START_TEST(lines_of_crypttab)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        write_file("etc/crypttab", "# comment /dev/f/x\n"
                                   "\n"
                                   "  \t\n"
                                   "one /dev/a/x\n"
                                   "\ttwo\t/dev/b/x\tnone\tluks,_netdev\n"
                                   "three /dev/c/x none luks # more\n"
                                   "four UUID=1 /key\r\n"
                                   "five /dev/d/x none noauto\n"
                                   "lonely\n"
                                   "six /dev/e/x none luks");
        claim(&plan, &problems);
        assert_claim(&plan, "a", PLAN_BOOT, "/etc/crypttab names /dev/a/x.");
        assert_claim(&plan, "b", PLAN_NET, "/etc/crypttab names /dev/b/x.");
        assert_claim(&plan, "c", PLAN_BOOT, "/etc/crypttab names /dev/c/x.");
        assert_claim(&plan, "d", PLAN_UNNAMED, "Not in fstab or crypttab.");
        assert_claim(&plan, "e", PLAN_BOOT, "/etc/crypttab names /dev/e/x.");
        assert_claim(&plan, "f", PLAN_UNNAMED, "Not in fstab or crypttab.");
        ck_assert_uint_eq(problems.lines.n, 1);
        ck_assert_str_eq(problems.lines.strings[0], "/etc/crypttab:9: missing device, ignoring line.");
}
END_TEST

START_TEST(lines_of_fstab)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        write_file("etc/fstab", "/dev/a/x / ext4 defaults 0 1\n"
                                "/dev/disk/by-label/b\\040x /b ext4 defaults 0 2\n"
                                "UUID=0 / ext4 defaults 0 1\n"
                                "UUID=1 /home ext4\n"
                                "/dev/c/x /c ext4 noauto\n"
                                "/dev/d/x none swap sw");
        claim(&plan, &problems);
        ck_assert_int_eq(problems.error, 0);
        assert_claim(&plan, "a", PLAN_BOOT, "/etc/fstab names /dev/a/x.");
        assert_claim(&plan, "b", PLAN_UNNAMED, "Not in fstab or crypttab.");
        assert_claim(&plan, "c", PLAN_UNNAMED, "Not in fstab or crypttab.");
        assert_claim(&plan, "d", PLAN_BOOT, "/etc/fstab names /dev/d/x.");
}
END_TEST

START_TEST(the_first_most_urgent_claim_counts)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        write_file("etc/fstab", "/dev/a/1 /1 ext4 _netdev\n"
                                "/dev/a/2 /2 ext4 _netdev\n"
                                "/dev/b/1 /3 ext4 _netdev\n"
                                "/dev/b/2 /4 ext4\n"
                                "/dev/b/3 /5 ext4\n");
        write_file("etc/crypttab", "x /dev/b/4 none _netdev\n");
        claim(&plan, &problems);
        assert_claim(&plan, "a", PLAN_NET, "/etc/fstab names /dev/a/1.");
        assert_claim(&plan, "b", PLAN_BOOT, "/etc/fstab names /dev/b/2.");
}
END_TEST

START_TEST(tables_that_are_not_there)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        claim(&plan, &problems);
        write_file("etc/fstab", "");
        ck_assert_int_eq(entries_claim(run_fd, NULL, &plan, &problems), 0);
        for (size_t i = 0; i < plan.n; i++)
                ck_assert(plan.vgs[i].group == PLAN_UNNAMED);
        ck_assert_int_eq(problems.error, 0);
}
END_TEST

START_TEST(a_pipe_in_place_of_a_table)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        ck_assert_int_eq(mkdirat(run_fd, "etc", 0755), 0);
        ck_assert_int_eq(mknodat(run_fd, "etc/fstab", S_IFIFO | 0644, 0), 0);
        write_file("etc/crypttab", "x /dev/a/x\n");
        claim(&plan, &problems);
        assert_claim(&plan, "a", PLAN_BOOT, "/etc/crypttab names /dev/a/x.");
        ck_assert_int_eq(problems.error, -EBADFD);
        ck_assert_uint_eq(problems.lines.n, 1);
}
END_TEST

/* ------ hints ------ */

static const char *read_hints(void)
{
        static char *text;

        free(text);
        text = NULL;
        return read_file_at(run_fd, "etc/headgate/uuids", &text, NULL) < 0 ? NULL : text;
}

START_TEST(hints_name_vgs)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        write_file_and_directories("etc/headgate/uuids", "# comment\n"
                                                         "\n"
                                                         "UUID=1 a\n"
                                                         "UUID=12 e\n"
                                                         "LABEL=\"my data\" b\n"
                                                         "/dev/disk/by-label/x\\x0a c\n"
                                                         "UUID=2\n"
                                                         "UUID=3 -x\n"
                                                         "UUID=4 of-no-backup\n"
                                                         "LABEL=\"my e");
        write_file("etc/fstab", "UUID=1 /1 ext4\n"
                                "LABEL=\"my\\040data\" /2 ext4 _netdev\n"
                                "/dev/disk/by-label/x\\012 /3 ext4\n"
                                "UUID=4 /4 ext4\n"
                                "UUID=12 /5 ext4 noauto\n"
                                "UUID=5 /6 ext4\n");
        claim(&plan, &problems);
        assert_claim(&plan, "a", PLAN_BOOT, "/etc/fstab names UUID=1.");
        assert_claim(&plan, "b", PLAN_NET, "/etc/fstab names LABEL=\"my data\".");
        assert_claim(&plan, "c", PLAN_BOOT, "/etc/fstab names /dev/disk/by-label/x\\x0a.");
        assert_claim(&plan, "e", PLAN_UNNAMED, "Not in fstab or crypttab.");
        ck_assert_uint_eq(problems.lines.n, 2);
        ck_assert_str_eq(problems.lines.strings[0],
                "/etc/headgate/uuids:7: expected a device and a VG, ignoring line: UUID=2");
        ck_assert_str_eq(problems.lines.strings[1],
                "/etc/headgate/uuids:8: expected a device and a VG, ignoring line: UUID=3 -x");
}
END_TEST

static void make_link(void)
{
        ck_assert_int_eq(symlinkat("elsewhere", run_fd, "etc/headgate/uuids"), 0);
        write_file_and_directories("etc/headgate/elsewhere", "UUID=1 a\n");
}

static void make_directory_link(void)
{
        ck_assert_int_eq(renameat(run_fd, "etc/headgate", run_fd, "etc/other"), 0);
        ck_assert_int_eq(symlinkat("other", run_fd, "etc/headgate"), 0);
        write_file_and_directories("etc/other/uuids", "UUID=1 a\n");
}

static void make_pipe(void)
{
        ck_assert_int_eq(mkfifoat(run_fd, "etc/headgate/uuids", 0600), 0);
}

static void make_large(void)
{
        _cleanup_free_ char *text = malloc(HINTS_SIZE_MAX + 2);

        memset(text, '\n', HINTS_SIZE_MAX + 1);
        memcpy(text, "UUID=1 a", strlen("UUID=1 a"));
        text[HINTS_SIZE_MAX + 1] = '\0';
        write_file_and_directories("etc/headgate/uuids", text);
}

static const struct {
        void (*make)(void);
        int error;
} bad_hints[] = {
        {make_link, 0},
        {make_directory_link, 0},
        {make_pipe, -EBADFD},
        {make_large, -EFBIG},
};

START_TEST(hints_that_cannot_be_read)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        write_file_and_directories("etc/headgate/x", "");
        write_file("etc/fstab", "UUID=1 /1 ext4\n/dev/b/x /2 ext4\n");
        bad_hints[_i].make();
        claim(&plan, &problems);
        assert_claim(&plan, "a", PLAN_UNNAMED, "Not in fstab or crypttab.");
        assert_claim(&plan, "b", PLAN_BOOT, "/etc/fstab names /dev/b/x.");
        ck_assert_int_eq(problems.error, bad_hints[_i].error);
        ck_assert_uint_eq(problems.lines.n, bad_hints[_i].error < 0);
}
END_TEST

/* A device of device-mapper, to which udev's link leads. */
static void add_device(const char *link, const char *kernel_name, const char *uuid, const char *name)
{
        _cleanup_free_ char *device = string_format("dev/%s", kernel_name);
        _cleanup_free_ char *target = string_format("../../%s", kernel_name);
        _cleanup_free_ char *uuid_path = string_format("sys/block/%s/dm/uuid", kernel_name);
        _cleanup_free_ char *name_path = string_format("sys/block/%s/dm/name", kernel_name);

        write_file_and_directories("dev/disk/by-uuid/.x", "");
        write_file_and_directories("dev/disk/by-label/.x", "");
        write_file_and_directories(device, "");
        ck_assert_int_eq(symlinkat(target, run_fd, link), 0);
        if (uuid) {
                write_file_and_directories(uuid_path, uuid);
                write_file_and_directories(name_path, name);
        }
}

static ino_t inode_of_hints(void)
{
        struct stat status;

        ck_assert_int_eq(fstatat(run_fd, "etc/headgate/uuids", &status, AT_SYMLINK_NOFOLLOW), 0);
        return status.st_ino;
}

START_TEST(hints_are_remembered)
{
        ino_t before;

        write_file("etc/fstab", "UUID=1 /1 btrfs subvol=a\n"
                                "UUID=2 none swap\n"
                                "UUID=3 /3 ext4\n"
                                "UUID=4 /4 ext4\n"
                                "UUID=5 /5 ext4 noauto\n"
                                "/dev/data/x /6 ext4\n"
                                "UUID=1 /7 btrfs subvol=b\n"
                                "UUID=sda /8 ext4\n");
        write_file("etc/crypttab", "x LABEL=\"a/b\" none luks\n");
        write_file("proc/cmdline", "root=/dev/disk/by-uuid/6 systemd.mount-extra=UUID=7:/9");
        add_device("dev/disk/by-uuid/1", "dm-1", "LVM-" ID32 ID32 "\n", "my--data-srv\n");
        add_device("dev/disk/by-uuid/2", "dm-2", "CRYPT-LUKS2-x\n", "a-x\n");
        add_device("dev/disk/by-uuid/5", "dm-5", "LVM-" ID32 ID32 "\n", "a-y\n");
        add_device("dev/disk/by-uuid/6", "dm-6", "LVM-" ID32 ID32 "\n", "b-root\n");
        add_device("dev/disk/by-uuid/sda", "sda", NULL, NULL);
        add_device("dev/disk/by-label/a\\x2fb", "dm-7", "LVM-" ID32 ID32 "-cow\n", "c-x-cow\n");

        /* Of a device that is not there the hint stays, of one that no entry names it goes. */
        write_file_and_directories("etc/headgate/uuids", "UUID=1 wrong\nUUID=3 d\nUUID=8 d\nbad\n");
        ck_assert_int_eq(plan_remember(run_fd), 0);
        ck_assert_str_eq(read_hints(), "/dev/disk/by-uuid/6 b\n"
                                       "LABEL=\"a/b\" c\n"
                                       "UUID=1 my-data\n"
                                       "UUID=3 d\n");
        before = inode_of_hints();
        ck_assert_int_eq(plan_remember(run_fd), 0);
        ck_assert_int_eq(inode_of_hints(), before);

        /* Nothing is left of a file that is no file of hints. */
        make_large();
        ck_assert_int_eq(plan_remember(run_fd), 0);
        ck_assert_ptr_null(strstr(read_hints(), "UUID=3"));
}
END_TEST

START_TEST(nothing_to_be_remembered)
{
        write_file("etc/fstab", "/dev/data/x / ext4\nUUID=1 /1 ext4\n");
        ck_assert_int_eq(plan_remember(run_fd), 0);
        ck_assert_ptr_null(read_hints());
        ck_assert_int_lt(faccessat(run_fd, "etc/headgate", F_OK, 0), 0);
}
END_TEST

START_TEST(no_more_is_remembered_than_is_read)
{
        _cleanup_memstream_ struct memstream stream = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_strv_ struct strv hints = {};
        _cleanup_free_ char *fstab = NULL;
        FILE *file = memstream_open(&stream);

        add_device("dev/disk/by-uuid/1", "dm-1", "LVM-" ID32 ID32 "\n", "data-x\n");
        for (unsigned int i = 0; i < 400; i++) {
                _cleanup_free_ char *link = string_format("dev/disk/by-label/%0200u", i);

                fprintf(file, "LABEL=%0200u /x ext4\n", i);
                ck_assert_int_eq(symlinkat("../../dm-1", run_fd, link), 0);
        }
        fstab = memstream_finish(&stream);
        ck_assert_ptr_nonnull(fstab);
        write_file("etc/fstab", fstab);
        ck_assert_int_eq(plan_remember(run_fd), 0);
        ck_assert_uint_le(strlen(read_hints()), HINTS_SIZE_MAX);
        ck_assert_int_eq(hints_read(run_fd, &hints, &problems), 0);
        ck_assert_int_eq(problems.error, 0);
        ck_assert_uint_ge(hints.n, 300);
        ck_assert_str_eq(hints.strings[hints.n - 1] + strlen("LABEL=") + 200, " data");
}
END_TEST

/* ------ the whole ------ */

START_TEST(there_is_a_bound)
{
        _cleanup_config_ struct config config = {};
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        ck_assert_int_eq(settings_read(run_fd, &settings, &problems), 0);
        ck_assert_int_eq(config_read(run_fd, &config, &problems), 0);
        for (unsigned int i = 0; i < PLAN_VGS_MAX; i++) {
                _cleanup_free_ char *name = string_format("vg%u", i);

                ck_assert_int_eq(strv_add(&settings.boot_vgs, name), 0);
        }
        ck_assert_int_eq(strv_add(&settings.boot_vgs, "vg7"), 0);
        ck_assert_int_eq(strv_add(&settings.net_vgs, "one-more"), 0);
        ck_assert_int_eq(problems.error, 0);

        ck_assert_int_eq(plan_make(run_fd, &settings, &config, NULL, &plan, &problems), 0);
        ck_assert_uint_eq(plan.n, PLAN_VGS_MAX);
        ck_assert_ptr_null(plan_find(&plan, "one-more"));
        ck_assert_str_eq(plan_find(&plan, "vg7")->name, "vg7");
        ck_assert_int_eq(problems.error, -E2BIG);
        ck_assert_uint_eq(problems.lines.n, 1);
        ck_assert_str_eq(
                problems.lines.strings[0], "/etc/headgate/headgate.conf: too many VGs, ignoring one-more.");
}
END_TEST

START_TEST(backups_have_a_bound)
{
        static const char *const folders[] = {"etc", "etc/lvm", "etc/lvm/backup"};
        _cleanup_config_ struct config config = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        ck_assert_int_eq(config_read(run_fd, &config, &problems), 0);
        for (size_t i = 0; i < ELEMENTSOF(folders); i++)
                ck_assert(mkdirat(run_fd, folders[i], 0755) >= 0 || errno == EEXIST);
        /* One that cannot be a VG's, one that is too large to read, five of which four fit, and what is never read. */
        for (const char *name = "!abcdefg"; *name != '\0'; name++) {
                _cleanup_free_ char *path = string_format("etc/lvm/backup/%c", *name);
                _cleanup_close_ int fd = openat(run_fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

                ck_assert_int_eq(ftruncate(fd, (*name == 'a' ? 17 : 15) * 1024 * 1024), 0);
        }

        ck_assert_int_eq(known_add(run_fd, &config, NULL, &plan, &problems), 0);
        ck_assert_uint_eq(plan.n, 0);
        ck_assert_int_eq(problems.error, -EFBIG);
        ck_assert_uint_eq(problems.lines.n, 6);
        ck_assert_str_eq(problems.lines.strings[0], "/etc/lvm/backup/a: File too large.");
        for (size_t i = 1; i < 5; i++)
                ck_assert_str_eq(problems.lines.strings[i] + strlen("/etc/lvm/backup/b"),
                        ": the metadata text is malformed.");
        ck_assert_str_eq(problems.lines.strings[5], "/etc/lvm/backup: too much, ignoring files from f on.");
}
END_TEST

/* Of VGs that have appeared the plan knows nothing. */
START_TEST(those_that_were_seen)
{
        _cleanup_strv_ struct strv seen = {};
        _cleanup_config_ struct config config = {};
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        ck_assert_int_eq(strv_add(&seen, "a"), 0);
        ck_assert_int_eq(strv_add(&seen, "c"), 0);
        write_file("etc/fstab", "/dev/a/x /a ext4\n/dev/b/x /b ext4\n");
        ck_assert_int_eq(settings_read(run_fd, &settings, &problems), 0);
        ck_assert_int_eq(config_read(run_fd, &config, &problems), 0);
        ck_assert_int_eq(strv_add(&settings.boot_vgs, "a"), 0);
        ck_assert_int_eq(strv_add(&settings.net_vgs, "b"), 0);
        ck_assert_int_eq(strv_add(&settings.net_vgs, "c"), 0);
        ck_assert_int_eq(strv_add(&settings.net_vgs, "d"), 0);

        ck_assert_int_eq(plan_make(run_fd, &settings, &config, &seen, &plan, &problems), 0);
        ck_assert_uint_eq(plan.n, 2);
        assert_claim(&plan, "b", PLAN_BOOT, "/etc/fstab names /dev/b/x.");
        assert_claim(&plan, "d", PLAN_NET, "/etc/headgate/headgate.conf names it in net_volume_groups.");
        ck_assert_int_eq(problems.error, 0);
}
END_TEST

/* The machine has what headgate.conf has a section for, but no pattern. */
START_TEST(those_with_a_section)
{
        _cleanup_config_ struct config config = {};
        _cleanup_settings_ struct settings settings = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_plan_ struct plan plan = {};

        write_file("etc/fstab", "/dev/a/x /a ext4 nofail\n");
        ck_assert(mkdirat(run_fd, "etc/headgate", 0755) >= 0 || errno == EEXIST);
        write_file("etc/headgate/headgate.conf",
                "net_volume_groups = [ \"n\" ]\n"
                "volume_groups {\n a { deadline = 5 }\n n { deadline = 5 }\n s { degraded = \"yes\" }\n"
                " \"p*\" { deadline = 5 }\n u { expected = \"no\" }\n}\n");
        ck_assert_int_eq(settings_read(run_fd, &settings, &problems), 0);
        ck_assert_int_eq(config_read(run_fd, &config, &problems), 0);

        ck_assert_int_eq(plan_make(run_fd, &settings, &config, NULL, &plan, &problems), 0);
        ck_assert_uint_eq(plan.n, 3);
        assert_claim(&plan, "a", PLAN_BOOT, "/etc/fstab names /dev/a/x.");
        assert_claim(&plan, "n", PLAN_NET, "/etc/headgate/headgate.conf names it in net_volume_groups.");
        assert_claim(&plan, "s", PLAN_UNNAMED, "/etc/headgate/headgate.conf names it in volume_groups.");
        FOREACH_ARRAY(vg, plan.vgs, plan.n)
                ck_assert(vg->needed);
        ck_assert_int_eq(problems.error, 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("plan");
        TCase *names = tcase_create("names");
        TCase *files = tcase_create("files");

        tcase_add_loop_test(names, names_of_devices, 0, ELEMENTSOF(devices));
        tcase_add_loop_test(names, words_of_the_command_line, 0, ELEMENTSOF(command_lines));
        tcase_add_test(names, a_word_is_found_whole);
        suite_add_tcase(suite, names);

        tcase_add_checked_fixture(files, run_directory_set_up, run_directory_tear_down);
        tcase_add_loop_test(files, entries_of_the_command_line, 0, ELEMENTSOF(entry_words));
        tcase_add_loop_test(files, options_of_entries, 0, ELEMENTSOF(option_rows));
        tcase_add_test(files, lines_of_crypttab);
        tcase_add_test(files, lines_of_fstab);
        tcase_add_test(files, the_first_most_urgent_claim_counts);
        tcase_add_test(files, tables_that_are_not_there);
        tcase_add_test(files, a_pipe_in_place_of_a_table);
        tcase_add_test(files, hints_name_vgs);
        tcase_add_loop_test(files, hints_that_cannot_be_read, 0, ELEMENTSOF(bad_hints));
        tcase_add_test(files, hints_are_remembered);
        tcase_add_test(files, nothing_to_be_remembered);
        tcase_add_test(files, no_more_is_remembered_than_is_read);
        tcase_add_test(files, there_is_a_bound);
        tcase_add_test(files, backups_have_a_bound);
        tcase_add_test(files, those_that_were_seen);
        tcase_add_test(files, those_with_a_section);
        suite_add_tcase(suite, files);
        return run_suite(suite);
}
