/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Macros for every file: cleanup by scope, loops over lists and arrays, and the like. */

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _nonnull_(...) __attribute__((nonnull(__VA_ARGS__)))
/* No pointer argument may be NULL, including those passed for "...". */
#define _nonnull_all_ __attribute__((nonnull))
#define _must_check_ __attribute__((warn_unused_result))
#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _unused_ __attribute__((unused))

#define ELEMENTSOF(array) (sizeof(array) / sizeof((array)[0]))
#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)
/* Each argument is evaluated once. */
#define MIN(a, b) PICK_NAMED_(<, a, b, __COUNTER__)
#define MAX(a, b) PICK_NAMED_(>, a, b, __COUNTER__)
#define PICK_NAMED_(operator, a, b, n) PICK__(operator, a, b, n)
#define PICK__(operator, a, b, n) PICK_(operator, a, b, a_##n, b_##n)
#define PICK_(operator, a, b, x, y)                                                                               \
        __extension__({                                                                                           \
                __auto_type x = (a);                                                                              \
                __auto_type y = (b);                                                                              \
                x operator y ? x : y;                                                                             \
        })
/* For comparison functions of qsort(). */
#define CMP(a, b) ((a) < (b) ? -1 : (a) > (b))

/* Walks over an array by pointers to its elements; the array may be NULL if n is 0. */
#define FOREACH_ARRAY(element, array, n)                                                                          \
        for (typeof(*(array)) *element = (array), *element##_end = (n) > 0 ? element + (n) : element;             \
                element < element##_end; element++)

/* Likewise for an array of constant length. */
#define FOREACH_ELEMENT(element, array) FOREACH_ARRAY(element, array, ELEMENTSOF(array))

/* Walks over a struct dm_list, by the member `list`. The element may be freed or moved to another list meanwhile. */
#define FOREACH_LISTED(type, element, head)                                                                       \
        for (type *element = dm_list_item((head)->n, type),                                                       \
                  *element##_next = dm_list_item(element->list.n, type);                                          \
                &element->list != (head);                                                                         \
                element = element##_next, element##_next = dm_list_item(element->list.n, type))

/* Whether the condition is true in any iteration of a loop: ANY(FOREACH_ARRAY(name, names, n), streq(*name,
 * wanted)). */
#define ANY(loop, condition)                                                                                      \
        __extension__({                                                                                           \
                bool _any = false;                                                                                \
                loop                                                                                              \
                {                                                                                                 \
                        _any = (condition);                                                                       \
                        if (_any)                                                                                 \
                                break;                                                                            \
                }                                                                                                 \
                _any;                                                                                             \
        })

/* Moves a pointer, a struct or a file descriptor out of a variable that is cleaned up at the end of its scope. */
#define TAKE_PTR(pointer) TAKE_(pointer, NULL)
#define TAKE_STRUCT(variable) TAKE_(variable, (typeof(variable)){})
#define TAKE_FD(fd) TAKE_(fd, -EBADF)
#define TAKE_(variable, nothing)                                                                                  \
        ({                                                                                                        \
                __auto_type _taken = (variable);                                                                  \
                (variable) = (nothing);                                                                           \
                _taken;                                                                                           \
        })

#define SWAP(a, b)                                                                                                \
        do {                                                                                                      \
                __auto_type _swapped = (a);                                                                       \
                (a) = (b);                                                                                        \
                (b) = _swapped;                                                                                   \
        } while (0)

/* Defines a function for _cleanup_(), from a destructor that accepts NULL. */
#define DEFINE_CLEANUP(type, destructor)                                                                          \
        static inline void destructor##p(type *pointer)                                                           \
        {                                                                                                         \
                if (*pointer)                                                                                     \
                        destructor(*pointer);                                                                     \
        }

static inline void freep(void *pointer)
{
        free(*(void **) pointer);
}

static inline void closep(const int *fd)
{
        if (*fd >= 0)
                close(*fd);
}

DEFINE_CLEANUP(FILE *, fclose)
DEFINE_CLEANUP(DIR *, closedir)

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)

static inline bool streq(const char *a, const char *b)
{
        return strcmp(a, b) == 0;
}

static inline bool isempty(const char *string)
{
        return !string || !*string;
}

/* Returns the rest of `string` after `prefix`, or NULL if it does not begin with that. */
static inline const char *skip_prefix(const char *string, const char *prefix)
{
        size_t length = strlen(prefix);

        return strncmp(string, prefix, length) == 0 ? string + length : NULL;
}
