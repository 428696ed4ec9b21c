/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a worker leaves for the next one and for who looks: the file of a VG, and all of them in one. */

#include "fuzz.h"
#include "lvm/volume_group_list.h"
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
        fuzz_check(volume_group_count_seen(volume_group) <= volume_group->n_pvs);
        fuzz_check(volume_group_count_active(volume_group) <= volume_group_count_autoactivated(volume_group));
        fuzz_check(volume_group_state_to_string(volume_group->state));
        for (size_t i = 0; i < volume_group->n_pvs; i++)
                fuzz_check(volume_group_find_pv(volume_group, volume_group->pvs[i].pvid));
        (void) volume_group_since_usec(volume_group);
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_volume_group_ struct volume_group *volume_group = NULL;
        _cleanup_free_ char *text = fuzz_text(data, size), *name = NULL;
        int r;

        r = volume_group_parse(text, &volume_group);
        fuzz_check(r == 0 || r == -EBADMSG);
        if (r == 0)
                look_at(volume_group);

        fuzz_write(VOLUME_GROUP_LIST, data, size);
        r = volume_group_list_read(fuzz_root(), take, NULL);
        fuzz_check(r == 0 || r == -EBADMSG);
        r = volume_group_load_name(fuzz_root(), VOLUME_GROUP_LIST, &name);
        fuzz_check(r == 0 || r == -EBADMSG);
        return 0;
}
