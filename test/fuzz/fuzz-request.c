/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-request's arguments, one a line. Whatever they are, what it writes down are requests. */

#include <dirent.h>
#include <getopt.h>

#include "fuzz.h"
#include "shared/flags.h"
#include "shared/util.h"

#define ARGUMENTS_MAX 8

/* Its main(), under another name. */
int headgate_request_main(int argc, char *argv[]);

static bool is_number(const char *text, size_t length)
{
        return length > 0 && length <= 10 && strspn(text, "0123456789") >= length;
}

static bool is_request(const char *entry)
{
        const char *number = strncmp(entry, "change:", 7) == 0 ? entry + 7 : entry;
        const char *colon = strchr(number, ':');

        return colon && is_number(number, (size_t) (colon - number)) && is_number(colon + 1, strlen(colon + 1));
}

int fuzz_one(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = fuzz_text(data, size);
        char *arguments[ARGUMENTS_MAX + 2] = {(char[]){"headgate-request"}}, *rest = text;
        int n = 1;

        fuzz_check(flags_prepare(fuzz_root()) == 0);
        for (char *line; n <= ARGUMENTS_MAX && (line = strsep(&rest, "\n"));)
                arguments[n++] = line;
        optind = 0;
        (void) headgate_request_main(n, arguments);

        {
                _cleanup_closedir_ DIR *directory = open_directory_at(fuzz_root(), FLAGS_PENDING_DIRECTORY);

                fuzz_check(directory);
                for (const struct dirent *entry; (entry = readdir(directory));)
                        fuzz_check(entry->d_name[0] == '.' || is_request(entry->d_name));
        }
        fuzz_empty(FLAGS_PENDING_DIRECTORY);
        return 0;
}
