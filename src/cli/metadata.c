/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate metadata: how many copies of their metadata VGs have, what they cost, and another number of them. */

#include <inttypes.h>

#include "cli/verb.h"
#include "copies/copies.h"
#include "lvm/command.h"
#include "lvm/configuration.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

static const char *arg_balance;
static bool arg_yes;
static bool arg_force;

/* ------ what there is ------ */

/* Returns 0, or a negative errno, having said what is wrong. */
static int make_survey(struct survey *survey)
{
        _cleanup_string_vector_ struct string_vector devices = {};
        int r;

        r = copies_find_devices(&devices);
        if (r >= 0)
                r = survey_make(survey, devices.strings, devices.n);
        if (r >= 0 && survey->n_pvs == 0 && survey->error < 0)
                r = survey->error;
        /* An unresponsive device has been logged. */
        return r < 0 && r != -ETIMEDOUT ? log_error_errno(r, "Failed to read the PVs: %m") : MIN(r, 0);
}

/* Returns 0, or -ENOENT, having said which name is not known. */
static int check_names(const struct survey *survey, char *const names[], size_t n)
{
        for (size_t i = 0; i < n; i++) {
                _cleanup_suggestion_ struct suggestion suggestion = {.wanted = names[i]};

                if (survey_find(survey, names[i]))
                        continue;
                FOREACH_ARRAY(vg, survey->vgs, survey->n_vgs)
                        suggestion_consider(&suggestion, vg->metadata->name);
                suggestion_log_unknown(&suggestion, "VG", "none of its metadata is on any disk");
                return -ENOENT;
        }
        return 0;
}

/* ------ showing ------ */

struct line {
        const char *color;
        struct surveyed_vg vg;
        const char *name;
        char pvs[48]; /* "4/5", or "5" if all are there */
        size_t n_pvs;
        uint64_t bytes, read_usec;
        uint64_t fewer, fewer_usec, recommended; /* COLUMN_UNKNOWN if there is no such number */
        char *reason;
};

static const struct column columns[] = {
        COLUMN("VG", ALWAYS, STRING, name, "name of the volume group"),
        COLUMN("PVS", IN_TABLE, CHARS, pvs,
                "how many physical volumes it has; before a /, how many of them are there",
                .flags = SCOLS_FL_RIGHT),
        COLUMN("N-PVS", IN_JSON, NUMBER, n_pvs, "how many physical volumes it has"),
        COLUMN("N-PVS-SEEN", IN_JSON, NUMBER, vg.n_seen, "how many of them are there"),
        COLUMN("COPIES", ALWAYS, NUMBER, vg.n_used, "how many copies of its metadata are in use"),
        COLUMN("IGNORED", ALWAYS, NUMBER, vg.n_ignored, "how many lvm2 was told to ignore"),
        COLUMN("DAMAGED", IN_JSON, NUMBER, vg.n_damaged, "how many cannot be read"),
        COLUMN("COPY-BYTES", ALWAYS, NUMBER, vg.text_size, "how large each copy is"),
        COLUMN("BYTES", ALWAYS, NUMBER, bytes, "how large all that are in use are"),
        COLUMNS_OF_TIME("READ", SHORT_DURATION, read_usec, "how long it takes to read them all"),
        COLUMN("FEWER", ALWAYS, NUMBER, fewer, "a smaller number of copies"),
        COLUMNS_OF_TIME("FEWER-READ", SHORT_DURATION, fewer_usec, "how long it takes to read so many"),
        COLUMN("RECOMMENDED", ALWAYS, NUMBER, recommended,
                "how many it had better have; nothing if it is well as it is", .colored = true),
        COLUMN("REASON", ALWAYS, STRING, reason, "why", .flags = SCOLS_FL_WRAP),
};

static int add_line(struct table *table, const struct surveyed_vg *vg, const struct system_id *host)
{
        size_t n_pvs = vg->metadata->n_pvs, fewer = copies_fewer(vg), recommended;
        const struct copies_cost cost = {
                .read_usec = survey_read_usec(vg, vg->n_used),
                .fewer = fewer,
                .fewer_usec = survey_read_usec(vg, fewer),
        };
        _cleanup_free_ char *reason = NULL;
        struct line line;
        int r;

        r = copies_advise(vg, host, &cost, &recommended, &reason);
        if (r < 0)
                return r;
        line = (struct line){
                .color = recommended > 0 ? "yellow" : NULL,
                .vg = *vg,
                .name = vg->metadata->name,
                .n_pvs = n_pvs,
                .bytes = vg->text_size * vg->n_used,
                .read_usec = cost.read_usec,
                .fewer = fewer > 0 ? fewer : COLUMN_UNKNOWN,
                .fewer_usec = fewer > 0 ? cost.fewer_usec : COLUMN_UNKNOWN,
                .recommended = recommended > 0 ? recommended : COLUMN_UNKNOWN,
                .reason = reason,
        };
        (void) snprintf(line.pvs, sizeof(line.pvs), "%zu/%zu", vg->n_seen, n_pvs);
        if (vg->n_seen == n_pvs)
                (void) snprintf(line.pvs, sizeof(line.pvs), "%zu", n_pvs);
        table_add_line(table, NULL, &line);
        return 0;
}

static int show(
        struct survey *survey, const struct system_id *host, char *const names[], size_t n, struct table *table)
{
        _cleanup_free_ const struct surveyed_vg **vgs = calloc(survey->n_vgs + 1, sizeof(*vgs));
        const struct string_vector asked = {(char **) names, n};
        size_t n_vgs = 0;
        int r;

        for (size_t i = 0; vgs && i < survey->n_vgs; i++)
                if (n == 0 || string_vector_has(&asked, survey->vgs[i].metadata->name))
                        vgs[n_vgs++] = &survey->vgs[i];
        r = vgs ? survey_measure(survey, vgs, n_vgs) : -ENOMEM;
        for (size_t i = 0; r >= 0 && i < n_vgs; i++)
                r = add_line(table, vgs[i], host);
        return verb_print(table, r, "read the copies");
}

/* ------ changing ------ */

/* Returns 0 and the number, or -EINVAL, having said what is wrong. */
static int parse_balance(size_t n_names, uint32_t *ret)
{
        if (!arg_balance && (arg_yes || arg_force))
                log_error("--yes and --force are for --balance, see --help.");
        else if (!arg_balance)
                return 0;
        else if (parse_u32(arg_balance, ret) < 0 || *ret > INT32_MAX)
                log_error("\"%s\" is no number of copies.", arg_balance);
        else if (*ret < 2 && !arg_force)
                log_error(
                        "With %s the metadata could be lost with one disk; --force takes that number nevertheless.",
                        *ret == 0 ? "no copy" : "one copy");
        else if (n_names == 0)
                log_error("Name the VGs that are to be changed.");
        else
                return 0;
        return -EINVAL;
}

static void announce(const struct surveyed_vg *vg, uint32_t n_copies)
{
        size_t n_areas = vg->n_used + vg->n_ignored;

        log_info("VG %s has %zu %s of its metadata in use, and %zu ignored.", vg->metadata->name, vg->n_used,
                vg->n_used == 1 ? "copy" : "copies", vg->n_ignored);
        if (n_copies == 0)
                log_info("\"vgchange --vgmetadatacopies 0\" has lvm2 no longer see to how many there are.");
        else if (n_copies >= n_areas)
                log_info("\"vgchange --vgmetadatacopies %" PRIu32 "\" has lvm2 use all %zu, and no more.",
                        n_copies, n_areas);
        else
                log_info("\"vgchange --vgmetadatacopies %" PRIu32 "\" has lvm2 use %" PRIu32
                         ", on PVs of its choice, and "
                         "ignore the other %zu.",
                        n_copies, n_copies, n_areas - n_copies);
}

/* Only from a terminal: nobody else can have read what is asked. */
static bool ask(void)
{
        _cleanup_free_ char *answer = NULL;
        size_t size = 0;

        if (!isatty(STDIN_FILENO)) {
                log_error("Nothing is changed: give --yes where nobody can be asked.");
                return false;
        }
        fprintf(stderr, "Go on? [y/N] ");
        if (getline(&answer, &size, stdin) > 0 && (streq(answer, "y\n") || streq(answer, "yes\n")))
                return true;
        log_error("Nothing is changed.");
        return false;
}

/* Returns the exit status of vgchange, or a negative errno. */
static int run_vgchange(const char *name, uint32_t n_copies)
{
        _cleanup_free_ char *number = string_format("%" PRIu32, n_copies), *output = NULL;
        const char *const words[] = {"vgchange", "--vgmetadatacopies", number, "--"};
        _cleanup_string_vector_ struct string_vector arguments = {};
        int r = number ? string_vector_add_all(&arguments, words, ELEMENTSOF(words)) : -ENOMEM;

        if (r >= 0)
                r = string_vector_add(&arguments, name);
        if (r >= 0)
                r = command_run(lvm_program(), (const char *const *) arguments.strings, &output);
        for (char *line, *rest = output; (line = strsep(&rest, "\n"));)
                if (line[strspn(line, " \t")] != '\0')
                        log_info("lvm2: %s", line + strspn(line, " \t"));
        /* Of one that was killed there is output, too. */
        return r == -EIO && output ? EXIT_FAILURE : r;
}

/* Has lvm2 keep another number of copies. Returns an exit status. */
static int balance_one(const struct surveyed_vg *vg, const struct system_id *host, uint32_t n_copies)
{
        const char *name = vg->metadata->name;
        _cleanup_free_ char *refusal = NULL;
        _cleanup_survey_ struct survey after = {};
        int r;

        r = copies_describe_refusal(vg, host, &refusal);
        if (r >= 0 && refusal) {
                log_error("VG %s is left alone: %s.", name, refusal);
                return EXIT_NOT_ALL_UP;
        }
        if (r >= 0) {
                announce(vg, n_copies);
                if (!arg_yes && !ask())
                        return EXIT_NOT_ALL_UP;
                r = run_vgchange(name, n_copies);
        }
        if (r < 0)
                return verb_fail(r, "Failed to have lvm2 change VG %s: %m", name);
        if (r > 0) {
                log_error("lvm2 has not changed VG %s: vgchange has ended with status %i.", name, r);
                return EXIT_NOT_ALL_UP;
        }

        if (make_survey(&after) < 0)
                return EXIT_CANNOT_TELL;
        vg = survey_find(&after, name);
        if (vg)
                log_info("VG %s has %zu %s in use now, and %zu ignored.", name, vg->n_used,
                        vg->n_used == 1 ? "copy" : "copies", vg->n_ignored);
        return EXIT_SUCCESS;
}

static int run(char *names[], size_t n, struct table *table)
{
        _cleanup_configuration_ struct configuration configuration = {};
        _cleanup_problems_ struct problems problems = {};
        _cleanup_survey_ struct survey survey = {};
        _cleanup_close_ int root_fd = root_open();
        int r, result = EXIT_SUCCESS;
        uint32_t n_copies = 0;

        if (parse_balance(n, &n_copies) < 0)
                return EXIT_CANNOT_TELL;
        r = root_fd < 0 ? root_fd : configuration_read(root_fd, &configuration, &problems);
        if (r < 0)
                return verb_fail(r, "Failed to read lvm.conf: %m");
        if (make_survey(&survey) < 0)
                return EXIT_CANNOT_TELL;
        if (check_names(&survey, names, n) < 0)
                return EXIT_NOT_ALL_UP;
        if (!arg_balance)
                return show(&survey, &configuration.system_id, names, n, table);
        for (size_t i = 0; result != EXIT_CANNOT_TELL && i < n; i++)
                result = MAX(
                        result, balance_one(survey_find(&survey, names[i]), &configuration.system_id, n_copies));
        return result;
}

static const struct verb_option options[] = {
        {"balance", '\0', "N", "Have lvm2 keep so many, by vgchange --vgmetadatacopies", .value = &arg_balance},
        {"yes", 'y', NULL, "Do not ask before", &arg_yes},
        {"force", '\0', NULL, "Take numbers below 2, too", &arg_force},
        {},
};

const struct verb verb_metadata = {"metadata", "[VG...]",
        "Show what copies of metadata cost, or keep fewer of them",
        .help = "Usage: headgate metadata [OPTION...] [VG...]\n"
                "       headgate metadata --balance N [--yes] [--force] VG...\n\n"
                "Show how many copies of its metadata each volume group has, how long it takes to read\n"
                "them, and with fewer; or have lvm2 keep another number of them.\n\n",
        .footer = "Exit status: 0, 1 if a volume group was not changed, 2 if headgate cannot tell.\n\n",
        .options = options, .table = TABLE_KIND("volumegroups", columns), .run = run};
