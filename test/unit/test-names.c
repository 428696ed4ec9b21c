/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which names of VGs there are, by each of the places that tell of them. */

#include "view/sources.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "fake-dm.h"
#include "fixture.h"
#include "lvm/vg.h"

#define ID "0123456789abcdef0123456789abcdef"

static void set_up(void)
{
        run_directory_set_up();
        ck_assert_int_eq(setenv("HEADGATE_ROOT", run_directory(), true), 0);
}

/* Makes the directories of the path, too. */
static void write_file(const char *path, const char *text)
{
        _cleanup_free_ char *copy = strdup(path);
        _cleanup_close_ int fd = -EBADF;

        ck_assert_ptr_nonnull(copy);
        for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                ck_assert(mkdirat(run_fd, copy, 0755) == 0 || errno == EEXIST);
                *slash = '/';
        }
        fd = openat(run_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_all(fd, text, strlen(text)), 0);
}

/* Whether the names are these and no others. */
static void assert_names(size_t n, const char *const names[])
{
        _cleanup_sources_ struct sources sources = SOURCES_NONE;

        ck_assert_int_eq(sources_open(&sources), 0);
        ck_assert_int_eq(sources_read_names(&sources), 0);
        ck_assert_uint_eq(dm_hash_get_num_entries(sources.names), n);
        for (size_t i = 0; i < n; i++)
                ck_assert(sources_have_name(&sources, names[i]));
        ck_assert(!sources_have_name(&sources, "nobody"));
}

START_TEST(nothing)
{
        assert_names(0, NULL);
}
END_TEST

START_TEST(each_place)
{
        struct vg seen = {.name = (char *) "seen", .vgid = ID};

        save_vg(run_fd, &seen);
        put_record(run_fd, "damaged7890123456789012345678901", "{");
        write_file("etc/lvm/backup/saved", "");
        write_file("etc/lvm/backup/not a name", "");
        write_file("etc/lvm/backup/seen", "");
        write_file("lvm/pvs_online/" ID, "8:0\nvg:recorded\ndev:/dev/sda\n");
        write_file("lvm/vgs_online/claimed", "");
        write_file(fake_dm, "254:0 act--ive-lv LVM-" ID ID " linear\n"
                            "254:1 act--ive-other LVM-" ID ID " linear\n"
                            "254:2 crypt-home CRYPT-LUKS2-" ID "-home crypt\n");
        assert_names(5, (const char *const[]){"seen", "saved", "recorded", "claimed", "act-ive"});
}
END_TEST

START_TEST(backups_elsewhere)
{
        write_file("etc/lvm/lvm.conf", "backup/backup_dir = \"/srv/backup\"\n");
        write_file("etc/lvm/backup/here", "");
        write_file("srv/backup/there", "");
        assert_names(1, (const char *const[]){"there"});
}
END_TEST

START_TEST(essential_units)
{
        static const char *const essential[] = {"systemd-udevd.service", "user@1000.service", "getty@tty1.service",
                "serial-getty@ttyS0.service", "console-getty.service", "ssh.service", "sshd.service",
                "ssh@5-10.0.2.15:22-10.0.2.2:40000.service", "dbus.service", "dbus-broker.service"};
        static const char *const others[] = {
                "reader.service", "sshfs-data.service", "smbd.service", "dbusx.service", "budget.service"};

        FOREACH_ELEMENT(unit, essential)
                ck_assert_msg(unit_name_is_essential(*unit), "%s", *unit);
        FOREACH_ELEMENT(unit, others)
                ck_assert_msg(!unit_name_is_essential(*unit), "%s", *unit);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("names");
        TCase *test_case = tcase_create("names");

        tcase_add_checked_fixture(test_case, set_up, run_directory_tear_down);
        tcase_add_test(test_case, nothing);
        tcase_add_test(test_case, each_place);
        tcase_add_test(test_case, backups_elsewhere);
        tcase_add_test(test_case, essential_units);
        suite_add_tcase(suite, test_case);
        return run_suite(suite);
}
