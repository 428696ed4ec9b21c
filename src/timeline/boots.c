/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "timeline/boots.h"

#include "shared/util.h"

/* Of an ID in its usual form. */
#define ID_LENGTH (SD_ID128_STRING_MAX - 1)

int boots_note(struct boots *boots, sd_id128_t id, uint64_t realtime_usec, struct known_boot **ret)
{
        struct known_boot *larger;
        size_t i = 0;

        while (i < boots->n && !sd_id128_equal(boots->boots[i].id, id))
                i++;
        if (i == boots->n) {
                larger = reallocarray(boots->boots, boots->n + 1, sizeof(*larger));
                if (!larger)
                        return -ENOMEM;
                boots->boots = larger;
                boots->boots[boots->n++] = (struct known_boot){.id = id, .realtime_usec = realtime_usec};
        }
        boots->boots[i].realtime_usec = MIN(boots->boots[i].realtime_usec, realtime_usec);
        if (ret)
                *ret = &boots->boots[i];
        return 0;
}

void boots_done(struct boots *boots)
{
        free(boots->boots);
        *boots = (struct boots){};
}

static int compare(const void *a, const void *b)
{
        const struct known_boot *first = a, *second = b;

        return first->realtime_usec < second->realtime_usec ? -1 : first->realtime_usec > second->realtime_usec;
}

void boots_sort(struct boots *boots, sd_id128_t last)
{
        size_t n = 0;

        if (boots->n > 1)
                qsort(boots->boots, boots->n, sizeof(*boots->boots), compare);
        while (n < boots->n && !sd_id128_equal(boots->boots[n].id, last))
                n++;
        for (; n + 1 < boots->n; n++) {
                struct known_boot moved = boots->boots[n];

                boots->boots[n] = boots->boots[n + 1];
                boots->boots[n + 1] = moved;
        }
}

/* "-3", "+2" or "2". */
static int parse_offset(const char *text, int64_t *ret)
{
        uint32_t number;
        int r;

        r = parse_u32(text + (*text == '-' || *text == '+'), &number);
        if (r < 0)
                return -EINVAL;
        *ret = *text == '-' ? -(int64_t) number : number;
        return 0;
}

/* Takes an ID at the beginning of `*name`. Returns 1 and what follows it, or 0 if there is none. */
static int take_id(const char **name, sd_id128_t *ret)
{
        char id[SD_ID128_STRING_MAX] = "";

        if (strlen(*name) < ID_LENGTH)
                return 0;
        memcpy(id, *name, ID_LENGTH);
        if (sd_id128_from_string(id, ret) < 0)
                return 0;
        *name += ID_LENGTH;
        return 1;
}

int boots_find(const struct boots *boots, const char *name, sd_id128_t *ret)
{
        int64_t offset = 0, index = (int64_t) boots->n - 1;
        bool has_id;
        sd_id128_t id;

        has_id = take_id(&name, &id);
        if (has_id && *name != '\0' && *name != '-' && *name != '+')
                return -EINVAL;
        if ((!has_id || *name != '\0') && parse_offset(name, &offset) < 0)
                return -EINVAL;
        if (has_id)
                while (index >= 0 && !sd_id128_equal(boots->boots[index].id, id))
                        index--;
        else if (offset > 0)
                index = -1;
        if (has_id && index < 0)
                return -ENOENT;
        index += offset;
        if (index < 0 || index >= (int64_t) boots->n)
                return -ENOENT;
        *ret = boots->boots[index].id;
        return 0;
}
