/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/settings.h"

#include "shared/config_tree.h"
#include "shared/identifier.h"
#include "shared/setting.h"

#define DEADLINE_DEFAULT_SEC 30
#define TEARDOWN_DEADLINE_DEFAULT_SEC 30

static int set_deadline(const struct dm_config_node *node, struct settings *settings, struct problems *problems)
{
        setting_take_seconds(node, node->key, &settings->deadline_usec, problems);
        return 0;
}

static int set_teardown_deadline(
        const struct dm_config_node *node, struct settings *settings, struct problems *problems)
{
        setting_take_seconds(node, node->key, &settings->teardown_deadline_usec, problems);
        return 0;
}

static int set_direct_activation(
        const struct dm_config_node *node, struct settings *settings, struct problems *problems)
{
        setting_take_switch(node, node->key, &settings->direct_activation, problems);
        return 0;
}

static int set_parallel_teardown(
        const struct dm_config_node *node, struct settings *settings, struct problems *problems)
{
        setting_take_switch(node, node->key, &settings->parallel_teardown, problems);
        return 0;
}

/* A list of one may come as a single string, as in lvm.conf. */
static bool is_list_of_strings(const struct dm_config_node *node)
{
        if (node->v && node->v->type == DM_CFG_EMPTY_ARRAY)
                return true;
        for (const struct dm_config_value *value = node->v; value; value = value->next)
                if (value->type != DM_CFG_STRING)
                        return false;
        return node->v != NULL;
}

static int set_volume_groups(
        const struct dm_config_node *node, struct string_vector *names, struct problems *problems)
{
        int r;

        if (!is_list_of_strings(node)) {
                problems_add(problems, -EINVAL, "/" SETTINGS_FILE ": %s must be a list of VG names in quotes.",
                        node->key);
                return 0;
        }

        for (const struct dm_config_value *value = node->v; value; value = value->next) {
                if (value->type != DM_CFG_STRING)
                        continue;
                if (!volume_group_name_is_valid(value->v.str)) {
                        problems_add(problems, -EINVAL,
                                "/" SETTINGS_FILE ": %s: \"%s\" cannot be the name of a VG.", node->key,
                                value->v.str);
                        continue;
                }
                r = string_vector_add(names, value->v.str);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int set_boot_volume_groups(
        const struct dm_config_node *node, struct settings *settings, struct problems *problems)
{
        return set_volume_groups(node, &settings->boot_volume_groups, problems);
}

static int set_net_volume_groups(
        const struct dm_config_node *node, struct settings *settings, struct problems *problems)
{
        return set_volume_groups(node, &settings->net_volume_groups, problems);
}

static int set_policies(const struct dm_config_node *node, struct settings *settings, struct problems *problems)
{
        return policies_read(node, &settings->policies, problems);
}

static int set(const struct dm_config_node *node, struct settings *settings, struct problems *problems)
{
        static const struct {
                const char *key;
                int (*set)(
                        const struct dm_config_node *node, struct settings *settings, struct problems *problems);
        } keys[] = {
                {"boot_volume_groups", set_boot_volume_groups},
                {"deadline", set_deadline},
                {"direct_activation", set_direct_activation},
                {"net_volume_groups", set_net_volume_groups},
                {"parallel_teardown", set_parallel_teardown},
                {"teardown_deadline", set_teardown_deadline},
                {"volume_groups", set_policies},
        };

        for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                if (streq(keys[i].key, node->key))
                        return keys[i].set(node, settings, problems);

        problems_add(problems, -EINVAL, "/" SETTINGS_FILE ": the key \"%s\" is not known.", node->key);
        return 0;
}

int settings_read(int root_fd, struct settings *ret, struct problems *problems)
{
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;
        _cleanup_settings_ struct settings settings = {
                .deadline_usec = DEADLINE_DEFAULT_SEC * USEC_PER_SEC,
                .direct_activation = true,
                .parallel_teardown = true,
                .teardown_deadline_usec = TEARDOWN_DEADLINE_DEFAULT_SEC * USEC_PER_SEC,
        };
        int r;

        r = config_tree_read(root_fd, SETTINGS_FILE, &tree);
        if (r == -ENOMEM)
                return r;
        if (r == -EBADMSG)
                problems_add(problems, r,
                        "/" SETTINGS_FILE ": the text is malformed, all settings have their defaults.");
        else if (r < 0 && r != -ENOENT)
                problems_add(problems, r, "/" SETTINGS_FILE ": %m; all settings have their defaults.");

        for (const struct dm_config_node *node = tree ? tree->root : NULL; node; node = node->sib) {
                r = set(node, &settings, problems);
                if (r < 0)
                        return r;
        }

        *ret = settings;
        settings = (struct settings){};
        return 0;
}

bool settings_allow_degraded(const struct settings *settings, const char *volume_group_name)
{
        const struct policy *policy = policies_find(&settings->policies, volume_group_name);

        return policy && policy->degraded;
}

uint64_t settings_get_deadline(const struct settings *settings, const char *volume_group_name)
{
        const struct policy *policy = policies_find(&settings->policies, volume_group_name);

        return policy && policy->deadline_usec > 0 ? policy->deadline_usec : settings->deadline_usec;
}

void settings_done(struct settings *settings)
{
        string_vector_done(&settings->boot_volume_groups);
        string_vector_done(&settings->net_volume_groups);
        policies_done(&settings->policies);
}
