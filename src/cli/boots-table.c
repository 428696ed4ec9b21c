/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/boots-table.h"

#include <inttypes.h>

#include "cli/past-boots.h"
#include "shared/log.h"
#include "shared/root.h"
#include "shared/util.h"

struct boot_line {
        const struct known_boot *boot;
        size_t n_later;
};

static char *format_offset(const void *line)
{
        const struct boot_line *boot_line = line;

        return boot_line->n_later == 0 ? strdup("0") : string_format("-%zu", boot_line->n_later);
}

static char *format_id(const void *line)
{
        const struct boot_line *boot_line = line;

        return string_format(SD_ID128_FORMAT_STR, SD_ID128_FORMAT_VAL(boot_line->boot->id));
}

static char *format_time(const void *line)
{
        const struct boot_line *boot_line = line;

        return format_local_time((int64_t) (boot_line->boot->realtime_usec / USEC_PER_SEC));
}

static char *format_time_usec(const void *line)
{
        const struct boot_line *boot_line = line;

        return string_format("%" PRIu64, boot_line->boot->realtime_usec);
}

static char *format_boot(const void *line)
{
        const struct boot_line *boot_line = line;

        return strdup(boot_line->boot->boot_is_kept ? "yes" : "no");
}

static char *format_boot_json(const void *line)
{
        const struct boot_line *boot_line = line;

        return strdup(boot_line->boot->boot_is_kept ? "1" : "0");
}

static char *format_shutdown(const void *line)
{
        const struct boot_line *boot_line = line;

        return strdup(boot_line->boot->shutdown_is_kept ? "yes" : "no");
}

static char *format_shutdown_json(const void *line)
{
        const struct boot_line *boot_line = line;

        return strdup(boot_line->boot->shutdown_is_kept ? "1" : "0");
}

static const struct column columns[] = {
        {"OFFSET", "what names it beside its ID, counted from this boot on", COLUMN_ALWAYS, SCOLS_FL_RIGHT,
                SCOLS_JSON_NUMBER, format_offset},
        {"BOOT-ID", "its ID, as journalctl has it", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_id},
        {"SEEN", "the first moment of it that is known of", COLUMN_IN_TABLE, 0, SCOLS_JSON_STRING, format_time},
        {"SEEN-USEC", "the same, in microseconds since 1970", COLUMN_IN_JSON, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER,
                format_time_usec},
        {"BOOT", "whether its timeline is kept", COLUMN_ALWAYS, 0, SCOLS_JSON_BOOLEAN, format_boot,
                format_boot_json},
        {"SHUTDOWN", "whether that of the shutdown that ended it is; if not, the journal may have it",
                COLUMN_ALWAYS, 0, SCOLS_JSON_BOOLEAN, format_shutdown, format_shutdown_json},
};

struct table_verb boots_table_verb(void (*help)(void), const struct table_switch *switches, size_t n_switches)
{
        return (struct table_verb){help, "boots", columns, ELEMENTSOF(columns), switches, n_switches};
}

static int print(const struct boots *boots, const struct table_verb *verb, const struct table_options *options)
{
        _cleanup_table_ struct table table = {};
        int r;

        r = table_new(verb, options, &table);
        for (size_t i = 0; r >= 0 && i < boots->n; i++)
                r = table_add_line(&table, NULL, &(struct boot_line){&boots->boots[i], boots->n - 1 - i}, NULL);
        return r < 0 ? r : table_print(&table);
}

int boots_table_print(const struct table_verb *verb, const struct table_options *options)
{
        _cleanup_boots_ struct boots boots = {};
        _cleanup_close_ int root_fd = root_open();
        int r;

        r = root_fd < 0 ? root_fd : past_boots_read(root_fd, &boots);
        if (r >= 0)
                r = print(&boots, verb, options);
        return r < 0 ? log_error_errno(r, "Failed to list the boots: %m") : 0;
}
