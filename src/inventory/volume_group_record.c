/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The records of VGs, and the states that they tell of. */

#include "inventory/volume_group_record.h"

#include "shared/log.h"
#include "shared/util.h"

/* ------ the worker's states ------ */

/* As headgated(8) has them, and the public state of each. */
static const struct {
        const char *words;
        enum volume_group_state state;
        bool overdue;
        bool lost_after_active;
} states[_VG_STATE_MAX] = {
        [VG_WAITING] = {"waiting", VOLUME_GROUP_WAITING},
        [VG_OVERDUE] = {"waiting, overdue", VOLUME_GROUP_WAITING, .overdue = true},
        [VG_LOST] = {"waiting, lost", VOLUME_GROUP_WAITING, .lost_after_active = true},
        [VG_LOST_OVERDUE] = {"waiting, lost and overdue", VOLUME_GROUP_WAITING, true, true},
        [VG_COMPLETE] = {"complete", VOLUME_GROUP_COMPLETE},
        [VG_COMPLETE_ALONE] = {"complete, alone", VOLUME_GROUP_COMPLETE},
        [VG_DUE] = {"complete, due", VOLUME_GROUP_COMPLETE, .overdue = true},
        [VG_DEGRADED_DUE] = {"complete, due again", VOLUME_GROUP_COMPLETE, .overdue = true},
        [VG_ACTIVATING] = {"activating", VOLUME_GROUP_ACTIVATING},
        [VG_ACTIVATING_DEGRADED] = {"activating degraded", VOLUME_GROUP_ACTIVATING, .overdue = true},
        [VG_ACTIVE] = {"active", VOLUME_GROUP_ACTIVE},
        [VG_DEGRADED] = {"degraded", VOLUME_GROUP_DEGRADED, .overdue = true},
        [VG_DEGRADED_RETRY] = {"degraded, retry", VOLUME_GROUP_DEGRADED},
        [VG_DEGRADED_COMPLETE] = {"degraded, complete", VOLUME_GROUP_DEGRADED},
        [VG_SKIPPED] = {"skipped", VOLUME_GROUP_SKIPPED},
        [VG_FAILED] = {"failed", VOLUME_GROUP_FAILED},
        [VG_REMOVED] = {"removed"},
};

const char *vg_state_to_string(enum vg_state state)
{
        return states[state].words;
}

int vg_state_from_string(const char *words)
{
        for (int state = 0; state < _VG_STATE_SETTABLE; state++)
                if (streq(states[state].words, words))
                        return state;
        return -EBADMSG;
}

void vg_state_enter(struct volume_group *volume_group, enum vg_state state)
{
        if (state == VG_REMOVED)
                return;
        volume_group->worker_state = states[state].words;
        volume_group->state = states[state].state;
        volume_group->overdue = states[state].overdue;
        volume_group->lost_after_active = states[state].lost_after_active;
}

/* ------ records ------ */

/* The name has nothing that would have to be escaped. */
bool volume_group_text_has_name(const char *text, const char *name)
{
        const char *rest = skip_prefix(text, "name = \"");

        rest = rest ? skip_prefix(rest, name) : NULL;
        return rest && rest[0] == '"';
}

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
        int result = 0;

        FOREACH_RECORD(record, file) {
                int r = lvm_id_is_valid(record->key) ? read_record(record, function, userdata) : 0;

                if (r < 0)
                        return r;
                result |= r;
        }
        return result;
}
