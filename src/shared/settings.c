/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate.conf(5): one table of its keys, and the sections of single VGs. */

#include "shared/settings.h"

#include <ctype.h>
#include <fnmatch.h>

#include "shared/dm.h"
#include "shared/names.h"

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

/* Whether it can be a pattern for names of VGs: with what such names are made of, and what fnmatch(3) knows. */
static bool is_pattern(const char *text)
{
        for (const char *c = text; *c != '\0'; c++)
                if (!isalnum((unsigned char) *c) && !strchr("._+-*?[]!^", *c))
                        return false;
        return strpbrk(text, "*?[") != NULL;
}

static void take_key(const struct dm_config_node *node, struct policy *policy, struct problems *problems)
{
        _cleanup_free_ char *name = string_format("volume_groups/%s: %s", policy->pattern, node->key);

        if (!name)
                problems_add(problems, -ENOMEM, "/" SETTINGS_FILE ": %m");
        else if (streq(node->key, "degraded"))
                setting_take_choice(node, name, &policy->degraded, problems);
        else if (streq(node->key, "deadline"))
                setting_take_seconds(node, name, &policy->deadline_usec, problems);
        else
                problems_add(problems, -EINVAL,
                        "/" SETTINGS_FILE ": volume_groups/%s: the key \"%s\" is not known.", policy->pattern,
                        node->key);
}

static int add(struct policies *policies, const char *pattern, struct policy **ret)
{
        struct policy *larger = reallocarray(policies->policies, policies->n + 1, sizeof(*larger));
        char *copy = strdup(pattern);

        if (larger)
                policies->policies = larger;
        if (!larger || !copy) {
                free(copy);
                return -ENOMEM;
        }
        *ret = &policies->policies[policies->n++];
        **ret = (struct policy){.pattern = copy, .is_name = volume_group_name_is_valid(copy)};
        return 0;
}

static int take_section(const struct dm_config_node *node, struct policies *policies, struct problems *problems)
{
        struct policy *policy;
        int r;

        if (!volume_group_name_is_valid(node->key) && !is_pattern(node->key)) {
                problems_add(problems, -EINVAL,
                        "/" SETTINGS_FILE
                        ": volume_groups: \"%s\" cannot be the name of a VG, nor a pattern for such names.",
                        node->key);
                return 0;
        }
        if (node->v) {
                problems_add(problems, -EINVAL,
                        "/" SETTINGS_FILE ": volume_groups/%s must be a section: %s { ... }.", node->key,
                        node->key);
                return 0;
        }

        r = add(policies, node->key, &policy);
        for (const struct dm_config_node *child = node->child; r >= 0 && child; child = child->sib)
                take_key(child, policy, problems);
        return r;
}

int policies_read(const struct dm_config_node *node, struct policies *policies, struct problems *problems)
{
        int r = 0;

        if (node->v) {
                problems_add(problems, -EINVAL,
                        "/" SETTINGS_FILE ": volume_groups must be a section with one for each VG in it.");
                return 0;
        }
        for (const struct dm_config_node *child = node->child; r >= 0 && child; child = child->sib)
                r = take_section(child, policies, problems);
        return r;
}

bool policy_fits(const struct policy *policy, const char *volume_group_name)
{
        if (policy->is_name)
                return streq(policy->pattern, volume_group_name);
        return fnmatch(policy->pattern, volume_group_name, 0) == 0;
}

static const struct policy *find(const struct policies *policies, const char *volume_group_name, bool by_name)
{
        for (size_t i = 0; i < policies->n; i++)
                if (policies->policies[i].is_name == by_name &&
                        policy_fits(&policies->policies[i], volume_group_name))
                        return &policies->policies[i];
        return NULL;
}

const struct policy *policies_find(const struct policies *policies, const char *volume_group_name)
{
        const struct policy *own = find(policies, volume_group_name, true);

        return own ? own : find(policies, volume_group_name, false);
}

void policies_done(struct policies *policies)
{
        for (size_t i = 0; i < policies->n; i++)
                free(policies->policies[i].pattern);
        free(policies->policies);
        *policies = (struct policies){};
}

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
