/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads what boot waits for, and claims the VG of each entry as it comes. */

#include "boot/entries.h"

#include <libdevmapper.h>
#include <libmount.h>

#include "boot/device_name.h"
#include "boot/switches.h"
#include "shared/program.h"

#define CRYPTTAB_FILE "/etc/crypttab"

DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table)
DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter)

struct entry {
        const char *source;  /* the file, a constant */
        const char *device;  /* as it is written there */
        const char *options; /* "defaults,_netdev"; NULL for none */
        bool mounted; /* the device is in use by now: if it is unresolved, there is nothing to resolve any more */
};

/* Of "auto" and "noauto" the last one counts. */
static bool have_noauto(const char *options)
{
        /* The function moves it along the text, which it leaves alone. */
        char *rest = (char *) options, *name;
        bool noauto = false;
        size_t size;

        while (rest && mnt_optstr_next_option(&rest, &name, &size, NULL, NULL) == 0)
                if (size == strlen("noauto") && strncmp(name, "noauto", size) == 0)
                        noauto = true;
                else if (size == strlen("auto") && strncmp(name, "auto", size) == 0)
                        noauto = false;
        return noauto;
}

static struct planned_volume_group *find_by_id(const struct plan *plan, const char *vgid)
{
        /* Of two with one identifier, a VG and its clone, the first counts as its owner. */
        for (size_t i = 0; i < plan->n; i++)
                if (streq(plan->volume_groups[i].vgid, vgid))
                        return &plan->volume_groups[i];
        return NULL;
}

static int claim(const struct entry *entry, struct plan *plan)
{
        bool net = mnt_optstr_get_option(entry->options, "_netdev", NULL, NULL) == 0;
        struct planned_volume_group *volume_group = NULL;
        struct device_name name;
        int r;

        if (have_noauto(entry->options))
                return 0;
        r = device_name_read(entry->device, &name);
        if (r < 0)
                return r;

        if (name.kind == DEVICE_UNRESOLVED && !entry->mounted && !net && !plan->rest_urgent) {
                _cleanup_free_ char *device = string_printable(entry->device);

                if (!device)
                        return -ENOMEM;
                return string_replace(&plan->rest_urgent,
                        string_format("%s names %s, which may be of any VG.", entry->source, device));
        }
        if (name.kind == DEVICE_OF_NAME)
                volume_group = plan_find(plan, name.volume_group);
        else if (name.kind == DEVICE_OF_ID)
                volume_group = find_by_id(plan, name.volume_group);
        return volume_group ? plan_claim(volume_group, net ? PLAN_NET : PLAN_BOOT, entry->source, entry->device)
                            : 0;
}

/* ------ fstab ------ */

static int note_bad_line(struct libmnt_table *table, const char *name, int line)
{
        problems_add(mnt_table_get_userdata(table), -EBADMSG, "%s:%d: the line makes no sense.", name, line);
        return 0;
}

static int claim_fstab(char *text, struct plan *plan, struct problems *problems)
{
        _cleanup_(mnt_unref_tablep) struct libmnt_table *table = mnt_new_table();
        _cleanup_(mnt_free_iterp) struct libmnt_iter *iterator = mnt_new_iter(MNT_ITER_FORWARD);
        _cleanup_fclose_ FILE *file = NULL;
        struct libmnt_fs *fs;
        bool malformed;
        int r;

        file = fmemopen(text, strlen(text), "r");
        if (!file || !table || !iterator)
                return -ENOMEM;

        (void) mnt_table_set_userdata(table, problems);
        (void) mnt_table_set_parser_errcb(table, note_bad_line);
        malformed = mnt_table_parse_stream(table, file, FSTAB_FILE) < 0;
        if (malformed)
                problems_add(problems, -EBADMSG, FSTAB_FILE ": the text is malformed.");

        while (mnt_table_next_fs(table, iterator, &fs) == 0) {
                struct entry entry = {
                        .source = FSTAB_FILE,
                        .device = mnt_fs_get_source(fs),
                        .options = mnt_fs_get_options(fs),
                        .mounted = mnt_fs_streq_target(fs, "/") || mnt_fs_streq_target(fs, "/usr"),
                };

                r = entry.device ? claim(&entry, plan) : 0;
                if (r < 0)
                        return r;
        }
        return malformed ? -EBADMSG : 0;
}

/* ------ crypttab ------ */

/* "NAME DEVICE [KEY [OPTIONS]]" */
static int claim_crypttab(char *text, struct plan *plan, struct problems *problems)
{
        unsigned int number = 0;

        for (char *line, *rest = text; (line = strsep(&rest, "\n"));) {
                char *fields[4] = {};
                int n = dm_split_words(line, ELEMENTSOF(fields), 0, fields), r;

                number++;
                if (n == 0 || fields[0][0] == '#')
                        continue;
                if (n == 1) {
                        problems_add(problems, -EBADMSG, CRYPTTAB_FILE ":%u: the line has a name, and no device.",
                                number);
                        continue;
                }
                r = claim(&(struct entry){CRYPTTAB_FILE, fields[1], .options = fields[3]}, plan);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------ the kernel's command line ------ */

/* "VG/LV", or "VG" alone. */
static int claim_volume_group(const char *value, struct plan *plan)
{
        _cleanup_free_ char *name = strndup(value, strcspn(value, "/"));
        struct planned_volume_group *volume_group;

        if (!name)
                return -ENOMEM;
        volume_group = plan_find(plan, name);
        return volume_group ? plan_claim(volume_group, PLAN_BOOT, COMMAND_LINE_FILE, value) : 0;
}

/* The value of "KEY=VALUE", or NULL. In systemd's own keys '-' and '_' are the same. */
static char *find_value(char *word, const char *key)
{
        for (; *key; key++, word++)
                if (*word != *key && !(*key == '-' && *word == '_'))
                        return NULL;
        return *word == '=' ? word + 1 : NULL;
}

static int claim_word(char *word, struct plan *plan)
{
        struct entry entry = {.source = COMMAND_LINE_FILE};
        char *value;

        if ((value = find_value(word, "rd.lvm.lv")) || (value = find_value(word, "rd.lvm.vg")))
                return claim_volume_group(value, plan);
        if ((value = find_value(word, "root")) || (value = find_value(word, "mount.usr")) ||
                (value = find_value(word, "resume"))) {
                entry.device = value;
                entry.mounted = true;
        } else if ((value = find_value(word, "systemd.mount-extra"))) {
                /* "WHAT:WHERE[:TYPE[:OPTIONS]]". A device with a colon in its name can be no LV. */
                entry.device = strsep(&value, ":");
                if (!strsep(&value, ":"))
                        return 0;
                (void) strsep(&value, ":");
                entry.options = strsep(&value, ":");
        } else if ((value = find_value(word, "systemd.swap-extra"))) {
                /* "WHAT[:OPTIONS]" */
                entry.device = strsep(&value, ":");
                entry.options = value;
        }
        return entry.device ? claim(&entry, plan) : 0;
}

static int claim_command_line(char *text, struct plan *plan, _unused_ struct problems *problems)
{
        _cleanup_string_vector_ struct string_vector words = {};
        int r;

        r = command_line_split(text, &words);
        for (size_t i = 0; r >= 0 && i < words.n; i++)
                r = claim_word(words.strings[i], plan);
        return r;
}

/* ------ all of them ------ */

int entries_claim(int root_fd, struct plan *plan, struct problems *problems)
{
        static const struct {
                const char *path;
                /* Returns 0, -ENOMEM, or -EBADMSG if not all of the text could be read. */
                int (*claim)(char *text, struct plan *plan, struct problems *problems);
        } files[] = {
                {FSTAB_FILE, claim_fstab},
                {CRYPTTAB_FILE, claim_crypttab},
                {COMMAND_LINE_FILE, claim_command_line},
        };
        const char *unread = NULL;

        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                _cleanup_free_ char *text = NULL;
                int r;

                r = read_file_at(root_fd, root_relative(files[i].path), &text, NULL);
                if (r == -ENOENT)
                        continue;
                if (r >= 0)
                        r = files[i].claim(text, plan, problems);
                else if (r != -ENOMEM)
                        problems_add(problems, r, "%s: %m.", files[i].path);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        unread = files[i].path;
        }
        if (!unread || plan->rest_urgent)
                return 0;
        return string_replace(
                &plan->rest_urgent, string_format("%s cannot be read, and may name any VG.", unread));
}
