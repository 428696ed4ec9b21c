/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The timeline of an earlier shutdown, made of what headgate-teardown has written to the journal. */

#include "timeline/shutdown.h"

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

/* Adds a bar with the names, and what `known` has beside them. */
static int add_bar(struct timeline *timeline, const struct timeline_bar *known, const char *name, const char *tree,
        const char *kind, const char *reason)
{
        struct timeline_bar *bar;
        int r;

        r = timeline_add(timeline, &bar);
        if (r < 0)
                return r;
        *bar = *known;
        bar->asked_usec = known->first_usec;
        bar->name = string_printable(name);
        bar->tree = string_printable(tree);
        bar->kind = string_printable(kind);
        bar->reason = reason ? string_printable(reason) : NULL;
        return bar->name && bar->tree && bar->kind && (!reason || bar->reason) ? 0 : -ENOMEM;
}

/* One line of HEADGATE_NODES. Returns 0 for one that is not like that. */
static int add_removed(struct timeline *timeline, char *line, const char *tree, uint64_t started)
{
        struct timeline_bar bar = {.state = "gone", .end = TIMELINE_DONE, .first_usec = started};
        char *words[4];

        for (size_t i = 0; i < ELEMENTSOF(words); i++) {
                words[i] = strsep(&line, " ");
                if (!line)
                        return 0;
        }
        if (parse_u64(words[0], &bar.phases_usec[TIMELINE_HELD]) < 0 ||
                parse_u64(words[1], &bar.phases_usec[TIMELINE_REMOVAL]) < 0 ||
                parse_u64(words[2], &bar.n_tries) < 0)
                return 0;
        return add_bar(timeline, &bar, line, tree, words[3], NULL);
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
        if (r < 0)
                return r;
        rest = nodes;
        for (char *line; (line = strsep(&rest, "\n"));) {
                r = add_removed(timeline, line, tree, started);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A line about a device that is left. */
static int add_left(sd_journal *journal, struct timeline *timeline)
{
        struct timeline_bar bar = {
                .state = "left",
                .end = TIMELINE_FAILED,
                .first_usec = get_number(journal, "HEADGATE_STARTED_USEC"),
                .phases_usec[TIMELINE_HELD] = get_number(journal, "HEADGATE_WAITED_USEC"),
                .phases_usec[TIMELINE_REMOVAL] = get_number(journal, "HEADGATE_TOOK_USEC"),
                .n_tries = get_number(journal, "HEADGATE_N_TRIES"),
        };
        _cleanup_free_ char *node = NULL, *tree = NULL, *kind = NULL, *holders = NULL;
        int r;

        r = journal_get_field(journal, "HEADGATE_NODE", &node);
        if (r >= 0)
                r = journal_get_field(journal, "HEADGATE_TREE", &tree);
        if (r < 0)
                return r;
        if (journal_get_field(journal, "HEADGATE_KIND", &kind) == -ENOMEM ||
                journal_get_field(journal, "HEADGATE_HOLDERS", &holders) == -ENOMEM)
                return -ENOMEM;
        return add_bar(timeline, &bar, node, tree, kind ?: "", holders ?: "");
}

static int add_line(sd_journal *journal, struct timeline *timeline)
{
        _cleanup_free_ char *message_id = NULL;
        int r;

        if (!timeline->host && journal_get_field(journal, "_HOSTNAME", &timeline->host) == -ENOMEM)
                return -ENOMEM;
        if (timeline->realtime_usec == 0)
                (void) sd_journal_get_realtime_usec(journal, &timeline->realtime_usec);
        r = journal_get_field(journal, "MESSAGE_ID", &message_id);
        if (r < 0)
                return r;
        r = streq(message_id, MESSAGE_NODE_LEFT) ? add_left(journal, timeline) : add_tree(journal, timeline);
        /* What lacks a field says nothing. */
        return r == -ENOENT ? 0 : r;
}

static int read_lines(sd_journal *journal, sd_id128_t boot, struct timeline *timeline)
{
        /* Whoever may write to the journal may write anything. */
        static const char *const matches[] = {"_UID=0", "SYSLOG_IDENTIFIER=headgate-teardown",
                "MESSAGE_ID=" MESSAGE_STORAGE_TREE_DOWN, "MESSAGE_ID=" MESSAGE_STORAGE_TREE_LEFT,
                "MESSAGE_ID=" MESSAGE_NODE_LEFT};
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(matches); i++)
                r = sd_journal_add_match(journal, matches[i], 0);
        if (r >= 0)
                r = journal_seek_boot(journal, boot);
        while (r > 0) {
                r = add_line(journal, timeline);
                if (r >= 0)
                        r = sd_journal_next(journal);
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

        r = sd_journal_add_match(journal, "_TRANSPORT=kernel", 0);
        if (r >= 0)
                r = journal_seek_boot(journal, boot);
        if (r > 0)
                r = journal_get_field(journal, "MESSAGE", &message);
        sd_journal_flush_matches(journal);
        if (r < 0 && r != -ENOENT)
                return r;
        release = message ? skip_prefix(message, "Linux version ") : NULL;
        if (!release)
                return 0;
        timeline->kernel = strndup(release, strcspn(release, " "));
        return timeline->kernel ? 0 : -ENOMEM;
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
