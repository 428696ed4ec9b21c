/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text in lvm.conf's syntax, and what libdevmapper's parser wants around it. */

#include "shared/dm.h"

#include <ctype.h>

#include "shared/util.h"

/* In metadata, VG, logical_volumes, LV and segment make four. */
#define NESTING_MAX 16

/* Returns where the token that starts at `text` ends; `previous` is the first character of the token before it,
 * by which the parser tells a number from a name that starts with a digit. */
static const char *token_end(const char *text, char previous)
{
        char quote = *text;

        if (strchr("{}[],=", *text))
                return text + 1;

        if (quote == '"' || quote == '\'') {
                for (text++; *text && *text != quote; text++)
                        if (quote == '"' && *text == '\\' && text[1])
                                text++;
                return *text ? text + 1 : text;
        }

        if (strchr("=[,", previous) && strchr("0123456789+-.", *text)) {
                bool is_float = *text == '.';

                for (text++; isdigit((unsigned char) *text) || (*text == '.' && !is_float); text++)
                        is_float |= *text == '.';
                return text;
        }

        while (*text && !isspace((unsigned char) *text) && !strchr("#={}", *text))
                text++;
        return text;
}

static bool is_empty(const char *text)
{
        for (;;) {
                text += strspn(text, " \t\r\n\f\v");
                if (*text != '#')
                        return !*text;
                text += strcspn(text, "\n");
        }
}

bool config_text_is_sane(const char *text)
{
        char previous = '}';
        int depth = 0;

        while (*text) {
                if (isspace((unsigned char) *text)) {
                        text++;
                        continue;
                }
                if (*text == '#') {
                        text += strcspn(text, "\n");
                        continue;
                }

                if (*text == '{' && ++depth > NESTING_MAX)
                        return false;
                if (*text == '}' && --depth < 0)
                        return false;

                const char *end = token_end(text, previous);

                previous = *text;
                text = end;
        }

        return true;
}

int config_tree_parse(const char *text, struct dm_config_tree **ret)
{
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;

        if (!config_text_is_sane(text))
                return -EBADMSG;
        tree = dm_config_create();
        if (!tree)
                return -ENOMEM;
        /* The parser wants at least one key. */
        if (!is_empty(text) && !dm_config_parse(tree, text, text + strlen(text)))
                return -EBADMSG;

        *ret = TAKE_PTR(tree);
        return 0;
}

int config_tree_read(int dir_fd, const char *path, struct dm_config_tree **ret)
{
        _cleanup_free_ char *text = NULL;
        int r;

        r = read_file_at(dir_fd, path, &text, NULL);
        return r < 0 ? r : config_tree_parse(text, ret);
}

int config_tree_find_bool(const struct dm_config_tree *tree, const char *path, int otherwise)
{
        const struct dm_config_node *node = dm_config_tree_find_node(tree, path);

        return node && node->v ? dm_config_tree_find_bool(tree, path, otherwise) : otherwise;
}

int config_print_string(FILE *file, const char *key, const char *value)
{
        _cleanup_free_ char *escaped = value ? malloc(2 * strlen(value) + 1) : NULL;

        if (!escaped)
                return value ? -ENOMEM : 0;
        fprintf(file, "%s = \"%s\"\n", key, dm_escape_double_quotes(escaped, value));
        return 0;
}
