/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints and parses VGs as text, by tables of their fields. */

#include "inventory/vg-record.h"

#include <inttypes.h>
#include <sys/sysmacros.h>

#include "shared/dm.h"
#include "shared/log.h"
#include "shared/util.h"

/* ------ fields ------ */

enum field_type {
        FIELD_NUMBER, /* uint64_t, as int64_t in the text, as lvm2's metadata has it */
        FIELD_BOOL,
        /* The following ones are strings in the text. */
        FIELD_STRING, /* char * */
        FIELD_ID,     /* char[LVM_ID_SIZE] */
        FIELD_DEVICE, /* dev_t, MAJOR:MINOR */
        FIELD_STATE,  /* const char *, see vg_state_enter() */
};

struct field {
        const char *key;
        enum field_type type;
        size_t offset;       /* in struct vg, vg_pv or vg_lv */
        bool is_from_worker; /* not from metadata, so ignored in facts */
};

/* The type and the place of a member, which has to be of that type. */
#define TYPED(type, of, member) _Generic(&((struct of *) NULL)->member, type * : offsetof(struct of, member))
#define NUMBER(of, member) FIELD_NUMBER, TYPED(uint64_t, of, member)
#define BOOL(of, member) FIELD_BOOL, TYPED(bool, of, member)
#define STRING(of, member) FIELD_STRING, TYPED(char *, of, member)
#define ID(of, member) FIELD_ID, TYPED(id_text, of, member)
#define DEVICE(of, member) FIELD_DEVICE, TYPED(dev_t, of, member)
#define STATE(of, member) FIELD_STATE, TYPED(const char *, of, member)

typedef char id_text[LVM_ID_SIZE];

static const struct field vg_fields[] = {
        /* The name is the first, see vg_text_has_name(). */
        {"name", STRING(vg, name)},
        {"id", ID(vg, vgid)},
        {"seqno", NUMBER(vg, seqno)},
        {"slow", BOOL(vg, slow)},
        {"checked", BOOL(vg, checked)},
        {"exported", BOOL(vg, exported)},
        {"clustered", BOOL(vg, clustered)},
        {"autoactivation_off", BOOL(vg, autoactivation_off)},
        {"system_id", STRING(vg, system_id)},
        {"lock_type", STRING(vg, lock_type)},
        {"state", STATE(vg, worker_state), true},
        {"reason", STRING(vg, reason), true},
        {"lost_pv", BOOL(vg, lost_pv), true},
        {"first_seen_usec", NUMBER(vg, first_seen_usec), true},
        {"complete_usec", NUMBER(vg, complete_usec), true},
        {"activating_usec", NUMBER(vg, activating_usec), true},
        {"settled_usec", NUMBER(vg, settled_usec), true},
        {"clock_usec", NUMBER(vg, clock_usec), true},
        {"degraded_usec", NUMBER(vg, degraded_usec), true},
        {"initial_seen_usec", NUMBER(vg, first.first_seen_usec), true},
        {"initial_complete_usec", NUMBER(vg, first.complete_usec), true},
        {"initial_activating_usec", NUMBER(vg, first.activating_usec), true},
        {"initial_settled_usec", NUMBER(vg, first.settled_usec), true},
        {"made_usec", NUMBER(vg, first.made_usec), true},
        {"linked_usec", NUMBER(vg, first.linked_usec), true},
        {"program_usec", NUMBER(vg, program_usec), true},
        {"program", STRING(vg, program), true},
        {},
};

static const struct field pv_fields[] = {
        {"id", ID(vg_pv, pvid)},
        {"flagged", BOOL(vg_pv, flagged)},
        {"late_usec", NUMBER(vg_pv, late_usec), true},
        {"number", DEVICE(vg_pv, device), true},
        {"device", STRING(vg_pv, device_name)},
        {},
};

static const struct field lv_fields[] = {
        {"name", STRING(vg_lv, name)},
        {"id", ID(vg_lv, lvid)},
        {"autoactivated", BOOL(vg_lv, autoactivated)},
        {"activation_skip", BOOL(vg_lv, activation_skip)},
        {"autoactivation_off", BOOL(vg_lv, autoactivation_off)},
        {"active", BOOL(vg_lv, active), true},
        {},
};

/* Arrays of struct vg: a section with sections "pv0", "pv1", ... */
static const struct array {
        const char *name, *prefix;
        const struct field *fields;
        size_t offset, n_offset, size, max;
} arrays[] = {
        {"physical_volumes", "pv", pv_fields, offsetof(struct vg, pvs), offsetof(struct vg, n_pvs),
                sizeof(struct vg_pv), METADATA_PVS_MAX},
        {"logical_volumes", "lv", lv_fields, offsetof(struct vg, lvs), offsetof(struct vg, n_lvs),
                sizeof(struct vg_lv), METADATA_LVS_MAX},
};

/* ------ printing ------ */

/* Strings may be lvm2's messages. */
static void print_string(FILE *file, const char *key, const char *value)
{
        fprintf(file, "%s = \"", key);
        for (; *value != '\0'; value++) {
                if (*value == '"' || *value == '\\')
                        putc_unlocked('\\', file);
                putc_unlocked(*value, file);
        }
        fputs("\"\n", file);
}

static void print_fields(FILE *file, const struct field *field, const void *object)
{
        for (; field->key; field++) {
                const void *at = (const char *) object + field->offset;
                const char *string = NULL;
                int64_t number = 0;

                if (field->type == FIELD_NUMBER)
                        number = *(const int64_t *) at;
                else if (field->type == FIELD_BOOL)
                        number = *(const bool *) at;
                else if (field->type == FIELD_ID)
                        string = at;
                else if (field->type != FIELD_DEVICE)
                        string = *(const char *const *) at;
                else if (*(const dev_t *) at != 0)
                        fprintf(file, "%s = \"%u:%u\"\n", field->key, major(*(const dev_t *) at),
                                minor(*(const dev_t *) at));
                if (string)
                        print_string(file, field->key, string);
                else if (number != 0)
                        fprintf(file, "%s = %" PRId64 "\n", field->key, number);
        }
}

int vg_print(const struct vg *vg, char **ret)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);

        if (!file)
                return -ENOMEM;
        print_fields(file, vg_fields, vg);
        FOREACH_ELEMENT(array, arrays) {
                const char *elements = *(const char *const *) ((const char *) vg + array->offset);
                size_t n = *(const size_t *) ((const char *) vg + array->n_offset);

                fprintf(file, "%s {\n", array->name);
                for (size_t i = 0; i < n; i++) {
                        fprintf(file, "%s%zu {\n", array->prefix, i);
                        print_fields(file, array->fields, elements + i * array->size);
                        fputs("}\n", file);
                }
                fputs("}\n", file);
        }
        *ret = memstream_finish(&stream);
        return *ret ? 0 : -ENOMEM;
}

/* ------ parsing ------ */

/* Returns the end of a value, or NULL if it is not terminated. */
static const char *find_end(const char *value)
{
        if (*value != '"')
                return value + strcspn(value, "\n");
        for (value++; *value != '"'; value++) {
                /* As dm_unescape_double_quotes() reads it. */
                value += value[0] == '\\' && (value[1] == '"' || value[1] == '\\');
                if (*value == '\0')
                        return NULL;
        }
        return value + 1;
}

/* Returns the value of an assignment, or NULL for another line. */
static const char *find_value(const char *line)
{
        return skip_prefix(line + strcspn(line, " \n"), " = ");
}

static const struct field *find_field(const struct field *field, const char *key, size_t size)
{
        while (field->key && (strncmp(field->key, key, size) != 0 || field->key[size] != '\0'))
                field++;
        return field->key ? field : NULL;
}

static int parse_value(const struct field *field, void *object, const char *value, const char *end)
{
        _cleanup_free_ char *string = *value == '"' ? strndup(value + 1, (size_t) (end - value - 2)) : NULL;
        void *at = (char *) object + field->offset;
        int64_t number;
        char *stop;

        if (*value == '"' && !string)
                return -ENOMEM;
        if ((field->type >= FIELD_STRING) != (*value == '"'))
                return -EBADMSG;
        if (string)
                dm_unescape_double_quotes(string);

        switch (field->type) {
        case FIELD_NUMBER:
        case FIELD_BOOL:
                errno = 0;
                number = strtoll(value, &stop, 10);
                if (errno != 0 || stop == value || stop != end)
                        return -EBADMSG;
                if (field->type == FIELD_BOOL)
                        *(bool *) at = number != 0;
                else
                        *(int64_t *) at = number;
                return 0;
        case FIELD_STRING:
                return string_replace(at, TAKE_PTR(string));
        case FIELD_ID:
                if (!lvm_id_is_valid(string))
                        return -EBADMSG;
                memcpy(at, string, LVM_ID_SIZE);
                return 0;
        case FIELD_DEVICE:
                return parse_device_number(string, at) < 0 ? -EBADMSG : 0;
        case FIELD_STATE:
                number = vg_state_from_string(string);
                if (number >= 0)
                        vg_state_enter(object, (enum vg_state) number);
                return (int) MIN(number, (int64_t) 0);
        }
        return -EBADMSG;
}

/* Moves `*text` behind the fields. Those that are missing stay zero. Unknown ones are from a later version of the same
 * format, and skipped. */
static int parse_fields(const char **text, bool are_facts, const struct field *fields, void *object)
{
        const struct field *next = fields;

        for (const char *value; (value = find_value(*text));) {
                const char *end = find_end(value);
                size_t key_size = (size_t) (value - *text) - strlen(" = ");
                const struct field *field;
                int r = 0;

                if (!end || (*end != '\n' && *end != '\0'))
                        return -EBADMSG;
                field = find_field(next, *text, key_size) ?: find_field(fields, *text, key_size);
                if (field && !(are_facts && field->is_from_worker))
                        r = parse_value(field, object, value, end);
                if (r < 0)
                        return r;
                next = field ? field + 1 : next;
                *text = end + (*end == '\n');
        }
        return 0;
}

/* Skips the line if it matches. */
static bool skip(const char **text, const char *line)
{
        const char *rest = skip_prefix(*text, line);

        if (!rest || (*rest != '\n' && *rest != '\0'))
                return false;
        *text = rest + (*rest == '\n');
        return true;
}

static int parse_array(const char **text, bool are_facts, const struct array *array, struct vg *vg)
{
        void **elements = (void **) ((char *) vg + array->offset);
        size_t *n = (size_t *) ((char *) vg + array->n_offset);

        if (!skip(text, path_format("%s {", array->name).text))
                return -EBADMSG;
        while (!skip(text, "}")) {
                int r;

                if (*n == array->max || !skip(text, path_format("%s%zu {", array->prefix, *n).text))
                        return -EBADMSG;
                if (!greedy_realloc(elements, *n + 1, array->size))
                        return -ENOMEM;
                r = parse_fields(text, are_facts, array->fields,
                        memset((char *) *elements + (*n)++ * array->size, 0, array->size));
                if (r < 0)
                        return r;
                if (!skip(text, "}"))
                        return -EBADMSG;
        }
        return 0;
}

/* As logical_volume_name_to_show() writes it: 127 times "\\xNN", and "...". */
#define LV_NAME_MAX 511

static bool is_text(const char *text, size_t max)
{
        return !text || (strlen(text) <= max && string_is_printable(text));
}

static bool is_whole(const struct vg *vg)
{
        return vg->name && !isempty(vg->vgid) &&
               !ANY(FOREACH_PV(pv, vg), isempty(pv->pvid) || (pv->device != 0 && !pv->device_name)) &&
               !ANY(FOREACH_LV(lv, vg), isempty(lv->lvid) || !lv->name);
}

/* Within the limits of metadata.h, and printable. */
static bool are_facts(const struct vg *vg)
{
        size_t names_size = 0;

        FOREACH_LV(lv, vg)
                names_size += strlen(lv->name);
        return vg_name_is_valid(vg->name) && vg->seqno <= INT64_MAX && names_size <= METADATA_NAMES_SIZE_MAX &&
               is_text(vg->system_id, SIZE_MAX) && is_text(vg->lock_type, SIZE_MAX) &&
               !ANY(FOREACH_PV(pv, vg), !is_text(pv->device_name, METADATA_DEVICE_HINT_MAX)) &&
               !ANY(FOREACH_LV(lv, vg), !is_text(lv->name, LV_NAME_MAX) || strchr(lv->name, '/'));
}

static int parse(const char *text, bool are_facts, struct vg **ret)
{
        _cleanup_vg_ struct vg *vg = calloc(1, sizeof(*vg));
        int r;

        if (!vg)
                return -ENOMEM;
        vg_state_enter(vg, VG_WAITING);
        r = parse_fields(&text, are_facts, vg_fields, vg);
        FOREACH_ELEMENT(array, arrays)
                if (r >= 0)
                        r = parse_array(&text, are_facts, array, vg);
        if (r >= 0 && (*text != '\0' || !is_whole(vg)))
                r = -EBADMSG;
        if (r >= 0)
                r = vg_finish(vg);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(vg);
        return 0;
}

int vg_parse(const char *text, struct vg **ret)
{
        return parse(text, false, ret);
}

int facts_read(const char *data, size_t size, struct vg **ret)
{
        _cleanup_free_ char *text = strndup(data, size);
        _cleanup_vg_ struct vg *vg = NULL;
        int r;

        if (!text)
                return -ENOMEM;
        r = size > 0 && strlen(text) == size && text[size - 1] == '\n' ? parse(text, true, &vg) : -EBADMSG;
        if (r < 0)
                return r;
        if (!are_facts(vg))
                return -EBADMSG;
        *ret = TAKE_PTR(vg);
        return 0;
}

/* A VG name has no character that needs escaping. */
bool vg_text_has_name(const char *text, const char *name)
{
        const char *rest = skip_prefix(text, "name = \"");

        rest = rest ? skip_prefix(rest, name) : NULL;
        return rest && rest[0] == '"';
}

int record_entry_parse_vg(const struct record_entry *record, struct vg **ret)
{
        _cleanup_vg_ struct vg *vg = NULL;
        int r;

        if (!lvm_id_is_valid(record->key))
                return 0;
        r = vg_parse(record->text, &vg);
        if (r >= 0 && !streq(vg->vgid, record->key))
                r = -EBADMSG;
        if (r == -EBADMSG)
                log_warning(
                        "Record of VG %s in /run/headgate/" RECORD_FILE " is damaged, ignoring it.", record->key);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(vg);
        return 1;
}
