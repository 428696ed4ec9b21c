/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of the plan. The whole is held to trees of files, in test/generator. */

#include "plan/plan.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "plan/backups.h"
#include "plan/command_line.h"
#include "plan/device_name.h"
#include "plan/entries.h"
#include "plan/tables.h"
#include "shared/util.h"

#define ID32 "6HcCa1MXOX9c6GnXbnO5XxrqYxTEHguq"

static const struct {
        const char *device;
        enum device_kind kind;
        const char *volume_group;
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
        {"/dev/disk/by-uuid/0b5e2d5e-1111-2222-3333-444455556666", DEVICE_UNRESOLVED, NULL},
        {"/dev/disk/by-label/my\\x20data", DEVICE_UNRESOLVED, NULL},
        {"/dev/disk/by-partuuid/01234567-01", DEVICE_OTHER, NULL},
        {"/dev/disk/by-partlabel/data", DEVICE_OTHER, NULL},
        {"/dev/disk/by-path/pci-0000:00:1f.2-ata-1", DEVICE_OTHER, NULL},
        {"/dev/dm-0", DEVICE_UNRESOLVED, NULL},
        {"/dev/dm-1234", DEVICE_UNRESOLVED, NULL},
        {"/dev/dm-", DEVICE_OTHER, NULL},
        {"/dev/dm-x", DEVICE_OTHER, NULL},
        {"/dev/block/253:0", DEVICE_UNRESOLVED, NULL},
        {"/dev/sda1", DEVICE_OTHER, NULL},
        {"/dev/nvme0n1p1", DEVICE_OTHER, NULL},
        {"UUID=0b5e2d5e-1111-2222-3333-444455556666", DEVICE_UNRESOLVED, NULL},
        {"UUID=\"0b5e2d5e\"", DEVICE_UNRESOLVED, NULL},
        {"LABEL=data", DEVICE_UNRESOLVED, NULL},
        {"PARTUUID=01234567-01", DEVICE_OTHER, NULL},
        {"PARTLABEL=data", DEVICE_OTHER, NULL},
        {"LABELS=data", DEVICE_OTHER, NULL},
        {"tmpfs", DEVICE_OTHER, NULL},
        {"server:/dev/data/srv", DEVICE_OTHER, NULL},
};

START_TEST(names_of_devices)
{
        _cleanup_device_name_ struct device_name name = {};

        ck_assert_int_eq(device_name_read(devices[_i].device, &name), 0);
        ck_assert_msg(name.kind == devices[_i].kind, "%s is %d", devices[_i].device, name.kind);
        ck_assert_pstr_eq(name.volume_group, devices[_i].volume_group);
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
        _cleanup_string_vector_ struct string_vector words = {};
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
        _cleanup_string_vector_ struct string_vector words = {};

        ck_assert_int_eq(command_line_split("xheadgate=0 headgate=01 'rd.headgate=0'", &words), 0);
        ck_assert(command_line_has(&words, "rd.headgate=0"));
        ck_assert(!command_line_has(&words, "headgate=0"));
}
END_TEST

/* What of one word becomes an entry. */
static const struct {
        const char *word;
        const char *device; /* NULL: none */
        bool net;
} entry_words[] = {
        {"root=/dev/data/root", "/dev/data/root", false},
        {"root=UUID=0b5e2d5e", NULL, false},
        {"root=/dev/sda1", NULL, false},
        {"mount.usr=/dev/mapper/data-usr", "/dev/mapper/data-usr", false},
        {"mount.usr=LABEL=usr", NULL, false},
        {"resume=/dev/data/swap", "/dev/data/swap", false},
        {"rd.lvm.lv=data/root", "data/root", false},
        {"rd.lvm.vg=data", "data", false},
        {"rd.lvm.lv=-x/root", NULL, false},
        {"rd.lvm.lv=", NULL, false},
        {"rd.lvm=0", NULL, false},
        {"xroot=/dev/data/root", NULL, false},
        {"root", NULL, false},
        {"systemd.mount-extra=/dev/data/a:/a", "/dev/data/a", false},
        {"systemd.mount_extra=/dev/data/a:/a:ext4:ro,_netdev", "/dev/data/a", true},
        {"systemd.mount-extra=/dev/data/a:/a:ext4:noauto", NULL, false},
        {"systemd.mount-extra=LABEL=a:/a", "LABEL=a", false},
        {"systemd.mount-extra=/dev/data/a", NULL, false},
        {"systemd.swap-extra=/dev/data/s", "/dev/data/s", false},
        {"systemd.swap-extra=/dev/data/s:_netdev", "/dev/data/s", true},
        {"systemd.swap-extra=/dev/data/s:noauto", NULL, false},
};

START_TEST(entries_of_the_command_line)
{
        _cleanup_string_vector_ struct string_vector words = {};
        _cleanup_entries_ struct entries entries = {};

        ck_assert_int_eq(string_vector_add(&words, entry_words[_i].word), 0);
        ck_assert_int_eq(command_line_add_entries(&words, &entries), 0);
        ck_assert_uint_eq(entries.n, entry_words[_i].device ? 1 : 0);
        if (entries.n > 0) {
                ck_assert_str_eq(entries.entries[0].device, entry_words[_i].device);
                ck_assert_int_eq(entries.entries[0].net, entry_words[_i].net);
                ck_assert_str_eq(entries.entries[0].source, "/proc/cmdline");
        }
}
END_TEST

START_TEST(options_of_entries)
{
        static const struct {
                const char *options;
                bool netdev, noauto;
        } rows[] = {
                {NULL, false, false},
                {"", false, false},
                {"defaults", false, false},
                {"_netdev", true, false},
                {"ro,_netdev,nofail", true, false},
                {"x_netdev,_netdevx", false, false},
                {"noauto", false, true},
                {"auto,noauto", false, true},
                {"noauto,auto", false, false},
                {"noauto,ro", false, true},
                {"context=\"a,noauto,b\",ro", false, false},
                {"x-systemd.requires=noauto", false, false},
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                ck_assert_msg(options_have_netdev(rows[i].options) == rows[i].netdev, "%s", rows[i].options);
                ck_assert_msg(options_have_noauto(rows[i].options) == rows[i].noauto, "%s", rows[i].options);
        }
}
END_TEST

/* The run directory of the fixture serves as root. */
static void write_file(const char *path, const char *text)
{
        _cleanup_close_ int fd = -EBADF;

        ck_assert(mkdirat(run_fd, "etc", 0755) == 0 || errno == EEXIST);
        fd = openat(run_fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_all(fd, text, strlen(text)), 0);
}

static void assert_devices(const struct entries *entries, const char *const wanted[], size_t n)
{
        ck_assert_uint_eq(entries->n, n);
        for (size_t i = 0; i < n; i++)
                ck_assert_str_eq(entries->entries[i].device, wanted[i]);
}

START_TEST(lines_of_crypttab)
{
        static const char *const wanted[] = {"/dev/a/x", "/dev/b/x", "/dev/c/x", "UUID=1", "/dev/e/x"};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_entries_ struct entries entries = {};

        write_file("etc/crypttab", "# comment /dev/no/x\n"
                                   "\n"
                                   "  \t\n"
                                   "one /dev/a/x\n"
                                   "\ttwo\t/dev/b/x\tnone\tluks,_netdev\n"
                                   "three /dev/c/x none luks # more\n"
                                   "four UUID=1 /key\r\n"
                                   "five /dev/d/x none noauto\n"
                                   "lonely\n"
                                   "six /dev/e/x none luks");
        ck_assert_int_eq(crypttab_add_entries(run_fd, &entries, &problems), 0);
        assert_devices(&entries, wanted, ELEMENTSOF(wanted));
        ck_assert(!entries.entries[0].net);
        ck_assert(entries.entries[1].net);
        ck_assert_uint_eq(problems.lines.n, 1);
        ck_assert_str_eq(problems.lines.strings[0], "/etc/crypttab:9: the line has a name, and no device.");
}
END_TEST

START_TEST(lines_of_fstab)
{
        static const char *const wanted[] = {"/dev/a/x", "/dev/disk/by-label/b x", "UUID=1", "/dev/d/x"};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_entries_ struct entries entries = {};

        write_file("etc/fstab", "/dev/a/x / ext4 defaults 0 1\n"
                                "/dev/disk/by-label/b\\040x /b ext4 defaults 0 2\n"
                                "UUID=0 / ext4 defaults 0 1\n"
                                "UUID=1 /home ext4\n"
                                "/dev/c/x /c ext4 noauto\n"
                                "/dev/d/x none swap sw");
        ck_assert_int_eq(fstab_add_entries(run_fd, &entries, &problems), 0);
        ck_assert_int_eq(problems.error, 0);
        assert_devices(&entries, wanted, ELEMENTSOF(wanted));
}
END_TEST

START_TEST(tables_that_are_not_there)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_entries_ struct entries entries = {};

        ck_assert_int_eq(fstab_add_entries(run_fd, &entries, &problems), 0);
        ck_assert_int_eq(crypttab_add_entries(run_fd, &entries, &problems), 0);
        write_file("etc/fstab", "");
        ck_assert_int_eq(fstab_add_entries(run_fd, &entries, &problems), 0);
        ck_assert_uint_eq(entries.n, 0);
        ck_assert_ptr_null(entries.unread);
        ck_assert_int_eq(problems.error, 0);
}
END_TEST

START_TEST(a_pipe_in_place_of_a_table)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_entries_ struct entries entries = {};

        ck_assert_int_eq(mkdirat(run_fd, "etc", 0755), 0);
        ck_assert_int_eq(mknodat(run_fd, "etc/fstab", S_IFIFO | 0644, 0), 0);
        ck_assert_int_eq(fstab_add_entries(run_fd, &entries, &problems), 0);
        ck_assert_str_eq(entries.unread, "/etc/fstab");
        ck_assert_int_eq(problems.error, -EBADFD);
}
END_TEST

START_TEST(there_is_a_bound)
{
        _cleanup_known_volume_groups_ struct known_volume_groups known = {};
        _cleanup_configuration_ struct configuration configuration = {};
        _cleanup_problems_ struct problems problems = {};

        ck_assert_int_eq(configuration_read(run_fd, &configuration, &problems), 0);
        ck_assert_int_eq(known_volume_groups_read(run_fd, &configuration, &known, &problems), 0);
        ck_assert_uint_eq(known.n, 0);
        for (unsigned int i = 0; i < KNOWN_VOLUME_GROUPS_MAX; i++) {
                _cleanup_free_ char *name = string_format("vg%u", i);

                ck_assert_int_eq(known_volume_groups_add(&known, name), 0);
        }
        ck_assert_int_eq(known_volume_groups_add(&known, "vg7"), 0);
        ck_assert_int_eq(known_volume_groups_add(&known, "one-more"), -E2BIG);
        ck_assert_uint_eq(known.n, KNOWN_VOLUME_GROUPS_MAX);
        ck_assert_ptr_null(known_volume_groups_find(&known, "one-more"));
        ck_assert_uint_eq(known_volume_groups_find(&known, "vg7")->index, 7);
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
        tcase_add_loop_test(names, entries_of_the_command_line, 0, ELEMENTSOF(entry_words));
        tcase_add_test(names, options_of_entries);
        suite_add_tcase(suite, names);

        tcase_add_checked_fixture(files, run_directory_set_up, run_directory_tear_down);
        tcase_add_test(files, lines_of_crypttab);
        tcase_add_test(files, lines_of_fstab);
        tcase_add_test(files, tables_that_are_not_there);
        tcase_add_test(files, a_pipe_in_place_of_a_table);
        tcase_add_test(files, there_is_a_bound);
        suite_add_tcase(suite, files);
        return run_suite(suite);
}
