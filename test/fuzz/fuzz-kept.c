/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a worker leaves for the next one and for who looks: the record of a VG, and the file of all records; and facts, of which the
 * form is the same. */

#include "fuzz.h"
#include "inventory/vg-record.h"
#include "shared/util.h"

static void look_at(const struct vg *vg)
{
        _cleanup_free_ char *missing = vg_describe_missing(vg);

        fuzz_check(missing);
        fuzz_check(vg_count(vg).seen <= vg->n_pvs);
        fuzz_check(vg_count(vg).active <= vg_count(vg).autoactivated);
        fuzz_check(vg_status_to_string(vg->status));
        for (size_t i = 0; i < vg->n_pvs; i++)
                fuzz_check(vg_find_pv(vg, vg->pvs[i].pvid));
        (void) vg_since_usec(vg);
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_vg_ struct vg *vg = NULL, *facts = NULL;
        _cleanup_record_file_ struct record_file *file = NULL;
        _cleanup_free_ char *text = fuzz_text(data, size);
        const struct record_entry *record;
        struct record_device device;
        int r;

        r = vg_parse(text, &vg);
        fuzz_check(r == 0 || r == -EBADMSG);
        if (r == 0)
                look_at(vg);
        r = facts_read((const char *) data, size, &facts);
        fuzz_check(r == 0 || r == -EBADMSG);
        if (r == 0) {
                fuzz_check(lvm_id_is_valid(facts->vgid) && !facts->reason && facts->status == VG_STATUS_WAITING);
                look_at(facts);
        }

        fuzz_write(RECORD_FILE, data, size);
        r = record_file_read(fuzz_root(), &file);
        fuzz_check(file ? r == 0 : r == -EBADMSG || r == -EPROTONOSUPPORT);
        if (!file)
                return 0;
        fuzz_check(file->live <= file->size && file->size <= size);
        dm_list_iterate_items(record, &file->records) {
                fuzz_check(streq(record_file_find(file, record->key), record->text));
                fuzz_check(record_entry_parse_device(record, &device) != -ENOMEM);
                vg = vg_free(vg);
                r = record_entry_parse_vg(record, &vg);
                fuzz_check(r == -EBADMSG || r == 0 || (r == 1 && streq(vg->vgid, record->key)));
        }
        return 0;
}
