/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The boots that something is known of, and how people name them, as journalctl(1) has it. */

#include "timeline/boots.h"

#include "shared/util.h"

/* Of an ID in its usual form. */
#define ID_LENGTH (SD_ID128_STRING_MAX - 1)

const char *boot_id_parse(const char *text, sd_id128_t *ret)
{
        char id[SD_ID128_STRING_MAX] = "";

        if (strlen(text) < ID_LENGTH)
                return NULL;
        memcpy(id, text, ID_LENGTH);
        return sd_id128_from_string(id, ret) < 0 ? NULL : text + ID_LENGTH;
}

int boots_note(struct boots *boots, sd_id128_t id, uint64_t realtime_usec, struct known_boot **ret)
{
        size_t i = 0;

        while (i < boots->n && !sd_id128_equal(boots->boots[i].id, id))
                i++;
        if (i == boots->n) {
                if (!GREEDY_REALLOC(boots->boots, boots->n + 1))
                        return -ENOMEM;
                boots->boots[boots->n++] = (struct known_boot){.id = id, .realtime_usec = realtime_usec};
        }
        boots->boots[i].realtime_usec = MIN(boots->boots[i].realtime_usec, realtime_usec);
        if (ret)
                *ret = &boots->boots[i];
        return 0;
}

/* Lists the IDs alone: where the journal has lines of each boot is to be asked when that is done. */
static int list_journal_boots(sd_journal *journal, struct boots *boots)
{
        const void *data;
        size_t size;
        int r;

        r = sd_journal_query_unique(journal, "_BOOT_ID");
        if (r < 0)
                return r;
        while ((r = sd_journal_enumerate_unique(journal, &data, &size)) > 0) {
                _cleanup_free_ char *field = strndup(data, size);
                const char *id = field ? skip_prefix(field, "_BOOT_ID=") : NULL;
                sd_id128_t boot;

                if (!field)
                        return -ENOMEM;
                /* What is no ID, nobody has booted. */
                if (!id || sd_id128_from_string(id, &boot) < 0)
                        continue;
                r = boots_note(boots, boot, 0, NULL);
                if (r < 0)
                        return r;
        }
        return r;
}

int boots_note_journal(struct boots *boots, sd_journal *journal)
{
        _cleanup_boots_ struct boots found = {};
        int r;

        r = list_journal_boots(journal, &found);
        if (r < 0)
                return r;
        for (size_t i = 0; i < found.n; i++) {
                uint64_t usec;

                r = journal_seek_boot(journal, found.boots[i].id);
                if (r > 0)
                        r = sd_journal_get_realtime_usec(journal, &usec);
                else if (r == 0)
                        r = -ENODATA;
                sd_journal_flush_matches(journal);
                if (r >= 0)
                        r = boots_note(boots, found.boots[i].id, usec, NULL);
                if (r < 0 && r != -ENODATA)
                        return r;
        }
        return 0;
}

void boots_done(struct boots *boots)
{
        free(boots->boots);
        *boots = (struct boots){};
}

static int compare(const void *a, const void *b, void *userdata)
{
        const struct known_boot *first = a, *second = b;
        const sd_id128_t *last = userdata;

        return CMP(sd_id128_equal(first->id, *last), sd_id128_equal(second->id, *last))
                       ?: CMP(first->realtime_usec, second->realtime_usec);
}

void boots_sort(struct boots *boots, sd_id128_t last)
{
        if (boots->n > 1)
                qsort_r(boots->boots, boots->n, sizeof(*boots->boots), compare, &last);
}

/* "-3", "+2" or "2". */
static int parse_offset(const char *text, int64_t *ret)
{
        uint32_t number;

        if (parse_u32(text + (*text == '-' || *text == '+'), &number) < 0)
                return -EINVAL;
        *ret = *text == '-' ? -(int64_t) number : number;
        return 0;
}

int boots_find(const struct boots *boots, const char *name, sd_id128_t *ret)
{
        int64_t offset = 0, index = (int64_t) boots->n - 1;
        sd_id128_t id;
        const char *behind = boot_id_parse(name, &id), *rest = behind ?: name;

        if (behind && *rest != '\0' && *rest != '-' && *rest != '+')
                return -EINVAL;
        if ((!behind || *rest != '\0') && parse_offset(rest, &offset) < 0)
                return -EINVAL;
        if (behind) {
                while (index >= 0 && !sd_id128_equal(boots->boots[index].id, id))
                        index--;
                if (index < 0)
                        return -ENOENT;
        } else if (offset > 0)
                index = -1;
        index += offset;
        if (index < 0 || index >= (int64_t) boots->n)
                return -ENOENT;
        *ret = boots->boots[index].id;
        return 0;
}
