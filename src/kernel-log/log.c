/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A kernel's log from a file or the journal: what is around its lines is skipped, lines that mail programs have broken are
 * joined, and of those about devices a shutdown is made. */

#include "kernel-log/log.h"

#include <ctype.h>

#include "shared/journal.h"
#include "shared/util.h"

#define ESCAPE '\x1b'

/* printk() has always six. */
#define N_DECIMALS 6

/* Mail programs break a line in so many pieces at most. */
#define PIECES_MAX 4

/* Lines of different CPUs may be out of order, but not by that. */
#define DISORDER_MAX_USEC USEC_PER_SEC

/* One may be a sentence. */
#define UNSTAMPED_MIN 2

#define FILE_SIZE_MAX (UINT64_C(256) * 1024 * 1024)
#define PIECE_SIZE (16U * 1024)

/* ------ white space ------ */

/* The length of the white space that the text begins with, 0 if it begins with something else. `before` is the
 * byte before it. White space in UTF-8 is what has that property in Unicode, and the mark of the byte order. */
static size_t measure_space(const char *text, char before)
{
        static const char *const unicode[] = {"\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
                "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u200b", "\u2028", "\u2029", "\u202f",
                "\u205f", "\u3000", "\ufeff"};

        if (*text == ' ' || (iscntrl((unsigned char) *text) && *text != ESCAPE))
                return 1;
        for (size_t i = 0; i < ELEMENTSOF(unicode); i++)
                if (skip_prefix(text, unicode[i]))
                        return strlen(unicode[i]);
        /* In ISO 8859-1, where it cannot be a part of a letter in UTF-8. */
        return *text == '\xa0' && !(before & '\x80') ? 1 : 0;
}

/* ESC [ PARAMETERS LETTER, or 0. */
static size_t measure_escape(const char *text)
{
        size_t n = 2;

        if (text[0] != ESCAPE || text[1] != '[')
                return text[0] == ESCAPE ? 1 : 0;
        while (text[n] >= ' ' && text[n] <= '?')
                n++;
        return text[n] == '\0' ? n : n + 1;
}

static void tidy(char *line)
{
        char *end = line;

        for (char *c = line, before = '\0'; *c != '\0';) {
                size_t space = measure_space(c, before), escape = measure_escape(c);

                before = space > 0 ? ' ' : *c;
                if (space > 0 && end > line && end[-1] != ' ')
                        *end++ = ' ';
                if (space == 0 && escape == 0)
                        *end++ = *c;
                c += (space + escape) ?: 1;
        }
        if (end > line && end[-1] == ' ')
                end--;
        *end = '\0';
}

/* ------ what is before the text ------ */

#define DIGITS "0123456789"

/* "172.609825"; what follows it, or NULL. More seconds than ten digits are more than 300 years. */
static char *parse_stamp(char *text, uint64_t *ret_usec)
{
        size_t n = strspn(text, DIGITS);

        if (n == 0 || n > 10 || text[n] != '.' || strspn(text + n + 1, DIGITS) != N_DECIMALS)
                return NULL;
        *ret_usec = strtoull(text, NULL, 10) * USEC_PER_SEC + strtoull(text + n + 1, NULL, 10);
        return text + n + 1 + N_DECIMALS;
}

/* Skips the time, in brackets or not, and the caller. Returns what follows it, or NULL if there is none. */
static char *skip_stamp(char *text, uint64_t *ret_usec)
{
        bool bracket = *text == '[';
        char *rest = parse_stamp(text + (bracket ? strspn(text, "[ ") : 0), ret_usec);
        int n = 0;

        /* dmesg -d has the time since the last line in the same brackets. */
        if (rest && bracket)
                rest = strchr(rest, ']');
        if (!rest || (!bracket && *rest != ' ' && *rest != '\0'))
                return NULL;
        rest += bracket;
        rest += strspn(rest, " ");
        (void) sscanf(rest, "[ %*1[TC]%*[" DIGITS "]]%n", &n);
        return rest + n + strspn(rest + n, " ");
}

/* "host kernel: ", or more words before "kernel: ". A device's name may have a colon, but its driver's cannot
 * be behind that. */
static char *skip_syslog(char *text)
{
        char *found = strstr(text, " kernel: ");

        if (found)
                return found + strlen(" kernel: ");
        return skip_prefix(text, "kernel: ") ? text + strlen("kernel: ") : text;
}

bool kernel_line_parse(char *line, uint64_t *ret_usec, char **ret_text)
{
        char *text = line, *behind;
        int n = 0;

        tidy(line);
        /* ">", as mail programs quote, and "<6>". */
        text += strspn(text, ">| ");
        (void) sscanf(text, "<%*[" DIGITS "]>%n", &n);
        behind = skip_stamp(text + n, ret_usec);
        text = skip_syslog(behind ?: text + n);
        if (!behind) {
                behind = skip_stamp(text, ret_usec);
                text = behind ?: text;
        }
        *ret_text = text;
        return behind;
}

/* ------ what the text is ------ */

char *kernel_line_split_device(char *text)
{
        char *space = strchr(text, ' '), *colon = strstr(text, ": ");

        if (!space || space == text || !colon || colon <= space + 1 ||
                (!streq(colon, ": shutdown") && !streq(colon, ": shutdown_pre")))
                return NULL;
        *space = *colon = '\0';
        return space + 1;
}

/* Whether the text is what the kernel says when all devices are shut down: to power off, to halt, to restart
 * (kernel/reboot.c), to start another kernel (kernel/kexec_core.c), or, before it powers off, ACPI
 * (drivers/acpi/sleep.c). */
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

        for (size_t i = 0; i < ELEMENTSOF(ends); i++)
                if (skip_prefix(text, ends[i]))
                        return true;
        return false;
}

/* ------ lines that are complete ------ */

/* The kernel tells of some devices twice, shutdown_pre being first. */
static bool is_last_device(const struct kernel_shutdown *shutdown, const char *driver, const char *name)
{
        const struct kernel_device *last = shutdown->n > 0 ? &shutdown->devices[shutdown->n - 1] : NULL;

        return last && streq(last->driver, driver) && streq(last->name, name);
}

/* Returns 1 if the text is of interest, 0 if it is not, and then it stays as it was, or a negative errno. */
static int take_text(struct kernel_log *log, uint64_t usec, char *text)
{
        const char *name = kernel_line_split_device(text);
        int r = 0;

        if (!name) {
                if (!is_end(text))
                        return 0;
                if (log->shutdown.n > 0 && !log->ended && !log->another_boot) {
                        log->ended = true;
                        log->end_usec = usec;
                }
                return 1;
        }
        if (log->ended || log->another_boot) {
                kernel_shutdown_done(&log->shutdown);
                log->ended = log->another_boot = false;
        }
        if (!is_last_device(&log->shutdown, text, name))
                r = kernel_shutdown_add(&log->shutdown, text, name, usec);
        return r < 0 ? r : 1;
}

/* Takes over a text that is of the last line with a time. */
static int add_text(struct kernel_log *log, char *text)
{
        _cleanup_free_ char *owned = text;
        int r = text ? take_text(log, log->last_usec, text) : -ENOMEM;

        if (r < 0)
                return r;
        free(log->unfinished);
        log->unfinished = r == 0 && log->n_joined < PIECES_MAX ? TAKE_PTR(owned) : NULL;
        return 0;
}

/* Takes a line of which the time is known, and what there is to the left of the text is not there. */
static int add_message(struct kernel_log *log, uint64_t usec, const char *text)
{
        if (usec + DISORDER_MAX_USEC < log->last_usec)
                log->another_boot = true;
        log->last_usec = usec;
        log->has_text = true;
        log->n_joined = 1;
        return add_text(log, strdup(text));
}

/* ------ text ------ */

static int end_line(struct kernel_log *log)
{
        uint64_t usec;
        char *text;

        log->line[log->line_size] = '\0';
        log->line_size = 0;
        if (kernel_line_parse(log->line, &usec, &text))
                return add_message(log, usec, text);
        if (text[0] == '\0')
                return 0;
        log->has_text = true;
        /* What has no time of its own may be the rest of what had one. */
        if (log->unfinished) {
                log->n_joined++;
                return add_text(log, string_format("%s %s", log->unfinished, text));
        }
        log->n_unstamped += kernel_line_split_device(text) != NULL;
        return 0;
}

int kernel_log_add_text(struct kernel_log *log, const char *text, size_t size)
{
        for (size_t i = 0; i < size; i++) {
                if (text[i] == '\n') {
                        int r = end_line(log);

                        if (r < 0)
                                return r;
                        continue;
                }
                log->has_zeros |= text[i] == '\0';
                /* Serial lines have some zeros. */
                if (log->line_size + 1 < sizeof(log->line))
                        log->line[log->line_size++] = text[i] == '\0' ? ' ' : text[i];
        }
        return 0;
}

/* ------ where it comes from ------ */

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
        return parse_u64(time, &usec) < 0 ? 0 : add_message(log, usec, message);
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
                r = sd_journal_add_match(journal, "_TRANSPORT=kernel", 0);
        if (r >= 0)
                r = journal_seek_boot(journal, boot);
        while (r > 0) {
                r = take_entry(log, journal);
                if (r >= 0)
                        r = sd_journal_next(journal);
        }
        return r;
}

/* ------ the end ------ */

int kernel_log_finish(struct kernel_log *log)
{
        int r;

        r = end_line(log);
        if (r < 0)
                return r;
        if (log->shutdown.n == 0) {
                if (log->has_zeros)
                        return KERNEL_LOG_BINARY;
                if (!log->has_text)
                        return KERNEL_LOG_EMPTY;
                return log->n_unstamped >= UNSTAMPED_MIN ? KERNEL_LOG_UNSTAMPED : KERNEL_LOG_UNRELATED;
        }
        if (!log->ended)
                return KERNEL_LOG_TRUNCATED;
        r = kernel_shutdown_finish(&log->shutdown, log->end_usec);
        return r < 0 ? r : KERNEL_LOG_COMPLETE;
}

void kernel_log_done(struct kernel_log *log)
{
        kernel_shutdown_done(&log->shutdown);
        free(log->unfinished);
        *log = (struct kernel_log){};
}
