/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/volume_group.h"

#include <inttypes.h>
#include <libdevmapper.h>
#include <sys/sysmacros.h>

#include "shared/config_tree.h"
#include "shared/log.h"
#include "shared/util.h"

/* A few are found faster by looking at each. */
#define INDEXED_MIN 32

static const char *const state_names[_VOLUME_GROUP_STATE_MAX] = {
        [VOLUME_GROUP_WAITING] = "waiting",
        [VOLUME_GROUP_COMPLETE] = "complete",
        [VOLUME_GROUP_ACTIVATING] = "activating",
        [VOLUME_GROUP_ACTIVE] = "active",
        [VOLUME_GROUP_DEGRADED] = "degraded",
        [VOLUME_GROUP_SKIPPED] = "skipped",
        [VOLUME_GROUP_FAILED] = "failed",
        [VOLUME_GROUP_DEACTIVATED] = "deactivated",
        [VOLUME_GROUP_ABSENT] = "absent",
        [VOLUME_GROUP_UNKNOWN] = "unknown",
};

uint64_t volume_group_since_usec(const struct volume_group *volume_group)
{
        switch (volume_group->state) {
        case VOLUME_GROUP_WAITING:
                return volume_group->first_seen_usec;
        case VOLUME_GROUP_COMPLETE:
                return volume_group->complete_usec;
        case VOLUME_GROUP_ACTIVATING:
                return volume_group->activating_usec;
        case VOLUME_GROUP_DEGRADED:
                return volume_group->degraded_usec;
        case VOLUME_GROUP_ABSENT:
        case VOLUME_GROUP_UNKNOWN:
                return 0;
        default:
                return volume_group->settled_usec;
        }
}

/* When all PVs were there, or it was decided to do without those that are missing. */
static uint64_t ready_usec(const struct volume_group *volume_group)
{
        return volume_group->state == VOLUME_GROUP_DEGRADED && volume_group_is_incomplete(volume_group)
                       ? volume_group->degraded_usec
                       : volume_group->complete_usec;
}

struct volume_group_times volume_group_first_times(const struct volume_group *volume_group)
{
        if (volume_group->first.settled_usec != 0)
                return volume_group->first;
        return (struct volume_group_times){
                .first_seen_usec = volume_group->first_seen_usec,
                .complete_usec = ready_usec(volume_group),
                .activating_usec = volume_group->activating_usec,
                .settled_usec = volume_group->settled_usec,
        };
}

int64_t volume_group_to_realtime(const struct volume_group *volume_group, uint64_t usec)
{
        /* Modulo 2^64 this is right whatever the clock was set to. */
        return (int64_t) (usec + volume_group->clock_usec) / (int64_t) USEC_PER_SEC;
}

const char *volume_group_state_to_string(enum volume_group_state state)
{
        return state_names[state];
}

static void free_pvs(struct volume_group_pv *pvs, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(pvs[i].device_name);
        free(pvs);
}

static void free_lvs(struct volume_group_lv *lvs, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(lvs[i].name);
        free(lvs);
}

struct volume_group *volume_group_free(struct volume_group *volume_group)
{
        if (!volume_group)
                return NULL;

        free(volume_group->name);
        free(volume_group->reason);
        free(volume_group->skip_reason);
        if (volume_group->pvs_by_pvid)
                dm_hash_destroy(volume_group->pvs_by_pvid);
        free_pvs(volume_group->pvs, volume_group->n_pvs);
        free_lvs(volume_group->lvs, volume_group->n_lvs);
        free(volume_group);
        return NULL;
}

/* Of several with one identifier, which only a forged text has, the first counts. `*ret` is NULL for a few. */
static int index_pvs(struct volume_group_pv *pvs, size_t n, struct dm_hash_table **ret)
{
        struct dm_hash_table *table = n >= INDEXED_MIN ? dm_hash_create((unsigned int) n) : NULL;

        if (n >= INDEXED_MIN && !table)
                return -ENOMEM;
        for (size_t i = n; table && i-- > 0;)
                if (!dm_hash_insert(table, pvs[i].pvid, &pvs[i])) {
                        dm_hash_destroy(table);
                        return -ENOMEM;
                }
        *ret = table;
        return 0;
}

struct volume_group_pv *volume_group_find_pv(const struct volume_group *volume_group, const char *pvid)
{
        if (volume_group->pvs_by_pvid)
                return dm_hash_lookup(volume_group->pvs_by_pvid, pvid);
        for (size_t i = 0; i < volume_group->n_pvs; i++)
                if (streq(volume_group->pvs[i].pvid, pvid))
                        return &volume_group->pvs[i];
        return NULL;
}

static struct dm_hash_table *index_lvs(const struct volume_group *volume_group)
{
        struct dm_hash_table *table = dm_hash_create((unsigned int) volume_group->n_lvs + 1);

        for (size_t i = 0; table && i < volume_group->n_lvs; i++)
                if (!dm_hash_insert(table, volume_group->lvs[i].lvid, &volume_group->lvs[i])) {
                        dm_hash_destroy(table);
                        return NULL;
                }
        return table;
}

size_t volume_group_count_seen(const struct volume_group *volume_group)
{
        size_t n = 0;

        for (size_t i = 0; i < volume_group->n_pvs; i++)
                n += volume_group->pvs[i].device != 0;
        return n;
}

size_t volume_group_count_autoactivated(const struct volume_group *volume_group)
{
        size_t n = 0;

        for (size_t i = 0; i < volume_group->n_lvs; i++)
                n += volume_group->lvs[i].autoactivated;
        return n;
}

size_t volume_group_count_active(const struct volume_group *volume_group)
{
        size_t n = 0;

        for (size_t i = 0; i < volume_group->n_lvs; i++)
                n += volume_group->lvs[i].autoactivated && volume_group->lvs[i].active;
        return n;
}

size_t volume_group_count_stranded(const struct volume_group *volume_group)
{
        size_t n = 0;

        for (size_t i = 0; i < volume_group->n_lvs; i++)
                n += volume_group->lvs[i].stranded;
        return n;
}

char *volume_group_describe_missing(const struct volume_group *volume_group)
{
        char *text = NULL;
        const char *separator = "";
        size_t size, n_missing = 0;
        FILE *file;

        file = open_memstream(&text, &size);
        if (!file)
                return NULL;
        for (size_t i = 0; i < volume_group->n_pvs; i++) {
                const struct volume_group_pv *pv = &volume_group->pvs[i];
                char pvid[LVM_ID_FORMATTED_SIZE];

                if (pv->device != 0 || ++n_missing > VOLUME_GROUP_NAMED_MISSING_MAX)
                        continue;
                lvm_id_format(pv->pvid, pvid);
                fprintf(file, "%sPV %s (last at %s)", separator, pvid, pv->device_name ?: "an unknown path");
                separator = ", ";
        }
        if (n_missing > VOLUME_GROUP_NAMED_MISSING_MAX)
                fprintf(file, ", %zu more", n_missing - VOLUME_GROUP_NAMED_MISSING_MAX);
        if (fclose(file) == 0)
                return text;
        free(text);
        return NULL;
}

bool volume_group_is_settled(const struct volume_group *volume_group)
{
        return volume_group->state != VOLUME_GROUP_COMPLETE && volume_group->state != VOLUME_GROUP_ACTIVATING;
}

int volume_group_update(struct volume_group *volume_group, const struct metadata *metadata)
{
        _cleanup_free_ char *name = strdup(metadata->name);
        _cleanup_free_ char *skip_reason = NULL;
        struct volume_group_pv *pvs = calloc(metadata->n_pvs + 1, sizeof(*pvs));
        struct volume_group_lv *lvs = calloc(metadata->n_lvs + 1, sizeof(*lvs));
        struct dm_hash_table *known_lvs = index_lvs(volume_group), *index = NULL;
        bool complete = name && pvs && lvs && known_lvs && metadata_describe_skip(metadata, &skip_reason) >= 0;

        for (size_t i = 0; complete && i < metadata->n_pvs; i++) {
                const struct metadata_pv *source = &metadata->pvs[i];
                const struct volume_group_pv *known = volume_group_find_pv(volume_group, source->pvid);
                const char *device_name = known && known->device_name ? known->device_name : source->device_hint;

                memcpy(pvs[i].pvid, source->pvid, sizeof(pvs[i].pvid));
                pvs[i].device = known ? known->device : 0;
                pvs[i].flagged = source->missing;
                pvs[i].late_usec = known ? known->late_usec : 0;
                pvs[i].device_name = device_name ? strdup(device_name) : NULL;
                complete = pvs[i].device_name || !device_name;
        }

        for (size_t i = 0; complete && i < metadata->n_lvs; i++) {
                const struct metadata_lv *source = &metadata->lvs[i];
                const struct volume_group_lv *known = dm_hash_lookup(known_lvs, source->lvid);

                lvs[i].name = strdup(source->name);
                memcpy(lvs[i].lvid, source->lvid, sizeof(lvs[i].lvid));
                lvs[i].autoactivated = source->autoactivated;
                lvs[i].active = known && known->active;
                lvs[i].stranded = known && known->stranded;
                complete = lvs[i].name;
        }

        if (known_lvs)
                dm_hash_destroy(known_lvs);
        if (!complete || index_pvs(pvs, metadata->n_pvs, &index) < 0) {
                if (pvs)
                        free_pvs(pvs, metadata->n_pvs);
                if (lvs)
                        free_lvs(lvs, metadata->n_lvs);
                return -ENOMEM;
        }

        free(volume_group->name);
        volume_group->name = TAKE_PTR(name);
        free(volume_group->skip_reason);
        volume_group->skip_reason = TAKE_PTR(skip_reason);
        memcpy(volume_group->vgid, metadata->vgid, sizeof(volume_group->vgid));
        volume_group->seqno = metadata->seqno;
        volume_group->slow = metadata->slow;
        if (volume_group->pvs_by_pvid)
                dm_hash_destroy(volume_group->pvs_by_pvid);
        volume_group->pvs_by_pvid = index;
        free_pvs(volume_group->pvs, volume_group->n_pvs);
        volume_group->pvs = pvs;
        volume_group->n_pvs = metadata->n_pvs;
        free_lvs(volume_group->lvs, volume_group->n_lvs);
        volume_group->lvs = lvs;
        volume_group->n_lvs = metadata->n_lvs;
        return 0;
}

int volume_group_new(const struct metadata *metadata, struct volume_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = calloc(1, sizeof(*volume_group));
        int r;

        if (!volume_group)
                return -ENOMEM;
        r = volume_group_update(volume_group, metadata);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(volume_group);
        return 0;
}

static int print_volume_group(FILE *file, const struct volume_group *volume_group)
{
        int r;

        fprintf(file,
                "name = \"%s\"\n"
                "id = \"%s\"\n"
                "seqno = %" PRIu64 "\n"
                "state = \"%s\"\n"
                "slow = %d\n"
                "overdue = %d\n"
                "lost_pv = %d\n"
                "bereft = %d\n"
                "first_seen_usec = %" PRIu64 "\n"
                "complete_usec = %" PRIu64 "\n"
                "activating_usec = %" PRIu64 "\n"
                "settled_usec = %" PRIu64 "\n"
                "clock_usec = %" PRId64 "\n"
                "degraded_usec = %" PRIu64 "\n"
                "first = [ %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 " ]\n",
                volume_group->name, volume_group->vgid, volume_group->seqno,
                volume_group_state_to_string(volume_group->state), volume_group->slow, volume_group->overdue,
                volume_group->lost_pv, volume_group->lost_after_active, volume_group->first_seen_usec,
                volume_group->complete_usec, volume_group->activating_usec, volume_group->settled_usec,
                (int64_t) volume_group->clock_usec, volume_group->degraded_usec,
                volume_group->first.first_seen_usec, volume_group->first.complete_usec,
                volume_group->first.activating_usec, volume_group->first.settled_usec);

        r = config_print_string(file, "reason", volume_group->reason);
        if (r < 0)
                return r;
        r = config_print_string(file, "skip_reason", volume_group->skip_reason);
        if (r < 0)
                return r;

        fprintf(file, "physical_volumes {\n");
        for (size_t i = 0; i < volume_group->n_pvs; i++) {
                const struct volume_group_pv *pv = &volume_group->pvs[i];

                fprintf(file, "pv%zu {\nid = \"%s\"\nflagged = %d\nlate_usec = %" PRIu64 "\n", i, pv->pvid,
                        pv->flagged, pv->late_usec);
                if (pv->device != 0)
                        fprintf(file, "major = %u\nminor = %u\n", major(pv->device), minor(pv->device));
                r = config_print_string(file, "device", pv->device_name);
                if (r < 0)
                        return r;
                fprintf(file, "}\n");
        }

        fprintf(file, "}\nlogical_volumes {\n");
        for (size_t i = 0; i < volume_group->n_lvs; i++) {
                const struct volume_group_lv *lv = &volume_group->lvs[i];

                fprintf(file, "lv%zu {\n", i);
                r = config_print_string(file, "name", lv->name);
                if (r < 0)
                        return r;
                fprintf(file, "id = \"%s\"\nautoactivated = %d\nactive = %d\n}\n", lv->lvid, lv->autoactivated,
                        lv->active);
        }
        fprintf(file, "}\n");
        return 0;
}

int volume_group_print(const struct volume_group *volume_group, char **ret)
{
        _cleanup_free_ char *text = NULL;
        FILE *file;
        size_t size;
        int r;

        file = open_memstream(&text, &size);
        if (!file)
                return -errno;
        r = print_volume_group(file, volume_group);
        if (fclose(file) != 0 && r >= 0)
                r = -errno;
        if (r >= 0)
                *ret = TAKE_PTR(text);
        return r;
}

static int copy_string(const struct dm_config_node *node, const char *path, char **ret)
{
        const char *value = dm_config_find_str(node, path, NULL);

        if (value && !(*ret = strdup(value)))
                return -ENOMEM;
        return 0;
}

static int copy_id(const struct dm_config_node *node, char ret[LVM_ID_SIZE])
{
        const char *value = dm_config_find_str(node, "id", NULL);

        if (!value || strlen(value) != LVM_ID_LENGTH)
                return -EBADMSG;
        memcpy(ret, value, LVM_ID_SIZE);
        return 0;
}

static uint64_t find_u64(const struct dm_config_node *node, const char *path)
{
        return (uint64_t) dm_config_find_int64(node, path, 0);
}

static size_t count_children(const struct dm_config_node *section)
{
        size_t n = 0;

        for (const struct dm_config_node *node = section ? section->child : NULL; node; node = node->sib)
                n++;
        return n;
}

static int load_pvs(const struct dm_config_node *section, struct volume_group *volume_group)
{
        volume_group->pvs = calloc(count_children(section) + 1, sizeof(*volume_group->pvs));
        if (!volume_group->pvs)
                return -ENOMEM;

        for (const struct dm_config_node *node = section ? section->child : NULL; node; node = node->sib) {
                struct volume_group_pv *pv = &volume_group->pvs[volume_group->n_pvs++];
                int r;

                r = copy_id(node->child, pv->pvid);
                if (r < 0)
                        return r;
                pv->device = makedev(find_u64(node->child, "major"), find_u64(node->child, "minor"));
                pv->flagged = find_u64(node->child, "flagged");
                pv->late_usec = find_u64(node->child, "late_usec");
                r = copy_string(node->child, "device", &pv->device_name);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void load_first_times(const struct dm_config_node *root, struct volume_group_times *ret)
{
        uint64_t *const times[] = {
                &ret->first_seen_usec, &ret->complete_usec, &ret->activating_usec, &ret->settled_usec};
        const struct dm_config_node *node = dm_config_find_node(root, "first");
        const struct dm_config_value *value = node ? node->v : NULL;

        for (size_t i = 0; i < ELEMENTSOF(times) && value && value->type == DM_CFG_INT; i++, value = value->next)
                *times[i] = (uint64_t) value->v.i;
}

static int load_lvs(const struct dm_config_node *section, struct volume_group *volume_group)
{
        volume_group->lvs = calloc(count_children(section) + 1, sizeof(*volume_group->lvs));
        if (!volume_group->lvs)
                return -ENOMEM;

        for (const struct dm_config_node *node = section ? section->child : NULL; node; node = node->sib) {
                struct volume_group_lv *lv = &volume_group->lvs[volume_group->n_lvs++];
                int r;

                r = copy_id(node->child, lv->lvid);
                if (r < 0)
                        return r;
                r = copy_string(node->child, "name", &lv->name);
                if (r < 0)
                        return r;
                if (!lv->name)
                        return -EBADMSG;
                lv->autoactivated = find_u64(node->child, "autoactivated");
                lv->active = find_u64(node->child, "active");
        }
        return 0;
}

static int load_volume_group(const struct dm_config_node *root, struct volume_group *volume_group)
{
        const char *state = dm_config_find_str(root, "state", "");
        int r;

        while (volume_group->state < _VOLUME_GROUP_STATE_MAX && !streq(state_names[volume_group->state], state))
                volume_group->state++;
        if (volume_group->state == _VOLUME_GROUP_STATE_MAX)
                return -EBADMSG;

        r = copy_id(root, volume_group->vgid);
        if (r < 0)
                return r;
        r = copy_string(root, "name", &volume_group->name);
        if (r < 0)
                return r;
        if (!volume_group->name)
                return -EBADMSG;
        r = copy_string(root, "reason", &volume_group->reason);
        if (r < 0)
                return r;
        r = copy_string(root, "skip_reason", &volume_group->skip_reason);
        if (r < 0)
                return r;

        volume_group->seqno = find_u64(root, "seqno");
        volume_group->slow = find_u64(root, "slow");
        volume_group->overdue = find_u64(root, "overdue");
        volume_group->lost_pv = find_u64(root, "lost_pv");
        volume_group->lost_after_active = find_u64(root, "bereft");
        volume_group->degraded_usec = find_u64(root, "degraded_usec");
        volume_group->first_seen_usec = find_u64(root, "first_seen_usec");
        volume_group->complete_usec = find_u64(root, "complete_usec");
        volume_group->activating_usec = find_u64(root, "activating_usec");
        volume_group->settled_usec = find_u64(root, "settled_usec");
        volume_group->clock_usec = find_u64(root, "clock_usec");
        load_first_times(root, &volume_group->first);

        r = load_pvs(dm_config_find_node(root, "physical_volumes"), volume_group);
        if (r >= 0)
                r = index_pvs(volume_group->pvs, volume_group->n_pvs, &volume_group->pvs_by_pvid);
        if (r < 0)
                return r;
        return load_lvs(dm_config_find_node(root, "logical_volumes"), volume_group);
}

int volume_group_parse(const char *text, struct volume_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = calloc(1, sizeof(*volume_group));
        _cleanup_dm_config_ struct dm_config_tree *tree = dm_config_create();
        int r;

        if (!volume_group || !tree)
                return -ENOMEM;

        /* Looking for duplicates takes quadratic time, and print_volume_group() writes none. */
        if (!dm_config_parse_without_dup_node_check(tree, text, text + strlen(text)))
                return -EBADMSG;
        r = load_volume_group(tree->root, volume_group);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(volume_group);
        return 0;
}

/* The name is in the first line, see print_volume_group(), and has nothing that would have to be escaped. */
bool volume_group_text_has_name(const char *text, const char *name)
{
        const char *rest = skip_prefix(text, "name = \"");

        rest = rest ? skip_prefix(rest, name) : NULL;
        return rest && rest[0] == '"';
}

static int read_record(const struct record_entry *record, volume_group_function function, void *userdata)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        int r;

        r = volume_group_parse(record->text, &volume_group);
        if (r >= 0 && !streq(volume_group->vgid, record->key))
                r = -EBADMSG;
        if (r == -EBADMSG) {
                log_warning("The record of VG %s in /run/headgate/" RECORD_FILE " is damaged.", record->key);
                return VOLUME_GROUPS_DAMAGED;
        }
        if (r >= 0)
                r = function(volume_group, userdata);
        if (r >= 0)
                TAKE_PTR(volume_group);
        return MIN(r, 0);
}

int volume_groups_parse(const struct record_file *file, volume_group_function function, void *userdata)
{
        const struct record_entry *record;
        int result = 0;

        if (!file)
                return 0;
        dm_list_iterate_items(record, &file->records) {
                int r = lvm_id_is_valid(record->key) ? read_record(record, function, userdata) : 0;

                if (r < 0)
                        return r;
                result |= r;
        }
        return result;
}
