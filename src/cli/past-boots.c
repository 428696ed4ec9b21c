/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/past-boots.h"

#include "shared/log.h"
#include "shared/util.h"
#include "timeline/archive.h"
#include "timeline/journal-boots.h"

static int note_kept(int root_fd, struct boots *boots)
{
        _cleanup_close_ int archive_fd = archive_open(root_fd);
        int r;

        r = archive_fd < 0 ? archive_fd : archive_note_boots(archive_fd, boots);
        if (r < 0)
                log_debug("Failed to read /" ARCHIVE_DIRECTORY ": %s", strerror(-r));
        return r == -ENOMEM ? r : 0;
}

static int note_journal(struct boots *boots)
{
        _cleanup_journal_ sd_journal *journal = NULL;
        int r;

        r = journal_open(&journal);
        if (r >= 0)
                r = journal_note_boots(journal, boots);
        if (r < 0)
                log_debug("Failed to read the journal: %s", strerror(-r));
        return r == -ENOMEM ? r : 0;
}

int past_boots_read(int root_fd, struct boots *boots)
{
        sd_id128_t this_boot;
        int r;

        r = sd_id128_get_boot(&this_boot);
        if (r >= 0)
                r = boots_note(boots, this_boot, now_realtime_usec(), NULL);
        if (r >= 0)
                r = note_kept(root_fd, boots);
        if (r >= 0)
                r = note_journal(boots);
        if (r >= 0)
                boots_sort(boots, this_boot);
        return r;
}

int past_boots_find(const struct boots *boots, const char *name, sd_id128_t *ret)
{
        _cleanup_free_ char *printable = string_printable(name);
        int r;

        r = boots_find(boots, name, ret);
        if (r == -EINVAL)
                log_error("\"%s\" names no boot: it is an ID or an offset, such as -1.", printable ?: "?");
        else if (r == -ENOENT && boots->n == 1)
                log_error("Nothing is known of an earlier boot%s, see headgate-blame(8).",
                        geteuid() == 0 ? "" : " that you may read; root may");
        else if (r == -ENOENT)
                log_error("There is no boot %s among the %zu that are known, see headgate blame --list-boots.",
                        printable ?: "?", boots->n);
        return r;
}
