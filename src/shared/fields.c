/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/fields.h"

void fields_add(struct fields *fields, char *field)
{
        if (field && fields->n == fields->n_allocated) {
                size_t n = MAX(fields->n_allocated * 2, (size_t) 8);
                struct iovec *larger = reallocarray(fields->vector, n, sizeof(*larger));

                if (larger) {
                        fields->vector = larger;
                        fields->n_allocated = n;
                }
        }
        if (field && fields->n < MIN(fields->n_allocated, (size_t) FIELDS_MAX))
                fields->vector[fields->n++] = (struct iovec){.iov_base = field, .iov_len = strlen(field)};
        else
                free(field);
}

void fields_done(struct fields *fields)
{
        for (size_t i = 0; i < fields->n; i++)
                free(fields->vector[i].iov_base);
        free(fields->vector);
        *fields = (struct fields){};
}
