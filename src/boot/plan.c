/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The plan of boot: each known VG is in the group of the most urgent entry or setting that names it. */

#include "boot/plan.h"

#include <libdevmapper.h>
#include <libmount.h>

#include "boot/switches.h"
#include "shared/kernel.h"
#include "shared/names.h"
#include "shared/program.h"

/* ------ entries ------ */

/* State while the entries of all files are read. */
struct entries {
        int root_fd;
        const struct strv *seen; /* see plan_make() */
        struct plan *plan;
        struct problems *problems;
        const struct strv *opened; /* names in /dev/mapper that are not LVs */
};

DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table)
DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter)

struct entry {
        const char *source;  /* the file, a constant */
        const char *device;  /* as written in the file */
        const char *options; /* "defaults,_netdev"; NULL for none */
};

/* The last one of "auto" and "noauto" counts. */
static bool have_noauto(const char *options)
{
        /* The function moves the pointer, but does not modify the text. */
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

static struct planned_vg *find_by_id(const struct plan *plan, const char *vgid)
{
        /* If a VG and its clone have the same UUID, the first one counts. */
        FOREACH_ARRAY(vg, plan->vgs, plan->n)
                if (streq(vg->vgid, vgid))
                        return vg;
        return NULL;
}

static bool has_option(const struct entry *entry, const char *option)
{
        return mnt_optstr_get_option(entry->options, option, NULL, NULL) == 0;
}

/* Whether the device exists, or belongs to another program. Drivers (devices.txt in the kernel's documentation),
 * udev rules and programs that unlock disks create names like those of LVs. */
static bool is_of_others(const struct entries *entries, const char *device)
{
        static const char *const prefixes[] = {"block/", "cciss/", "drbd/", "etherd/", "ida/", "loop/",
                "mapper/luks-", "md/", "nbd/", "rbd/", "rd/", "zvol/"};
        const char *rest = skip_prefix(device, "/dev/"), *name = rest ? skip_prefix(rest, "mapper/") : NULL;
        const char *part = name ? strstr(name, "-part") : NULL;
        _cleanup_free_ char *kernel_name = NULL;

        /* kpartx(8) uses such names for partitions of multipath devices. */
        if (part && strspn(part + strlen("-part"), "0123456789") > 0)
                return true;

        FOREACH_ELEMENT(prefix, prefixes)
                if (rest && skip_prefix(rest, *prefix))
                        return true;
        return device_follow(entries->root_fd, device, &kernel_name) != -ENODEV;
}

/* For example, an LV without autoactivation, or one that was renamed. `vg` is the name or UUID of the VG. */
static int note_unmet(const struct entries *entries, const struct entry *entry, const char *vg)
{
        _cleanup_free_ char *kernel_name = NULL;

        if (device_follow(entries->root_fd, entry->device, &kernel_name) != -ENODEV)
                return 0;
        return strv_take(&entries->plan->unmet,
                string_format("%s %s names %s, which does not exist.", vg, entry->source, entry->device));
}

/* The VG may have been renamed, or lvm2 keeps no backups. */
static int add_named(const struct entries *entries, const char *device, const char *name, struct planned_vg **ret)
{
        int r;

        if (known_is_seen(entries->seen, name) || is_of_others(entries, device))
                return 0;
        r = plan_add(entries->plan, name, ret);
        return r == -E2BIG ? 0 : r;
}

const char *plan_find_unmet(const struct plan *plan, const struct vg *vg)
{
        STRV_FOREACH(line, &plan->unmet) {
                const char *rest = skip_prefix(*line, vg->name);

                rest = rest && *rest == ' ' ? rest : skip_prefix(*line, vg->vgid);
                if (rest && *rest == ' ')
                        return rest + 1;
        }
        return NULL;
}

static int claim(const struct entry *entry, const struct entries *entries)
{
        struct plan *plan = entries->plan;
        const char *in_mapper = skip_prefix(entry->device, "/dev/mapper/"), *key;
        struct planned_vg *vg;
        struct device_name name;
        int r;

        /* It may have a name like that of an LV. */
        if (have_noauto(entry->options) || (in_mapper && strv_has(entries->opened, in_mapper)))
                return 0;
        r = device_name_read(entry->device, &name);
        if (r >= 0 && name.kind == DEVICE_TAGGED)
                r = strv_add(&plan->tagged, entry->device);
        key = name.kind == DEVICE_TAGGED ? hints_find(&plan->hints, entry->device) : name.vg;
        if (r < 0 || isempty(key))
                return r;
        vg = name.kind == DEVICE_OF_ID ? find_by_id(plan, key) : plan_find(plan, key);
        r = note_unmet(entries, entry, key);
        if (r >= 0 && !vg && name.kind == DEVICE_OF_NAME)
                r = add_named(entries, entry->device, key, &vg);
        if (r < 0 || !vg)
                return r;
        vg->needed |= !has_option(entry, "nofail");
        return plan_claim(vg, has_option(entry, "_netdev") ? PLAN_NET : PLAN_BOOT, entry->source, entry->device);
}

/* ------ fstab ------ */

static int note_bad_line(struct libmnt_table *table, const char *name, int line)
{
        problems_add(mnt_table_get_userdata(table), -EBADMSG, "%s:%d: invalid line, ignoring it.", name, line);
        return 0;
}

static int claim_fstab(char *text, struct entries *entries)
{
        _cleanup_(mnt_unref_tablep) struct libmnt_table *table = mnt_new_table();
        _cleanup_(mnt_free_iterp) struct libmnt_iter *iterator = mnt_new_iter(MNT_ITER_FORWARD);
        _cleanup_fclose_ FILE *file = NULL;
        struct libmnt_fs *fs;

        file = fmemopen(text, strlen(text), "r");
        if (!file || !table || !iterator)
                return -ENOMEM;

        (void) mnt_table_set_userdata(table, entries->problems);
        (void) mnt_table_set_parser_errcb(table, note_bad_line);
        if (mnt_table_parse_stream(table, file, FSTAB_FILE) < 0)
                problems_add(entries->problems, -EBADMSG, FSTAB_FILE ": syntax error.");

        while (mnt_table_next_fs(table, iterator, &fs) == 0) {
                struct entry entry = {
                        .source = FSTAB_FILE,
                        .device = mnt_fs_get_source(fs),
                        .options = mnt_fs_get_options(fs),
                };

                if (entry.device && claim(&entry, entries) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* ------ crypttab ------ */

int crypttab_find(int root_fd, const char *name, const char *kernel_name, struct crypttab_entry *ret)
{
        _cleanup_free_ char *text = NULL;
        int r = read_file_at(root_fd, root_relative(CRYPTTAB_FILE), &text, NULL);

        FOREACH_CRYPTTAB_LINE(line, text) {
                _cleanup_free_ char *found = NULL;

                if (!line.fields[1] || (name && !streq(line.fields[0], name)))
                        continue;
                r = device_follow(root_fd, line.fields[1], &found);
                if (r == -ENOMEM)
                        return r;
                if (kernel_name && !(found && streq(found, kernel_name)))
                        continue;
                *ret = (struct crypttab_entry){
                        TAKE_PTR(text), line.fields[0], line.fields[1], TAKE_PTR(found), line.number};
                return 0;
        }
        return r == -ENOMEM ? r : 0;
}

void crypttab_entry_done(struct crypttab_entry *entry)
{
        free(entry->text);
        free(entry->kernel_name);
}

/* "NAME DEVICE [KEY [OPTIONS]]" */
static int claim_crypttab(char *text, struct entries *entries)
{
        int r = 0;

        FOREACH_CRYPTTAB_LINE(line, text)
                if (!line.fields[1])
                        problems_add(entries->problems, -EBADMSG,
                                CRYPTTAB_FILE ":%u: missing device, ignoring line.", line.number);
                else
                        r = r ?: claim(&(struct entry){CRYPTTAB_FILE, line.fields[1], line.fields[3]}, entries);
        return r;
}

/* ------ the kernel's command line ------ */

/* "VG/LV", or "VG" alone. */
static int claim_vg(const char *value, const struct plan *plan)
{
        struct planned_vg *vg = plan_find(plan, path_format("%.*s", (int) strcspn(value, "/"), value).text);

        return vg ? plan_claim(vg, PLAN_BOOT, COMMAND_LINE_FILE, value) : 0;
}

/* Returns the value of "KEY=VALUE", or NULL. In systemd's keys '-' and '_' are equal. */
static char *find_value(char *word, const char *key)
{
        for (; *key; key++, word++)
                if (*word != *key && !(*key == '-' && *word == '_'))
                        return NULL;
        return *word == '=' ? word + 1 : NULL;
}

static int claim_word(char *word, const struct entries *entries)
{
        struct entry entry = {.source = COMMAND_LINE_FILE};
        char *value;

        if ((value = find_value(word, "rd.lvm.lv")) || (value = find_value(word, "rd.lvm.vg")))
                return claim_vg(value, entries->plan);
        if ((value = find_value(word, "root")) || (value = find_value(word, "mount.usr")) ||
                (value = find_value(word, "resume")))
                entry.device = value;
        else if ((value = find_value(word, "systemd.mount-extra"))) {
                /* "WHAT:WHERE[:TYPE[:OPTIONS]]". A device name with a colon is never an LV. */
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
        return entry.device ? claim(&entry, entries) : 0;
}

static int claim_command_line(char *text, struct entries *entries)
{
        _cleanup_strv_ struct strv words = {};
        int r = command_line_split(text, &words);

        STRV_FOREACH(word, &words)
                r = r ?: claim_word(*word, entries);
        return r;
}

/* ------ all entries ------ */

/* The names in /dev/mapper of encrypted devices and of those with checksums. Their lines begin with "NAME DEVICE". Returns 0
 * or -ENOMEM; the files that matter are read again. */
static int list_opened(int root_fd, struct strv *ret)
{
        static const char *const paths[] = {CRYPTTAB_FILE, "/etc/integritytab", "/etc/veritytab"};
        int r = 0;

        FOREACH_ELEMENT(path, paths) {
                _cleanup_free_ char *text = NULL;

                if (read_file_at(root_fd, root_relative(*path), &text, NULL) == -ENOMEM)
                        return -ENOMEM;
                FOREACH_CRYPTTAB_LINE(line, text)
                        if (line.fields[1])
                                r = r ?: strv_add(ret, line.fields[0]);
        }
        return r;
}

int entries_claim(int root_fd, const struct strv *seen, struct plan *plan, struct problems *problems)
{
        static const struct {
                const char *path;
                int (*claim)(char *text, struct entries *entries);
        } files[] = {
                {CRYPTTAB_FILE, claim_crypttab},
                {FSTAB_FILE, claim_fstab},
                {COMMAND_LINE_FILE, claim_command_line},
        };
        _cleanup_strv_ struct strv opened = {};
        struct entries entries = {
                .root_fd = root_fd, .seen = seen, .plan = plan, .problems = problems, .opened = &opened};

        if (hints_read(root_fd, &plan->hints, problems) < 0 || list_opened(root_fd, &opened) < 0)
                return -ENOMEM;
        FOREACH_ELEMENT(file, files) {
                _cleanup_free_ char *text = NULL;
                int r = read_file_at(root_fd, root_relative(file->path), &text, NULL)
                                ?: file->claim(text, &entries);

                if (r == -ENOMEM)
                        return r;
                if (r < 0 && r != -ENOENT)
                        problems_add(problems, r, "%s: %m.", file->path);
        }
        return 0;
}

/* ------ hints for the next boot ------ */

int plan_remember(int root_fd)
{
        /* headgate-generator has reported these. */
        _cleanup_problems_ struct problems problems = {};
        /* An empty plan: nothing is claimed. */
        _cleanup_plan_ struct plan plan = {};
        _cleanup_memstream_ struct memstream stream = {};
        _cleanup_free_ char *text = NULL;
        FILE *file = memstream_open(&stream);
        const char *before = "";
        size_t size = 0;
        int r = file ? entries_claim(root_fd, NULL, &plan, &problems) : -ENOMEM;

        if (r < 0)
                return r;
        SORT(plan.tagged.strings, plan.tagged.n, compare_strings);
        STRV_FOREACH(device, &plan.tagged) {
                _cleanup_free_ char *printable = string_printable(*device);
                struct device_name name;

                r = printable ? device_find_vg(root_fd, &plan.hints, *device, &name) : -ENOMEM;
                if (r < 0)
                        return r;
                /* btrfs subvolumes have several entries with one UUID. */
                if (*name.vg && !streq(*device, before)) {
                        size += strlen(printable) + strlen(name.vg) + strlen(" \n");
                        if (size <= HINTS_SIZE_MAX)
                                fprintf(file, "%s %s\n", printable, name.vg);
                }
                before = *device;
        }
        text = memstream_finish(&stream);
        return text ? hints_write(root_fd, text) : -ENOMEM;
}

/* ------ the plan ------ */

const char *plan_group_to_string(enum plan_group group)
{
        static const char *const names[] = {
                [PLAN_BOOT] = "boot",
                [PLAN_UNNAMED] = "rest",
                [PLAN_NET] = "net",
                [PLAN_NONE] = "-",
        };

        return names[group];
}

/* VGs that only settings name are known, too, as there may be no backups. Returns 0 or -ENOMEM. */
static int claim_configured(const char *name, enum plan_group group, const char *what, const struct strv *seen,
        struct plan *plan, struct problems *problems)
{
        struct planned_vg *vg;
        int r = known_is_seen(seen, name) ? -EEXIST : plan_add(plan, name, &vg);

        if (r >= 0) {
                vg->needed = true;
                r = plan_claim(vg, group, "/" SETTINGS_FILE, what);
        }
        if (r == -E2BIG)
                problems_add(problems, r, "/" SETTINGS_FILE ": too many VGs, ignoring %s.", name);
        return r == -ENOMEM ? r : 0;
}

static int leave_out_unexpected(const struct settings *settings, struct plan *plan)
{
        FOREACH_ARRAY(vg, plan->vgs, plan->n) {
                if (vg->group != PLAN_UNNAMED || settings_get_policy(settings, vg->name).expected)
                        continue;
                vg->group = PLAN_NONE;
                if (string_replace(&vg->reason, strdup("/" SETTINGS_FILE " does not expect it.")) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int name_units(struct plan *plan, struct problems *problems)
{
        FOREACH_ARRAY(vg, plan->vgs, plan->n) {
                int r;

                /* Nothing must wait for a VG that is not activated. */
                if (vg->group == PLAN_NONE)
                        continue;
                r = unit_name_of_vg(vg->name, &vg->unit);
                if (r == -ENAMETOOLONG)
                        problems_add(
                                problems, r, "VG %s: name too long for a unit headgate-vg@.service.", vg->name);
                else if (r < 0)
                        return r;
        }
        return 0;
}

int plan_make(int root_fd, const struct settings *settings, const struct config *config, const struct strv *seen,
        struct plan *ret, struct problems *problems)
{
        const struct {
                const struct strv *names;
                enum plan_group group;
                const char *what;
        } configured[] = {
                {&settings->boot_vgs, PLAN_BOOT, "it in boot_volume_groups"},
                {&settings->net_vgs, PLAN_NET, "it in net_volume_groups"},
        };
        _cleanup_plan_ struct plan plan = {};
        int r = known_add(root_fd, config, seen, &plan, problems) ?: entries_claim(root_fd, seen, &plan, problems);

        FOREACH_ELEMENT(list, configured)
                STRV_FOREACH(name, list->names)
                        r = r ?: claim_configured(*name, list->group, list->what, seen, &plan, problems);
        FOREACH_ARRAY(policy, settings->policies.policies, settings->policies.n)
                if (policy->is_name && policy->expected)
                        r = r
                                    ?: claim_configured(policy->pattern, PLAN_UNNAMED, "it in volume_groups", seen,
                                               &plan, problems);
        r = r ?: leave_out_unexpected(settings, &plan) ?: name_units(&plan, problems);
        if (r < 0)
                return r;
        *ret = TAKE_STRUCT(plan);
        return 0;
}
