/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parses the metadata text of a VG, from a disk or from lvm2's backup. */

#include "lvm/metadata.h"

#include <ctype.h>
#include <fcntl.h>

#include "lvm/pv.h"
#include "shared/dm.h"
#include "shared/util.h"

/* libdevmapper needs about 100 bytes for each node. With the text twice in memory, a reader stays below 256 MiB. */
#define NODES_MAX 1200000

int metadata_guess_name(const char *text, char **ret)
{
        size_t length = strcspn(text, " {");
        _cleanup_free_ char *name = strndup(text, length);

        if (!name)
                return -ENOMEM;
        if (!text[length] || !vg_name_is_valid(name))
                return -ENOENT;

        *ret = TAKE_PTR(name);
        return 0;
}

/* Returns the first section among the nodes, or NULL. */
static const struct dm_config_node *first_section(const struct dm_config_node *nodes)
{
        while (nodes && nodes->v)
                nodes = nodes->sib;
        return nodes;
}

#define FOREACH_SECTION(node, nodes)                                                                              \
        for (const struct dm_config_node *node = first_section(nodes); node; node = first_section(node->sib))

static size_t count_sections(const struct dm_config_node *nodes)
{
        size_t n = 0;

        FOREACH_SECTION(node, nodes)
                n++;
        return n;
}

/* Returns the contents of a section; NULL if it is empty or missing. */
static const struct dm_config_node *find_section(const struct dm_config_node *nodes, const char *key)
{
        const struct dm_config_node *node = dm_config_find_node(nodes, key);

        return node && !node->v ? node->child : NULL;
}

/* Whether the list `key` has `flag`. A list of one string may be written as a string. */
static bool list_has(const struct dm_config_node *nodes, const char *key, const char *flag)
{
        const struct dm_config_node *node = dm_config_find_node(nodes, key);

        for (const struct dm_config_value *value = node ? node->v : NULL; value; value = value->next)
                if (value->type == DM_CFG_STRING && streq(value->v.str, flag))
                        return true;

        return false;
}

/* Flags that older versions of lvm2 may ignore have a list of their own; some flags have moved between the two. */
static bool has_flag(const struct dm_config_node *nodes, const char *flag)
{
        return list_has(nodes, "status", flag) || list_has(nodes, "flags", flag);
}

/* Copies the string `key`, or NULL if it is missing or empty. */
static int copy_string(const struct dm_config_node *nodes, const char *key, char **ret, const char **reterr_reason)
{
        const char *string = dm_config_find_str(nodes, key, "");

        if (*string == '\0')
                return 0;
        /* Disk text must not forge log messages. */
        if (!string_is_printable(string))
                return damaged(reterr_reason, "the metadata has control characters");
        *ret = strdup(string);
        return *ret ? 0 : -ENOMEM;
}

/* lvm2 writes "[unknown]" or the like for a missing device. */
static bool is_device_hint(const char *device)
{
        return device[0] == '/' && strlen(device) <= METADATA_DEVICE_HINT_MAX && !strpbrk(device, "\"\\") &&
               string_is_printable(device);
}

static int parse_pv(const struct dm_config_node *nodes, struct vg_pv *ret, const char **reterr_reason)
{
        const char *id = dm_config_find_str(nodes, "id", "");
        const char *device = dm_config_find_str(nodes, "device", "");

        if (lvm_id_parse(id, ret->pvid) < 0)
                return damaged(reterr_reason, "a PV of the metadata has no valid identifier");

        if (is_device_hint(device)) {
                ret->device_name = strdup(device);
                if (!ret->device_name)
                        return -ENOMEM;
        }

        ret->flagged = has_flag(nodes, "MISSING");
        return 0;
}

static int parse_pvs(const struct dm_config_node *nodes, struct vg *metadata, const char **reterr_reason)
{
        size_t n = count_sections(nodes);

        if (n > METADATA_PVS_MAX)
                return damaged(reterr_reason, "the metadata has more than " STRINGIFY(METADATA_PVS_MAX) " PVs");
        if (n == 0)
                return damaged(reterr_reason, "the metadata lists no PVs");
        metadata->pvs = calloc(n, sizeof(*metadata->pvs));
        if (!metadata->pvs)
                return -ENOMEM;
        FOREACH_SECTION(node, nodes) {
                int r = parse_pv(node->child, &metadata->pvs[metadata->n_pvs++], reterr_reason);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* Whether an LV has a segment of one of the types, which end with NULL. Flags may follow the type of a segment,
 * "thin-pool+METADATA_FORMAT", and there are many kinds of "raid". */
static bool has_segment(const struct dm_config_node *lv, const char *const types[])
{
        FOREACH_SECTION(node, lv->child) {
                const char *type = dm_config_find_str(node->child, "type", "");

                for (size_t i = 0; types[i]; i++) {
                        const char *rest = skip_prefix(type, types[i]);

                        if (rest && (*rest == '\0' || *rest == '+' || streq(types[i], "raid")))
                                return true;
                }
        }
        return false;
}

/* A snapshot is activated with its origin, so lvm2 uses the flags of that, `flagged`. */
static int parse_lv(const struct dm_config_node *lv, const struct dm_config_node *flagged, struct vg_lv *ret,
        const char **reterr_reason)
{
        const char *id = dm_config_find_str(lv->child, "id", "");

        if (lvm_id_parse(id, ret->lvid) < 0)
                return damaged(reterr_reason, "an LV of the metadata has no valid identifier");

        ret->name = logical_volume_name_to_show(lv->key);
        if (!ret->name)
                return -ENOMEM;

        ret->activation_skip = has_flag(flagged->child, "ACTIVATION_SKIP");
        ret->autoactivation_off = has_flag(flagged->child, "NOAUTOACTIVATE");
        ret->autoactivated = !ret->activation_skip && !ret->autoactivation_off &&
                             !has_segment(lv, (const char *const[]){"vdo-pool", "cache-pool", NULL});
        return 0;
}

/* Maps each snapshot to the section of its origin in `origins`. The section that defines the snapshot is marked as
 * visible, but is no LV; the snapshot is not marked. A snapshot that is being merged is hidden (lvm2,
 * lib/snapshot/snapshot.c). */
static int find_origins(const struct dm_config_node *nodes, struct dm_hash_table *origins)
{
        _cleanup_dm_hash_ struct dm_hash_table *sections = dm_hash_create(64);

        if (!sections)
                return -ENOMEM;
        FOREACH_SECTION(node, nodes)
                if (!dm_hash_insert(sections, node->key, (void *) node))
                        return -ENOMEM;
        FOREACH_SECTION(node, nodes)
                FOREACH_SECTION(segment, node->child) {
                        const char *store = dm_config_find_str(segment->child, "cow_store", NULL);
                        void *origin = dm_hash_lookup(sections, dm_config_find_str(segment->child, "origin", ""));

                        if (store && origin && !dm_hash_insert(origins, store, origin))
                                return -ENOMEM;
                }
        return 0;
}

static int parse_lvs(const struct dm_config_node *nodes, struct vg *metadata, const char **reterr_reason)
{
        static const char *const slow_types[] = {"thin-pool", "thin", "cache", "cache-pool", "writecache", "vdo",
                "vdo-pool", "mirror", "snapshot", "raid", NULL};
        static const char *const snapshot[] = {"snapshot", NULL};
        static const char *const checked_types[] = {"thin-pool", "cache", "cache-pool", "vdo-pool", NULL};
        _cleanup_dm_hash_ struct dm_hash_table *origins = dm_hash_create(64);
        size_t n = count_sections(nodes), names_size = 0;

        if (!origins || find_origins(nodes, origins) < 0)
                return -ENOMEM;
        if (n > METADATA_LVS_MAX)
                return damaged(reterr_reason, "the metadata has more than " STRINGIFY(METADATA_LVS_MAX) " LVs");
        /* One more than needed, as calloc() may return NULL for 0. */
        metadata->lvs = calloc(n + 1, sizeof(*metadata->lvs));
        if (!metadata->lvs)
                return -ENOMEM;

        FOREACH_SECTION(node, nodes) {
                const struct dm_config_node *origin = dm_hash_lookup(origins, node->key);
                struct vg_lv *lv = &metadata->lvs[metadata->n_lvs];
                int r;

                /* Hidden sub-LVs may make the VG slow, too. */
                metadata->slow |= has_segment(node, slow_types);
                metadata->checked |= has_segment(node, checked_types);
                if (has_segment(node, snapshot) || (!has_flag(node->child, "VISIBLE") && !origin))
                        continue;
                r = parse_lv(node, origin ?: node, lv, reterr_reason);
                if (r < 0)
                        return r;
                metadata->n_lvs++;
                names_size += strlen(lv->name);
                if (names_size > METADATA_NAMES_SIZE_MAX)
                        return damaged(reterr_reason, "the names of its LVs have more than " STRINGIFY(
                                                              METADATA_NAMES_SIZE_MAX) " bytes");
        }
        return 0;
}

static int parse_vg(const struct dm_config_node *vg, struct vg *metadata, const char **reterr_reason)
{
        const struct dm_config_node *nodes = vg->child;
        const char *id = dm_config_find_str(nodes, "id", "");
        int64_t seqno = dm_config_find_int64(nodes, "seqno", -1);
        int r;

        if (!vg_name_is_valid(vg->key) || lvm_id_parse(id, metadata->vgid) < 0 || seqno < 0)
                return damaged(reterr_reason, "the metadata has no valid VG name, identifier or sequence number");

        metadata->seqno = (uint64_t) seqno;
        metadata->name = strdup(vg->key);
        if (!metadata->name)
                return -ENOMEM;

        r = copy_string(nodes, "system_id", &metadata->system_id, reterr_reason)
                    ?: copy_string(nodes, "lock_type", &metadata->lock_type, reterr_reason);
        if (r < 0)
                return r;
        if (metadata->lock_type && streq(metadata->lock_type, "none"))
                free(TAKE_PTR(metadata->lock_type));

        metadata->exported = has_flag(nodes, "EXPORTED");
        metadata->clustered = has_flag(nodes, "CLUSTERED");
        metadata->autoactivation_off = has_flag(nodes, "NOAUTOACTIVATE");

        return parse_pvs(find_section(nodes, "physical_volumes"), metadata, reterr_reason)
                       ?: parse_lvs(find_section(nodes, "logical_volumes"), metadata, reterr_reason);
}

/* The VG is the only section at the top level; values beside it describe the format. */
static const struct dm_config_node *find_vg(const struct dm_config_tree *tree)
{
        if (!streq(dm_config_find_str(tree->root, "contents", ""), "Text Format Volume Group") ||
                dm_config_find_int64(tree->root, "version", 0) != 1 || count_sections(tree->root) != 1)
                return NULL;
        return first_section(tree->root);
}

/* Each of these characters creates a node. */
static bool has_too_many_nodes(const char *text)
{
        size_t n = 0;

        for (; (text = strpbrk(text, "={,")); text++)
                if (++n > NODES_MAX)
                        return true;
        return false;
}

int metadata_parse(const char *text, struct vg **ret, const char **reterr_reason)
{
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;
        _cleanup_vg_ struct vg *metadata = NULL;
        const struct dm_config_node *vg;
        int r;

        *reterr_reason = NULL;

        metadata = calloc(1, sizeof(*metadata));
        tree = dm_config_create();
        if (!metadata || !tree)
                return -ENOMEM;
        if (has_too_many_nodes(text))
                return damaged(reterr_reason, "the metadata has too many PVs or LVs");

        /* Without a check for duplicate keys, as in lvm2: that takes quadratic time. */
        if (config_text_is_too_deep(text) ||
                !dm_config_parse_without_dup_node_check(tree, text, text + strlen(text)))
                return damaged(reterr_reason, "the metadata text is malformed");

        vg = find_vg(tree);
        if (!vg)
                return damaged(reterr_reason, "the text is not the metadata of a VG");

        r = parse_vg(vg, metadata, reterr_reason) ?: vg_finish(metadata);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(metadata);
        return 0;
}

int backup_read(int root_fd, const char *directory, const char *name, struct vg **ret, size_t *ret_size,
        const char **reterr_reason)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        _cleanup_free_ char *text = NULL;
        const char *reason;
        int r = read_file_at(root_fd, path_format("%s/%s", directory, name).text, &text, ret_size)
                        ?: metadata_parse(text, &metadata, reterr_reason ?: &reason);

        if (r < 0)
                return r;
        if (!streq(metadata->name, name))
                return -ESTALE;
        *ret = TAKE_PTR(metadata);
        return 0;
}

/* Returns the number in "NAME_NUMBER-RANDOM.vg", or -1. */
static int64_t archive_number(const char *file, const char *name)
{
        const char *rest = skip_prefix(file, name);
        int64_t number;
        char *end;

        if (!rest || rest[0] != '_' || !isdigit((unsigned char) rest[1]))
                return -1;
        number = strtoll(rest + 1, &end, 10);
        return *end == '-' ? number : -1;
}

/* "Created *before* executing 'lvm vgremove -f data'" */
static bool is_before_vgremove(const char *description)
{
        const char *command = strchr(description, '\'') ?: "";
        const char *word = strstr(command, "vgremove");
        const char *space = strchr(command, ' ');

        return word && (word < space || strstr(command, "lvm vgremove") == word - strlen("lvm "));
}

int backup_tells_removal(const char *backup_directory, const char *archive_directory, const struct vg *vg)
{
        _cleanup_vg_ struct vg *backup = NULL;
        _cleanup_closedir_ DIR *archive = NULL;
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;
        _cleanup_free_ char *path = NULL;
        struct path id = path_format("%s/id", vg->name);
        int64_t newest = -1;
        int r = backup_read(AT_FDCWD, backup_directory, vg->name, &backup, NULL, NULL);

        if (r < 0 && r != -ENOENT)
                return r == -ENOMEM ? r : 0;
        if (backup && (backup->n_lvs > 0 || !streq(backup->vgid, vg->vgid)))
                return 0;
        archive = open_directory_at(AT_FDCWD, archive_directory);
        if (!archive)
                return errno == ENOMEM ? -ENOMEM : 0;
        FOREACH_ENTRY(file, archive) {
                int64_t number = archive_number(file, vg->name);

                if (number <= newest)
                        continue;
                newest = number;
                r = string_replace(&path, string_format("%s/%s", archive_directory, file));
                if (r < 0)
                        return r;
        }
        r = path ? config_tree_read(AT_FDCWD, path, &tree, NULL) : -ENOENT;
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        return streq(dm_config_find_str(tree->root, id.text, ""), LVM_ID_TO_STRING(vg->vgid)) &&
               is_before_vgremove(dm_config_find_str(tree->root, "description", ""));
}
