/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/system_id.h"

#include <ctype.h>

#include "shared/program.h"

#define SYSTEM_ID_LENGTH_MAX 128

char *system_id_from_text(const char *text)
{
        char *id = calloc(1, SYSTEM_ID_LENGTH_MAX + 1);
        size_t length = 0;

        if (!id)
                return NULL;
        for (; *text && length < SYSTEM_ID_LENGTH_MAX; text++) {
                bool is_alphanumeric = isascii(*text) && isalnum(*text);

                if (is_alphanumeric || (length > 0 && strchr("._-+", *text)))
                        id[length++] = *text;
        }
        if (skip_prefix(id, "localhost"))
                *id = '\0';
        return id;
}

static int set(struct system_id *system_id, const char *text)
{
        char *id = system_id_from_text(text);

        if (!id)
                return -ENOMEM;
        if (*id)
                system_id->id = id;
        else
                free(id);
        system_id->known = true;
        return 0;
}

/* The first line that is neither empty nor a comment. */
static char *find_line(char *text)
{
        for (char *line; (line = strsep(&text, "\n"));) {
                line += strspn(line, " \t\r\f\v");
                if (*line && *line != '#')
                        return line;
        }
        return NULL;
}

static int set_from_file(int root_fd, const char *path, struct system_id *system_id)
{
        _cleanup_free_ char *text = NULL;
        const char *line;
        int r;

        r = read_file_at(root_fd, root_relative(path), &text, NULL);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return 0;
        line = find_line(text);
        return set(system_id, line ?: "");
}

int system_id_find(int root_fd, const struct system_id_source *source, struct system_id *ret)
{
        const char *name = source->source ?: "none";

        ret->known = false;
        ret->id = NULL;

        /* What uname(2) tells, from where tests can set it. */
        if (strcasecmp(name, "uname") == 0)
                return set_from_file(root_fd, "proc/sys/kernel/hostname", ret);
        if (strcasecmp(name, "lvmlocal") == 0)
                return set(ret, source->local ?: "");
        if (strcasecmp(name, "machineid") == 0 || strcasecmp(name, "machine-id") == 0) {
                _cleanup_free_ char *path = string_format("%s/machine-id", source->etc ?: "/etc");

                return path ? set_from_file(root_fd, path, ret) : -ENOMEM;
        }
        if (strcasecmp(name, "file") == 0)
                return source->file ? set_from_file(root_fd, source->file, ret) : 0;
        /* A hash of the machine ID, which libsystemd may ask the kernel's crypto socket for. */
        if (strcasecmp(name, "appmachineid") == 0)
                return 0;

        /* "none", and what lvm2 does not know, which it warns of. */
        return set(ret, "");
}

bool system_id_is_foreign(const struct system_id *host, const char *id)
{
        if (!id || !*id || !host->known)
                return false;
        if (host->id && streq(host->id, id))
                return false;
        for (size_t i = 0; i < host->extra.n; i++)
                if (streq(host->extra.strings[i], id))
                        return false;
        return true;
}

void system_id_done(struct system_id *system_id)
{
        free(system_id->id);
        system_id->id = NULL;
        string_vector_done(&system_id->extra);
}
