/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/command_line.h"

#define SOURCE "/" COMMAND_LINE_FILE
#define WHITE_SPACE " \t\n\r"

/* Takes one word off `*text` and appends it. A quote that is not closed reaches to the end. */
static int take_word(const char **text, struct string_vector *words)
{
        _cleanup_free_ char *word = malloc(strlen(*text) + 1);
        char *end = word;
        char quote = '\0';

        if (!word)
                return -ENOMEM;
        for (; **text && (quote || !strchr(WHITE_SPACE, **text)); (*text)++)
                if (quote ? **text == quote : (**text == '\'' || **text == '"'))
                        quote = quote ? '\0' : **text;
                else
                        *end++ = **text;
        *end = '\0';
        return string_vector_add(words, word);
}

int command_line_split(const char *text, struct string_vector *words)
{
        int r;

        for (text += strspn(text, WHITE_SPACE); *text; text += strspn(text, WHITE_SPACE)) {
                r = take_word(&text, words);
                if (r < 0)
                        return r;
        }
        return 0;
}

int command_line_read(int root_fd, struct string_vector *words)
{
        _cleanup_free_ char *text = NULL;
        int r;

        r = read_file_at(root_fd, COMMAND_LINE_FILE, &text, NULL);
        if (r < 0)
                return r;
        return command_line_split(text, words);
}

bool command_line_has(const struct string_vector *words, const char *word)
{
        for (size_t i = 0; i < words->n; i++)
                if (streq(words->strings[i], word))
                        return true;
        return false;
}

/* The value of "KEY=VALUE", or NULL. In systemd's own keys '-' and '_' are the same. */
static const char *find_value(const char *word, const char *key)
{
        for (; *key; key++, word++)
                if (*word != *key && !(*key == '-' && *word == '_'))
                        return NULL;
        return *word == '=' ? word + 1 : NULL;
}

static int add_mounted(const char *device, struct entries *entries)
{
        return entries_add(entries, &(struct entry_text){.source = SOURCE, .device = device, .mounted = true});
}

/* "VG/LV", or "VG" alone. */
static int add_volume_group(const char *value, struct entries *entries)
{
        _cleanup_free_ char *name = strndup(value, strcspn(value, "/"));

        return name ? entries_add_volume_group(entries, SOURCE, value, name) : -ENOMEM;
}

static int add_with_options(const char *device, const char *options, struct entries *entries)
{
        if (options_have_noauto(options))
                return 0;
        return entries_add(entries, &(struct entry_text){
                                            .source = SOURCE,
                                            .device = device,
                                            .net = options_have_netdev(options),
                                    });
}

/* "WHAT:WHERE[:TYPE[:OPTIONS]]". What has a colon in its name can be no LV. */
static int add_mount(const char *value, struct entries *entries)
{
        _cleanup_free_ char *copy = strdup(value);
        char *rest = copy;
        const char *what, *where, *options;

        if (!copy)
                return -ENOMEM;
        what = strsep(&rest, ":");
        where = strsep(&rest, ":");
        (void) strsep(&rest, ":");
        options = strsep(&rest, ":");
        return where ? add_with_options(what, options, entries) : 0;
}

/* "WHAT[:OPTIONS]" */
static int add_swap(const char *value, struct entries *entries)
{
        _cleanup_free_ char *copy = strdup(value);
        char *rest = copy;
        const char *what;

        if (!copy)
                return -ENOMEM;
        what = strsep(&rest, ":");
        return add_with_options(what, rest, entries);
}

int command_line_add_entries(const struct string_vector *words, struct entries *entries)
{
        static const struct {
                const char *key;
                int (*add)(const char *value, struct entries *entries);
        } keys[] = {
                {"root", add_mounted},
                {"mount.usr", add_mounted},
                {"resume", add_mounted},
                {"rd.lvm.lv", add_volume_group},
                {"rd.lvm.vg", add_volume_group},
                {"systemd.mount-extra", add_mount},
                {"systemd.swap-extra", add_swap},
        };

        for (size_t i = 0; i < words->n; i++)
                for (size_t k = 0; k < ELEMENTSOF(keys); k++) {
                        const char *value = find_value(words->strings[i], keys[k].key);
                        int r = value ? keys[k].add(value, entries) : 0;

                        if (r < 0)
                                return r;
                }
        return 0;
}
