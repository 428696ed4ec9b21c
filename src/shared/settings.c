/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate.conf(5): one table of its keys, and one of the keys in the sections of single VGs. */

#include "shared/settings.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>

#include "shared/dm.h"
#include "shared/names.h"

#define SECONDS_MIN 1
#define SECONDS_MAX (24 * 60 * 60)

/* Reports a bad key; `section` is its place: "", or "volume_groups/NAME: ". */
#define complain(problems, format, ...) problems_add(problems, -EINVAL, "/" SETTINGS_FILE ": " format, __VA_ARGS__)

/* ------ values: each is stored in `target`; a bad one is reported, and keeps the default ------ */

static bool is_single(const struct dm_config_node *node, dm_config_value_type_t type)
{
        return node->v && node->v->type == type && !node->v->next;
}

static int take_seconds(
        const struct dm_config_node *node, const char *section, void *target, struct problems *problems)
{
        int64_t seconds = is_single(node, DM_CFG_INT) ? node->v->v.i : 0;

        if (seconds < SECONDS_MIN || seconds > SECONDS_MAX)
                complain(problems, "%s%s must be a number of seconds from %d to %d.", section, node->key,
                        SECONDS_MIN, SECONDS_MAX);
        else
                *(uint64_t *) target = (uint64_t) seconds * USEC_PER_SEC;
        return 0;
}

static int take_choice(
        const struct dm_config_node *node, const char *section, void *target, struct problems *problems)
{
        const char *word = is_single(node, DM_CFG_STRING) ? node->v->v.str : "";
        int64_t number = is_single(node, DM_CFG_INT) ? node->v->v.i : -1;

        if (streq(word, "no") || streq(word, "yes") || number == 0 || number == 1)
                *(bool *) target = number == 1 || streq(word, "yes");
        else
                complain(problems, "%s%s must be 0 or 1, \"no\" or \"yes\".", section, node->key);
        return 0;
}

/* A list of one string may be written as a string, as in lvm.conf. */
static bool is_list_of_strings(const struct dm_config_node *node)
{
        if (node->v && node->v->type == DM_CFG_EMPTY_ARRAY)
                return true;
        for (const struct dm_config_value *value = node->v; value; value = value->next)
                if (value->type != DM_CFG_STRING)
                        return false;
        return node->v;
}

static int take_names(
        const struct dm_config_node *node, const char *section, void *target, struct problems *problems)
{
        if (!is_list_of_strings(node)) {
                complain(problems, "%s%s must be a list of VG names in quotes.", section, node->key);
                return 0;
        }
        for (const struct dm_config_value *value = node->v; value; value = value->next) {
                if (value->type == DM_CFG_EMPTY_ARRAY)
                        continue;
                if (!vg_name_is_valid(value->v.str))
                        complain(problems, "%s%s: \"%s\" is not a valid VG name.", section, node->key,
                                value->v.str);
                else if (strv_add(target, value->v.str) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* ------ keys ------ */

struct key {
        const char *name;
        int (*take)(
                const struct dm_config_node *node, const char *section, void *target, struct problems *problems);
        size_t offset;
};

static int take_keys(const struct dm_config_node *nodes, const char *section, const struct key *keys, size_t n,
        void *target, struct problems *problems)
{
        for (const struct dm_config_node *node = nodes; node; node = node->sib) {
                const struct key *key = keys;

                while (key < keys + n && !streq(key->name, node->key))
                        key++;
                if (key == keys + n)
                        complain(problems, "%sunknown key \"%s\".", section, node->key);
                else if (key->take(node, section, (char *) target + key->offset, problems) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* Whether it can be a pattern for VG names: only their characters, and those of fnmatch(3). */
static bool is_pattern(const char *text)
{
        for (const char *c = text; *c != '\0'; c++)
                if (!isalnum((unsigned char) *c) && !strchr("._+-*?[]!^", *c))
                        return false;
        return strpbrk(text, "*?[");
}

static int take_policy(const struct dm_config_node *node, struct policies *policies, struct problems *problems)
{
        static const struct key keys[] = {
                {"deadline", take_seconds, offsetof(struct policy, deadline_usec)},
                {"degraded", take_choice, offsetof(struct policy, degraded)},
                {"expected", take_choice, offsetof(struct policy, expected)},
        };
        bool is_name = vg_name_is_valid(node->key);
        _cleanup_free_ char *section = NULL;
        struct policy *policy;

        if (!is_name && !is_pattern(node->key)) {
                complain(problems, "volume_groups: \"%s\" is neither a valid VG name nor a pattern.", node->key);
                return 0;
        }
        if (node->v) {
                complain(problems, "volume_groups/%s must be a section: %s { ... }.", node->key, node->key);
                return 0;
        }

        section = string_format("volume_groups/%s: ", node->key);
        if (!section || !GREEDY_REALLOC(policies->policies, policies->n + 1))
                return -ENOMEM;
        policy = &policies->policies[policies->n];
        *policy = (struct policy){.pattern = strdup(node->key), .is_name = is_name, .expected = true};
        if (!policy->pattern)
                return -ENOMEM;
        policies->n++;
        policy->decides_degraded = dm_config_has_node(node->child, "degraded");
        return take_keys(node->child, section, keys, ELEMENTSOF(keys), policy, problems);
}

static int take_policies(
        const struct dm_config_node *node, const char *section, void *target, struct problems *problems)
{
        int r = 0;

        if (node->v) {
                complain(problems, "%s%s must be a section that contains one section for each VG.", section,
                        node->key);
                return 0;
        }
        for (const struct dm_config_node *child = node->child; r >= 0 && child; child = child->sib)
                r = take_policy(child, target, problems);
        return r;
}

int settings_read(int root_fd, struct settings *ret, struct problems *problems)
{
        static const struct key keys[] = {
                {"boot_volume_groups", take_names, offsetof(struct settings, boot_vgs)},
                {"deadline", take_seconds, offsetof(struct settings, deadline_usec)},
                {"direct_activation", take_choice, offsetof(struct settings, direct_activation)},
                {"net_volume_groups", take_names, offsetof(struct settings, net_vgs)},
                {"parallel_teardown", take_choice, offsetof(struct settings, parallel_teardown)},
                {"teardown_deadline", take_seconds, offsetof(struct settings, teardown_deadline_usec)},
                {"volume_groups", take_policies, offsetof(struct settings, policies)},
        };
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;
        _cleanup_settings_ struct settings settings = {
                .deadline_usec = 30 * USEC_PER_SEC,
                .direct_activation = true,
                .parallel_teardown = true,
                .teardown_deadline_usec = 30 * USEC_PER_SEC,
        };
        _cleanup_free_ char *message = NULL;
        int r = config_tree_read(root_fd, SETTINGS_FILE, &tree, &message);

        if (r == -ENOMEM)
                return r;
        if (r < 0 && r != -ENOENT)
                problems_add(problems, r, "/" SETTINGS_FILE ": %s, using defaults for all settings.",
                        message
                                ?: r == -EBADMSG ? "syntax error"
                                                 : strerror(-r));

        r = take_keys(tree ? tree->root : NULL, "", keys, ELEMENTSOF(keys), &settings, problems);
        if (r < 0)
                return r;
        *ret = TAKE_STRUCT(settings);
        return 0;
}

void settings_done(struct settings *settings)
{
        strv_done(&settings->boot_vgs);
        strv_done(&settings->net_vgs);
        FOREACH_ARRAY(policy, settings->policies.policies, settings->policies.n)
                free(policy->pattern);
        free(settings->policies.policies);
        settings->policies = (struct policies){};
}

/* ------ settings of a VG ------ */

bool policy_fits(const struct policy *policy, const char *vg_name)
{
        /* A VG name has no special characters of fnmatch(). */
        return fnmatch(policy->pattern, vg_name, 0) == 0;
}

struct policy settings_get_policy(const struct settings *settings, const char *vg_name)
{
        struct policy found = {.expected = true};

        FOREACH_ARRAY(policy, settings->policies.policies, settings->policies.n)
                if (policy_fits(policy, vg_name) && (!found.pattern || policy->is_name))
                        found = *policy;
        found.deadline_usec = found.deadline_usec ?: settings->deadline_usec;
        return found;
}
