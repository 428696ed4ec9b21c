/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sources of VGs and their names. */

#include "view/sources.h"

#include "boot/switches.h"
#include "lvm/metadata.h"
#include "lvm/online.h"
#include "shared/dm.h"
#include "shared/flags.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"

#define HASH_SIZE_HINT 1024

#define NOT_IN_CHARGE "headgate is not in charge: lvm2's udev rule activates VGs (see headgate-takeover(8))."

int sources_open(struct sources *ret)
{
        int r;

        *ret = SOURCES_NONE;
        ret->root_fd = root_open();
        if (ret->root_fd < 0)
                return ret->root_fd;
        ret->run_fd = flags_open_run_directory();
        ret->lvm_run_fd = online_open_to_look();
        r = ret->run_fd < 0 ? ret->run_fd : flags_is_set(ret->run_fd, FLAGS_TAKEN_OVER);
        ret->in_charge = r > 0;
        ret->run_error = r == -ENOENT ? 0 : MIN(r, 0);
        return 0;
}

void sources_log_not_activating(const struct sources *sources)
{
        if (!sources->in_charge)
                log_notice(
                        "%s", takeover_is_at_next_boot(sources->root_fd) ? TAKEOVER_AT_NEXT_BOOT : NOT_IN_CHARGE);
        else if (!sources->config.event_activation)
                log_notice("event_activation=0 in lvm.conf, not activating anything.");
}

int sources_open_in_charge(struct sources *ret)
{
        int r = sources_open(ret) ?: ret->run_error;

        if (r == -EACCES)
                return log_error_errno(r, "Only root can read /run/headgate.");
        if (r < 0)
                return log_error_errno(r == -ENOENT ? -ENOTDIR : r, "Failed to read /run/headgate: %m");
        if (ret->in_charge)
                return 0;
        return log_error_errno(-ENOENT, NOT_IN_CHARGE);
}

int sources_read_records(struct sources *sources)
{
        int r = sources->run_fd < 0 ? -ENOENT : record_file_read(sources->run_fd, &sources->records);

        if (r == -ENOENT)
                return 0;
        if (r < 0 && r != -ENOMEM)
                record_file_warn(r);
        return r;
}

int sources_read_devices(struct sources *sources)
{
        int r = sources->devices ? 0 : dm_devices_get_at(sources->root_fd, &sources->devices);

        return r == -ENOMEM ? r : 0;
}

int sources_read_config(struct sources *sources)
{
        int r;

        if (sources->configured)
                return 0;
        r = settings_read(sources->root_fd, &sources->settings, &sources->settings_problems)
                    ?: config_read(sources->root_fd, &sources->config, &sources->config_problems);
        sources->configured = r >= 0;
        return r;
}

int sources_read_entries(struct sources *sources)
{
        /* headgate-generator has reported these problems. */
        _cleanup_problems_ struct problems problems = {};

        return entries_claim(sources->root_fd, NULL, &sources->entries, &problems);
}

int sources_read(struct sources *ret)
{
        int r = sources_open(ret) ?: ret->run_error;

        if (r < 0)
                return r;
        if (sources_read_records(ret) == -ENOMEM)
                return -ENOMEM;
        return sources_read_config(ret) ?: sources_read_entries(ret) ?: sources_read_devices(ret);
}

int sources_read_backup(const struct sources *sources, const char *name, struct vg **ret)
{
        const char *directory = root_relative(sources->config.backup_dir);
        int r = vg_name_is_valid(name) ? backup_read(sources->root_fd, directory, name, ret, NULL, NULL) : -ENOENT;

        return r < 0 && r != -ENOMEM ? -ENOENT : r;
}

void sources_forget_vgs(struct sources *sources)
{
        FOREACH_ARRAY(vg, sources->vgs, sources->n_vgs)
                vg_free(*vg);
        free(TAKE_PTR(sources->vgs));
        sources->n_vgs = 0;
}

void sources_done(struct sources *sources)
{
        sources_forget_vgs(sources);
        closep(&sources->root_fd);
        closep(&sources->run_fd);
        closep(&sources->lvm_run_fd);
        record_file_free(sources->records);
        dm_devices_free(sources->devices);
        tree_free(sources->tree);
        plan_done(&sources->entries);
        settings_done(&sources->settings);
        config_done(&sources->config);
        problems_done(&sources->settings_problems);
        problems_done(&sources->config_problems);
        dm_hash_destroyp(&sources->names);
        *sources = SOURCES_NONE;
}

/* ------ names ------ */

/* The values in the table of names. */
static char mentioned, online;

static int add(struct dm_hash_table *names, const char *name, void *value)
{
        if (!vg_name_is_valid(name) || dm_hash_lookup(names, name) == &online)
                return 0;
        return dm_hash_insert(names, name, value) ? 0 : -ENOMEM;
}

static int add_recorded(struct dm_hash_table *names, const struct record_file *records)
{
        FOREACH_RECORD(record, records) {
                _cleanup_vg_ struct vg *vg = NULL;
                int r = record_entry_parse_vg(record, &vg);

                if (r == -ENOMEM || (r > 0 && add(names, vg->name, &mentioned) < 0))
                        return -ENOMEM;
        }
        return 0;
}

/* lvm2 names its files after the VG. */
static int add_file_names(struct dm_hash_table *names, int dir_fd, const char *path)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(dir_fd, path);

        if (!directory)
                return errno == ENOMEM ? -errno : 0;
        FOREACH_ENTRY(name, directory)
                if (add(names, name, &mentioned) < 0)
                        return -ENOMEM;
        return 0;
}

static int add_online(struct dm_hash_table *names, int lvm_run_fd)
{
        _cleanup_strv_ struct strv groups = {};

        if (lvm_run_fd < 0)
                return 0;
        if (online_list_vgs(lvm_run_fd, &groups) == -ENOMEM)
                return -ENOMEM;
        STRV_FOREACH(name, &groups)
                if (add(names, *name, &online) < 0)
                        return -ENOMEM;
        return add_file_names(names, lvm_run_fd, "vgs_online");
}

static int add_active(struct dm_hash_table *names, const struct sources *sources)
{
        FOREACH_DM_DEVICE(device, sources->devices)
                if (device->vg && add(names, device->vg, &mentioned) < 0)
                        return -ENOMEM;
        return 0;
}

int sources_read_names(struct sources *sources)
{
        _cleanup_dm_hash_ struct dm_hash_table *names = NULL;
        int r;

        if (sources->names)
                return 0;
        r = sources_read_config(sources) ?: sources_read_devices(sources);
        if (r < 0)
                return r;
        /* Errors of the records have been logged. If headgate is not in charge, they may be stale. */
        if (!sources->records && sources->in_charge && sources_read_records(sources) == -ENOMEM)
                return -ENOMEM;
        names = dm_hash_create(HASH_SIZE_HINT);
        if (!names)
                return -ENOMEM;
        r = add_recorded(names, sources->records)
                ?: add_online(names, sources->lvm_run_fd)
                ?: add_file_names(names, sources->root_fd, root_relative(sources->config.backup_dir))
                ?: add_active(names, sources);
        if (r >= 0)
                sources->names = TAKE_PTR(names);
        return r;
}

bool sources_have_name(const struct sources *sources, const char *name)
{
        return dm_hash_lookup(sources->names, name);
}

bool sources_have_online(const struct sources *sources, const char *name)
{
        return dm_hash_lookup(sources->names, name) == &online;
}

void sources_consider_names(const struct sources *sources, struct suggestion *suggestion)
{
        struct dm_hash_node *node;

        dm_hash_iterate(node, sources->names)
                suggestion_consider(suggestion, dm_hash_get_key(sources->names, node));
}

void sources_log_unknown(const struct sources *sources, const char *wanted)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = wanted};

        sources_consider_names(sources, &suggestion);
        suggestion_log_unknown(&suggestion, "VG", "see \"headgate status\"");
}

/* UUIDs of the VGs with that name that have active LVs, or PVs that the worker has seen. */
static int find_vgids(const struct sources *sources, const char *name, struct strv *ret)
{
        int r = 0;

        FOREACH_DM_DEVICE(device, sources->devices) {
                char id[LVM_ID_SIZE] = "";

                if (device->vg && streq(device->vg, name))
                        memcpy(id, device->uuid + strlen(LVM_UUID_PREFIX), LVM_ID_LENGTH);
                if (r >= 0 && *id != '\0' && !strv_has(ret, id))
                        r = strv_add(ret, id);
        }
        FOREACH_RECORD(entry, sources->records) {
                _cleanup_vg_ struct vg *vg = NULL;

                if (r >= 0 && vg_text_has_name(entry->text, name) && vg_parse(entry->text, &vg) >= 0 &&
                        vg_count(vg).seen > 0 && !strv_has(ret, entry->key))
                        r = strv_add(ret, entry->key);
        }
        return r;
}

int sources_refuse_duplicate(struct sources *sources, const char *name)
{
        _cleanup_strv_ struct strv vgids = {};
        _cleanup_enumeration_ struct enumeration uuids = {};
        int r = sources_read_names(sources) ?: find_vgids(sources, name, &vgids);

        if (r < 0 || vgids.n < 2)
                return r;
        STRV_FOREACH(vgid, &vgids)
                enumeration_add(&uuids, LVM_ID_TO_STRING(*vgid));
        return log_error_errno(
                -ENOTUNIQ, "%s is the name of several VGs, ignoring it: UUIDs %s.", name, uuids.text ?: "?");
}
