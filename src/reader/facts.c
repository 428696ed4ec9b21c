/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "reader/facts.h"

#include <ctype.h>

/* ------ writing ------ */

static void write_number(FILE *file, uint64_t number)
{
        fwrite(&number, sizeof(number), 1, file);
}

/* "" stands for none. */
static void write_string(FILE *file, const char *string)
{
        fwrite(string ?: "", string ? strlen(string) + 1 : 1, 1, file);
}

/* What is true of the VG, an LV or a PV, as bits. */
enum {
        VG_EXPORTED = 1 << 0,
        VG_CLUSTERED = 1 << 1,
        VG_AUTOACTIVATION_OFF = 1 << 2,
        VG_SLOW = 1 << 3,
        PV_MISSING = 1 << 0,
        LV_AUTOACTIVATED = 1 << 0,
        LV_ACTIVATION_SKIP = 1 << 1,
        LV_AUTOACTIVATION_OFF = 1 << 2,
};

static void write_metadata(FILE *file, const struct metadata *metadata)
{
        write_string(file, metadata->name);
        write_string(file, metadata->vgid);
        write_string(file, metadata->system_id);
        write_string(file, metadata->lock_type);
        write_number(file, metadata->seqno);
        write_number(file, (uint64_t) metadata->written);
        write_number(file, (metadata->exported ? VG_EXPORTED : 0) | (metadata->clustered ? VG_CLUSTERED : 0) |
                                   (metadata->autoactivation_off ? VG_AUTOACTIVATION_OFF : 0) |
                                   (metadata->slow ? VG_SLOW : 0));
        write_number(file, metadata->n_pvs);
        write_number(file, metadata->n_lvs);
        for (size_t i = 0; i < metadata->n_pvs; i++) {
                write_string(file, metadata->pvs[i].pvid);
                write_string(file, metadata->pvs[i].device_hint);
                write_number(file, metadata->pvs[i].missing ? PV_MISSING : 0);
        }
        for (size_t i = 0; i < metadata->n_lvs; i++) {
                const struct metadata_lv *lv = &metadata->lvs[i];

                write_string(file, lv->name);
                write_string(file, lv->lvid);
                write_number(file, (lv->autoactivated ? LV_AUTOACTIVATED : 0) |
                                           (lv->activation_skip ? LV_ACTIVATION_SKIP : 0) |
                                           (lv->autoactivation_off ? LV_AUTOACTIVATION_OFF : 0));
        }
}

int facts_write(const struct metadata *metadata, char **ret, size_t *ret_size)
{
        char *data = NULL;
        FILE *file = open_memstream(&data, ret_size);

        if (!file)
                return -ENOMEM;
        write_metadata(file, metadata);
        if (fclose(file) != 0) {
                free(data);
                return -ENOMEM;
        }
        *ret = data;
        return 0;
}

/* ------ reading ------ */

/* As logical_volume_name_to_show() writes it: 127 times "\\xNN", and "...". */
#define LV_NAME_SIZE 512

struct cursor {
        const char *data;
        size_t left;
        int error; /* of the first field that could not be read; then all others cannot be either */
};

static uint64_t read_number(struct cursor *cursor)
{
        uint64_t number = 0;

        if (cursor->left < sizeof(number))
                cursor->error = cursor->error < 0 ? cursor->error : -EBADMSG;
        if (cursor->error < 0)
                return 0;
        memcpy(&number, cursor->data, sizeof(number));
        cursor->data += sizeof(number);
        cursor->left -= sizeof(number);
        return number;
}

static bool has_control_characters(const char *string)
{
        for (; *string; string++)
                if (iscntrl((unsigned char) *string))
                        return true;
        return false;
}

/* One that is shorter than that, and "" without one; valid as long as the data are. */
static const char *read_string(struct cursor *cursor, size_t size_max)
{
        const char *string = cursor->data;
        size_t size = strnlen(string, MIN(cursor->left, size_max)) + 1;

        if (size > cursor->left || size > size_max || has_control_characters(string))
                cursor->error = cursor->error < 0 ? cursor->error : -EBADMSG;
        if (cursor->error < 0)
                return "";
        cursor->data += size;
        cursor->left -= size;
        return string;
}

static void read_copy(struct cursor *cursor, size_t size_max, char **ret)
{
        const char *string = read_string(cursor, size_max);

        *ret = string[0] != '\0' ? strdup(string) : NULL;
        if (string[0] != '\0' && !*ret)
                cursor->error = -ENOMEM;
}

static void read_id(struct cursor *cursor, char ret[LVM_ID_SIZE])
{
        const char *id = read_string(cursor, LVM_ID_SIZE);

        if (cursor->error >= 0 && !lvm_id_is_valid(id))
                cursor->error = -EBADMSG;
        if (cursor->error >= 0)
                memcpy(ret, id, LVM_ID_SIZE);
}

/* As many as can follow in the data. */
static size_t read_count(struct cursor *cursor, size_t max)
{
        uint64_t n = read_number(cursor);

        if (cursor->error >= 0 && n > MIN(max, cursor->left))
                cursor->error = -EBADMSG;
        return cursor->error < 0 ? 0 : (size_t) n;
}

static void read_volume_group(struct cursor *cursor, struct metadata *metadata)
{
        uint64_t bits;

        read_copy(cursor, LVM_NAME_SIZE, &metadata->name);
        read_id(cursor, metadata->vgid);
        read_copy(cursor, FACTS_SIZE_MAX, &metadata->system_id);
        read_copy(cursor, FACTS_SIZE_MAX, &metadata->lock_type);
        metadata->seqno = read_number(cursor);
        if (cursor->error >= 0 && metadata->seqno > INT64_MAX)
                cursor->error = -EBADMSG;
        metadata->written = (int64_t) read_number(cursor);
        bits = read_number(cursor);
        metadata->exported = bits & VG_EXPORTED;
        metadata->clustered = bits & VG_CLUSTERED;
        metadata->autoactivation_off = bits & VG_AUTOACTIVATION_OFF;
        metadata->slow = bits & VG_SLOW;
        metadata->n_pvs = read_count(cursor, METADATA_PVS_MAX);
        metadata->n_lvs = read_count(cursor, METADATA_LVS_MAX);
        if (cursor->error >= 0 && (!metadata->name || !volume_group_name_is_valid(metadata->name)))
                cursor->error = -EBADMSG;
}

static void read_members(struct cursor *cursor, struct metadata *metadata)
{
        for (size_t i = 0; i < metadata->n_pvs && cursor->error >= 0; i++) {
                struct metadata_pv *pv = &metadata->pvs[i];

                read_id(cursor, pv->pvid);
                read_copy(cursor, METADATA_DEVICE_HINT_MAX + 1, &pv->device_hint);
                pv->missing = read_number(cursor) & PV_MISSING;
        }
        for (size_t i = 0; i < metadata->n_lvs && cursor->error >= 0; i++) {
                struct metadata_lv *lv = &metadata->lvs[i];
                uint64_t bits;

                lv->name = strdup(read_string(cursor, LV_NAME_SIZE));
                read_id(cursor, lv->lvid);
                bits = read_number(cursor);
                lv->autoactivated = bits & LV_AUTOACTIVATED;
                lv->activation_skip = bits & LV_ACTIVATION_SKIP;
                lv->autoactivation_off = bits & LV_AUTOACTIVATION_OFF;
                if (cursor->error >= 0 && !lv->name)
                        cursor->error = -ENOMEM;
        }
}

int facts_read(const char *data, size_t size, struct metadata **ret)
{
        _cleanup_metadata_ struct metadata *metadata = calloc(1, sizeof(*metadata));
        struct cursor cursor = {.data = data, .left = size};

        if (!metadata)
                return -ENOMEM;
        read_volume_group(&cursor, metadata);
        metadata->pvs = calloc(metadata->n_pvs + 1, sizeof(*metadata->pvs));
        metadata->lvs = calloc(metadata->n_lvs + 1, sizeof(*metadata->lvs));
        if (!metadata->pvs || !metadata->lvs) {
                metadata->n_pvs = metadata->n_lvs = 0;
                return -ENOMEM;
        }
        read_members(&cursor, metadata);
        if (cursor.error >= 0 && cursor.left > 0)
                cursor.error = -EBADMSG;
        if (cursor.error >= 0)
                *ret = TAKE_PTR(metadata);
        return cursor.error;
}
