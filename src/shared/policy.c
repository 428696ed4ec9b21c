/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/policy.h"

#include <ctype.h>
#include <fnmatch.h>

#include "shared/identifier.h"
#include "shared/setting.h"

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
