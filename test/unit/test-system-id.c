/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/config.h"

#include "fixture.h"

/* What "lvm systemid" of lvm2 2.03.16 makes of the same texts. */
static const struct {
        const char *text;
        const char *id;
} texts[] = {
        {"web1", "web1"},
        {"-_web 1!", "web1"},
        {"_a", "a"},
        {"localhost1", ""},
        {" a ", "a"},
        {"\xc3\xa4"
         "1",
                "1"},
        {"+a", "a"},
        {"a:b", "ab"},
        {"a-b_c.d+e", "a-b_c.d+e"},
        {"", ""},
};

START_TEST(texts_become_ids)
{
        _cleanup_free_ char *id = system_id_from_text(texts[_i].text);

        ck_assert_str_eq(id, texts[_i].id);
}
END_TEST

START_TEST(ids_have_an_end)
{
        char text[201] = {};
        _cleanup_free_ char *id = NULL;

        memset(text, 'a', sizeof(text) - 1);
        id = system_id_from_text(text);
        ck_assert_uint_eq(strlen(id), 128);
}
END_TEST

/* The same files for all; lvm.conf tells which counts. */
static const struct {
        const char *config;
        bool known;
        const char *id; /* NULL: none */
} sources[] = {
        {"", true, NULL},
        {"global { system_id_source = \"none\" }", true, NULL},
        {"global { system_id_source = \"uname\" }", true, "host7"},
        {"global { system_id_source = \"UName\" }", true, "host7"},
        {"global { system_id_source = \"machineid\" }", true, "0123456789abcdef0123456789abcdef"},
        {"global { system_id_source = \"machine-id\" }", true, "0123456789abcdef0123456789abcdef"},
        {"global { system_id_source = \"machineid\" etc = \"/nowhere\" }", false, NULL},
        {"global { system_id_source = \"lvmlocal\" }", true, "own"},
        {"global { system_id_source = \"file\" system_id_file = \"/etc/lvm/id\" }", true, "web2"},
        {"global { system_id_source = \"file\" system_id_file = \"/etc/lvm/none\" }", false, NULL},
        {"global { system_id_source = \"file\" }", false, NULL},
        {"global { system_id_source = \"appmachineid\" }", false, NULL},
        {"global { system_id_source = \"nonsense\" }", true, NULL},
        {"global/system_id_source = \"uname\"", true, "host7"},
};

START_TEST(sources_of_the_id)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_config_ struct config config = {};

        write_file_and_directories("proc/sys/kernel/hostname", "host7\n");
        write_file_and_directories("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
        write_file_and_directories("etc/lvm/id", "# ours\n\n   web2\nweb3\n");
        write_file_and_directories("etc/lvm/lvm.conf", sources[_i].config);
        write_file_and_directories(
                "etc/lvm/lvmlocal.conf", "local { system_id = \"own\" extra_system_ids = [ \"a\", \"b\" ] }");

        ck_assert_int_eq(config_read(run_fd, &config, &problems), 0);
        ck_assert_int_eq(problems.error, 0);
        ck_assert_int_eq(config.system_id.known, sources[_i].known);
        if (sources[_i].id)
                ck_assert_str_eq(config.system_id.id, sources[_i].id);
        else
                ck_assert_ptr_null(config.system_id.id);
        ck_assert_uint_eq(config.system_id.extra.n, 2);
        ck_assert_str_eq(config.system_id.extra.strings[1], "b");
}
END_TEST

START_TEST(whose_is_it)
{
        static char *extra[] = {(char *) "twin", NULL};
        struct system_id host = {.known = true, .id = (char *) "me", .extra = {.strings = extra, .n = 1}};

        ck_assert(!system_id_is_foreign(&host, NULL));
        ck_assert(!system_id_is_foreign(&host, ""));
        ck_assert(!system_id_is_foreign(&host, "me"));
        ck_assert(!system_id_is_foreign(&host, "twin"));
        ck_assert(system_id_is_foreign(&host, "other"));
        host.id = NULL;
        ck_assert(system_id_is_foreign(&host, "me"));
        /* lvm2 accepts other IDs only if the host has one. */
        ck_assert(system_id_is_foreign(&host, "twin"));
        host.known = false;
        ck_assert(!system_id_is_foreign(&host, "other"));
}
END_TEST

START_TEST(config_of_two_files)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_config_ struct config config = {};
        _cleanup_config_ struct config defaults = {};

        ck_assert_int_eq(config_read(run_fd, &defaults, &problems), 0);
        ck_assert(defaults.event_activation);
        ck_assert_str_eq(defaults.backup_dir, "/etc/lvm/backup");
        ck_assert_str_eq(defaults.locking_dir, "/run/lock/lvm");

        write_file_and_directories("etc/lvm/lvm.conf",
                "global { event_activation = 1 locking_dir = \"/srv/l\" }\nbackup { backup_dir = \"/srv/b\" }\n");
        write_file_and_directories("etc/lvm/lvmlocal.conf", "global { event_activation = 0 }\n");
        ck_assert_int_eq(config_read(run_fd, &config, &problems), 0);
        ck_assert(!config.event_activation);
        ck_assert_str_eq(config.backup_dir, "/srv/b");
        ck_assert_str_eq(config.locking_dir, "/srv/l");
        ck_assert_int_eq(problems.error, 0);
}
END_TEST

/* As lvm2 finds them in both files. Whether a list of hosts has this one is lvm2's to say. */
static const struct {
        const char *local, *config;
        bool expected;
} tags[] = {
        {"", "", false},
        {"", "tags { }", false},
        {"", "tags { hosttags = 0 }", false},
        {"", "tags { hosttags = 1 }", true},
        {"", "tags/hosttags = 1", true},
        {"tags { hosttags = 0 }", "tags { hosttags = 1 }", true},
        {"tags { hosttags = 1 }", "", true},
        {"", "tags { rack7 { } }", true},
        {"tags { rack7 { } }", "tags { hosttags = 0 }", true},
        {"", "tags { hosttags = 0 @rack7 { host_list = [ \"web1\" ] } }", true},
        {"", "activation { volume_list = [ \"@rack7\" ] }", false},
};

START_TEST(host_tags)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_config_ struct config config = {};

        write_file_and_directories("etc/lvm/lvm.conf", tags[_i].config);
        write_file_and_directories("etc/lvm/lvmlocal.conf", tags[_i].local);
        ck_assert_int_eq(config_read(run_fd, &config, &problems), 0);
        ck_assert_int_eq(config.host_tags, tags[_i].expected);
}
END_TEST

START_TEST(a_damaged_file_is_said)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_config_ struct config config = {};

        write_file_and_directories("etc/lvm/lvm.conf", "global { event_activation = 0\n");
        write_file_and_directories("etc/lvm/lvmlocal.conf", "backup { backup_dir = \"/srv/b\" }\n");
        ck_assert_int_eq(config_read(run_fd, &config, &problems), 0);
        ck_assert(config.event_activation);
        ck_assert_str_eq(config.backup_dir, "/srv/b");
        ck_assert_uint_eq(problems.lines.n, 1);
        ck_assert_str_eq(problems.lines.strings[0], "/etc/lvm/lvm.conf: syntax error.");
}
END_TEST

/* What the worker asks, of $LVM_SYSTEM_DIR. */
START_TEST(event_activation)
{
        _cleanup_free_ char *directory = string_format("%s/etc/lvm", run_directory());

        ck_assert_int_eq(setenv("LVM_SYSTEM_DIR", directory, true), 0);
        ck_assert_int_eq(config_ask("global/event_activation", true), 1);
        write_file_and_directories("etc/lvm/lvm.conf", "global { event_activation = 0 }\n");
        ck_assert_int_eq(config_ask("global/event_activation", true), 0);
        write_file_and_directories("etc/lvm/lvmlocal.conf", "global { event_activation = \"yes\" }\n");
        ck_assert_int_eq(config_ask("global/event_activation", true), 1);
        ck_assert_int_eq(unsetenv("LVM_SYSTEM_DIR"), 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("system-id");
        TCase *tcase = tcase_create("system-id");

        tcase_add_checked_fixture(tcase, run_directory_set_up, run_directory_tear_down);
        tcase_add_loop_test(tcase, texts_become_ids, 0, ELEMENTSOF(texts));
        tcase_add_test(tcase, ids_have_an_end);
        tcase_add_loop_test(tcase, sources_of_the_id, 0, ELEMENTSOF(sources));
        tcase_add_test(tcase, whose_is_it);
        tcase_add_test(tcase, config_of_two_files);
        tcase_add_loop_test(tcase, host_tags, 0, ELEMENTSOF(tags));
        tcase_add_test(tcase, a_damaged_file_is_said);
        tcase_add_test(tcase, event_activation);
        suite_add_tcase(suite, tcase);
        return run_suite(suite);
}
