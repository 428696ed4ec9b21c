/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Timelines in the journal: writes them, finds boots, and reads them. */

#include "timeline/journal.h"

#include <inttypes.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-messages.h>

#include "lvm/command.h"
#include "shared/dm.h"
#include "shared/log.h"
#include "shared/messages.h"
#include "shared/program.h"
#include "shared/util.h"

/* Limit of the field before its last bar: a line stays below 48 KiB, which all readers and sockets accept. */
#define BARS_SIZE_MAX ((size_t) 40 * 1024)

/* Limit of a string of a bar. Names are shorter; a reason may contain long paths. */
#define STRING_SIZE_MAX 1024

static const char *const kind_names[] = {
        [TIMELINE_BOOT] = "boot",
        [TIMELINE_SHUTDOWN] = "shutdown",
};

static const char *const end_names[_TIMELINE_END_MAX] = {
        [TIMELINE_DONE] = "done",
        [TIMELINE_SKIPPED] = "skipped",
        [TIMELINE_UNFINISHED] = "unfinished",
        [TIMELINE_FAILED] = "failed",
};

/* After its state and its end, a bar has these numbers, then these strings, given as offsets in struct
 * timeline_bar. */
#define FIELD(member) offsetof(struct timeline_bar, member)

static const size_t numbers[] = {
        FIELD(first_usec),
        FIELD(phases_usec[TIMELINE_PVS]),
        FIELD(phases_usec[TIMELINE_QUEUE]),
        FIELD(phases_usec[TIMELINE_LVM2]),
        FIELD(phases_usec[TIMELINE_UDEV]),
        FIELD(phases_usec[TIMELINE_HELD]),
        FIELD(phases_usec[TIMELINE_REMOVAL]),
        FIELD(asked_usec),
        FIELD(linked_usec),
        FIELD(complete_usec),
        FIELD(n_pvs),
        FIELD(n_lvs),
        FIELD(n_tries),
};

static const size_t strings[] = {FIELD(uuid), FIELD(name), FIELD(tree), FIELD(kind), FIELD(reason)};

#define N_WORDS (2 + ELEMENTSOF(numbers) + ELEMENTSOF(strings))

/* ------ writing ------ */

/* A line of words separated by tabs, which printable text never contains. */
static void print_bar(FILE *file, const struct timeline_bar *bar)
{
        fprintf(file, "%s\t%s", bar->state, end_names[bar->end]);
        FOREACH_ELEMENT(offset, numbers)
                fprintf(file, "\t%" PRIu64, *(const uint64_t *) ((const char *) bar + *offset));
        FOREACH_ELEMENT(offset, strings)
                fprintf(file, "\t%.*s", STRING_SIZE_MAX, *(char *const *) ((const char *) bar + *offset) ?: "");
        fputc('\n', file);
}

/* Makes the field with as many bars from `first` on as fit into one line, at least one. NULL without memory. */
static char *format_bars(const struct timeline *timeline, size_t first, size_t *ret_n)
{
        _cleanup_memstream_ struct memstream stream = {};
        FILE *file = memstream_open(&stream);
        size_t i = first;

        if (!file)
                return NULL;
        fputs("HEADGATE_BARS=", file);
        do {
                print_bar(file, &timeline->bars[i++]);
                fflush(file);
        } while (i < timeline->n && stream.size < BARS_SIZE_MAX);
        *ret_n = i - first;
        return memstream_finish(&stream);
}

void timeline_log(const struct timeline *timeline)
{
        const char *unit = timeline->kind == TIMELINE_BOOT ? "VG" : "device";

        for (size_t i = 0, n; i < timeline->n; i += n) {
                _cleanup_free_ char *bars = format_bars(timeline, i, &n), *message = NULL;
                _cleanup_strv_ struct strv fields = {};

                if (!bars)
                        return;
                message = string_format("Timeline of %zu %s%s recorded.", n, unit, plural(n));
                fields_add(&fields, "HEADGATE_TIMELINE=%s", kind_names[timeline->kind]);
                fields_add(&fields, "HEADGATE_KERNEL=%s", timeline->kernel ?: "");
                fields_add(&fields, "%s", bars);
                log_event(LOG_INFO, MESSAGE_TIMELINE, message, &fields);
        }
}

/* ------ which boot ------ */

#define _cleanup_journal_ _cleanup_(sd_journal_closep)

/* In tests, the journal is in the directory $HEADGATE_JOURNAL. */
static int journal_open(sd_journal **ret)
{
        const char *path = secure_getenv("HEADGATE_JOURNAL");

        return path ? sd_journal_open_directory(ret, path, 0)
                    : sd_journal_open(ret, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
}

static int find_nothing(sd_journal *journal)
{
        return sd_journal_has_runtime_files(journal) > 0 && sd_journal_has_persistent_files(journal) == 0
                       ? -ENODATA
                       : -ENOENT;
}

int timeline_find_boot(const char *name, sd_id128_t *ret)
{
        const char *path = secure_getenv("HEADGATE_JOURNAL");
        _cleanup_free_ char *boot = string_format("--boot=%s", name);
        _cleanup_free_ char *where = path ? string_format("--directory=%s", path) : strdup("--system");
        const char *const words[] = {where, boot, "--quiet", "--no-pager", "--lines=1", "--output=export",
                "--output-fields=_BOOT_ID", NULL};
        _cleanup_journal_ sd_journal *journal = NULL;
        _cleanup_free_ char *output = NULL;
        int r = boot && where ? command_run("/bin/journalctl", words, &output) : -ENOMEM;

        if (r < 0)
                return r == -ENOENT ? -ENOPKG : r;
        /* For journalctl, these mean all boots and the current one. */
        if (streq(name, "all") || *name == '\0')
                return -ENOENT;
        for (char *line, *rest = output; r == 0 && (line = strsep(&rest, "\n"));) {
                const char *id = skip_prefix(line, "_BOOT_ID=");

                if (id && sd_id128_from_string(id, ret) >= 0)
                        return 0;
        }
        return journal_open(&journal) ?: find_nothing(journal);
}

/* ------ reading ------ */

/* Reads a field of the current line. Returns 0 and `*ret`, to be freed by the caller; -ENOENT; or another negative
 * errno. */
static int get_field(sd_journal *journal, const char *name, char **ret)
{
        size_t size, skipped = strlen(name) + 1;
        const char *data;
        int r = sd_journal_get_data(journal, name, (const void **) &data, &size);

        if (r < 0)
                return r;
        *ret = size < skipped ? NULL : strndup(data + skipped, size - skipped);
        return *ret ? 0 : -ENOMEM;
}

/* Returns the state as a constant. NULL if it is unknown. */
static const char *find_state(enum timeline_kind kind, const char *word)
{
        if (kind == TIMELINE_SHUTDOWN)
                return streq(word, "gone") ? "gone" : streq(word, "left") ? "left" : NULL;
        for (enum vg_status i = 0; i < _VG_STATUS_MAX; i++)
                if (streq(word, vg_status_to_string(i)))
                        return vg_status_to_string(i);
        return NULL;
}

/* Returns 0, -EBADMSG for an invalid line, or -ENOMEM. The caller frees the bar in any case. */
static int parse_bar(char *line, enum timeline_kind kind, struct timeline_bar *ret)
{
        char *words[N_WORDS], **word = words;

        for (size_t i = 0; i < N_WORDS; i++) {
                words[i] = strsep(&line, "\t");
                if (!words[i])
                        return -EBADMSG;
        }
        ret->state = find_state(kind, *word++);
        while (ret->end < _TIMELINE_END_MAX && !streq(*word, end_names[ret->end]))
                ret->end++;
        word++;
        if (line || !ret->state || ret->end == _TIMELINE_END_MAX)
                return -EBADMSG;
        FOREACH_ELEMENT(offset, numbers)
                if (parse_u64(*word++, (uint64_t *) ((char *) ret + *offset)) < 0)
                        return -EBADMSG;
        FOREACH_ELEMENT(offset, strings) {
                char **string = (char **) ((char *) ret + *offset);

                if (**word != '\0' && !(*string = strdup(*word)))
                        return -ENOMEM;
                word++;
        }
        return ret->name && (kind == TIMELINE_BOOT ? !!ret->uuid : ret->tree && ret->kind) ? 0 : -EBADMSG;
}

/* Of several bars of a VG (by UUID) or a device (by name) the last one counts, which is read first. */
static int add_bars(struct timeline *timeline, struct dm_hash_table *seen, char *lines)
{
        for (char *line; (line = strsep(&lines, "\n")) && *line != '\0';) {
                struct timeline_bar *bar = timeline_add(timeline);
                int r = bar ? parse_bar(line, timeline->kind, bar) : -ENOMEM;
                const char *key = r < 0 ? "" : bar->uuid ?: bar->name;

                if (r >= 0 && !dm_hash_lookup(seen, key)) {
                        if (!dm_hash_insert(seen, key, timeline))
                                return -ENOMEM;
                        continue;
                }
                if (r == -ENOMEM)
                        return r;
                timeline->n_skipped += r < 0;
                timeline_bar_done(bar);
                timeline->n--;
        }
        return 0;
}

static int add_line(sd_journal *journal, struct timeline *timeline, struct dm_hash_table *seen)
{
        _cleanup_free_ char *bars = NULL;
        uint64_t realtime_usec, monotonic_usec;
        sd_id128_t boot; /* needed for times of another boot */

        if ((!timeline->host && get_field(journal, "_HOSTNAME", &timeline->host) == -ENOMEM) ||
                (!timeline->kernel && get_field(journal, "HEADGATE_KERNEL", &timeline->kernel) == -ENOMEM))
                return -ENOMEM;
        if (timeline->realtime_usec == 0 && sd_journal_get_realtime_usec(journal, &realtime_usec) >= 0 &&
                sd_journal_get_monotonic_usec(journal, &monotonic_usec, &boot) >= 0)
                timeline->realtime_usec = realtime_usec - monotonic_usec;
        return get_field(journal, "HEADGATE_BARS", &bars) ?: add_bars(timeline, seen, bars);
}

/* Seeks the first line of a boot with these two fields. Any user may write to the journal, so only lines of root count. */
static int seek_lines(sd_journal *journal, sd_id128_t boot, const char *message_id, const char *field)
{
        _cleanup_free_ char *boot_id = string_format("_BOOT_ID=%s", SD_ID128_TO_STRING(boot));
        const char *const matches[] = {"_UID=0", message_id, field, boot_id};
        int r = boot_id ? 0 : -ENOMEM;

        sd_journal_flush_matches(journal);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(matches); i++)
                r = sd_journal_add_match(journal, matches[i], 0);
        return r < 0 ? r : sd_journal_seek_head(journal);
}

static int read_lines(sd_journal *journal, sd_id128_t boot, struct timeline *timeline)
{
        _cleanup_free_ char *kind = string_format("HEADGATE_TIMELINE=%s", kind_names[timeline->kind]);
        _cleanup_dm_hash_ struct dm_hash_table *seen = dm_hash_create(256);
        int r = kind && seen ? seek_lines(journal, boot, "MESSAGE_ID=" MESSAGE_TIMELINE, kind)
                                       ?: sd_journal_seek_tail(journal)
                             : -ENOMEM;

        while (r >= 0 && (r = sd_journal_previous(journal)) > 0) {
                r = add_line(journal, timeline, seen);
                /* A line without bars is ignored. */
                if (r == -ENOENT)
                        r = 0;
        }
        return r;
}

/* An older request is ignored, as it was cancelled or did not lead to a shutdown. */
#define REQUEST_VALID_USEC (15 * 60 * USEC_PER_SEC)

/* Finds when systemd last stopped the target of all services, which begins a shutdown, however long services take
 * to stop. Otherwise, `*ret` is unchanged. */
static int find_stop(sd_journal *journal, sd_id128_t boot, uint64_t *ret)
{
        int r = seek_lines(journal, boot, "MESSAGE_ID=" SD_MESSAGE_UNIT_STOPPED_STR, "UNIT=multi-user.target");

        while (r >= 0 && (r = sd_journal_next(journal)) > 0)
                r = sd_journal_get_monotonic_usec(journal, ret, &boot);
        return r;
}

/* headgate-teardown starts after ordinary services have stopped. The shutdown began earlier, when systemd-logind
 * logged the request. With soft reboots a boot has several requests; the last one before a bar counts. */
static int add_requests(sd_journal *journal, sd_id128_t boot, struct timeline *timeline)
{
        uint64_t stopped = 0;
        int r = find_stop(journal, boot, &stopped)
                        ?: seek_lines(journal, boot, "MESSAGE_ID=" SD_MESSAGE_SHUTDOWN_STR,
                                   "SYSLOG_IDENTIFIER=systemd-logind");

        while (r >= 0 && (r = sd_journal_next(journal)) > 0) {
                uint64_t requested;

                r = sd_journal_get_monotonic_usec(journal, &requested, &boot);
                FOREACH_ARRAY(bar, timeline->bars, r < 0 ? 0 : timeline->n) {
                        uint64_t started = bar->first_usec + bar->phases_usec[TIMELINE_STOPPING];
                        uint64_t next = stopped > requested && stopped < started ? stopped : started;

                        if (requested > started || next - requested > REQUEST_VALID_USEC)
                                continue;
                        bar->first_usec = requested;
                        bar->phases_usec[TIMELINE_STOPPING] = started - requested;
                }
        }
        return r;
}

int timeline_read_journal(struct timeline *timeline, sd_id128_t boot)
{
        _cleanup_journal_ sd_journal *journal = NULL;
        uint64_t began_usec = UINT64_MAX;
        int r = journal_open(&journal) ?: read_lines(journal, boot, timeline);

        if (r < 0)
                return r;
        if (timeline->n > 0 && timeline->kind == TIMELINE_SHUTDOWN) {
                r = add_requests(journal, boot, timeline);
                if (r < 0)
                        return r;
                FOREACH_ARRAY(bar, timeline->bars, timeline->n)
                        began_usec = MIN(began_usec, bar->first_usec);
                timeline->realtime_usec += began_usec;
        }
        return timeline->n > 0 ? 0 : find_nothing(journal);
}

int timeline_read_earlier(struct timeline *timeline, unsigned int n_boots)
{
        sd_id128_t boot;

        if (root_is_chosen() && !secure_getenv("HEADGATE_JOURNAL"))
                return -ENOENT;
        return timeline_find_boot(path_format("-%u", n_boots).text, &boot)
                       ?: timeline_read_journal(timeline, boot);
}
