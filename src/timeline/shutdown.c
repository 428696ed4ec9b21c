/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "timeline/shutdown.h"

#include <inttypes.h>

#include "shared/journal.h"
#include "shared/messages.h"
#include "shared/util.h"

/* 0 where the line has no such field, or one that is no number. */
static uint64_t get_number(sd_journal *journal, const char *name)
{
        _cleanup_free_ char *text = NULL;
        uint64_t number;

        return journal_get_field(journal, name, &text) >= 0 && parse_u64(text, &number) >= 0 ? number : 0;
}

/* ------ lines ------ */

/* One line of HEADGATE_NODES. Returns 0 for one that is not like that. */
static int add_removed(struct timeline *timeline, char *line, const char *tree, uint64_t started)
{
        char *words[4];
        struct timeline_bar *bar;
        uint64_t waited, took;
        uint32_t n_tries;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(words); i++) {
                words[i] = strsep(&line, " ");
                if (!line)
                        return 0;
        }
        if (parse_u64(words[0], &waited) < 0 || parse_u64(words[1], &took) < 0 ||
                parse_u32(words[2], &n_tries) < 0)
                return 0;

        r = timeline_add(timeline, &bar);
        if (r < 0)
                return r;
        bar->name = string_printable(line);
        bar->tree = string_printable(tree);
        bar->kind = string_printable(words[3]);
        bar->state = "gone";
        bar->end = TIMELINE_DONE;
        bar->first_usec = bar->asked_usec = started;
        bar->phases_usec[TIMELINE_HELD] = waited;
        bar->phases_usec[TIMELINE_REMOVAL] = took;
        bar->n_tries = n_tries;
        return bar->name && bar->tree && bar->kind ? 0 : -ENOMEM;
}

/* A line about a storage tree. */
static int add_tree(sd_journal *journal, struct timeline *timeline)
{
        _cleanup_free_ char *tree = NULL, *nodes = NULL;
        uint64_t started = get_number(journal, "HEADGATE_STARTED_USEC");
        char *rest;
        int r;

        r = journal_get_field(journal, "HEADGATE_TREE", &tree);
        if (r >= 0)
                r = journal_get_field(journal, "HEADGATE_NODES", &nodes);
        rest = nodes;
        for (char *line; r >= 0 && (line = strsep(&rest, "\n"));)
                r = add_removed(timeline, line, tree, started);
        return r == -ENOENT ? 0 : r;
}

/* A line about a device that is left. */
static int add_left(sd_journal *journal, struct timeline *timeline)
{
        _cleanup_free_ char *node = NULL, *tree = NULL, *kind = NULL, *holders = NULL;
        struct timeline_bar *bar;
        int r;

        r = journal_get_field(journal, "HEADGATE_NODE", &node);
        if (r >= 0)
                r = journal_get_field(journal, "HEADGATE_TREE", &tree);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        if (journal_get_field(journal, "HEADGATE_KIND", &kind) == -ENOMEM ||
                journal_get_field(journal, "HEADGATE_HOLDERS", &holders) == -ENOMEM)
                return -ENOMEM;

        r = timeline_add(timeline, &bar);
        if (r < 0)
                return r;
        bar->name = string_printable(node);
        bar->tree = string_printable(tree);
        bar->kind = string_printable(kind ?: "");
        bar->reason = string_printable(holders ?: "");
        bar->state = "left";
        bar->end = TIMELINE_FAILED;
        bar->first_usec = bar->asked_usec = get_number(journal, "HEADGATE_STARTED_USEC");
        bar->phases_usec[TIMELINE_HELD] = get_number(journal, "HEADGATE_WAITED_USEC");
        bar->phases_usec[TIMELINE_REMOVAL] = get_number(journal, "HEADGATE_TOOK_USEC");
        bar->n_tries = (unsigned int) get_number(journal, "HEADGATE_N_TRIES");
        return bar->name && bar->tree && bar->kind && bar->reason ? 0 : -ENOMEM;
}

static int read_lines(sd_journal *journal, sd_id128_t boot, struct timeline *timeline)
{
        /* Whoever may write to the journal may write anything. */
        static const char *const matches[] = {"_UID=0", "SYSLOG_IDENTIFIER=headgate-teardown",
                "MESSAGE_ID=" MESSAGE_STORAGE_TREE_DOWN, "MESSAGE_ID=" MESSAGE_STORAGE_TREE_LEFT,
                "MESSAGE_ID=" MESSAGE_NODE_LEFT};
        int r;

        r = journal_add_boot_match(journal, boot);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(matches); i++)
                r = sd_journal_add_match(journal, matches[i], 0);
        if (r >= 0)
                r = sd_journal_seek_head(journal);
        while (r >= 0 && (r = sd_journal_next(journal)) > 0) {
                _cleanup_free_ char *message_id = NULL;

                if (!timeline->host && journal_get_field(journal, "_HOSTNAME", &timeline->host) == -ENOMEM)
                        return -ENOMEM;
                if (timeline->realtime_usec == 0)
                        (void) sd_journal_get_realtime_usec(journal, &timeline->realtime_usec);
                r = journal_get_field(journal, "MESSAGE_ID", &message_id);
                if (r >= 0)
                        r = streq(message_id, MESSAGE_NODE_LEFT) ? add_left(journal, timeline)
                                                                 : add_tree(journal, timeline);
        }
        sd_journal_flush_matches(journal);
        return r;
}

/* The kernel begins with "Linux version 6.1.0-40-amd64 (...) ..." (linux_banner in init/version.c). Returns 0 also
 * where it is not known. */
static int read_kernel(sd_journal *journal, sd_id128_t boot, struct timeline *timeline)
{
        _cleanup_free_ char *message = NULL;
        const char *release;
        int r;

        r = journal_add_boot_match(journal, boot);
        if (r >= 0)
                r = sd_journal_add_match(journal, "_TRANSPORT=kernel", 0);
        if (r >= 0)
                r = sd_journal_seek_head(journal);
        if (r >= 0)
                r = sd_journal_next(journal);
        if (r > 0)
                r = journal_get_field(journal, "MESSAGE", &message);
        sd_journal_flush_matches(journal);
        if (r < 0 || !message)
                return r == -ENOENT ? 0 : r;
        release = skip_prefix(message, "Linux version ");
        if (release)
                timeline->kernel = strndup(release, strcspn(release, " "));
        return release && !timeline->kernel ? -ENOMEM : 0;
}

int timeline_read_shutdown(struct timeline *timeline, sd_id128_t boot)
{
        _cleanup_journal_ sd_journal *journal = NULL;
        int r;

        timeline->kind = TIMELINE_SHUTDOWN;
        r = journal_open(&journal);
        if (r >= 0)
                r = read_lines(journal, boot, timeline);
        if (r >= 0)
                r = read_kernel(journal, boot, timeline);
        if (r < 0)
                return r;
        return timeline->n > 0 ? 0 : -ENOENT;
}
