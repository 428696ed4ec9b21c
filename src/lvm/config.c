/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* lvm2's configuration: lvm.conf and lvmlocal.conf, the host's system ID, the devices file, and lvm2's version. */

#include "lvm/config.h"

#include <ctype.h>
#include <fcntl.h>

#include "shared/dm.h"
#include "shared/program.h"

#define SYSTEM_DIRECTORY "etc/lvm"
#define DEVICES_DIRECTORY SYSTEM_DIRECTORY "/devices"

/* libdevmapper 1.02.191, of lvm2 2.03.19. Its first two numbers never change. */
#define LINKS_FROM_UDEV_SINCE 191

#define SYSTEM_ID_LENGTH_MAX 128

/* ------ both files ------ */

/* lvmlocal.conf, cascaded to lvm.conf for settings that it does not have. */
static void files_done(struct dm_config_tree **files)
{
        if (*files)
                dm_config_destroyp(&(*files)->cascade);
        dm_config_destroyp(files);
}
#define _cleanup_files_ _cleanup_(files_done)

static int read_one(int dir_fd, const char *directory, const char *name, struct dm_config_tree **ret,
        struct problems *problems)
{
        struct path path = path_format("%s/%s", directory, name);
        int r = config_tree_read(dir_fd, path.text, ret, NULL);

        if (r >= 0 || r == -ENOMEM)
                return r;
        if (r == -EBADMSG)
                problems_add(problems, r, "/%s: syntax error.", path.text);
        else if (r != -ENOENT)
                problems_add(problems, r, "/%s: %m.", path.text);

        *ret = dm_config_create();
        return *ret ? 0 : -ENOMEM;
}

static int files_read(int dir_fd, const char *directory, struct dm_config_tree **ret, struct problems *problems)
{
        return read_one(dir_fd, directory, "lvmlocal.conf", ret, problems)
                       ?: read_one(dir_fd, directory, "lvm.conf", &(*ret)->cascade, problems);
}

static int find_bool(const struct dm_config_tree *files, const char *path, int default_value)
{
        return config_tree_find_bool(files, path, config_tree_find_bool(files->cascade, path, default_value));
}

/* Returns whether the list exists, or a negative errno. */
static int find_strings(const struct dm_config_tree *files, const char *path, struct strv *strings)
{
        const struct dm_config_node *node =
                dm_config_tree_find_node(files, path) ?: dm_config_tree_find_node(files->cascade, path);

        for (const struct dm_config_value *value = node ? node->v : NULL; value; value = value->next)
                if (value->type == DM_CFG_STRING && strv_add(strings, value->v.str) < 0)
                        return -ENOMEM;
        return node != NULL;
}

static int find_list(const struct dm_config_tree *files, const char *path, struct config_list *ret)
{
        int r = find_strings(files, path, &ret->values);

        ret->set = r > 0;
        return MIN(r, 0);
}

/* lvm2 finds tags in both files. They may be limited to hosts, which counts as unknown. */
static bool may_have_host_tags(const struct dm_config_tree *tree)
{
        for (; tree; tree = tree->cascade) {
                const struct dm_config_node *tag = dm_config_tree_find_node(tree, "tags");

                for (tag = tag ? tag->child : NULL; tag; tag = tag->sib)
                        if (!tag->v || config_tree_find_bool(tree, "tags/hosttags", false))
                                return true;
        }
        return false;
}

/* ------ the system ID ------ */

char *system_id_from_text(const char *text)
{
        char *id = calloc(1, SYSTEM_ID_LENGTH_MAX + 1);
        size_t length = 0;

        if (!id)
                return NULL;
        for (; *text && length < SYSTEM_ID_LENGTH_MAX; text++) {
                bool is_alphanumeric = isascii(*text) && isalnum(*text);

                if (is_alphanumeric || (length > 0 && strchr("._-+", *text)))
                        id[length++] = *text;
        }
        if (skip_prefix(id, "localhost"))
                *id = '\0';
        return id;
}

static int set_system_id(struct system_id *system_id, const char *text)
{
        _cleanup_free_ char *id = system_id_from_text(text);

        if (!id)
                return -ENOMEM;
        system_id->known = true;
        system_id->id = *id ? TAKE_PTR(id) : NULL;
        return 0;
}

/* Uses the first line that is neither empty nor a comment. */
static int set_system_id_from_file(int root_fd, const char *path, struct system_id *system_id)
{
        _cleanup_free_ char *text = NULL;
        int r = read_file_at(root_fd, root_relative(path), &text, NULL);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        FOREACH_LINE(line, text) {
                line += strspn(line, " \t\r\f\v");
                if (*line && *line != '#')
                        return set_system_id(system_id, line);
        }
        return set_system_id(system_id, "");
}

/* Finds the system ID as lvm2 does (lib/commands/toolcontext.c), from files below `root_fd`. It stays unknown if
 * the file is missing, or lvm2 would need more than a file. */
static int find_system_id(int root_fd, const struct dm_config_tree *files, struct system_id *ret)
{
        const char *source = dm_config_tree_find_str(files, "global/system_id_source", "none");

        /* The name of uname(2), from a file, which tests can set. */
        if (strcasecmp(source, "uname") == 0)
                return set_system_id_from_file(root_fd, "proc/sys/kernel/hostname", ret);
        if (strcasecmp(source, "lvmlocal") == 0)
                return set_system_id(ret, dm_config_tree_find_str(files, "local/system_id", ""));
        if (strcasecmp(source, "machineid") == 0 || strcasecmp(source, "machine-id") == 0)
                return set_system_id_from_file(root_fd,
                        path_format("%s/machine-id", dm_config_tree_find_str(files, "global/etc", "/etc")).text,
                        ret);
        if (strcasecmp(source, "file") == 0)
                return set_system_id_from_file(
                        root_fd, dm_config_tree_find_str(files, "global/system_id_file", ""), ret);
        /* libsystemd may use the kernel's crypto socket to hash the machine ID. */
        if (strcasecmp(source, "appmachineid") == 0)
                return 0;

        /* "none"; unknown values, for which lvm2 prints a warning, count likewise. */
        return set_system_id(ret, "");
}

bool system_id_is_foreign(const struct system_id *host, const char *id)
{
        return id && *id && host->known && !(host->id && (streq(host->id, id) || strv_has(&host->extra, id)));
}

/* ------ the whole configuration ------ */

int config_read(int root_fd, struct config *ret, struct problems *problems)
{
        _cleanup_config_ struct config config = {};
        _cleanup_files_ struct dm_config_tree *files = NULL;
        int r = files_read(root_fd, SYSTEM_DIRECTORY, &files, problems);

        if (r < 0)
                return r;

        config.event_activation = find_bool(files, "global/event_activation", true);
        config.use_lvmlockd = find_bool(files, "global/use_lvmlockd", false);
        config.host_tags = may_have_host_tags(files);
        config.scan_lvs = find_bool(files, "devices/scan_lvs", false);
        config.use_devicesfile = find_bool(files, "devices/use_devicesfile", -1);
        config.udev_sync = find_bool(files, "activation/udev_sync", true);
        config.udev_rules = find_bool(files, "activation/udev_rules", true);
        config.backup_dir = strdup(dm_config_tree_find_str(files, "backup/backup_dir", "/etc/lvm/backup"));
        config.archive_dir = strdup(dm_config_tree_find_str(files, "backup/archive_dir", "/etc/lvm/archive"));
        /* lvm2's default is set at build time; this is the default of configure, which all distributions use. */
        config.locking_dir = strdup(dm_config_tree_find_str(files, "global/locking_dir", "/run/lock/lvm"));
        config.devicesfile = strdup(dm_config_tree_find_str(files, "devices/devicesfile", "system.devices"));
        if (!config.backup_dir || !config.archive_dir || !config.locking_dir || !config.devicesfile)
                return -ENOMEM;

        r = find_system_id(root_fd, files, &config.system_id)
                    ?: find_list(files, "devices/filter", &config.filter)
                    ?: find_list(files, "devices/global_filter", &config.global_filter)
                    ?: find_list(files, "activation/volume_list", &config.volume_list)
                    ?: find_list(files, "activation/auto_activation_volume_list", &config.auto_activation_volume_list)
                    ?: find_strings(files, "local/extra_system_ids", &config.system_id.extra);
        if (r < 0)
                return r;

        *ret = TAKE_STRUCT(config);
        return 0;
}

void config_done(struct config *config)
{
        free(config->backup_dir);
        free(config->archive_dir);
        free(config->locking_dir);
        free(config->devicesfile);
        free(config->system_id.id);
        strv_done(&config->system_id.extra);
        strv_done(&config->filter.values);
        strv_done(&config->global_filter.values);
        strv_done(&config->volume_list.values);
        strv_done(&config->auto_activation_volume_list.values);
        *config = (struct config){};
}

enum list_naming config_list_find(const struct config_list *list, const char *vg, const char *lv)
{
        enum list_naming naming = list->set ? LIST_DOES_NOT_NAME : LIST_NAMES;

        STRV_FOREACH(value, &list->values) {
                const char *rest = skip_prefix(*value, vg);

                if (**value == '@')
                        naming = LIST_NAMES_BY_TAG;
                else if (rest && (isempty(rest) || (rest[0] == '/' && (!lv || streq(rest + 1, lv)))))
                        return LIST_NAMES;
        }
        return naming;
}

bool config_ask(const char *path, bool default_value)
{
        /* lvm2 itself reports errors in its files. */
        _cleanup_problems_ struct problems problems = {};
        _cleanup_files_ struct dm_config_tree *files = NULL;

        if (files_read(AT_FDCWD, secure_getenv("LVM_SYSTEM_DIR") ?: "/" SYSTEM_DIRECTORY, &files, &problems) < 0)
                return default_value;
        return find_bool(files, path, default_value);
}

/* ------ the devices file ------ */

/* lvm2 writes the PVID without dashes; an administrator may add them. */
static bool line_has(char *line, const char pvid[LVM_ID_SIZE])
{
        if (line[0] == '#')
                return false;
        for (char *word; (word = strsep(&line, " \t"));) {
                const char *value = skip_prefix(word, "PVID=");
                char found[LVM_ID_SIZE];

                if (value && lvm_id_parse(value, found) >= 0 && streq(found, pvid))
                        return true;
        }
        return false;
}

static bool exists(int root_fd, const char *name)
{
        return faccessat(root_fd, path_format(DEVICES_DIRECTORY "/%s", name).text, F_OK, 0) >= 0;
}

bool devices_file_is_to_be_made(int root_fd, const char *name)
{
        return exists(root_fd, "auto-import-rootvg") && !exists(root_fd, name);
}

bool devices_file_lacks_pv(int root_fd, const char *name, const char pvid[LVM_ID_SIZE])
{
        _cleanup_free_ char *text = NULL;

        if (read_file_at(root_fd, path_format(DEVICES_DIRECTORY "/%s", name).text, &text, NULL) < 0)
                return false;
        FOREACH_LINE(line, text)
                if (line_has(line, pvid))
                        return false;
        return true;
}

bool lvm_version_takes_links_from_udev(void)
{
        char version[64];
        unsigned int number;

        /* As in "1.02.205 (2025-02-27)". */
        return dm_get_library_version(version, sizeof(version)) && sscanf(version, "1.02.%u", &number) == 1 &&
               number >= LINKS_FROM_UDEV_SINCE;
}
