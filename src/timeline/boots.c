/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The boots that something is known of, and how people name them, as journalctl(1) has it; and the timeline of an earlier
 * shutdown, made of what headgate-teardown has written to the journal. */

#include "timeline/boots.h"

#include "shared/messages.h"
#include "shared/util.h"
#include "timeline/timeline.h"

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

struct known_boot *boots_note(struct boots *boots, sd_id128_t id, uint64_t realtime_usec)
{
        struct known_boot *boot;
        size_t i = 0;

        while (i < boots->n && !sd_id128_equal(boots->boots[i].id, id))
                i++;
        if (i == boots->n) {
                if (!GREEDY_REALLOC(boots->boots, boots->n + 1))
                        return NULL;
                boots->boots[boots->n++] = (struct known_boot){.id = id, .realtime_usec = realtime_usec};
        }
        boot = &boots->boots[i];
        boot->realtime_usec = MIN(boot->realtime_usec, realtime_usec);
        return boot;
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
                if (!boots_note(boots, boot, 0))
                        return -ENOMEM;
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
        FOREACH_ARRAY(boot, found.boots, found.n) {
                uint64_t usec;

                r = journal_seek_boot(journal, boot->id);
                if (r > 0)
                        r = sd_journal_get_realtime_usec(journal, &usec);
                else if (r == 0)
                        r = -ENODATA;
                sd_journal_flush_matches(journal);
                if (r >= 0)
                        r = boots_note(boots, boot->id, usec) ? 0 : -ENOMEM;
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

/* ------ the timeline of a shutdown ------ */

/* 0 where the line has no such field, or one that is no number. */
static uint64_t get_number(sd_journal *journal, const char *name)
{
        _cleanup_free_ char *text = NULL;
        uint64_t number;

        return journal_get_field(journal, name, &text) >= 0 && parse_u64(text, &number) >= 0 ? number : 0;
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
        return timeline_add_device(timeline, &bar, line, tree, words[3], NULL);
}

/* A line about a storage tree. */
static int add_tree(sd_journal *journal, struct timeline *timeline)
{
        _cleanup_free_ char *tree = NULL, *nodes = NULL;
        uint64_t started = get_number(journal, "HEADGATE_STARTED_USEC");
        int r;

        r = journal_get_field(journal, "HEADGATE_TREE", &tree);
        if (r >= 0)
                r = journal_get_field(journal, "HEADGATE_NODES", &nodes);
        if (r < 0)
                return r;
        for (char *line, *rest = nodes; (line = strsep(&rest, "\n"));) {
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
        return timeline_add_device(timeline, &bar, node, tree, kind ?: "", holders ?: "");
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
