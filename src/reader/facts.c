/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Metadata as bytes between two processes. One walk over the fields serves for both directions. */

#include "reader/facts.h"

#include "shared/util.h"

/* As logical_volume_name_to_show() writes it: 127 times "\\xNN", and "...". */
#define LV_NAME_SIZE 512

struct walk {
        FILE *file;       /* written to, if it is not NULL; else what follows is read */
        const char *data; /* not terminated */
        size_t left;
        int error; /* of the first field that could not be read; then all others cannot be either */
};

static void fail(struct walk *walk, int error)
{
        if (walk->error >= 0)
                walk->error = error;
}

/* What could not be read stays as it is. */
static void pass_bytes(struct walk *walk, void *bytes, size_t size)
{
        if (walk->file) {
                fwrite(bytes, size, 1, walk->file);
                return;
        }
        if (size > walk->left)
                fail(walk, -EBADMSG);
        if (walk->error < 0)
                return;
        memcpy(bytes, walk->data, size);
        walk->data += size;
        walk->left -= size;
}

static void pass_number(struct walk *walk, uint64_t *number)
{
        pass_bytes(walk, number, sizeof(*number));
}

static void pass_flag(struct walk *walk, bool *flag)
{
        uint8_t byte = *flag;

        pass_bytes(walk, &byte, sizeof(byte));
        *flag = byte & 1;
}

static void pass_id(struct walk *walk, char id[LVM_ID_SIZE])
{
        pass_bytes(walk, id, LVM_ID_LENGTH);
        if (!lvm_id_is_valid(id))
                fail(walk, -EBADMSG);
}

/* A string with its NUL, which is shorter than `size_max`. "" stands for NULL. */
static void pass_string(struct walk *walk, char **string, size_t size_max)
{
        size_t size;

        if (walk->file) {
                fwrite(*string ?: "", *string ? strlen(*string) + 1 : 1, 1, walk->file);
                return;
        }
        size = strnlen(walk->data, MIN(walk->left, size_max)) + 1;
        if (size > walk->left || size > size_max || !string_is_printable(walk->data))
                fail(walk, -EBADMSG);
        if (walk->error < 0)
                return;
        if (size > 1 && !(*string = strdup(walk->data)))
                fail(walk, -ENOMEM);
        walk->data += size;
        walk->left -= size;
}

/* How many elements of an array follow, each of which takes some bytes; makes room for them. */
static void *pass_count(struct walk *walk, void *array, size_t *n, size_t max, size_t element_size)
{
        uint64_t number = *n;

        pass_number(walk, &number);
        if (walk->file)
                return array;
        if (number > MIN(max, walk->left))
                fail(walk, -EBADMSG);
        /* One more, as calloc() may return NULL for nothing. */
        array = walk->error < 0 ? NULL : calloc((size_t) number + 1, element_size);
        if (!array)
                fail(walk, -ENOMEM);
        *n = array ? (size_t) number : 0;
        return array;
}

static void pass_metadata(struct walk *walk, struct volume_group *metadata)
{
        pass_string(walk, &metadata->name, LVM_NAME_SIZE);
        pass_id(walk, metadata->vgid);
        pass_string(walk, &metadata->system_id, FACTS_SIZE_MAX);
        pass_string(walk, &metadata->lock_type, FACTS_SIZE_MAX);
        pass_number(walk, &metadata->seqno);
        pass_flag(walk, &metadata->exported);
        pass_flag(walk, &metadata->clustered);
        pass_flag(walk, &metadata->autoactivation_off);
        pass_flag(walk, &metadata->slow);
        pass_flag(walk, &metadata->checked);
        metadata->pvs =
                pass_count(walk, metadata->pvs, &metadata->n_pvs, METADATA_PVS_MAX, sizeof(*metadata->pvs));
        FOREACH_PV(pv, metadata) {
                pass_id(walk, pv->pvid);
                pass_string(walk, &pv->device_name, METADATA_DEVICE_HINT_MAX + 1);
                pass_flag(walk, &pv->flagged);
        }
        metadata->lvs =
                pass_count(walk, metadata->lvs, &metadata->n_lvs, METADATA_LVS_MAX, sizeof(*metadata->lvs));
        FOREACH_LV(lv, metadata) {
                pass_string(walk, &lv->name, LV_NAME_SIZE);
                pass_id(walk, lv->lvid);
                pass_flag(walk, &lv->autoactivated);
                pass_flag(walk, &lv->activation_skip);
                pass_flag(walk, &lv->autoactivation_off);
                /* What had no name on disk may have none here. */
                if (walk->error >= 0 && !lv->name && !(lv->name = strdup("")))
                        fail(walk, -ENOMEM);
        }
}

int facts_write(struct volume_group *metadata, char **ret, size_t *ret_size)
{
        _cleanup_memstream_ struct memstream stream = {};
        struct walk walk = {.file = memstream_open(&stream)};

        if (!walk.file)
                return -ENOMEM;
        pass_metadata(&walk, metadata);
        return memstream_finish(&stream, ret, ret_size);
}

int facts_read(const char *data, size_t size, struct volume_group **ret)
{
        _cleanup_volume_group_ struct volume_group *metadata = calloc(1, sizeof(*metadata));
        struct walk walk = {.data = data, .left = size};
        int r;

        if (!metadata)
                return -ENOMEM;
        pass_metadata(&walk, metadata);
        if (walk.error < 0)
                return walk.error;
        if (walk.left > 0 || !metadata->name || !volume_group_name_is_valid(metadata->name) ||
                metadata->seqno > INT64_MAX)
                return -EBADMSG;
        r = volume_group_finish(metadata);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(metadata);
        return 0;
}
