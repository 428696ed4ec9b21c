/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "initrd/configuration.h"

#include <fcntl.h>

#define CONFIGURATION "etc/initramfs-tools/initramfs.conf"
#define CONFIGURATION_DIRECTORY "etc/initramfs-tools/conf.d"
#define PACKAGED_DIRECTORY "usr/share/initramfs-tools/conf.d"

/* Replaces `*value` by the value in the last of the strings, separated by any of `separators`, that begins with
 * `key`. */
static int find_last(char *text, const char *separators, const char *key, char **value)
{
        char *position;

        for (char *word = strtok_r(text, separators, &position); word;
                word = strtok_r(NULL, separators, &position)) {
                char *copy;

                if (!skip_prefix(word, key))
                        continue;
                copy = strdup(word + strlen(key));
                if (!copy)
                        return -ENOMEM;
                free(*value);
                *value = copy;
        }
        return 0;
}

int kernel_command_line_get(int root_fd, const char *key, char **ret)
{
        _cleanup_free_ char *text = NULL, *value = NULL;
        int r;

        r = read_file_at(root_fd, "proc/cmdline", &text, NULL);
        if (r >= 0)
                r = find_last(text, " \t\n", key, &value);
        if (r < 0)
                return r;
        if (!value)
                return -ENOENT;
        *ret = TAKE_PTR(value);
        return 0;
}

/* What a shell makes of a word without expansions: at most one pair of quotes, and what comes behind is
 * dropped. */
static void unquote(char *value)
{
        size_t length;

        if (*value == '"' || *value == '\'') {
                char quote = *value;

                length = strcspn(value + 1, (char[]){quote, '\0'});
                memmove(value, value + 1, length);
        } else
                length = strcspn(value, " \t;#");
        value[length] = '\0';
}

static int read_configuration(int root_fd, const char *path, const char *key, char **value)
{
        _cleanup_free_ char *text = NULL, *found = NULL;
        int r;

        r = read_file_at(root_fd, path, &text, NULL);
        if (r < 0)
                return r == -ENOENT || r == -EISDIR ? 0 : r;
        r = find_last(text, "\n", key, &found);
        if (r < 0 || !found)
                return r;
        unquote(found);
        if (strpbrk(found, "$`\\"))
                return 0;
        free(*value);
        *value = TAKE_PTR(found);
        return 0;
}

static int is_configuration(const struct dirent *entry)
{
        return entry->d_name[0] != '.' && !strstr(entry->d_name, ".dpkg-");
}

static int read_directory(int root_fd, const char *directory, const char *key, char **value)
{
        struct dirent **entries;
        int n, r = 0;

        n = scandirat(root_fd, directory, &entries, is_configuration, alphasort);
        if (n < 0)
                return errno == ENOENT ? 0 : -errno;
        for (int i = 0; i < n; i++) {
                _cleanup_free_ char *path = string_format("%s/%s", directory, entries[i]->d_name);

                free(entries[i]);
                if (r >= 0)
                        r = path ? read_configuration(root_fd, path, key, value) : -ENOMEM;
        }
        free(entries);
        return r;
}

int initramfs_configuration_get(int root_fd, const char *key, char **ret)
{
        _cleanup_free_ char *value = NULL;
        int r;

        r = read_configuration(root_fd, CONFIGURATION, key, &value);
        if (r >= 0)
                r = read_directory(root_fd, PACKAGED_DIRECTORY, key, &value);
        if (r >= 0)
                r = read_directory(root_fd, CONFIGURATION_DIRECTORY, key, &value);
        if (r < 0)
                return r;
        if (!value)
                return -ENOENT;
        *ret = TAKE_PTR(value);
        return 0;
}
