/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reading the journal of an earlier boot. */

#include "shared/journal.h"

#include <sys/stat.h>

#include "shared/util.h"

int journal_open(sd_journal **ret)
{
        const char *path = secure_getenv("HEADGATE_JOURNAL");
        const char *paths[] = {path, NULL};
        struct stat status;
        int r;

        if (!path)
                r = sd_journal_open(ret, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
        else if (stat(path, &status) < 0)
                return -errno;
        else
                r = S_ISDIR(status.st_mode) ? sd_journal_open_directory(ret, path, 0)
                                            : sd_journal_open_files(ret, paths, 0);
        if (r < 0)
                return r;
        /* A storage tree of a thousand devices has one long field. */
        return sd_journal_set_data_threshold(*ret, 0);
}

/* ------ which boot ------ */

int journal_add_boot_match(sd_journal *journal, sd_id128_t boot)
{
        _cleanup_free_ char *match = string_format("_BOOT_ID=" SD_ID128_FORMAT_STR, SD_ID128_FORMAT_VAL(boot));

        return match ? sd_journal_add_match(journal, match, 0) : -ENOMEM;
}

int journal_seek_boot(sd_journal *journal, sd_id128_t boot)
{
        int r;

        r = journal_add_boot_match(journal, boot);
        if (r >= 0)
                r = sd_journal_seek_head(journal);
        return r < 0 ? r : sd_journal_next(journal);
}

/* Goes to the first line of this boot, or behind the last line of all if there is none. */
static int seek_this_boot(sd_journal *journal, sd_id128_t boot)
{
        _cleanup_free_ char *cursor = NULL;
        int r;

        r = journal_seek_boot(journal, boot);
        if (r > 0)
                r = sd_journal_get_cursor(journal, &cursor);
        sd_journal_flush_matches(journal);
        if (r < 0)
                return r;
        return cursor ? sd_journal_seek_cursor(journal, cursor) : sd_journal_seek_tail(journal);
}

int journal_find_boot_before(sd_journal *journal, sd_id128_t *ret)
{
        sd_id128_t this_boot;
        uint64_t usec;
        int r;

        r = sd_id128_get_boot(&this_boot);
        if (r >= 0)
                r = seek_this_boot(journal, this_boot);
        if (r < 0)
                return r;
        while ((r = sd_journal_previous(journal)) > 0) {
                r = sd_journal_get_monotonic_usec(journal, &usec, ret);
                if (r < 0)
                        return r;
                if (!sd_id128_equal(*ret, this_boot))
                        return 0;
        }
        return r < 0 ? r : -ENODATA;
}

/* ------ fields ------ */

int journal_get_field(sd_journal *journal, const char *name, char **ret)
{
        const char *data;
        size_t size, skipped = strlen(name) + 1;
        int r;

        r = sd_journal_get_data(journal, name, (const void **) &data, &size);
        if (r < 0)
                return r;
        if (size < skipped)
                return -EBADMSG;
        *ret = strndup(data + skipped, size - skipped);
        return *ret ? 0 : -ENOMEM;
}
