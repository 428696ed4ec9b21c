/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/tables.h"

#include <libmount.h>

#include "shared/util.h"

DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table)
DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter)

/* Returns 0 with `*ret` NULL where there is nothing to be read. */
static int read_table(
        int root_fd, const char *source, char **ret, struct entries *entries, struct problems *problems)
{
        int r;

        *ret = NULL;
        /* Past the slash. */
        r = read_file_at(root_fd, source + 1, ret, NULL);
        if (r >= 0 || r == -ENOMEM)
                return r;
        if (r != -ENOENT) {
                problems_add(problems, r, "%s: %m.", source);
                entries->unread = source;
        }
        return 0;
}

/* ------ fstab ------ */

static int note_bad_line(struct libmnt_table *table, _unused_ const char *name, int line)
{
        struct problems *problems = mnt_table_get_userdata(table);

        problems_add(problems, -EBADMSG, "/" FSTAB_FILE ":%d: the line makes no sense.", line);
        return 0;
}

static int parse_fstab(char *text, struct libmnt_table *table)
{
        _cleanup_fclose_ FILE *file = NULL;

        /* Of nothing fmemopen() makes no file. */
        if (!*text)
                return 0;
        file = fmemopen(text, strlen(text), "r");
        if (!file)
                return -errno;
        return mnt_table_parse_stream(table, file, "/" FSTAB_FILE) < 0 ? -EBADMSG : 0;
}

static int add_fs(struct libmnt_fs *fs, struct entries *entries)
{
        const char *options = mnt_fs_get_options(fs);
        const char *source = mnt_fs_get_source(fs);

        if (!source || options_have_noauto(options))
                return 0;
        return entries_add(
                entries, &(struct entry_text){
                                 .source = "/" FSTAB_FILE,
                                 .device = source,
                                 .net = options_have_netdev(options),
                                 .mounted = mnt_fs_streq_target(fs, "/") || mnt_fs_streq_target(fs, "/usr"),
                         });
}

int fstab_add_entries(int root_fd, struct entries *entries, struct problems *problems)
{
        _cleanup_(mnt_unref_tablep) struct libmnt_table *table = mnt_new_table();
        _cleanup_(mnt_free_iterp) struct libmnt_iter *iterator = mnt_new_iter(MNT_ITER_FORWARD);
        _cleanup_free_ char *text = NULL;
        struct libmnt_fs *fs;
        int r;

        if (!table || !iterator)
                return -ENOMEM;
        r = read_table(root_fd, "/" FSTAB_FILE, &text, entries, problems);
        if (r < 0 || !text)
                return r;

        (void) mnt_table_set_userdata(table, problems);
        (void) mnt_table_set_parser_errcb(table, note_bad_line);
        r = parse_fstab(text, table);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                problems_add(problems, r, "/" FSTAB_FILE ": the text is malformed.");
                entries->unread = "/" FSTAB_FILE;
        }

        while (mnt_table_next_fs(table, iterator, &fs) == 0) {
                r = add_fs(fs, entries);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ crypttab ------ */

#define FIELDS_MAX 4

/* "NAME DEVICE [KEY [OPTIONS]]" */
static int add_line(char *line, unsigned int number, struct entries *entries, struct problems *problems)
{
        const char *fields[FIELDS_MAX] = {};
        size_t n = 0;
        char *rest;

        for (char *field = strtok_r(line, " \t\r", &rest); field && n < FIELDS_MAX;
                field = strtok_r(NULL, " \t\r", &rest))
                fields[n++] = field;
        if (n == 0 || fields[0][0] == '#')
                return 0;
        if (n < 2) {
                problems_add(
                        problems, -EBADMSG, "/" CRYPTTAB_FILE ":%u: the line has a name, and no device.", number);
                return 0;
        }
        if (options_have_noauto(fields[3]))
                return 0;
        return entries_add(entries, &(struct entry_text){
                                            .source = "/" CRYPTTAB_FILE,
                                            .device = fields[1],
                                            .net = options_have_netdev(fields[3]),
                                    });
}

int crypttab_add_entries(int root_fd, struct entries *entries, struct problems *problems)
{
        _cleanup_free_ char *text = NULL;
        unsigned int number = 0;
        char *rest;
        int r;

        r = read_table(root_fd, "/" CRYPTTAB_FILE, &text, entries, problems);
        if (r < 0)
                return r;

        rest = text;
        for (char *line; (line = strsep(&rest, "\n"));) {
                r = add_line(line, ++number, entries, problems);
                if (r < 0)
                        return r;
        }
        return 0;
}
