/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "images.h"

#include <check.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/stat.h>

static char *image_path(const char *name, const char *suffix)
{
        const char *directory = getenv("HEADGATE_TEST_IMAGES");
        char *path;

        ck_assert_msg(directory != NULL, "HEADGATE_TEST_IMAGES is not set");
        ck_assert_int_gt(asprintf(&path, "%s/%s.%s", directory, name, suffix), 0);
        return path;
}

struct image_list images_list(void)
{
        _cleanup_free_ char *pattern = image_path("*", "img");
        struct image_list list = {};
        glob_t found = {};

        ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
        list.names = calloc(found.gl_pathc, sizeof(*list.names));
        ck_assert_ptr_nonnull(list.names);

        for (size_t i = 0; i < found.gl_pathc; i++) {
                const char *name = strrchr(found.gl_pathv[i], '/') + 1;

                list.names[list.n++] = strndup(name, strlen(name) - strlen(".img"));
        }

        globfree(&found);
        return list;
}

void images_list_done(struct image_list *list)
{
        for (size_t i = 0; i < list->n; i++)
                free(list->names[i]);
        free(list->names);
}

int image_open(const char *name)
{
        _cleanup_free_ char *path = image_path(name, "img");
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        ck_assert_msg(fd >= 0, "%s: %m", path);
        return fd;
}

int image_copy(const char *name, uint64_t size)
{
        _cleanup_close_ int from = image_open(name);
        _cleanup_free_ char *bytes = malloc(size);
        int fd = memfd_create(name, MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(pread(from, bytes, size, 0), (ssize_t) size);
        ck_assert_int_eq(pwrite(fd, bytes, size, 0), (ssize_t) size);
        return fd;
}

char *image_read(const char *name, const char *suffix)
{
        _cleanup_free_ char *path = image_path(name, suffix);
        _cleanup_fclose_ FILE *file = fopen(path, "re");
        char *text = NULL;
        size_t size = 0;

        if (!file) {
                ck_assert_int_eq(errno, ENOENT);
                return NULL;
        }

        if (getdelim(&text, &size, '\0', file) < 0) {
                free(text);
                return NULL;
        }
        return text;
}

char *image_read_text(const char *name)
{
        char *text = image_read(name, "metadata");

        ck_assert_msg(text != NULL, "no metadata was recorded of %s", name);
        return text;
}

char *headers_find(const char *headers, const char *key)
{
        for (const char *line = headers; line; line = strchr(line, '\n')) {
                line += strspn(line, "\n ");
                if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ' ') {
                        line += strlen(key) + 1;
                        return strndup(line, strcspn(line, "\n"));
                }
        }

        return NULL;
}

uint64_t headers_find_number(const char *headers, const char *key)
{
        _cleanup_free_ char *string = headers_find(headers, key);

        ck_assert_msg(string != NULL, "pvck does not tell %s", key);
        return strtoull(string, NULL, 0);
}

size_t headers_find_areas(const char *headers, struct metadata_area ret[LABEL_METADATA_AREAS_MAX])
{
        static const char comment[] = "# location of metadata area";
        size_t n = 0;

        while ((headers = strstr(headers, comment))) {
                ck_assert_uint_lt(n, LABEL_METADATA_AREAS_MAX);
                ck_assert_int_eq(
                        sscanf(headers + strlen(comment), " %*s %lu %*s %lu", &ret[n].offset, &ret[n].size), 2);
                headers += strlen(comment);
                n++;
        }

        return n;
}
