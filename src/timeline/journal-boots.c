/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "timeline/journal-boots.h"

#include "shared/util.h"

static int note_boot(sd_journal *journal, sd_id128_t boot, struct boots *boots)
{
        uint64_t usec;
        int r;

        r = journal_seek_boot(journal, boot);
        if (r > 0)
                r = sd_journal_get_realtime_usec(journal, &usec);
        else if (r == 0)
                r = -ENODATA;
        sd_journal_flush_matches(journal);
        return r < 0 ? r : boots_note(boots, boot, usec, NULL);
}

/* What is no ID, nobody has booted. */
static int parse_boot_field(const char *data, size_t size, sd_id128_t *ret)
{
        _cleanup_free_ char *id = size > strlen("_BOOT_ID=")
                                          ? strndup(data + strlen("_BOOT_ID="), size - strlen("_BOOT_ID="))
                                          : NULL;

        return id ? sd_id128_from_string(id, ret) : -EINVAL;
}

int journal_note_boots(sd_journal *journal, struct boots *boots)
{
        _cleanup_boots_ struct boots found = {};
        const void *data;
        size_t size;
        int r;

        r = sd_journal_query_unique(journal, "_BOOT_ID");
        while (r >= 0 && (r = sd_journal_enumerate_unique(journal, &data, &size)) > 0) {
                sd_id128_t boot;

                if (parse_boot_field(data, size, &boot) >= 0)
                        r = boots_note(&found, boot, 0, NULL);
        }
        for (size_t i = 0; r >= 0 && i < found.n; i++) {
                r = note_boot(journal, found.boots[i].id, boots);
                if (r == -ENODATA)
                        r = 0;
        }
        return r;
}
