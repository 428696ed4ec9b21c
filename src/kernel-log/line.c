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

static void tidy(char *raw)
{
        char *end = raw;

        for (char *start = raw, before = '\0'; *raw != '\0';) {
                size_t space = measure_space(raw, before), escape = measure_escape(raw);

                before = space > 0 ? ' ' : *raw;
                if (space > 0 && end > start && end[-1] != ' ')
                        *end++ = ' ';
                if (space == 0 && escape == 0)
                        *end++ = *raw;
                raw += MAX(MAX(space, escape), (size_t) 1);
                if (*raw == '\0' && end > start && end[-1] == ' ')
                        end--;
        }
        *end = '\0';
}

/* ------ what is before the text ------ */

#define DIGITS "0123456789"

/* ">", as mail programs quote, and "<6>". */
static char *skip_quotation(char *text)
{
        int n = 0;

        text += strspn(text, ">| ");
        (void) sscanf(text, "<%*[" DIGITS "]>%n", &n);
        return text + n;
}

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
        char *text, *behind;

        tidy(line);
        text = skip_quotation(line);
        behind = skip_stamp(text, ret_usec);
        text = skip_syslog(behind ?: text);
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
