/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The VGs of the plan, sorted by name, and their sources. These are lvm2's metadata backups, one file for each VG
 * (lvm2, lib/format_text/archiver.c), PVs recorded by the initrd, names of devices, and hints. */

#include "boot/known.h"

#include <blkid.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <sys/stat.h>

#include "lvm/metadata.h"
#include "lvm/online.h"
#include "shared/kernel.h"
#include "shared/program.h"

/* The backups of a thousand VGs with one PV take 2 MiB. */
#define BACKUPS_SIZE_MAX (64U * 1024 * 1024)

/* ------ the plan ------ */

void plan_done(struct plan *plan)
{
        FOREACH_ARRAY(vg, plan->vgs, plan->n) {
                free(vg->name);
                free(vg->reason);
                free(vg->unit);
        }
        free(plan->vgs);
        strv_done(&plan->hints);
        strv_done(&plan->tagged);
        strv_done(&plan->unmet);
        *plan = (struct plan){};
}

struct planned_vg *plan_find(const struct plan *plan, const char *name)
{
        return plan->n > 0 ? bsearch(&name, plan->vgs, plan->n, sizeof(*plan->vgs), compare_strings) : NULL;
}

int plan_add(struct plan *plan, const char *name, struct planned_vg **ret)
{
        _cleanup_free_ char *copy = NULL, *reason = NULL;
        struct planned_vg *place;

        *ret = plan_find(plan, name);
        if (*ret)
                return 0;
        if (plan->n == PLAN_VGS_MAX)
                return -E2BIG;
        copy = strdup(name);
        reason = strdup("Not in fstab or crypttab.");
        if (!copy || !reason || !GREEDY_REALLOC(plan->vgs, plan->n + 1))
                return -ENOMEM;

        /* Backups are read in order, so most are added at the end. */
        place = &plan->vgs[plan->n++];
        for (; place > plan->vgs && strcmp(place[-1].name, name) > 0; place--)
                *place = place[-1];
        *place = (struct planned_vg){.name = TAKE_PTR(copy), .group = PLAN_UNNAMED, .reason = TAKE_PTR(reason)};
        *ret = place;
        return 0;
}

int plan_claim(struct planned_vg *vg, enum plan_group group, const char *source, const char *what)
{
        _cleanup_free_ char *sentence = NULL;
        int r;

        vg->source = vg->source ?: source;
        if (vg->group == PLAN_NONE || vg->group == PLAN_BOOT || (vg->group == PLAN_NET && group != PLAN_BOOT))
                return 0;
        sentence = string_format("%s names %s.", source, what);
        r = sentence ? string_replace(&vg->reason, string_printable(sentence)) : -ENOMEM;
        if (r < 0)
                return r;
        vg->source = source;
        vg->group = group;
        return 0;
}

/* ------ PVs from the initrd ------ */

static int add_online(int root_fd, struct plan *plan, struct problems *problems)
{
        _cleanup_strv_ struct strv names = {};
        _cleanup_close_ int lvm_run_fd = openat(root_fd, "run/lvm", O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct planned_vg *vg;
        int r = lvm_run_fd < 0 ? -errno : online_list_vgs(lvm_run_fd, &names);

        STRV_FOREACH(name, &names)
                r = r ?: plan_add(plan, *name, &vg);
        if (r == -ENOMEM)
                return r;
        if (r < 0 && r != -ENOENT)
                problems_add(problems, r, "/run/lvm/pvs_online: %m.");
        return 0;
}

/* ------ backups ------ */

/* Sets `skip_reason` if the VG is foreign, or has no LVs to activate. */
static int add_skip_reason(struct vg *metadata, const struct system_id *host)
{
        int r = vg_compare_host(metadata, host);

        if (r < 0 || metadata->skip_reason || vg_count(metadata).autoactivated > 0)
                return r;
        return string_replace(&metadata->skip_reason, strdup("the VG has no LVs with autoactivation enabled."));
}

/* Adds the VG of a backup of at most `*size_left` bytes. Returns 0, -ENOMEM, or -E2BIG if a limit is reached. */
static int add_backup(int root_fd, const struct config *config, const char *name, size_t *size_left,
        struct plan *plan, struct problems *problems)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        const char *directory = root_relative(config->backup_dir), *reason = NULL;
        struct planned_vg *vg;
        size_t size = 0;
        int r = backup_read(root_fd, directory, name, &metadata, &size, &reason);

        if (size > *size_left)
                return -E2BIG;
        *size_left -= size;
        /* lvm2 may just have replaced or removed the file. One with another name, such as "vg0.bak", is a copy of any
         * age. */
        if (r == -ENOMEM || r == -ENOENT || r == -ESTALE)
                return r == -ENOMEM ? r : 0;
        if (r < 0) {
                problems_add(problems, r, "%s/%s: %s.", config->backup_dir, name, reason ?: strerror(-r));
                return 0;
        }

        r = add_skip_reason(metadata, &config->system_id) ?: plan_add(plan, name, &vg);
        if (r < 0)
                return r;
        memcpy(vg->vgid, metadata->vgid, sizeof(vg->vgid));
        if (!metadata->skip_reason)
                return 0;
        vg->group = PLAN_NONE;
        return string_replace(&vg->reason, TAKE_PTR(metadata->skip_reason));
}

bool known_is_seen(const struct strv *seen, const char *name)
{
        return seen && seen->n > 0 && bsearch(&name, seen->strings, seen->n, sizeof(char *), compare_strings);
}

/* Adds the sorted names of VGs that have a file; they may begin with ".". */
static int list_backups(int root_fd, const char *directory, struct strv *names)
{
        _cleanup_closedir_ DIR *backups = open_directory_at(root_fd, root_relative(directory));
        int r = 0;

        if (!backups)
                return errno == ENOENT ? 0 : -errno;
        for (const char *name; errno = 0, r >= 0 && (name = directory_read(backups));)
                if (vg_name_is_valid(name))
                        r = strv_add(names, name);
        r = r ?: -errno;
        SORT(names->strings, names->n, compare_strings);
        return r;
}

int known_add(int root_fd, const struct config *config, const struct strv *seen, struct plan *plan,
        struct problems *problems)
{
        _cleanup_strv_ struct strv names = {};
        size_t size_left = BACKUPS_SIZE_MAX;
        int r = list_backups(root_fd, config->backup_dir, &names);

        if (r < 0 && r != -ENOMEM)
                problems_add(problems, r, "%s: %m.", config->backup_dir);
        STRV_FOREACH(name, &names) {
                if (r == -ENOMEM || r == -E2BIG)
                        break;
                if (known_is_seen(seen, *name))
                        continue;
                r = add_backup(root_fd, config, *name, &size_left, plan, problems);
                if (r == -E2BIG)
                        problems_add(problems, r, "%s: too much, ignoring files from %s on.", config->backup_dir,
                                *name);
        }
        if (r == -ENOMEM)
                return r;
        return seen ? 0 : add_online(root_fd, plan, problems);
}

/* ------ names of devices ------ */

static void set_name(const char *vg, struct device_name *ret)
{
        if (!vg_name_is_valid(vg))
                return;
        ret->kind = DEVICE_OF_NAME;
        strcpy(ret->vg, vg);
}

/* "VG-LV", with hyphens within names doubled by device-mapper; decoded in place. */
static void set_from_dm_name(char *dm_name, struct device_name *ret)
{
        char *vg = dm_name, *logical_volume, *layer;

        if (dm_split_lvm_name(NULL, NULL, &vg, &logical_volume, &layer) && *logical_volume)
                set_name(vg, ret);
}

/* The UUIDs of VG and LV, perhaps followed by a suffix for parts of an LV. */
static void set_from_dm_uuid(const char *uuid, struct device_name *ret)
{
        char id[LVM_ID_SIZE];

        (void) snprintf(id, sizeof(id), "%s", uuid);
        if (strlen(uuid) < (size_t) 2 * LVM_ID_LENGTH || !lvm_id_is_valid(id))
                return;
        ret->kind = DEVICE_OF_ID;
        strcpy(ret->vg, id);
}

/* Removes double slashes and "." from a path, in place. */
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

/* Returns the last component of the path if `prefix` is the rest of it, else NULL. */
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
                if (vg_name_is_valid(logical_volume))
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
        /* PARTUUID= and PARTLABEL= are for partitions, never for LVs. */
        else if (blkid_parse_tag_string(device, &tag, &value) == 0 && (streq(tag, "UUID") || streq(tag, "LABEL")))
                ret->kind = DEVICE_TAGGED;
        return 0;
}

/* ------ udev's links ------ */

/* Converts a path in /dev, or a tag, for which udev's 60-persistent-storage.rules create links, to a path below the
 * root. */
static int name_to_path(const char *name, char **ret)
{
        static const struct {
                const char *tag, *directory;
        } rows[] = {
                {"UUID", "by-uuid"},
                {"LABEL", "by-label"},
                {"PARTUUID", "by-partuuid"},
                {"PARTLABEL", "by-partlabel"},
        };
        _cleanup_free_ char *tag = NULL, *value = NULL;

        if (skip_prefix(name, "/dev/"))
                return string_replace(ret, strdup(name + 1));
        if (blkid_parse_tag_string(name, &tag, &value) < 0)
                return -EINVAL;
        FOREACH_ELEMENT(row, rows) {
                /* Each byte becomes at most "\x20". */
                size_t size = 4 * strlen(value) + 1;
                _cleanup_free_ char *encoded = malloc(size);

                if (!streq(tag, row->tag))
                        continue;
                if (!encoded || blkid_encode_string(value, encoded, size) < 0)
                        return -ENOMEM;
                return string_replace(ret, string_format("dev/disk/%s/%s", row->directory, encoded));
        }
        return -EINVAL;
}

int device_follow(int root_fd, const char *name, char **ret)
{
        _cleanup_free_ char *path = NULL, *target = NULL;
        int r = name_to_path(name, &path);

        if (r < 0)
                return r;
        r = resolve_path_at(root_fd, path, &target);
        if (r < 0)
                return r == -ENOENT || r == -ENOTDIR ? -ENODEV : r;
        return string_replace(ret, strdup(strrchr(target, '/') + 1));
}

/* ------ hints ------ */

#define HINTS_DIRECTORY "etc/headgate"
#define HINTS_NAME "uuids"

/* Refuses files behind links, or on another file system than "/", which may be mounted later or block: -EXDEV. */
static int open_hints(int root_fd, const char *path)
{
        int fd = open_path_at(root_fd, path, RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);

        return fd == -ELOOP ? -EXDEV : fd;
}

static int read_hints(int root_fd, char **ret)
{
        _cleanup_close_ int fd = open_hints(root_fd, HINTS_DIRECTORY "/" HINTS_NAME);
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        if (fd < 0)
                return fd;
        r = read_file_at(AT_FDCWD, path_format("/proc/self/fd/%d", fd).text, &text, &size);
        if (r >= 0 && size > HINTS_SIZE_MAX)
                r = -EFBIG;
        if (r >= 0)
                *ret = TAKE_PTR(text);
        return r;
}

int hints_read(int root_fd, struct strv *ret, struct problems *problems)
{
        _cleanup_free_ char *text = NULL;
        unsigned int number = 0;
        int r = read_hints(root_fd, &text);

        if (r < 0 && r != -ENOMEM && r != -ENOENT && r != -EXDEV)
                problems_add(problems, r, HINTS_FILE ": %m, ignoring it.");
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        FOREACH_LINE(line, text) {
                const char *space = strrchr(line, ' ');

                number++;
                if (*line == '\0' || *line == '#')
                        continue;
                if (!space || !vg_name_is_valid(space + 1))
                        problems_add(problems, -EBADMSG,
                                HINTS_FILE ":%u: expected a device and a VG, ignoring line: %s", number, line);
                else if (strv_add(ret, line) < 0)
                        return -ENOMEM;
        }
        return 0;
}

const char *hints_find(const struct strv *hints, const char *device)
{
        _cleanup_free_ char *printable = string_printable(device);

        FOREACH_ARRAY(line, hints->strings, printable ? hints->n : 0) {
                const char *rest = skip_prefix(*line, printable);

                /* A label may contain spaces. */
                if (rest && *rest == ' ' && rest == strrchr(*line, ' '))
                        return rest + 1;
        }
        return NULL;
}

int hints_write(int root_fd, const char *text)
{
        _cleanup_free_ char *before = NULL;
        _cleanup_close_ int fd = -EBADF;
        int r = read_hints(root_fd, &before);

        if (r < 0 && r != -ENOENT && r != -EFBIG)
                return r;
        if (r == -ENOENT ? *text == '\0' : before && streq(text, before))
                return 0;
        if (mkdirat(root_fd, HINTS_DIRECTORY, 0755) < 0 && errno != EEXIST)
                return -errno;
        fd = open_hints(root_fd, HINTS_DIRECTORY);
        return fd < 0 ? fd : write_file_atomic_at(fd, HINTS_NAME, text);
}

int device_find_vg(int root_fd, const struct strv *hints, const char *device, struct device_name *ret)
{
        _cleanup_free_ char *kernel_name = NULL, *uuid = NULL, *name = NULL;
        int r = device_follow(root_fd, device, &kernel_name);

        *ret = (struct device_name){};
        if (r < 0) {
                set_name(hints_find(hints, device) ?: "", ret);
                return r == -ENOMEM ? r : 0;
        }
        /* Other devices, and an LV that is just being removed, have neither. */
        if (sysfs_read_at(root_fd, path_format("sys/block/%s/dm/uuid", kernel_name).text, &uuid) >= 0 &&
                skip_prefix(uuid, LVM_UUID_PREFIX) &&
                sysfs_read_at(root_fd, path_format("sys/block/%s/dm/name", kernel_name).text, &name) >= 0)
                set_from_dm_name(name, ret);
        return 0;
}
