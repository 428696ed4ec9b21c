/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate metadata: shows the number of metadata copies of VGs, and has lvm2 change it. */

#include "cli/verb.h"
#include "copies/copies.h"
#include "lvm/command.h"
#include "lvm/config.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

static const char *arg_balance;
static bool arg_yes, arg_force;

struct line {
        struct surveyed_vg vg;
        size_t n_pvs;
        uint64_t recommended; /* COLUMN_UNKNOWN if the number of copies is fine */
        char *reason;
};

static const struct column columns[] = {
        COLUMN("VG", ALWAYS, STRING, vg.name, "name of the volume group"),
        COLUMN("PVS", ALWAYS, NUMBER, n_pvs, "number of its physical volumes"),
        COLUMN("PVS-SEEN", ALWAYS, NUMBER, vg.n_seen, "number of physical volumes found"),
        COLUMN("COPIES", ALWAYS, NUMBER, vg.copies.n_used, "copies of its metadata in use"),
        COLUMN("IGNORED", ALWAYS, NUMBER, vg.copies.n_ignored, "copies that lvm2 ignores"),
        COLUMN("COPY-BYTES", ALWAYS, NUMBER, vg.text_size, "size of each copy"),
        COLUMN("RECOMMENDED", ALWAYS, NUMBER, recommended, "recommended number of copies"),
        COLUMN("REASON", ALWAYS, STRING, reason, "why that is recommended", .flags = SCOLS_FL_WRAP),
};

/* Logs an unknown name. Returns an exit status. */
static int check_names(const struct survey *survey, char *const names[], size_t n)
{
        FOREACH_ARRAY(name, names, n) {
                _cleanup_suggestion_ struct suggestion suggestion = {.wanted = *name};
                bool found = false;

                FOREACH_ARRAY(vg, survey->vgs, survey->n_vgs) {
                        found |= streq(vg->name, *name);
                        suggestion_consider(&suggestion, vg->name);
                }
                if (found)
                        continue;
                suggestion_log_unknown(&suggestion, "VG", "no disk has its metadata");
                return EXIT_NOT_ALL_UP;
        }
        return EXIT_SUCCESS;
}

/* Returns 0, or -EINVAL and has logged why. */
static int check_options(size_t n_names)
{
        uint32_t n_copies;

        if (!arg_balance && (arg_yes || arg_force))
                log_error("--yes and --force require --balance.");
        else if (!arg_balance)
                return 0;
        else if (parse_u32(arg_balance, &n_copies) < 0 || n_copies > INT32_MAX)
                log_error("Invalid number of copies: \"%s\".", arg_balance);
        else if (n_copies < 2 && !arg_force)
                log_error("One failed disk can lose the metadata with fewer than 2 copies; use --force.");
        else if (n_names == 0)
                log_error("--balance requires the names of VGs.");
        else
                return 0;
        return -EINVAL;
}

/* Asks only on a terminal, where the question can be read. */
static bool is_confirmed(const char *name)
{
        _cleanup_free_ char *answer = NULL;
        size_t size = 0;

        if (arg_yes || !isatty(STDIN_FILENO))
                return arg_yes;
        fprintf(stderr, "Run \"vgchange --vgmetadatacopies %s %s\"? [y/N] ", arg_balance, name);
        return getline(&answer, &size, stdin) > 0 && (streq(answer, "y\n") || streq(answer, "yes\n"));
}

/* Runs vgchange, unless there is a reason against it. Returns an exit status. */
static int balance(const char *name, const char *refusal)
{
        const char *const words[] = {"vgchange", "--vgmetadatacopies", arg_balance, "--", name, NULL};
        _cleanup_free_ char *output = NULL;
        int r;

        if (!refusal && !is_confirmed(name))
                refusal = "not confirmed on a terminal or by --yes";
        if (refusal) {
                log_error("VG %s is not changed: %s.", name, refusal);
                return EXIT_NOT_ALL_UP;
        }
        r = command_run(lvm_program(), words, &output);
        for (char *line, *rest = output; (line = strsep(&rest, "\n"));)
                if (*(line += strspn(line, " ")) != '\0')
                        log_info("lvm2: %s", line);
        if (r < 0)
                return verb_fail(r, "Failed to run vgchange for VG %s: %m", name);
        if (r > 0)
                log_error("VG %s is not changed: vgchange failed with exit status %i.", name, r);
        return r > 0 ? EXIT_NOT_ALL_UP : EXIT_SUCCESS;
}

/* Shows or changes one VG. Returns an exit status. */
static int handle_vg(const struct surveyed_vg *vg, const struct system_id *host, struct table *table)
{
        _cleanup_free_ char *reason = NULL;
        size_t recommended;
        int r = copies_recommend(vg, host, &recommended, &reason);

        if (r < 0)
                return verb_fail(r, "Failed to count the copies of VG %s: %m", vg->name);
        if (arg_balance)
                return balance(vg->name, r > 0 ? reason : NULL);
        table_add_line(table, NULL,
                &(struct line){
                        .vg = *vg,
                        .n_pvs = vg->metadata->n_pvs,
                        .recommended = recommended > 0 ? recommended : COLUMN_UNKNOWN,
                        .reason = reason,
                });
        return EXIT_SUCCESS;
}

static int run(char *names[], size_t n, struct table *table)
{
        _cleanup_config_ struct config config = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_strv_ struct strv devices = {};
        _cleanup_survey_ struct survey survey = {};
        _cleanup_close_ int root_fd = root_open();
        const struct strv asked = {names, n};
        int r, result;

        if (check_options(n) < 0)
                return EXIT_CANNOT_TELL;
        r = root_fd < 0 ? root_fd : config_read(root_fd, &config, &problems);
        if (r < 0)
                return verb_fail(r, "Failed to read lvm.conf: %m");
        r = copies_find_devices(&devices) ?: survey_make(&survey, devices.strings, devices.n);
        if (r < 0)
                return verb_fail(r, "Failed to read the PVs: %m");
        result = check_names(&survey, names, n);
        FOREACH_ARRAY(vg, survey.vgs, result == EXIT_SUCCESS ? survey.n_vgs : 0)
                if (n == 0 || strv_has(&asked, vg->name))
                        result = MAX(result, handle_vg(vg, &config.system_id, table));
        return arg_balance ? result : verb_print(table, result, "print the copies");
}

static const struct verb_option options[] = {
        {"balance", '\0', "N", "Run vgchange --vgmetadatacopies N", .value = &arg_balance},
        {"yes", 'y', NULL, "Do not ask", &arg_yes},
        {"force", '\0', NULL, "Allow fewer than 2 copies", &arg_force},
        {},
};

const struct verb verb_metadata = {"metadata", "[VG...]", "Show the number of metadata copies, or change it",
        .help = "Usage: headgate metadata [OPTION...] [VG...]\n"
                "       headgate metadata --balance N [--yes] [--force] VG...\n\n"
                "Show the number of metadata copies of volume groups, or have lvm2 change it.\n\n",
        .footer = "Exit status: 0, 1 if a volume group was not changed, 2 if headgate cannot tell.\n\n",
        .options = options, .root_only = "read the metadata on disks",
        .table = TABLE_KIND("volumegroups", columns), .run = run};
