/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "timeline/shutdown.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

#include "shared/messages.h"
#include "shared/util.h"

#define _cleanup_journal_ _cleanup_(sd_journal_closep)

static int open_journal(sd_journal **ret)
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

static int add_boot_match(sd_journal *journal, sd_id128_t boot)
{
        _cleanup_free_ char *match = string_format("_BOOT_ID=" SD_ID128_FORMAT_STR, SD_ID128_FORMAT_VAL(boot));

        return match ? sd_journal_add_match(journal, match, 0) : -ENOMEM;
}

/* Goes to the first line of this boot, or behind the last line of all if there is none. */
static int seek_this_boot(sd_journal *journal, sd_id128_t boot)
{
        _cleanup_free_ char *cursor = NULL;
        int r;

        r = add_boot_match(journal, boot);
        if (r >= 0)
                r = sd_journal_seek_head(journal);
        if (r >= 0)
                r = sd_journal_next(journal);
        if (r > 0)
                r = sd_journal_get_cursor(journal, &cursor);
        sd_journal_flush_matches(journal);
        if (r < 0)
                return r;
        return cursor ? sd_journal_seek_cursor(journal, cursor) : sd_journal_seek_tail(journal);
}

/* The boot of the last line that is not of this boot. Returns 0, -ENODATA, or another negative errno. */
static int find_boot_before(sd_journal *journal, sd_id128_t *ret)
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

/* Returns 0 and `*ret`, to be freed by the caller, -ENOENT, or another negative errno. */
static int get_field(sd_journal *journal, const char *name, char **ret)
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

/* 0 where the line has no such field, or one that is no number. */
static uint64_t get_number(sd_journal *journal, const char *name)
{
        _cleanup_free_ char *text = NULL;
        uint64_t number;

        return get_field(journal, name, &text) >= 0 && parse_u64(text, &number) >= 0 ? number : 0;
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

        r = get_field(journal, "HEADGATE_TREE", &tree);
        if (r >= 0)
                r = get_field(journal, "HEADGATE_NODES", &nodes);
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

        r = get_field(journal, "HEADGATE_NODE", &node);
        if (r >= 0)
                r = get_field(journal, "HEADGATE_TREE", &tree);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        if (get_field(journal, "HEADGATE_KIND", &kind) == -ENOMEM ||
                get_field(journal, "HEADGATE_HOLDERS", &holders) == -ENOMEM)
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

        r = add_boot_match(journal, boot);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(matches); i++)
                r = sd_journal_add_match(journal, matches[i], 0);
        if (r >= 0)
                r = sd_journal_seek_head(journal);
        while (r >= 0 && (r = sd_journal_next(journal)) > 0) {
                _cleanup_free_ char *message_id = NULL;

                if (!timeline->host && get_field(journal, "_HOSTNAME", &timeline->host) == -ENOMEM)
                        return -ENOMEM;
                if (timeline->realtime_usec == 0)
                        (void) sd_journal_get_realtime_usec(journal, &timeline->realtime_usec);
                r = get_field(journal, "MESSAGE_ID", &message_id);
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

        r = add_boot_match(journal, boot);
        if (r >= 0)
                r = sd_journal_add_match(journal, "_TRANSPORT=kernel", 0);
        if (r >= 0)
                r = sd_journal_seek_head(journal);
        if (r >= 0)
                r = sd_journal_next(journal);
        if (r > 0)
                r = get_field(journal, "MESSAGE", &message);
        sd_journal_flush_matches(journal);
        if (r < 0 || !message)
                return r == -ENOENT ? 0 : r;
        release = skip_prefix(message, "Linux version ");
        if (release)
                timeline->kernel = strndup(release, strcspn(release, " "));
        return release && !timeline->kernel ? -ENOMEM : 0;
}

int timeline_read_shutdown(struct timeline *timeline)
{
        _cleanup_journal_ sd_journal *journal = NULL;
        sd_id128_t boot;
        int r;

        timeline->kind = TIMELINE_SHUTDOWN;
        r = open_journal(&journal);
        if (r >= 0)
                r = find_boot_before(journal, &boot);
        if (r >= 0)
                r = read_lines(journal, boot, timeline);
        if (r >= 0)
                r = read_kernel(journal, boot, timeline);
        if (r < 0)
                return r;
        return timeline->n > 0 ? 0 : -ENOENT;
}
