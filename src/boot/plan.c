/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The plan of boot: the VGs that are known, each in the group of the most urgent entry or setting that names it. What boot waits
 * for is told by names of devices, and these tell the VG. */

#include "boot/plan.h"

#include <blkid.h>
#include <libdevmapper.h>
#include <libmount.h>

#include "boot/switches.h"
#include "shared/kernel.h"
#include "shared/names.h"
#include "shared/program.h"

/* ------ names of devices ------ */

static void set_name(const char *volume_group, struct device_name *ret)
{
        if (!volume_group_name_is_valid(volume_group))
                return;
        ret->kind = DEVICE_OF_NAME;
        strcpy(ret->volume_group, volume_group);
}

/* "VG-LV" with the hyphens of both doubled, as device-mapper has it; they are undone in place. */
static void set_from_dm_name(char *dm_name, struct device_name *ret)
{
        char *volume_group = dm_name, *logical_volume, *layer;

        if (dm_split_lvm_name(NULL, NULL, &volume_group, &logical_volume, &layer) && *logical_volume)
                set_name(volume_group, ret);
}

/* The identifiers of VG and LV, one after the other; a suffix may follow, for parts of an LV. */
static void set_from_dm_uuid(const char *uuid, struct device_name *ret)
{
        char id[LVM_ID_SIZE] = {};

        if (strlen(uuid) < (size_t) 2 * LVM_ID_LENGTH)
                return;
        memcpy(id, uuid, LVM_ID_LENGTH);
        if (!lvm_id_is_valid(id))
                return;
        ret->kind = DEVICE_OF_ID;
        memcpy(ret->volume_group, id, sizeof(id));
}

/* Takes doubled slashes and "." out of a path, in place. */
static void simplify_path(char *path)
{
        char *end = path;

        for (char *name, *rest = path + 1; (name = strsep(&rest, "/"));) {
                size_t length = strlen(name);

                if (length == 0 || streq(name, "."))
                        continue;
                *end++ = '/';
                memmove(end, name, length);
                end += length;
        }
        *end = '\0';
}

/* What follows `prefix` if that is all, with no further directory; else NULL. */
static char *find_last_part(char *path, const char *prefix)
{
        const char *rest = skip_prefix(path, prefix);

        return rest && *rest && !strchr(rest, '/') ? (char *) rest : NULL;
}

static void set_from_path(char *path, struct device_name *ret)
{
        char *rest, *logical_volume;

        simplify_path(path);
        if ((rest = find_last_part(path, "/dev/mapper/")) ||
                (rest = find_last_part(path, "/dev/disk/by-id/dm-name-")))
                set_from_dm_name(rest, ret);
        else if ((rest = find_last_part(path, "/dev/disk/by-id/dm-uuid-" LVM_UUID_PREFIX)))
                set_from_dm_uuid(rest, ret);
        else if (find_last_part(path, "/dev/disk/by-uuid/") || find_last_part(path, "/dev/disk/by-label/"))
                ret->kind = DEVICE_TAGGED;
        else if (skip_prefix(path, "/dev/") && (logical_volume = strchr(path + strlen("/dev/"), '/'))) {
                *logical_volume++ = '\0';
                if (volume_group_name_is_valid(logical_volume))
                        set_name(path + strlen("/dev/"), ret);
        }
}

int device_name_read(const char *device, struct device_name *ret)
{
        _cleanup_free_ char *copy = strdup(device), *tag = NULL, *value = NULL;

        *ret = (struct device_name){.kind = DEVICE_OTHER};
        if (!copy)
                return -ENOMEM;
        if (*device == '/')
                set_from_path(copy, ret);
        /* PARTUUID= and PARTLABEL= are of partitions, which LVs do not have. */
        else if (blkid_parse_tag_string(device, &tag, &value) == 0 && (streq(tag, "UUID") || streq(tag, "LABEL")))
                ret->kind = DEVICE_TAGGED;
        return 0;
}

/* ------ entries ------ */

#define CRYPTTAB_FILE "/etc/crypttab"

DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table)
DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter)

struct entry {
        const char *source;  /* the file, a constant */
        const char *device;  /* as it is written there */
        const char *options; /* "defaults,_netdev"; NULL for none */
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
        FOREACH_ARRAY(volume_group, plan->volume_groups, plan->n)
                if (streq(volume_group->vgid, vgid))
                        return volume_group;
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

        if (name.kind == DEVICE_OF_NAME)
                volume_group = plan_find(plan, name.volume_group);
        else if (name.kind == DEVICE_OF_ID)
                volume_group = find_by_id(plan, name.volume_group);
        else if (name.kind == DEVICE_TAGGED) {
                const char *hint = hints_find(&plan->hints, entry->device);

                volume_group = hint ? plan_find(plan, hint) : NULL;
                if (string_vector_add(&plan->tagged, entry->device) < 0)
                        return -ENOMEM;
        }
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

        file = fmemopen(text, strlen(text), "r");
        if (!file || !table || !iterator)
                return -ENOMEM;

        (void) mnt_table_set_userdata(table, problems);
        (void) mnt_table_set_parser_errcb(table, note_bad_line);
        if (mnt_table_parse_stream(table, file, FSTAB_FILE) < 0)
                problems_add(problems, -EBADMSG, FSTAB_FILE ": the text is malformed.");

        while (mnt_table_next_fs(table, iterator, &fs) == 0) {
                struct entry entry = {
                        .source = FSTAB_FILE,
                        .device = mnt_fs_get_source(fs),
                        .options = mnt_fs_get_options(fs),
                };

                if (entry.device && claim(&entry, plan) < 0)
                        return -ENOMEM;
        }
        return 0;
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
                (value = find_value(word, "resume")))
                entry.device = value;
        else if ((value = find_value(word, "systemd.mount-extra"))) {
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
        int r = command_line_split(text, &words);

        FOREACH_ARRAY(word, words.strings, words.n)
                r = r ?: claim_word(*word, plan);
        return r;
}

/* ------ all entries ------ */

int entries_claim(int root_fd, struct plan *plan, struct problems *problems)
{
        static const struct {
                const char *path;
                int (*claim)(char *text, struct plan *plan, struct problems *problems);
        } files[] = {
                {FSTAB_FILE, claim_fstab},
                {CRYPTTAB_FILE, claim_crypttab},
                {COMMAND_LINE_FILE, claim_command_line},
        };

        if (hints_read(root_fd, &plan->hints, problems) < 0)
                return -ENOMEM;
        FOREACH_ARRAY(file, files, ELEMENTSOF(files)) {
                _cleanup_free_ char *text = NULL;
                int r = read_file_at(root_fd, root_relative(file->path), &text, NULL)
                                ?: file->claim(text, plan, problems);

                if (r == -ENOMEM)
                        return r;
                if (r < 0 && r != -ENOENT)
                        problems_add(problems, r, "%s: %m.", file->path);
        }
        return 0;
}

/* ------ hints for the next boot ------ */

/* The VG of the LV that the device is now, else of none. Of a device that is not there, what is known stays. */
static int find_volume_group(
        int root_fd, const struct string_vector *hints, const char *device, struct device_name *ret)
{
        _cleanup_free_ char *kernel_name = NULL, *uuid = NULL, *name = NULL;
        int r = device_follow(root_fd, device, &kernel_name);

        *ret = (struct device_name){};
        if (r < 0) {
                set_name(hints_find(hints, device) ?: "", ret);
                return r == -ENOMEM ? r : 0;
        }
        /* What is no LV, or is just being removed, has neither. */
        if (sysfs_read_at(root_fd, path_format("sys/block/%s/dm/uuid", kernel_name).text, &uuid) >= 0 &&
                skip_prefix(uuid, LVM_UUID_PREFIX) &&
                sysfs_read_at(root_fd, path_format("sys/block/%s/dm/name", kernel_name).text, &name) >= 0)
                set_from_dm_name(name, ret);
        return 0;
}

int plan_remember(int root_fd)
{
        /* headgate-generator has reported these. */
        _cleanup_problems_ struct problems problems = {};
        /* Has no VGs to be claimed. */
        _cleanup_plan_ struct plan plan = {};
        _cleanup_memstream_ struct memstream stream = {};
        _cleanup_free_ char *text = NULL;
        FILE *file = memstream_open(&stream);
        const char *before = "";
        size_t size = 0;
        int r = file ? entries_claim(root_fd, &plan, &problems) : -ENOMEM;

        if (r < 0)
                return r;
        SORT(plan.tagged.strings, plan.tagged.n, compare_strings);
        FOREACH_ARRAY(device, plan.tagged.strings, plan.tagged.n) {
                _cleanup_free_ char *printable = string_printable(*device);
                struct device_name name;

                r = printable ? find_volume_group(root_fd, &plan.hints, *device, &name) : -ENOMEM;
                if (r < 0)
                        return r;
                /* Subvolumes have entries of one UUID. */
                if (*name.volume_group && !streq(*device, before)) {
                        size += strlen(printable) + strlen(name.volume_group) + strlen(" \n");
                        if (size <= HINTS_SIZE_MAX)
                                fprintf(file, "%s %s\n", printable, name.volume_group);
                }
                before = *device;
        }
        return memstream_finish(&stream, &text, NULL) ?: hints_write(root_fd, text);
}

/* ------ the plan ------ */

const char *plan_group_to_string(enum plan_group group)
{
        static const char *const names[] = {
                [PLAN_BOOT] = "boot",
                [PLAN_REST] = "rest",
                [PLAN_NET] = "net",
                [PLAN_NONE] = "-",
        };

        return names[group];
}

/* VGs that are only named in the settings are known, too: the machine may have no backups. */
static int add_configured(const struct string_vector *names, const struct string_vector *seen, struct plan *plan,
        struct problems *problems)
{
        FOREACH_ARRAY(name, names->strings, names->n) {
                struct planned_volume_group *volume_group;
                int r = known_is_seen(seen, *name) ? 0 : plan_add(plan, *name, &volume_group);

                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        problems_add(problems, r, "/" SETTINGS_FILE ": too many VGs, left out: %s.", *name);
        }
        return 0;
}

static int claim_configured(
        const struct string_vector *names, enum plan_group group, const char *what, struct plan *plan)
{
        FOREACH_ARRAY(name, names->strings, names->n) {
                struct planned_volume_group *volume_group = plan_find(plan, *name);

                if (volume_group && plan_claim(volume_group, group, "/" SETTINGS_FILE, what) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int name_units(struct plan *plan, struct problems *problems)
{
        FOREACH_ARRAY(volume_group, plan->volume_groups, plan->n) {
                int r;

                /* Nobody is to wait for a VG that is not activated. */
                if (volume_group->group == PLAN_NONE)
                        continue;
                r = unit_name_of_volume_group(volume_group->name, &volume_group->unit);
                if (r == -ENAMETOOLONG)
                        problems_add(problems, r, "VG %s: its name is too long for a unit headgate-vg@.service.",
                                volume_group->name);
                else if (r < 0)
                        return r;
        }
        return 0;
}

int plan_make(int root_fd, const struct settings *settings, const struct configuration *configuration,
        const struct string_vector *seen, struct plan *ret, struct problems *problems)
{
        const struct {
                const struct string_vector *names;
                enum plan_group group;
                const char *what;
        } configured[] = {
                {&settings->boot_volume_groups, PLAN_BOOT, "it in boot_volume_groups"},
                {&settings->net_volume_groups, PLAN_NET, "it in net_volume_groups"},
        };
        _cleanup_plan_ struct plan plan = {};
        int r = known_add(root_fd, configuration, seen, &plan, problems);

        FOREACH_ARRAY(list, configured, ELEMENTSOF(configured))
                r = r ?: add_configured(list->names, seen, &plan, problems);
        r = r ?: entries_claim(root_fd, &plan, problems);
        FOREACH_ARRAY(list, configured, ELEMENTSOF(configured))
                r = r ?: claim_configured(list->names, list->group, list->what, &plan);
        r = r ?: name_units(&plan, problems);
        if (r < 0)
                return r;
        *ret = TAKE_STRUCT(plan);
        return 0;
}
