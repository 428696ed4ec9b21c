/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kernel-log/line.h"

#include <ctype.h>

#include "shared/util.h"

#define ESCAPE '\x1b'

/* printk() has always six. */
#define N_DECIMALS 6

/* ------ white space ------ */

/* The length of the white space that the text begins with, 0 if it begins with something else. `before` is the
 * byte before it. White space in UTF-8 is what has that property in Unicode, and the mark of the byte order. */
static size_t measure_space(const char *text, char before)
{
        static const char *const unicode[] = {"\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
                "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u200b", "\u2028", "\u2029", "\u202f",
                "\u205f", "\u3000", "\ufeff"};

        if (isspace((unsigned char) *text) || (*text != '\0' && *text != ESCAPE && iscntrl((unsigned char) *text)))
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

static char *tidy(const char *raw)
{
        char *copy = malloc(strlen(raw) + 1), *end = copy, before = '\0';

        while (copy && *raw != '\0') {
                size_t space = measure_space(raw, before), escape = measure_escape(raw);

                before = space > 0 ? ' ' : *raw;
                if (space > 0 && end > copy && end[-1] != ' ')
                        *end++ = ' ';
                if (space == 0 && escape == 0)
                        *end++ = *raw;
                raw += MAX(MAX(space, escape), (size_t) 1);
        }
        if (copy && end > copy && end[-1] == ' ')
                end--;
        if (copy)
                *end = '\0';
        return copy;
}

/* ------ what is before the text ------ */

static const char *skip_quotation(const char *text)
{
        return text + strspn(text, ">| ");
}

/* "<6>" */
static const char *skip_priority(const char *text)
{
        size_t n = text[0] == '<' ? strspn(text + 1, "0123456789") : 0;

        return n > 0 && text[n + 1] == '>' ? text + n + 2 : text;
}

/* "172.609825"; what follows it, or NULL. */
static const char *parse_stamp(const char *text, uint64_t *ret_usec)
{
        size_t n_seconds = strspn(text, "0123456789"), n_decimals;
        uint64_t usec = 0;

        /* More seconds than that are more than 300 years. */
        if (n_seconds == 0 || n_seconds > 10 || text[n_seconds] != '.')
                return NULL;
        n_decimals = strspn(text + n_seconds + 1, "0123456789");
        if (n_decimals != N_DECIMALS)
                return NULL;
        for (const char *digit = text; digit < text + n_seconds + 1 + n_decimals; digit++)
                if (*digit != '.')
                        usec = usec * 10 + (uint64_t) (*digit - '0');
        *ret_usec = usec;
        return text + n_seconds + 1 + n_decimals;
}

/* Skips the time, in brackets or not, and the caller. Returns what follows it, or NULL if there is none. */
static const char *skip_stamp(const char *text, uint64_t *ret_usec)
{
        bool bracket = *text == '[';
        const char *rest = parse_stamp(text + (bracket ? strspn(text, "[ ") : 0), ret_usec);

        /* dmesg -d has the time since the last line in the same brackets. */
        if (rest && bracket)
                rest = strchr(rest, ']') ? strchr(rest, ']') + 1 : NULL;
        else if (rest && *rest != ' ' && *rest != '\0')
                rest = NULL;
        if (!rest)
                return NULL;
        rest += strspn(rest, " ");
        if (rest[0] == '[' && strchr(" TC", rest[1]) && strchr(rest, ']')) {
                const char *number = rest + 1 + strspn(rest + 1, " ");

                if ((*number == 'T' || *number == 'C') && number[1 + strspn(number + 1, "0123456789")] == ']')
                        rest = strchr(rest, ']') + 1;
        }
        return rest + strspn(rest, " ");
}

/* "host kernel: ", or more words before "kernel: ". A device's name may have a colon, but its driver's cannot
 * be behind that. */
static const char *skip_syslog(const char *text)
{
        const char *found = strstr(text, " kernel: ");

        return found ? found + strlen(" kernel: ") : skip_prefix(text, "kernel: ") ?: text;
}

int kernel_line_parse(const char *raw, struct kernel_line *ret)
{
        _cleanup_free_ char *line = tidy(raw);
        const char *text, *behind;
        uint64_t usec = 0;

        if (!line)
                return -ENOMEM;
        text = skip_priority(skip_quotation(line));
        behind = skip_stamp(text, &usec);
        text = skip_syslog(behind ?: text);
        if (!behind) {
                behind = skip_stamp(text, &usec);
                text = behind ?: text;
        }
        *ret = (struct kernel_line){
                .stamped = behind != NULL,
                .usec = behind ? usec : 0,
                .text = strdup(text),
        };
        return ret->text ? 0 : -ENOMEM;
}

void kernel_line_done(struct kernel_line *line)
{
        free(line->text);
        *line = (struct kernel_line){};
}

/* ------ what the text is ------ */

const char *kernel_line_find_device(const char *text, size_t *ret_driver_length, size_t *ret_device_length)
{
        static const char *const endings[] = {": shutdown", ": shutdown_pre"};
        size_t length = strlen(text), driver = strcspn(text, " ");

        if (driver == 0 || text[driver] == '\0' || text[driver - 1] == ':')
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(endings); i++) {
                size_t ending = strlen(endings[i]);

                if (length <= driver + 1 + ending || strstr(text, ": ") != text + length - ending ||
                        !streq(text + length - ending, endings[i]))
                        continue;
                *ret_driver_length = driver;
                *ret_device_length = length - ending - driver - 1;
                return text + driver + 1;
        }
        return NULL;
}

bool kernel_line_is_end(const char *text)
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
