/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/setting.h"

#define SECONDS_MIN 1
#define SECONDS_MAX (24 * 60 * 60)

static bool is_single(const struct dm_config_node *node, dm_config_value_type_t type)
{
        return node->v && node->v->type == type && !node->v->next;
}

/* Returns 0 or 1, or -1 for anything else. */
static int read_switch(const struct dm_config_node *node)
{
        if (!is_single(node, DM_CFG_INT) || node->v->v.i < 0 || node->v->v.i > 1)
                return -1;
        return (int) node->v->v.i;
}

void setting_take_seconds(
        const struct dm_config_node *node, const char *name, uint64_t *usec, struct problems *problems)
{
        int64_t seconds = is_single(node, DM_CFG_INT) ? node->v->v.i : 0;

        if (seconds < SECONDS_MIN || seconds > SECONDS_MAX)
                problems_add(problems, -EINVAL,
                        "/" SETTINGS_FILE ": %s must be a number of seconds from %d to %d.", name, SECONDS_MIN,
                        SECONDS_MAX);
        else
                *usec = (uint64_t) seconds * USEC_PER_SEC;
}

void setting_take_switch(
        const struct dm_config_node *node, const char *name, bool *is_on, struct problems *problems)
{
        int value = read_switch(node);

        if (value < 0)
                problems_add(problems, -EINVAL, "/" SETTINGS_FILE ": %s must be 0 or 1.", name);
        else
                *is_on = value != 0;
}

void setting_take_choice(
        const struct dm_config_node *node, const char *name, bool *is_chosen, struct problems *problems)
{
        int value = read_switch(node);

        if (is_single(node, DM_CFG_STRING) && streq(node->v->v.str, "no"))
                value = 0;
        else if (is_single(node, DM_CFG_STRING) && streq(node->v->v.str, "yes"))
                value = 1;
        if (value < 0)
                problems_add(problems, -EINVAL, "/" SETTINGS_FILE ": %s must be \"no\" or \"yes\".", name);
        else
                *is_chosen = value != 0;
}
