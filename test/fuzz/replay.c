/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The main() of a target that is built without libFuzzer: calls it with each file of the directories that it is given,
 * and with what is left of each when it is cut off. So each input that was ever a find stays a unit test. */

#include <fcntl.h>

#include "fuzz.h"
#include "shared/util.h"

/* Where each input is cut off, in sixteenths of its size. */
#define CUTS 16

static size_t replay_directory(const char *path)
{
        _cleanup_closedir_ DIR *directory = open_directory_at(AT_FDCWD, path);
        size_t n = 0;

        for (const struct dirent *entry; directory && (entry = readdir(directory));) {
                _cleanup_free_ char *data = NULL;
                size_t size;

                if (entry->d_name[0] == '.')
                        continue;
                fprintf(stderr, "%s/%s\n", path, entry->d_name);
                fuzz_check(read_file_at(dirfd(directory), entry->d_name, &data, &size) == 0);
                for (size_t cut = 1; cut <= CUTS; cut++)
                        (void) LLVMFuzzerTestOneInput((const uint8_t *) data, size * cut / CUTS);
                n++;
        }
        return n;
}

int main(int argc, char *argv[])
{
        size_t n = 0;

        for (int i = 1; i < argc; i++)
                n += replay_directory(argv[i]);
        printf("%zu inputs\n", n);
        return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
