/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor/checks.h"

#include "headgate-rule.h"
#include "shared/udev.h"

#define HEADGATE_RULE "68-headgate.rules"

/* HEADGATE_RULE_TEXT is the rule as it is built together with this program. */
void check_headgate_rule(const struct machine *machine, struct findings *findings)
{
        _cleanup_free_ char *path = NULL, *installed = NULL, *text = NULL;
        int r;

        r = rule_file_find(machine->sources.root_fd, HEADGATE_RULE, &path);
        if (r == -ENOENT) {
                findings_add(findings, FINDING_FAILED, "Install headgate again.",
                        HEADGATE_RULE " is not there: udev does not tell headgate of disks.");
                return;
        }
        if (r >= 0)
                r = read_file_at(machine->sources.root_fd, path, &text, NULL);
        if (r >= 0 && streq(text, HEADGATE_RULE_TEXT))
                findings_add(findings, FINDING_OK, NULL, "/%s is that of headgate " HEADGATE_VERSION ".", path);
        else if (machine_has_mask(machine, path))
                findings_add(findings, FINDING_FAILED, "Remove that link.",
                        "/%s masks headgate's rule: udev does not tell headgate of disks.", path);
        else if (r < 0)
                findings_add_unknown(findings, r, "/%s cannot be read: %m.", path);
        else if (rule_file_find_installed(machine->sources.root_fd, HEADGATE_RULE, &installed) < 0 ||
                 !streq(installed, path))
                findings_add(findings, FINDING_WARNING, "Remove that file, or compare it with the installed one.",
                        "/%s takes the place of headgate's own rule, and is not that of headgate " HEADGATE_VERSION
                        ".",
                        path);
        else
                findings_add(findings, FINDING_WARNING, "Install headgate again.",
                        "/%s is not that of headgate " HEADGATE_VERSION ": changed, or of another version.", path);
}

/* What the rule has been since lvm2 2.03.14, when pvscan began to tell udev of complete VGs. Before that it
 * started a service for each PV, or pvscan in the background. */
static bool is_known(const char *text)
{
        return strstr(text, "LVM_VG_NAME_COMPLETE") != NULL;
}

void check_stock_rule(const struct machine *machine, struct findings *findings)
{
        for (size_t i = 0; i < STOCK_RULES_N; i++) {
                _cleanup_free_ char *path = NULL, *text = NULL;
                int r = rule_file_find_installed(machine->sources.root_fd, stock_rules[i], &path);

                if (r == -ENOENT)
                        continue;
                if (r >= 0)
                        r = read_file_at(machine->sources.root_fd, path, &text, NULL);
                if (r < 0)
                        findings_add_unknown(findings, r, "%s cannot be read: %m.", path ?: stock_rules[i]);
                else if (is_known(text))
                        findings_add(findings, FINDING_OK, NULL,
                                "/%s is of a kind that headgate knows, and there to be given back to.", path);
                else
                        findings_add(findings, FINDING_WARNING,
                                "Compare it with 68-headgate.rules; headgate is made for lvm2 2.03.16 and later.",
                                "/%s is not of a kind that headgate knows.", path);
                return;
        }
        findings_add(findings, FINDING_WARNING, "Install lvm2's udev rule.",
                "lvm2's udev rule is not installed: if headgate is given up, nobody activates VGs.");
}
