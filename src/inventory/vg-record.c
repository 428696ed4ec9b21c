/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints and parses VGs as text: records, or facts alone. One walk over the fields serves both directions. */

#include "inventory/vg-record.h"

#include <inttypes.h>
#include <sys/sysmacros.h>

#include "shared/dm.h"
#include "shared/log.h"
#include "shared/util.h"

/* ------ fields ------ */

struct walk {
        FILE *file;           /* to write to; NULL when reading */
        bool is_record;       /* a record, else facts */
        const char *section;  /* start of its assignments */
        const char *position; /* the next line */
        int error;            /* the first error, which ends reading */
};

static void fail(struct walk *walk, int error)
{
        if (walk->error >= 0)
                walk->error = error;
}

/* ------ reading lines ------ */

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

static void next_line(struct walk *walk, const char *end)
{
        if (!end || (*end != '\n' && *end != '\0'))
                fail(walk, -EBADMSG);
        else
                walk->position = end + (*end == '\n');
}

static bool find_from(struct walk *walk, const char *line, const char *key)
{
        const char *value, *rest, *end;

        while (walk->error >= 0 && (value = find_value(line))) {
                rest = skip_prefix(line, key);
                if (rest && skip_prefix(rest, " = ") == value) {
                        walk->position = value;
                        return true;
                }
                end = find_end(value);
                if (!end || *end != '\n')
                        break;
                line = end + 1;
        }
        return false;
}

/* Moves to the value of a field, usually in the next line. Unknown fields are from a later version of the same
 * format, and skipped. */
static bool find(struct walk *walk, const char *key)
{
        return find_from(walk, walk->position, key) || find_from(walk, walk->section, key);
}

static void read_string(struct walk *walk, char **string)
{
        const char *value = walk->position, *end = find_end(value);

        if (*value != '"' || !end) {
                fail(walk, -EBADMSG);
        } else if (string_replace(string, strndup(value + 1, (size_t) (end - value - 2))) < 0) {
                fail(walk, -ENOMEM);
        } else {
                dm_unescape_double_quotes(*string);
                next_line(walk, end);
        }
}

/* Skips the line if it matches. */
static bool skip(struct walk *walk, const char *line)
{
        const char *rest = skip_prefix(walk->position, line);

        if (!rest || (*rest != '\n' && *rest != '\0'))
                return false;
        next_line(walk, rest);
        return true;
}

/* ------ fields: missing ones keep their value ------ */

/* Writes a line KEY = "VALUE" with special characters escaped, as strings may be lvm2's messages; nothing if the value is NULL.
 * Returns 0 or -ENOMEM. */
static int print_string(FILE *file, const char *key, const char *value)
{
        _cleanup_free_ char *escaped = value ? malloc(2 * strlen(value) + 1) : NULL;

        if (!escaped)
                return value ? -ENOMEM : 0;
        fprintf(file, "%s = \"%s\"\n", key, dm_escape_double_quotes(escaped, value));
        return 0;
}

static void pass_string(struct walk *walk, const char *key, char **string)
{
        if (walk->file) {
                if (print_string(walk->file, key, *string) < 0)
                        fail(walk, -ENOMEM);
        } else if (find(walk, key)) {
                read_string(walk, string);
        }
}

static void pass_id(struct walk *walk, const char *key, char id[LVM_ID_SIZE])
{
        char *string = walk->file ? id : NULL;

        pass_string(walk, key, &string);
        if (walk->file)
                return;
        if (string && strlen(string) != LVM_ID_LENGTH)
                fail(walk, -EBADMSG);
        else if (string)
                memcpy(id, string, LVM_ID_SIZE);
        free(string);
}

/* Limited to int64_t, as libdevmapper reads it. */
static void pass_number(struct walk *walk, const char *key, uint64_t *number)
{
        char *end;

        if (walk->file)
                fprintf(walk->file, "%s = %" PRId64 "\n", key, (int64_t) *number);
        if (walk->file || !find(walk, key))
                return;
        errno = 0;
        *number = (uint64_t) strtoll(walk->position, &end, 10);
        next_line(walk, errno == 0 && end > walk->position ? end : NULL);
}

static void pass_bool(struct walk *walk, const char *key, bool *value)
{
        uint64_t number = *value;

        pass_number(walk, key, &number);
        *value = number != 0;
}

/* A missing PV has no device. */
static void pass_device(struct walk *walk, dev_t *device)
{
        uint64_t major_number = major(*device), minor_number = minor(*device);

        if (walk->file && *device == 0)
                return;
        pass_number(walk, "major", &major_number);
        pass_number(walk, "minor", &minor_number);
        *device = makedev((unsigned int) major_number, (unsigned int) minor_number);
}

static void pass_state(struct walk *walk, struct vg *vg)
{
        _cleanup_free_ char *word = NULL;
        enum vg_status state = 0;

        if (walk->file) {
                fprintf(walk->file, "state = \"%s\"\n", vg_status_to_string(vg->state));
                return;
        }
        pass_string(walk, "state", &word);
        while (word && state < _VG_STATUS_MAX && !streq(word, vg_status_to_string(state)))
                state++;
        if (!word || state == _VG_STATUS_MAX)
                fail(walk, -EBADMSG);
        else
                vg->state = state;
}

/* The worker's state determines other fields, too. */
static void pass_worker_state(struct walk *walk, struct vg *vg)
{
        _cleanup_free_ char *words = NULL;
        int state;

        if (walk->file && vg->worker_state)
                fprintf(walk->file, "worker_state = \"%s\"\n", vg->worker_state);
        if (walk->file)
                return;
        pass_string(walk, "worker_state", &words);
        state = words ? vg_state_from_string(words) : -ENOENT;
        if (state >= 0)
                vg_state_enter(vg, (enum vg_state) state);
        else if (words)
                fail(walk, state);
}

/* ------ sections ------ */

static void pass_pv(struct walk *walk, void *element)
{
        struct vg_pv *pv = element;

        pass_id(walk, "id", pv->pvid);
        pass_bool(walk, "flagged", &pv->flagged);
        if (walk->is_record) {
                pass_number(walk, "late_usec", &pv->late_usec);
                pass_device(walk, &pv->device);
        }
        pass_string(walk, "device", &pv->device_name);
        if (!walk->file && (isempty(pv->pvid) || (pv->device != 0 && !pv->device_name)))
                fail(walk, -EBADMSG);
}

static void pass_lv(struct walk *walk, void *element)
{
        struct vg_lv *lv = element;

        pass_string(walk, "name", &lv->name);
        pass_id(walk, "id", lv->lvid);
        pass_bool(walk, "autoactivated", &lv->autoactivated);
        if (walk->is_record) {
                pass_bool(walk, "active", &lv->active);
        } else {
                pass_bool(walk, "activation_skip", &lv->activation_skip);
                pass_bool(walk, "autoactivation_off", &lv->autoactivation_off);
        }
        if (!walk->file && (!lv->name || isempty(lv->lvid)))
                fail(walk, -EBADMSG);
}

/* Moves behind the end of the current section. */
static void end_fields(struct walk *walk)
{
        for (const char *value; walk->error >= 0 && (value = find_value(walk->position));)
                next_line(walk, find_end(value));
}

/* A section of sections: "physical_volumes" with "pv0", "pv1", ... */
static void pass_section(struct walk *walk, const char *name, const char *prefix, void **elements, size_t *n,
        size_t max, size_t element_size, void (*pass)(struct walk *walk, void *element))
{
        char opening[32];

        if (walk->file) {
                fprintf(walk->file, "%s {\n", name);
                for (size_t i = 0; i < *n; i++) {
                        fprintf(walk->file, "%s%zu {\n", prefix, i);
                        pass(walk, (char *) *elements + i * element_size);
                        fputs("}\n", walk->file);
                }
                fputs("}\n", walk->file);
                return;
        }

        (void) snprintf(opening, sizeof(opening), "%s {", name);
        if (walk->error >= 0 && !skip(walk, opening))
                fail(walk, -EBADMSG);
        while (walk->error >= 0 && !skip(walk, "}")) {
                (void) snprintf(opening, sizeof(opening), "%s%zu {", prefix, *n);
                if (*n == max || !skip(walk, opening)) {
                        fail(walk, -EBADMSG);
                } else if (!greedy_realloc(elements, *n + 1, element_size)) {
                        fail(walk, -ENOMEM);
                } else {
                        walk->section = walk->position;
                        pass(walk, memset((char *) *elements + (*n)++ * element_size, 0, element_size));
                        end_fields(walk);
                        if (!skip(walk, "}"))
                                fail(walk, -EBADMSG);
                }
        }
}

static void pass_state_and_times(struct walk *walk, struct vg *vg)
{
        struct vg_times *first = &vg->first;

        pass_state(walk, vg);
        pass_bool(walk, "overdue", &vg->overdue);
        pass_bool(walk, "lost_pv", &vg->lost_pv);
        pass_bool(walk, "bereft", &vg->lost_after_active);
        pass_number(walk, "first_seen_usec", &vg->first_seen_usec);
        pass_number(walk, "complete_usec", &vg->complete_usec);
        pass_number(walk, "activating_usec", &vg->activating_usec);
        pass_number(walk, "settled_usec", &vg->settled_usec);
        pass_number(walk, "clock_usec", &vg->clock_usec);
        pass_number(walk, "degraded_usec", &vg->degraded_usec);
        pass_number(walk, "initial_seen_usec", &first->first_seen_usec);
        pass_number(walk, "initial_complete_usec", &first->complete_usec);
        pass_number(walk, "initial_activating_usec", &first->activating_usec);
        pass_number(walk, "initial_settled_usec", &first->settled_usec);
        pass_number(walk, "made_usec", &first->made_usec);
        pass_number(walk, "linked_usec", &first->linked_usec);
        pass_number(walk, "program_usec", &vg->program_usec);
        /* Searching for a missing field is the slowest case. */
        if (vg->program_usec > 0)
                pass_string(walk, "program", &vg->program);
        pass_worker_state(walk, vg);
        pass_string(walk, "reason", &vg->reason);
        pass_string(walk, "skip_reason", &vg->skip_reason);
}

static void pass_vg(struct walk *walk, struct vg *vg)
{
        /* The name is the first, see vg_text_has_name(). */
        pass_string(walk, "name", &vg->name);
        pass_id(walk, "id", vg->vgid);
        pass_number(walk, "seqno", &vg->seqno);
        pass_bool(walk, "slow", &vg->slow);
        pass_bool(walk, "checked", &vg->checked);
        if (walk->is_record) {
                pass_state_and_times(walk, vg);
        } else {
                pass_bool(walk, "exported", &vg->exported);
                pass_bool(walk, "clustered", &vg->clustered);
                pass_bool(walk, "autoactivation_off", &vg->autoactivation_off);
                pass_string(walk, "system_id", &vg->system_id);
                pass_string(walk, "lock_type", &vg->lock_type);
        }
        if (!walk->file)
                end_fields(walk);
        pass_section(walk, "physical_volumes", "pv", (void **) &vg->pvs, &vg->n_pvs, METADATA_PVS_MAX,
                sizeof(*vg->pvs), pass_pv);
        pass_section(walk, "logical_volumes", "lv", (void **) &vg->lvs, &vg->n_lvs, METADATA_LVS_MAX,
                sizeof(*vg->lvs), pass_lv);
}

static int print(struct walk walk, const struct vg *vg, char **ret)
{
        _cleanup_memstream_ struct memstream stream = {};

        walk.file = memstream_open(&stream);
        if (!walk.file)
                return -ENOMEM;
        /* Writing does not change it. */
        pass_vg(&walk, (struct vg *) vg);
        *ret = walk.error < 0 ? NULL : memstream_finish(&stream);
        return *ret ? 0 : walk.error ?: -ENOMEM;
}

static int parse(struct walk walk, struct vg **ret)
{
        _cleanup_vg_ struct vg *vg = calloc(1, sizeof(*vg));
        int r;

        if (!vg)
                return -ENOMEM;
        pass_vg(&walk, vg);
        if (walk.error < 0)
                return walk.error;
        if (*walk.position != '\0' || !vg->name || isempty(vg->vgid))
                return -EBADMSG;
        r = vg_finish(vg);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(vg);
        return 0;
}

/* ------ facts ------ */

/* As logical_volume_name_to_show() writes it: 127 times "\\xNN", and "...". */
#define LV_NAME_MAX 511

static bool is_text(const char *text, size_t max)
{
        return !text || (strlen(text) <= max && string_is_printable(text));
}

static bool are_facts(const struct vg *vg)
{
        size_t names_size = 0;

        FOREACH_LV(lv, vg)
                names_size += strlen(lv->name);
        return vg_name_is_valid(vg->name) && lvm_id_is_valid(vg->vgid) && vg->seqno <= INT64_MAX &&
               names_size <= METADATA_NAMES_SIZE_MAX && is_text(vg->system_id, SIZE_MAX) &&
               is_text(vg->lock_type, SIZE_MAX) &&
               !ANY(FOREACH_PV(pv, vg),
                       !lvm_id_is_valid(pv->pvid) || !is_text(pv->device_name, METADATA_DEVICE_HINT_MAX)) &&
               !ANY(FOREACH_LV(lv, vg),
                       !lvm_id_is_valid(lv->lvid) || !is_text(lv->name, LV_NAME_MAX) || strchr(lv->name, '/'));
}

int facts_write(const struct vg *metadata, char **ret)
{
        return print((struct walk){}, metadata, ret);
}

int facts_read(const char *data, size_t size, struct vg **ret)
{
        _cleanup_vg_ struct vg *metadata = NULL;
        _cleanup_free_ char *text = strndup(data, size);
        int r = text ? parse((struct walk){.section = text, .position = text}, &metadata) : -ENOMEM;

        if (r < 0)
                return r;
        if (strlen(text) != size || text[size - 1] != '\n' || !are_facts(metadata))
                return -EBADMSG;
        *ret = TAKE_PTR(metadata);
        return 0;
}

/* ------ records ------ */

int vg_print(const struct vg *vg, char **ret)
{
        return print((struct walk){.is_record = true}, vg, ret);
}

int vg_parse(const char *text, struct vg **ret)
{
        return parse((struct walk){.section = text, .position = text, .is_record = true}, ret);
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
