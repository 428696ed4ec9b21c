/* SPDX-License-Identifier: LGPL-2.1-or-later */

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
        FIELD_QUOTED = FIELD_WORKER_STATE, /* up to here values are in quotes */
        FIELD_NUMBER,                      /* uint64_t, printed as an int64_t, as libdevmapper reads it */
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

#define VG_FIELD(key, type, member)                                                                               \
        {                                                                                                         \
                key, type, offsetof(struct volume_group, member)                                                  \
        }
#define PV_FIELD(key, type, member)                                                                               \
        {                                                                                                         \
                key, type, offsetof(struct volume_group_pv, member)                                               \
        }
#define LV_FIELD(key, type, member)                                                                               \
        {                                                                                                         \
                key, type, offsetof(struct volume_group_lv, member)                                               \
        }

/* The name is the first, see volume_group_text_has_name(). */
static const struct field vg_fields[] = {
        VG_FIELD("name", FIELD_STRING, name),
        VG_FIELD("id", FIELD_ID, vgid),
        VG_FIELD("seqno", FIELD_NUMBER, seqno),
        VG_FIELD("state", FIELD_STATE, state),
        VG_FIELD("slow", FIELD_BOOL, slow),
        VG_FIELD("overdue", FIELD_BOOL, overdue),
        VG_FIELD("lost_pv", FIELD_BOOL, lost_pv),
        VG_FIELD("bereft", FIELD_BOOL, lost_after_active),
        VG_FIELD("first_seen_usec", FIELD_NUMBER, first_seen_usec),
        VG_FIELD("complete_usec", FIELD_NUMBER, complete_usec),
        VG_FIELD("activating_usec", FIELD_NUMBER, activating_usec),
        VG_FIELD("settled_usec", FIELD_NUMBER, settled_usec),
        VG_FIELD("clock_usec", FIELD_NUMBER, clock_usec),
        VG_FIELD("degraded_usec", FIELD_NUMBER, degraded_usec),
        VG_FIELD("first", FIELD_TIMES, first),
        VG_FIELD("worker_state", FIELD_WORKER_STATE, worker_state),
        VG_FIELD("reason", FIELD_STRING, reason),
        VG_FIELD("skip_reason", FIELD_STRING, skip_reason),
};

static const struct field pv_fields[] = {
        PV_FIELD("id", FIELD_ID, pvid),
        PV_FIELD("flagged", FIELD_BOOL, flagged),
        PV_FIELD("late_usec", FIELD_NUMBER, late_usec),
        PV_FIELD("major", FIELD_MAJOR, device),
        PV_FIELD("minor", FIELD_MINOR, device),
        PV_FIELD("device", FIELD_STRING, device_name),
};

static const struct field lv_fields[] = {
        LV_FIELD("name", FIELD_STRING, name),
        LV_FIELD("id", FIELD_ID, lvid),
        LV_FIELD("autoactivated", FIELD_BOOL, autoactivated),
        LV_FIELD("active", FIELD_BOOL, active),
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
        for (size_t i = 0; i < n; i++) {
                int r = print_field(file, &fields[i], object);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int print_section(FILE *file, const struct section *section, const void *elements, size_t n)
{
        fprintf(file, "%s {\n", section->name);
        for (size_t i = 0; i < n; i++) {
                int r;

                fprintf(file, "%s%zu {\n", section->prefix, i);
                r = print_fields(file, section->fields, section->n_fields,
                        (const char *) elements + i * section->element_size);
                if (r < 0)
                        return r;
                fputs("}\n", file);
        }
        fputs("}\n", file);
        return 0;
}

static int print_volume_group(FILE *file, const struct volume_group *volume_group)
{
        int r;

        r = print_fields(file, vg_fields, ELEMENTSOF(vg_fields), volume_group);
        if (r >= 0)
                r = print_section(file, &pv_section, volume_group->pvs, volume_group->n_pvs);
        if (r >= 0)
                r = print_section(file, &lv_section, volume_group->lvs, volume_group->n_lvs);
        return r;
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

static int set_state(enum volume_group_state *state, const char *word)
{
        for (*state = 0; *state < _VOLUME_GROUP_STATE_MAX; ++*state)
                if (streq(word, volume_group_state_to_string(*state)))
                        return 0;
        return -EBADMSG;
}

static int parse_quoted(const char **position, const struct field *field, void *object)
{
        void *value = (char *) object + field->offset;
        _cleanup_free_ char *string = NULL;
        int r;

        r = parse_string(position, &string);
        if (r < 0)
                return r;
        switch (field->type) {
        case FIELD_STRING:
                return string_replace(value, TAKE_PTR(string));
        case FIELD_STATE:
                return set_state(value, string);
        case FIELD_WORKER_STATE:
                return volume_group_enter(object, string);
        default:
                if (strlen(string) != LVM_ID_LENGTH)
                        return -EBADMSG;
                memcpy(value, string, LVM_ID_SIZE);
                return 0;
        }
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

static int parse_value(const char **position, const struct field *field, void *object)
{
        void *value = (char *) object + field->offset;
        uint64_t number = 0;
        dev_t *device = value;
        int r;

        if (field->type <= FIELD_QUOTED)
                return parse_quoted(position, field, object);
        if (field->type == FIELD_TIMES)
                return parse_times(position, value);
        r = parse_number(position, &number);
        if (r < 0)
                return r;
        if (field->type == FIELD_NUMBER)
                *(uint64_t *) value = number;
        else if (field->type == FIELD_BOOL)
                *(bool *) value = number != 0;
        else if (field->type == FIELD_MAJOR)
                *device = makedev((unsigned int) number, minor(*device));
        else
                *device = makedev(major(*device), (unsigned int) number);
        return 0;
}

/* The value behind "KEY = ", or NULL for another key. */
static const char *skip_key(const char *line, const char *key)
{
        const char *rest = skip_prefix(line, key);

        return rest ? skip_prefix(rest, " = ") : NULL;
}

/* Fields that are not known come from a later version of the same format. A value of theirs may be a string. */
static int skip_unknown(const char **position)
{
        _cleanup_free_ char *ignored = NULL;
        const char *value = strstr(*position, " = ");

        if (!value)
                return -EBADMSG;
        *position = value + 3;
        if (**position == '"')
                return parse_string(position, &ignored);
        *position += strcspn(*position, "\n");
        return 0;
}

/* Parses assignments, up to a line that is none. Fields come in the order of the table, so the next one is tried first. */
static int parse_fields(const char **position, const struct field *fields, size_t n, void *object)
{
        size_t next = 0;

        for (;;) {
                const char *line = *position, *value = NULL;
                size_t length = strcspn(line, " \n"), i;
                int r;

                if (!skip_prefix(line + length, " = "))
                        return 0;
                for (i = 0; i < n && !value; i++)
                        value = skip_key(line, fields[(next + i) % n].key);
                if (value) {
                        next = (next + i - 1) % n;
                        *position = value;
                        r = parse_value(position, &fields[next++], object);
                } else {
                        r = skip_unknown(position);
                }
                if (r < 0)
                        return r;
                if (**position != '\n')
                        return **position == '\0' ? 0 : -EBADMSG;
                ++*position;
        }
}

static bool skip(const char **position, const char *line)
{
        const char *rest = skip_prefix(*position, line);

        if (rest && *rest == '\n')
                rest++;
        else if (rest && *rest != '\0')
                rest = NULL;
        if (rest)
                *position = rest;
        return rest;
}

/* Makes room for one more element, zeroed. */
static void *grow(void **elements, size_t n, size_t element_size)
{
        void *larger = *elements;

        /* For 1, 2, 4, ... elements. */
        if ((n & (n - 1)) == 0)
                larger = reallocarray(*elements, MAX(2 * n, (size_t) 1), element_size);
        if (!larger)
                return NULL;
        *elements = larger;
        return memset((char *) larger + n * element_size, 0, element_size);
}

/* A section that is not there has no elements. */
static int parse_section(const char **position, const struct section *section, void **elements, size_t *n)
{
        char opening[32];

        snprintf(opening, sizeof(opening), "%s {", section->name);
        if (!skip(position, opening))
                return 0;
        while (!skip(position, "}")) {
                void *element;
                int r;

                snprintf(opening, sizeof(opening), "%s%zu {", section->prefix, *n);
                if (!skip(position, opening))
                        return -EBADMSG;
                element = grow(elements, *n, section->element_size);
                if (!element)
                        return -ENOMEM;
                ++*n;
                r = parse_fields(position, section->fields, section->n_fields, element);
                if (r < 0)
                        return r;
                if (!skip(position, "}"))
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
