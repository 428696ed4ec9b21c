/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where a kernel's log comes from. */

#include "kernel-log/log.h"
#include "shared/journal.h"
#include "shared/util.h"

#define FILE_SIZE_MAX (UINT64_C(256) * 1024 * 1024)
#define PIECE_SIZE (16U * 1024)

int kernel_log_read_file(struct kernel_log *log, int fd)
{
        char piece[PIECE_SIZE];

        for (uint64_t size = 0; size <= FILE_SIZE_MAX;) {
                ssize_t n = read(fd, piece, sizeof(piece));
                int r;

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : 0;
                size += (uint64_t) n;
                r = kernel_log_add_text(log, piece, (size_t) n);
                if (r < 0)
                        return r;
        }
        return -EFBIG;
}

/* journald keeps what the kernel says with the time that the kernel gives it, see systemd.journal-fields(7). */
static int take_entry(struct kernel_log *log, sd_journal *journal)
{
        _cleanup_free_ char *message = NULL, *time = NULL;
        uint64_t usec;
        int r;

        r = journal_get_field(journal, "MESSAGE", &message);
        if (r >= 0)
                r = journal_get_field(journal, "_SOURCE_MONOTONIC_TIMESTAMP", &time);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        return parse_u64(time, &usec) < 0 ? 0 : kernel_log_add_message(log, usec, message);
}

int kernel_log_read_journal(struct kernel_log *log)
{
        _cleanup_journal_ sd_journal *journal = NULL;
        sd_id128_t boot;
        int r;

        r = journal_open(&journal);
        if (r >= 0)
                r = journal_find_boot_before(journal, &boot);
        if (r >= 0)
                r = journal_add_boot_match(journal, boot);
        if (r >= 0)
                r = sd_journal_add_match(journal, "_TRANSPORT=kernel", 0);
        if (r >= 0)
                r = sd_journal_seek_head(journal);
        while (r >= 0 && (r = sd_journal_next(journal)) > 0)
                r = take_entry(log, journal);
        return r;
}
