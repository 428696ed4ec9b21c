/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The metadata text of a VG. What is made of it has to fit into the worker's own file of the VG, and to be the same when
 * it is read from there. */

#include "fuzz.h"
#include "inventory/vg-record.h"
#include "lvm/metadata.h"
#include "shared/util.h"

static void check_metadata(const struct vg *metadata)
{
        fuzz_check(vg_name_is_valid(metadata->name));
        fuzz_check(strlen(metadata->vgid) == LVM_ID_LENGTH && lvm_id_is_valid(metadata->vgid));
        fuzz_check(!metadata->system_id || fuzz_is_printable(metadata->system_id));
        fuzz_check(!metadata->lock_type || fuzz_is_printable(metadata->lock_type));
        fuzz_check(metadata->n_pvs > 0);
        for (size_t i = 0; i < metadata->n_pvs; i++) {
                fuzz_check(lvm_id_is_valid(metadata->pvs[i].pvid));
                fuzz_check(!metadata->pvs[i].device_name || fuzz_is_printable(metadata->pvs[i].device_name));
        }
        for (size_t i = 0; i < metadata->n_lvs; i++) {
                fuzz_check(lvm_id_is_valid(metadata->lvs[i].lvid));
                fuzz_check(fuzz_is_printable(metadata->lvs[i].name));
        }
}

static void check_same(const struct vg *a, const struct vg *b)
{
        fuzz_check(streq(a->name, b->name) && streq(a->vgid, b->vgid) && a->seqno == b->seqno);
        fuzz_check(a->slow == b->slow && !a->skip_reason == !b->skip_reason);
        fuzz_check(!a->skip_reason || streq(a->skip_reason, b->skip_reason));
        fuzz_check(a->n_pvs == b->n_pvs && a->n_lvs == b->n_lvs);
        for (size_t i = 0; i < a->n_pvs; i++) {
                const char *name = a->pvs[i].device_name, *other = b->pvs[i].device_name;

                fuzz_check(streq(a->pvs[i].pvid, b->pvs[i].pvid) && a->pvs[i].flagged == b->pvs[i].flagged);
                fuzz_check(!name == !other && (!name || streq(name, other)));
        }
        for (size_t i = 0; i < a->n_lvs; i++)
                fuzz_check(streq(a->lvs[i].name, b->lvs[i].name) && streq(a->lvs[i].lvid, b->lvs[i].lvid));
}

static void check_kept(const struct vg *vg)
{
        _cleanup_vg_ struct vg *loaded = NULL;
        _cleanup_free_ char *text = NULL;

        fuzz_check(vg_print(vg, &text) == 0);
        fuzz_check(vg_parse(text, &loaded) == 0);
        check_same(vg, loaded);
        fuzz_check(vg_text_has_name(text, vg->name));
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = fuzz_text(data, size), *name = NULL;
        _cleanup_vg_ struct vg *metadata = NULL;
        const char *reason;
        int r;

        if (metadata_guess_name(text, &name) == 0)
                fuzz_check(vg_name_is_valid(name));
        r = metadata_parse(text, &metadata, &reason);
        fuzz_check(r == 0 || (r == -EBADMSG && reason && !metadata));
        if (r < 0)
                return 0;
        check_metadata(metadata);
        fuzz_check(!metadata->skip_reason || fuzz_is_printable(metadata->skip_reason));
        check_kept(metadata);
        return 0;
}
