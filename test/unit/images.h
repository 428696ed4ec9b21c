/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "lvm/pv.h"
#include "shared/macro.h"

/* The images of test/images, unpacked in $HEADGATE_TEST_IMAGES, and what lvm2's pvck(8) says of each. */

struct image_list {
        char **names; /* "copies-1" ..., sorted */
        size_t n;
};

/* All images. Whatever goes wrong here and below ends the test. */
struct image_list images_list(void);
void images_list_done(struct image_list *list);
#define _cleanup_images_ _cleanup_(images_list_done)

/* Opens an image for reading. */
int image_open(const char *name);

/* A copy of the first `size` bytes of an image, in a file without a name, to be damaged. */
int image_copy(const char *name, uint64_t size);

/* What pvck says: "headers" or "metadata". NULL if it was not recorded. To be freed by the caller. */
char *image_read(const char *name, const char *suffix);

/* The text of an image, byte for byte; it has to be recorded. To be freed by the caller. */
char *image_read_text(const char *name);

/* What stands behind `key` in pvck's headers, up to the end of the line; NULL if the key is not there. To be freed
 * by the caller. */
char *headers_find(const char *headers, const char *key);
uint64_t headers_find_number(const char *headers, const char *key);

/* The metadata areas of the label, in pvck's words. Returns how many. */
size_t headers_find_areas(const char *headers, struct metadata_area ret[LABEL_METADATA_AREAS_MAX]);
