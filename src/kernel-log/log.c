/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads a kernel log: finds its lines among other text, joins lines that mail programs have wrapped, and collects the devices of
 * the last shutdown. Finds reserved disks in the log of this boot. */

#include "kernel-log/log.h"

#include <fnmatch.h>
#include <sys/klog.h>

#include "shared/dm.h"
#include "shared/program.h"
#include "shared/util.h"

#define ESCAPE '\x1b'
#define DIGITS "0123456789"

/* The rest of a longer line is ignored. */
#define LINE_SIZE_MAX (64U * 1024)
#define FILE_SIZE_MAX (UINT64_C(256) * 1024 * 1024)

/* Mail programs wrap a line into at most this many pieces. */
#define PIECES_MAX 4

/* Lines of different CPUs are out of order by less than this. */
#define DISORDER_MAX_USEC USEC_PER_SEC

/* A single line may be other text with the same end. */
#define UNSTAMPED_MIN 2

/* ------ white space ------ */

/* The length of ESC [ PARAMETERS LETTER (ECMA-48, 5.4), or of ESC without that; 0 for anything else. */
static size_t measure_escape(const char *text)
{
        size_t n = 2;

        if (text[0] != ESCAPE || text[1] != '[')
                return text[0] == ESCAPE ? 1 : 0;
        while (text[n] >= ' ' && text[n] <= '?')
                n++;
        return text[n] == '\0' ? n : n + 1;
}

/* Names of drivers and devices are ASCII, but mail programs write non-breaking spaces, in any encoding. */
static void normalize_space(char *line)
{
        char *end = line;

        for (const char *c = line; *c != '\0';) {
                size_t escape = measure_escape(c);

                if (*c > ' ' && *c <= '~')
                        *end++ = *c;
                else if (escape == 0 && end > line && end[-1] != ' ')
                        *end++ = ' ';
                c += escape ?: 1;
        }
        if (end > line && end[-1] == ' ')
                end--;
        *end = '\0';
}

/* ------ timestamps and prefixes ------ */

/* Skips "172.609825" or "[ 172.609825]", and the caller. Returns false and skips nothing if there is no time. Ten digits of
 * seconds are 300 years. */
static bool skip_stamp(char **text, uint64_t *ret_usec)
{
        bool bracket = **text == '[';
        char *digits = *text + (bracket ? strspn(*text, "[ ") : 0), *rest;
        size_t n = strspn(digits, DIGITS);
        int caller = 0;

        if (n == 0 || n > 10 || digits[n] != '.' || strspn(digits + n + 1, DIGITS) != strlen("609825"))
                return false;
        rest = digits + n + strlen(".609825");
        /* dmesg -d prints the time since the last line in the same brackets. */
        if (bracket)
                rest = strchr(rest, ']');
        if (!rest || (!bracket && *rest != ' ' && *rest != '\0'))
                return false;
        *ret_usec = strtoull(digits, NULL, 10) * USEC_PER_SEC + strtoull(digits + n + 1, NULL, 10);
        rest += bracket;
        rest += strspn(rest, " ");
        (void) sscanf(rest, "[ %*1[TC]%*[" DIGITS "]]%n", &caller);
        *text = rest + caller + strspn(rest + caller, " ");
        return true;
}

/* Skips "6,1001,172609825,-;" of /dev/kmsg and extended netconsole: priority, number, microseconds, flags. */
static bool skip_record(char **text, uint64_t *ret_usec)
{
        char *field = *text, *end;

        for (size_t i = 0; i < 3; i++, field = end + 1) {
                end = field + strspn(field, DIGITS);
                if (end == field || *end != ',')
                        return false;
                *ret_usec = strtoull(field, NULL, 10);
        }
        end = strchr(field, ';');
        if (end)
                *text = end + 1;
        return end;
}

/* Finds the first time in brackets or in a record. The kernel's release and a comma may precede a record, and a prefix of a
 * capturing program may precede both. Returns the place or NULL, and the text after the time. */
static char *find_time(char *text, uint64_t *ret_usec, char **ret_rest)
{
        for (char *c = text; *c != '\0'; c++) {
                bool begins = c == text || c[-1] == ' ' || c[-1] == ',';
                char *rest = c;

                if (*c == '[' ? skip_stamp(&rest, ret_usec) : begins && skip_record(&rest, ret_usec)) {
                        *ret_rest = rest;
                        return c;
                }
        }
        return NULL;
}

/* Skips "host kernel: ", or more words before "kernel: ". A driver's name cannot follow a colon. */
static char *skip_syslog(char *text)
{
        char *found = strstr(text, " kernel: ");

        if (found)
                return found + strlen(" kernel: ");
        return skip_prefix(text, "kernel: ") ? text + strlen("kernel: ") : text;
}

/* The value of a key, without the quote before it, or NULL. */
static char *json_find(char *text, const char *key)
{
        char *found = strstr(text, key);

        return found ? found + strlen(key) + strspn(found + strlen(key), " :\"") : NULL;
}

/* A line of "journalctl -o json" has both time and text; a line of "dmesg --json" has only one of them. */
static bool parse_json(char *text, uint64_t *ret_usec, char **ret_text)
{
        char *usec = json_find(text, "\"_SOURCE_MONOTONIC_TIMESTAMP\""), *seconds = json_find(text, "\"time\"");

        *ret_text = json_find(text, "\"MESSAGE\"") ?: json_find(text, "\"msg\"") ?: text + strlen(text);
        if (usec)
                *ret_usec = strtoull(usec, NULL, 10);
        if (seconds)
                seconds[strspn(seconds, DIGITS ".")] = '\0';
        (*ret_text)[strcspn(*ret_text, "\"")] = '\0';
        return usec || (seconds && skip_stamp(&seconds, ret_usec));
}

bool kernel_line_parse(char *line, uint64_t *ret_usec, char **ret_text)
{
        char *text = line;
        bool stamped;

        normalize_space(line);
        text += strspn(text, ">| ");
        if (*text != '\0' && strchr("\"{}", *text))
                return parse_json(text, ret_usec, ret_text);
        stamped = skip_stamp(&text, ret_usec) || find_time(text, ret_usec, &text);
        *ret_text = skip_syslog(text);
        return stamped;
}

/* ------ text ------ */

bool kernel_line_cut_device(char *text)
{
        const char *space = strchr(text, ' ');
        char *colon = strstr(text, ": ");

        if (!space || space == text || !colon || colon <= space + 1 ||
                (!streq(colon, ": shutdown") && !streq(colon, ": shutdown_pre")))
                return false;
        *colon = '\0';
        return true;
}

/* The kernel's messages when all devices are shut down: kernel/reboot.c, kernel/kexec_core.c, and before power-off
 * drivers/acpi/sleep.c. */
static bool is_end(const char *text)
{
        static const char *const ends[] = {
                "reboot: Power down",
                "reboot: System halted",
                "reboot: Restarting system",
                "kexec_core: Starting new kernel",
                "ACPI: PM: Preparing to enter system sleep state S5",
                "ACPI: Preparing to enter system sleep state S5",
        };

        return ANY(FOREACH_ELEMENT(end, ends), skip_prefix(text, *end));
}

/* ------ lines ------ */

/* Starts empty: all zeros, but for the shutdown. */
struct reader {
        struct kernel_shutdown *shutdown;
        bool complete;      /* the shutdown has ended, at `end_usec` */
        uint64_t end_usec;  /* after the kernel's start */
        bool restarted;     /* further devices belong to another boot */
        uint64_t last_usec; /* of the last line with a timestamp */
        char *unfinished;   /* the text of that line, if the next line may continue it; or NULL */
        size_t n_joined;    /* number of lines in it */
        bool breaks;        /* the current line contains another one */
        bool broken;        /* the last line did, and this one may continue it */
        bool has_text, has_zeros;
        size_t n_unstamped; /* devices without a timestamp */
};

static void reader_done(struct reader *reader)
{
        free(reader->unfinished);
}

/* Returns 1 if the text is about the shutdown; 0 if not, and the text is unchanged; or a negative errno. */
static int read_text(struct reader *reader, char *text)
{
        struct kernel_shutdown *shutdown = reader->shutdown;
        int r = 0;

        if (is_end(text)) {
                if (shutdown->n > 0 && !reader->restarted && !reader->complete) {
                        reader->complete = true;
                        reader->end_usec = reader->last_usec;
                }
                return 1;
        }
        if (!kernel_line_cut_device(text))
                return 0;
        /* Lines of other CPUs may follow the last one. */
        if (reader->restarted || (reader->complete && reader->last_usec >= reader->end_usec)) {
                kernel_shutdown_done(shutdown);
                reader->restarted = reader->complete = false;
        }
        /* The kernel logs some devices twice, first as shutdown_pre. */
        if (shutdown->n == 0 || !streq(shutdown->devices[shutdown->n - 1].name, text))
                r = kernel_shutdown_add(shutdown, text, reader->last_usec);
        return r < 0 ? r : 1;
}

/* Takes ownership of the text of the last line with a timestamp. */
static int add_text(struct reader *reader, char *text)
{
        _cleanup_free_ char *owned = text;
        int r = text ? read_text(reader, text) : -ENOMEM;

        if (r < 0)
                return r;
        free(reader->unfinished);
        reader->unfinished = r == 0 && reader->n_joined < PIECES_MAX ? TAKE_PTR(owned) : NULL;
        return 0;
}

/* Handles a line without a timestamp after two mixed lines. It may belong to either of them. */
static void add_rest(struct reader *reader, const char *text)
{
        size_t n = MIN(strlen(text), strlen("shutdown"));

        reader->shutdown->n_incomplete += streq(text + strlen(text) - n, &"shutdown"[strlen("shutdown") - n]);
}

/* Adds a line, or the rest of it, up to the next timestamp in it. There another line is mixed in, or the end of line is missing.
 * Sets `line` to that place, or to NULL. */
static int add_part(struct reader *reader, char **line)
{
        uint64_t usec, next_usec;
        char *text, *rest;
        bool stamped = kernel_line_parse(*line, &usec, &text);

        *line = stamped ? find_time(text, &next_usec, &rest) : NULL;
        if (*line == text || (!stamped && isempty(text)))
                return 0;
        reader->has_text = true;
        if (!stamped && reader->broken) {
                add_rest(reader, text);
                return 0;
        }
        reader->breaks |= *line != NULL;
        if (stamped) {
                size_t length = *line ? (size_t) (*line - text) : strlen(text);

                /* The time restarts with each boot. */
                if (usec + DISORDER_MAX_USEC < reader->last_usec)
                        reader->restarted = true;
                reader->last_usec = usec;
                reader->n_joined = 1;
                return add_text(reader, strndup(text, length - (length > 0 && text[length - 1] == ' ')));
        }
        /* A line without a timestamp may continue the one before. */
        if (reader->unfinished) {
                reader->n_joined++;
                return add_text(
                        reader, string_format("%s%s%s", reader->unfinished, *reader->unfinished ? " " : "", text));
        }
        reader->n_unstamped += kernel_line_cut_device(text);
        return 0;
}

static int add_line(struct reader *reader, char *line)
{
        int r = 0;

        while (r >= 0 && line)
                r = add_part(reader, &line);
        reader->broken = reader->breaks;
        reader->breaks = false;
        return r;
}

/* ------ the log ------ */

/* Returns NULL if the shutdown is complete. */
static const char *find_reason(const struct reader *reader)
{
        if (reader->shutdown->n > 0)
                return reader->complete ? NULL : KERNEL_LOG_TRUNCATED;
        if (reader->has_zeros)
                return KERNEL_LOG_BINARY;
        if (!reader->has_text)
                return KERNEL_LOG_EMPTY;
        return reader->n_unstamped >= UNSTAMPED_MIN ? KERNEL_LOG_UNSTAMPED : KERNEL_LOG_UNRELATED;
}

int kernel_log_read_file(struct kernel_shutdown *shutdown, FILE *file, const char **ret_reason)
{
        _cleanup_(reader_done) struct reader reader = {.shutdown = shutdown};
        char line[LINE_SIZE_MAX];
        uint64_t size = 0;
        size_t n = 0;
        int r, c;

        *ret_reason = NULL;
        do {
                c = getc(file);
                if (c == EOF && ferror(file))
                        return -errno;
                if (++size > FILE_SIZE_MAX)
                        return -EFBIG;
                if (c == EOF || c == '\n' || c == '\r') {
                        line[n] = '\0';
                        n = 0;
                        r = add_line(&reader, line);
                        if (r < 0)
                                return r;
                } else if (n + 1 < sizeof(line)) {
                        /* Logs of serial lines contain NUL bytes. */
                        line[n++] = (char) (c ?: ' ');
                }
                reader.has_zeros |= c == '\0';
        } while (c != EOF);
        *ret_reason = find_reason(&reader);
        return *ret_reason ? -EBADMSG : kernel_shutdown_finish(shutdown, reader.end_usec);
}

/* ------ reserved disks ------ */

/* Of a longer log, the end is read. */
#define LOG_SIZE (16 * 1024 * 1024)

/* In a line of blk_print_req_error() (block/blk-mq.c), what is before the words " error, dev ": "critical nexus" until Linux 6.3,
 * after the name of a function until 5.15. Lines with names that a device has chosen begin with other words. */
#define CONFLICT "?(<+([0-9])>)*([[]+([ .0-9TC])])?( )?(+([a-z_]): )@(reservation conflict|critical nexus)"

int reserved_disks_read(int root_fd, struct dm_hash_table **ret)
{
        _cleanup_dm_hash_ struct dm_hash_table *disks = dm_hash_create(64);
        _cleanup_free_ char *log = NULL;
        int r = 0;

        if (root_is_chosen())
                r = read_file_at(root_fd, "kernel-log", &log, NULL);
        else if ((log = calloc(1, LOG_SIZE + 1)) && klogctl(/* SYSLOG_ACTION_READ_ALL= */ 3, log, LOG_SIZE) < 0)
                r = -errno;
        if (r < 0 || !disks || !log)
                return r ?: -ENOMEM;
        FOREACH_LINE(line, log) {
                char *end = strstr(line, " error, dev "), disk[32];
                unsigned int subsystem, namespace;

                if (!end || sscanf(end, " error, dev %31[^,],", disk) != 1)
                        continue;
                *end = '\0';
                /* Of a namespace, nvme0n1, the kernel logs a hidden path, nvme0c1n1. */
                if (sscanf(disk, "nvme%uc%*un%u", &subsystem, &namespace) == 2)
                        snprintf(disk, sizeof(disk), "nvme%un%u", subsystem, namespace);
                if (!dm_hash_insert(disks, disk, fnmatch(CONFLICT, line, FNM_EXTMATCH) == 0 ? disks : NULL))
                        return -ENOMEM;
        }
        *ret = TAKE_PTR(disks);
        return 0;
}
