/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor/checks.h"

#define JOURNALD_CONF "etc/systemd/journald.conf"

/* The last assignment counts (journald.conf(5)); files in journald.conf.d are not looked at. `*ret` is to be
 * freed, NULL without one. Returns 0 or -ENOMEM. */
static int read_storage(const struct machine *machine, char **ret)
{
        _cleanup_free_ char *text = NULL, *storage = NULL;
        char *rest;

        if (read_file_at(machine->sources.root_fd, JOURNALD_CONF, &text, NULL) < 0)
                return 0;
        rest = text;
        for (const char *line; (line = strsep(&rest, "\n"));) {
                const char *value = skip_prefix(line, "Storage=");

                if (value && string_replace(&storage, strdup(value)) < 0)
                        return -ENOMEM;
        }
        *ret = TAKE_PTR(storage);
        return 0;
}

void check_journal(const struct machine *machine, struct findings *findings)
{
        _cleanup_free_ char *storage = NULL;

        if (read_storage(machine, &storage) < 0)
                findings->out_of_memory = true;
        if (storage && (streq(storage, "volatile") || streq(storage, "none")))
                findings_add(findings, FINDING_WARNING, "Remove that line to look back at shutdowns.",
                        "Storage=%s in /" JOURNALD_CONF ": the journal does not outlive the boot.", storage);
        else if ((storage && streq(storage, "persistent")) || machine_has(machine, "var/log/journal"))
                findings_add(findings, FINDING_OK, NULL,
                        "The journal is kept, so that one can look back at shutdowns.");
        else
                findings_add(findings, FINDING_WARNING,
                        "Run: mkdir /var/log/journal && systemd-tmpfiles --create --prefix /var/log/journal",
                        "The journal does not outlive the boot, and nobody can look back at shutdowns.");
}
