/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a worker leaves for the next one and for who looks: the record of a VG, and the file of all records; and facts, of which the
 * form is the same. */

#include "fuzz.h"
#include "inventory/volume_group_record.h"
#include "shared/util.h"

static int take(struct volume_group *volume_group, _unused_ void *userdata)
{
        fuzz_check(volume_group->name && volume_group->state < _VOLUME_GROUP_STATE_MAX);
        volume_group_free(volume_group);
        return 0;
}

static void look_at(const struct volume_group *volume_group)
{
        _cleanup_free_ char *missing = volume_group_describe_missing(volume_group);

        fuzz_check(missing);
        fuzz_check(volume_group_count(volume_group).seen <= volume_group->n_pvs);
        fuzz_check(volume_group_count(volume_group).active <= volume_group_count(volume_group).autoactivated);
        fuzz_check(volume_group_state_to_string(volume_group->state));
        for (size_t i = 0; i < volume_group->n_pvs; i++)
                fuzz_check(volume_group_find_pv(volume_group, volume_group->pvs[i].pvid));
        (void) volume_group_since_usec(volume_group);
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL, *facts = NULL;
        _cleanup_record_file_ struct record_file *file = NULL;
        _cleanup_free_ char *text = fuzz_text(data, size);
        const struct record_entry *record;
        struct record_device device;
        int r;

        r = volume_group_parse(text, &volume_group);
        fuzz_check(r == 0 || r == -EBADMSG);
        if (r == 0)
                look_at(volume_group);
        r = facts_read((const char *) data, size, &facts);
        fuzz_check(r == 0 || r == -EBADMSG);
        if (r == 0) {
                fuzz_check(lvm_id_is_valid(facts->vgid) && !facts->reason && facts->state == VOLUME_GROUP_WAITING);
                look_at(facts);
        }

        fuzz_write(RECORD_FILE, data, size);
        r = record_file_read(fuzz_root(), &file);
        fuzz_check(file ? r == 0 : r == -EBADMSG || r == -EPROTONOSUPPORT);
        r = volume_groups_parse(file, take, NULL);
        fuzz_check(r == 0 || r == VOLUME_GROUPS_DAMAGED);
        if (!file)
                return 0;
        fuzz_check(file->live <= file->size && file->size <= size);
        dm_list_iterate_items(record, &file->records) {
                fuzz_check(streq(record_file_find(file, record->key), record->text));
                fuzz_check(record_entry_parse_device(record, &device) != -ENOMEM);
        }
        return 0;
}
