/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The record of a VG, as text, and back: one table of fields for both directions. */

#include "lvm/volume_group_record.h"

#include <inttypes.h>
#include <stddef.h>
#include <sys/sysmacros.h>

#include "shared/dm.h"
#include "shared/log.h"
#include "shared/util.h"

enum field_type {
        FIELD_STRING, /* left out if it is NULL */
        FIELD_ID,
        FIELD_STATE,
        FIELD_WORKER_STATE, /* of a VG; left out if it is NULL. It sets fields that are before it, too */
        FIELD_NUMBER,       /* uint64_t, printed as an int64_t, as libdevmapper reads it */
        FIELD_BOOL,
        FIELD_TIMES,
        FIELD_MAJOR, /* of a dev_t; both are left out if it is 0 */
        FIELD_MINOR,
};

struct field {
        const char *key;
        enum field_type type;
        size_t offset;
};

/* A section's name, and those of the sections in it: "physical_volumes", "pv0". */
struct section {
        const char *name, *prefix;
        const struct field *fields;
        size_t n_fields;
        size_t element_size;
};

#define FIELD(key, type, object, member)                                                                          \
        {                                                                                                         \
                key, type, offsetof(struct object, member)                                                        \
        }

/* The name is the first, see volume_group_text_has_name(). */
static const struct field vg_fields[] = {
        FIELD("name", FIELD_STRING, volume_group, name),
        FIELD("id", FIELD_ID, volume_group, vgid),
        FIELD("seqno", FIELD_NUMBER, volume_group, seqno),
        FIELD("state", FIELD_STATE, volume_group, state),
        FIELD("slow", FIELD_BOOL, volume_group, slow),
        FIELD("overdue", FIELD_BOOL, volume_group, overdue),
        FIELD("lost_pv", FIELD_BOOL, volume_group, lost_pv),
        FIELD("bereft", FIELD_BOOL, volume_group, lost_after_active),
        FIELD("first_seen_usec", FIELD_NUMBER, volume_group, first_seen_usec),
        FIELD("complete_usec", FIELD_NUMBER, volume_group, complete_usec),
        FIELD("activating_usec", FIELD_NUMBER, volume_group, activating_usec),
        FIELD("settled_usec", FIELD_NUMBER, volume_group, settled_usec),
        FIELD("clock_usec", FIELD_NUMBER, volume_group, clock_usec),
        FIELD("degraded_usec", FIELD_NUMBER, volume_group, degraded_usec),
        FIELD("first", FIELD_TIMES, volume_group, first),
        FIELD("worker_state", FIELD_WORKER_STATE, volume_group, worker_state),
        FIELD("reason", FIELD_STRING, volume_group, reason),
        FIELD("skip_reason", FIELD_STRING, volume_group, skip_reason),
};

static const struct field pv_fields[] = {
        FIELD("id", FIELD_ID, volume_group_pv, pvid),
        FIELD("flagged", FIELD_BOOL, volume_group_pv, flagged),
        FIELD("late_usec", FIELD_NUMBER, volume_group_pv, late_usec),
        FIELD("major", FIELD_MAJOR, volume_group_pv, device),
        FIELD("minor", FIELD_MINOR, volume_group_pv, device),
        FIELD("device", FIELD_STRING, volume_group_pv, device_name),
};

static const struct field lv_fields[] = {
        FIELD("name", FIELD_STRING, volume_group_lv, name),
        FIELD("id", FIELD_ID, volume_group_lv, lvid),
        FIELD("autoactivated", FIELD_BOOL, volume_group_lv, autoactivated),
        FIELD("active", FIELD_BOOL, volume_group_lv, active),
};

static const struct section pv_section = {
        "physical_volumes", "pv", pv_fields, ELEMENTSOF(pv_fields), sizeof(struct volume_group_pv)};
static const struct section lv_section = {
        "logical_volumes", "lv", lv_fields, ELEMENTSOF(lv_fields), sizeof(struct volume_group_lv)};

/* ------ printing ------ */

static int print_field(FILE *file, const struct field *field, const void *object)
{
        const void *value = (const char *) object + field->offset;
        const dev_t *device = value;
        const struct volume_group_times *times = value;

        switch (field->type) {
        case FIELD_STRING:
        case FIELD_WORKER_STATE:
                return config_print_string(file, field->key, *(char *const *) value);
        case FIELD_ID:
                return config_print_string(file, field->key, value);
        case FIELD_STATE:
                return config_print_string(
                        file, field->key, volume_group_state_to_string(*(const enum volume_group_state *) value));
        case FIELD_NUMBER:
                fprintf(file, "%s = %" PRId64 "\n", field->key, (int64_t) * (const uint64_t *) value);
                break;
        case FIELD_BOOL:
                fprintf(file, "%s = %d\n", field->key, *(const bool *) value);
                break;
        case FIELD_TIMES:
                fprintf(file, "%s = [ %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 " ]\n", field->key,
                        times->first_seen_usec, times->complete_usec, times->activating_usec, times->settled_usec);
                break;
        case FIELD_MAJOR:
        case FIELD_MINOR:
                if (*device != 0)
                        fprintf(file, "%s = %u\n", field->key,
                                field->type == FIELD_MAJOR ? major(*device) : minor(*device));
                break;
        }
        return 0;
}

static int print_fields(FILE *file, const struct field *fields, size_t n, const void *object)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < n; i++)
                r = print_field(file, &fields[i], object);
        return r;
}

static int print_section(FILE *file, const struct section *section, const void *elements, size_t n)
{
        int r = 0;

        fprintf(file, "%s {\n", section->name);
        for (size_t i = 0; r >= 0 && i < n; i++) {
                fprintf(file, "%s%zu {\n", section->prefix, i);
                r = print_fields(file, section->fields, section->n_fields,
                        (const char *) elements + i * section->element_size);
                fputs("}\n", file);
        }
        fputs("}\n", file);
        return r;
}

int volume_group_print(const struct volume_group *volume_group, char **ret)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        int r;

        if (!file)
                return -ENOMEM;
        r = print_fields(file, vg_fields, ELEMENTSOF(vg_fields), volume_group);
        if (r >= 0)
                r = print_section(file, &pv_section, volume_group->pvs, volume_group->n_pvs);
        if (r >= 0)
                r = print_section(file, &lv_section, volume_group->lvs, volume_group->n_lvs);
        return r < 0 ? r : memstream_finish(&stream, ret, NULL);
}

/* ------ parsing: `*position` is moved behind what was parsed ------ */

static int parse_number(const char **position, uint64_t *ret)
{
        char *end;

        errno = 0;
        *ret = (uint64_t) strtoll(*position, &end, 10);
        if (errno != 0 || end == *position)
                return -EBADMSG;
        *position = end;
        return 0;
}

/* A quote or backslash in it has a backslash before it, see dm_escape_double_quotes(). */
static bool is_escape(const char *c)
{
        return c[0] == '\\' && (c[1] == '"' || c[1] == '\\');
}

static int parse_string(const char **position, char **ret)
{
        const char *begin = *position, *end = begin + 1;
        char *string, *out;

        if (*begin != '"')
                return -EBADMSG;
        while (*end != '"') {
                end += is_escape(end);
                if (*end == '\0')
                        return -EBADMSG;
                end++;
        }
        string = out = malloc((size_t) (end - begin));
        if (!string)
                return -ENOMEM;
        for (const char *in = begin + 1; in < end; in++) {
                in += is_escape(in);
                *out++ = *in;
        }
        *out = '\0';
        *ret = string;
        *position = end + 1;
        return 0;
}

/* "[ 1, 2, 3, 4 ]" */
static int parse_times(const char **position, struct volume_group_times *ret)
{
        uint64_t *const times[] = {
                &ret->first_seen_usec, &ret->complete_usec, &ret->activating_usec, &ret->settled_usec};

        for (size_t i = 0; i < ELEMENTSOF(times); i++) {
                *position += strspn(*position, "[, ");
                if (parse_number(position, times[i]) < 0)
                        return -EBADMSG;
        }
        *position += strspn(*position, " ]");
        return 0;
}

static int set_state(enum volume_group_state *state, const char *word)
{
        for (*state = 0; *state < _VOLUME_GROUP_STATE_MAX; ++*state)
                if (streq(word, volume_group_state_to_string(*state)))
                        return 0;
        return -EBADMSG;
}

static int parse_value(const char **position, const struct field *field, void *object)
{
        void *value = (char *) object + field->offset;
        bool is_number = field->type >= FIELD_NUMBER && field->type != FIELD_TIMES;
        _cleanup_free_ char *string = NULL;
        uint64_t number = 0;
        dev_t *device = value;
        int r = 0;

        if (is_number)
                r = parse_number(position, &number);
        else if (field->type != FIELD_TIMES)
                r = parse_string(position, &string);
        if (r < 0)
                return r;

        switch (field->type) {
        case FIELD_STRING:
                return string_replace(value, TAKE_PTR(string));
        case FIELD_ID:
                if (strlen(string) != LVM_ID_LENGTH)
                        return -EBADMSG;
                memcpy(value, string, LVM_ID_SIZE);
                break;
        case FIELD_STATE:
                return set_state(value, string);
        case FIELD_WORKER_STATE:
                return volume_group_enter(object, string);
        case FIELD_NUMBER:
                *(uint64_t *) value = number;
                break;
        case FIELD_BOOL:
                *(bool *) value = number != 0;
                break;
        case FIELD_TIMES:
                return parse_times(position, value);
        case FIELD_MAJOR:
                *device = makedev((unsigned int) number, minor(*device));
                break;
        case FIELD_MINOR:
                *device = makedev(major(*device), (unsigned int) number);
                break;
        }
        return 0;
}

/* Fields that are not known come from a later version of the same format. A value of theirs may be a string. */
static int skip_value(const char **position)
{
        _cleanup_free_ char *ignored = NULL;

        if (**position == '"')
                return parse_string(position, &ignored);
        *position += strcspn(*position, "\n");
        return 0;
}

/* Parses assignments, up to a line that is none. Fields come in the order of the table, so the next one is tried first. */
static int parse_fields(const char **position, const struct field *fields, size_t n, void *object)
{
        for (size_t next = 0;; next++) {
                const char *key = *position;
                size_t length = strcspn(key, " \n"), tried = 0;
                int r;

                if (!skip_prefix(key + length, " = "))
                        return 0;
                *position = key + length + strlen(" = ");
                while (tried < n && (strncmp(fields[next % n].key, key, length) != 0 ||
                                            fields[next % n].key[length] != '\0')) {
                        tried++;
                        next++;
                }
                r = tried < n ? parse_value(position, &fields[next % n], object) : skip_value(position);
                if (r < 0)
                        return r;
                if (**position != '\n')
                        return **position == '\0' ? 0 : -EBADMSG;
                ++*position;
        }
}

/* Moves behind a line, or leaves `*position` where it is. */
static bool skip_line(const char **position, const char *line)
{
        const char *rest = skip_prefix(*position, line);

        if (!rest || (*rest != '\n' && *rest != '\0'))
                return false;
        *position = rest + (*rest == '\n');
        return true;
}

/* A section that is not there has no elements. */
static int parse_section(const char **position, const struct section *section, void **elements, size_t *n)
{
        char opening[32];

        snprintf(opening, sizeof(opening), "%s {", section->name);
        if (!skip_line(position, opening))
                return 0;
        while (!skip_line(position, "}")) {
                char *element;
                int r;

                snprintf(opening, sizeof(opening), "%s%zu {", section->prefix, *n);
                if (!skip_line(position, opening))
                        return -EBADMSG;
                if (!greedy_realloc(elements, *n + 1, section->element_size))
                        return -ENOMEM;
                element = (char *) *elements + (*n)++ * section->element_size;
                memset(element, 0, section->element_size);
                r = parse_fields(position, section->fields, section->n_fields, element);
                if (r < 0)
                        return r;
                if (!skip_line(position, "}"))
                        return -EBADMSG;
        }
        return 0;
}

static bool is_whole(const struct volume_group *volume_group)
{
        bool whole = volume_group->name && volume_group->vgid[0] != '\0' &&
                     volume_group->state < _VOLUME_GROUP_STATE_MAX;

        for (size_t i = 0; i < volume_group->n_pvs; i++)
                whole = whole && volume_group->pvs[i].pvid[0] != '\0' &&
                        (volume_group->pvs[i].device == 0 || volume_group->pvs[i].device_name);
        for (size_t i = 0; i < volume_group->n_lvs; i++)
                whole = whole && volume_group->lvs[i].name && volume_group->lvs[i].lvid[0] != '\0';
        return whole;
}

int volume_group_parse(const char *text, struct volume_group **ret)
{
        _cleanup_volume_group_ struct volume_group *volume_group = calloc(1, sizeof(*volume_group));
        int r;

        if (!volume_group)
                return -ENOMEM;
        volume_group->state = _VOLUME_GROUP_STATE_MAX;
        r = parse_fields(&text, vg_fields, ELEMENTSOF(vg_fields), volume_group);
        if (r < 0)
                return r;
        r = parse_section(&text, &pv_section, (void **) &volume_group->pvs, &volume_group->n_pvs);
        if (r < 0)
                return r;
        r = parse_section(&text, &lv_section, (void **) &volume_group->lvs, &volume_group->n_lvs);
        if (r < 0)
                return r;
        if (*text != '\0' || !is_whole(volume_group))
                return -EBADMSG;
        r = volume_group_index_pvs(volume_group);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(volume_group);
        return 0;
}

/* The name has nothing that would have to be escaped. */
bool volume_group_text_has_name(const char *text, const char *name)
{
        const char *rest = skip_prefix(text, "name = \"");

        rest = rest ? skip_prefix(rest, name) : NULL;
        return rest && rest[0] == '"';
}

/* ------ all of them ------ */

static int parse_record(const struct record_entry *record, struct volume_group **ret)
{
        int r;

        r = volume_group_parse(record->text, ret);
        return r >= 0 && !streq((*ret)->vgid, record->key) ? -EBADMSG : r;
}

int volume_groups_parse(const struct record_file *file, volume_group_function function, void *userdata)
{
        const struct record_entry *record;
        int result = 0;

        if (!file)
                return 0;
        dm_list_iterate_items(record, &file->records) {
                _cleanup_volume_group_ struct volume_group *volume_group = NULL;
                int r;

                if (!lvm_id_is_valid(record->key))
                        continue;
                r = parse_record(record, &volume_group);
                if (r == -EBADMSG) {
                        log_warning(
                                "The record of VG %s in /run/headgate/" RECORD_FILE " is damaged.", record->key);
                        result = VOLUME_GROUPS_DAMAGED;
                        continue;
                }
                if (r >= 0)
                        r = function(volume_group, userdata);
                if (r < 0)
                        return r;
                TAKE_PTR(volume_group);
        }
        return result;
}
