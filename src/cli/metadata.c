/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate metadata: how many copies of their metadata VGs have, what they cost, and another number of them. */

#include <inttypes.h>

#include "cli/metadata-balance.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "copies/advice.h"
#include "copies/devices.h"
#include "lvm/configuration.h"
#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

static struct table_options arg_table;
static const char *arg_balance;
static bool arg_yes;
static bool arg_force;

static void help(void)
{
        printf("Usage: headgate metadata [OPTION...] [VG...]\n"
               "       headgate metadata --balance N [--yes] [--force] VG...\n\n"
               "Show how many copies of its metadata each volume group has, how long it takes to read\n"
               "them, and with fewer; or have lvm2 keep another number of them.\n\n"
               "      --balance N      Have lvm2 keep so many, by vgchange --vgmetadatacopies\n"
               "  -y, --yes            Do not ask before\n"
               "      --force          Take numbers below 2, too\n" TABLE_HELP "\n"
               "Exit status: 0, 1 if a volume group was not changed, 2 if headgate cannot tell.\n\n"
               "See headgate-metadata(8).\n");
}

static const struct table_switch switches[] = {
        {"balance", '\0', NULL, &arg_balance},
        {"yes", 'y', &arg_yes},
        {"force", '\0', &arg_force},
};

/* ------ columns ------ */

struct line {
        struct surveyed_vg vg;
        const char *name;
        size_t n_pvs;
        uint64_t bytes, read_usec;
        uint64_t fewer, fewer_usec, recommended; /* COLUMN_UNKNOWN if there is no such number */
        char *reason;
};

/* "4/5", or "5" if all are there. */
static char *get_pvs(const void *data)
{
        const struct line *line = data;

        return line->vg.n_seen == line->n_pvs ? string_format("%zu", line->n_pvs)
                                              : string_format("%zu/%zu", line->vg.n_seen, line->n_pvs);
}

static const char *color_of(const void *data)
{
        const struct line *line = data;

        return line->recommended != COLUMN_UNKNOWN ? "yellow" : NULL;
}

#define FIELD(field) COLUMN_FIELD(struct line, field)

static const struct column columns[] = {
        {"VG", "name of the volume group", COLUMN_ALWAYS, COLUMN_NAME, FIELD(name)},
        {"PVS", "how many physical volumes it has; before a /, how many of them are there", COLUMN_IN_TABLE,
                COLUMN_STRING, .text = get_pvs, .flags = SCOLS_FL_RIGHT},
        {"N-PVS", "how many physical volumes it has", COLUMN_IN_JSON, COLUMN_NUMBER, FIELD(n_pvs)},
        {"N-PVS-SEEN", "how many of them are there", COLUMN_IN_JSON, COLUMN_NUMBER, FIELD(vg.n_seen)},
        {"COPIES", "how many copies of its metadata are in use", COLUMN_ALWAYS, COLUMN_NUMBER, FIELD(vg.n_used)},
        {"IGNORED", "how many lvm2 was told to ignore", COLUMN_ALWAYS, COLUMN_NUMBER, FIELD(vg.n_ignored)},
        {"DAMAGED", "how many cannot be read", COLUMN_IN_JSON, COLUMN_NUMBER, FIELD(vg.n_damaged)},
        {"COPY-BYTES", "how large each copy is", COLUMN_ALWAYS, COLUMN_NUMBER, FIELD(vg.text_size)},
        {"BYTES", "how large all that are in use are", COLUMN_ALWAYS, COLUMN_NUMBER, FIELD(bytes)},
        COLUMNS_OF_TIME("READ", "how long it takes to read them all", COLUMN_SHORT_DURATION, FIELD(read_usec)),
        {"FEWER", "a smaller number of copies", COLUMN_ALWAYS, COLUMN_NUMBER, FIELD(fewer)},
        COLUMNS_OF_TIME(
                "FEWER-READ", "how long it takes to read so many", COLUMN_SHORT_DURATION, FIELD(fewer_usec)),
        {"RECOMMENDED", "how many it had better have; nothing if it is well as it is", COLUMN_ALWAYS,
                COLUMN_NUMBER, FIELD(recommended), .color = color_of},
        {"REASON", "why", COLUMN_ALWAYS, COLUMN_STRING, FIELD(reason), .flags = SCOLS_FL_WRAP},
};

static const struct table_kind kind = {"volumegroups", columns, ELEMENTSOF(columns)};
static const struct table_verb verb = {
        &kind, .help = help, .switches = switches, .n_switches = ELEMENTSOF(switches)};

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

static int read_system_id(struct configuration *configuration)
{
        _cleanup_problems_ struct problems problems = {};
        _cleanup_close_ int root_fd = root_open();
        int r = root_fd;

        if (r >= 0)
                r = configuration_read(root_fd, configuration, &problems);
        return r < 0 ? log_error_errno(r, "Failed to read lvm.conf: %m") : 0;
}

/* Returns 0, or -ENOENT, having said which name is not known. */
static int check_names(const struct survey *survey, char *const names[], size_t n)
{
        for (size_t i = 0; i < n; i++) {
                _cleanup_suggestion_ struct suggestion suggestion = {.wanted = names[i]};

                if (survey_find(survey, names[i]))
                        continue;
                for (size_t j = 0; j < survey->n_vgs; j++)
                        suggestion_consider(&suggestion, survey->vgs[j].metadata->name);
                suggestion_log_unknown(&suggestion, "VG", "none of its metadata is on any disk");
                return -ENOENT;
        }
        return 0;
}

static bool is_asked_for(const struct surveyed_vg *vg, char *const names[], size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (streq(vg->metadata->name, names[i]))
                        return true;
        return n == 0;
}

/* ------ showing ------ */

static int add_line(struct table *table, const struct surveyed_vg *vg, const struct system_id *host)
{
        struct copies_cost cost = {.fewer = copies_fewer(vg)};
        _cleanup_free_ char *reason = NULL;
        size_t recommended;
        int r;

        cost.read_usec = survey_read_usec(vg, vg->n_used);
        cost.fewer_usec = survey_read_usec(vg, cost.fewer);
        r = copies_advise(vg, host, &cost, &recommended, &reason);
        if (r < 0)
                return r;
        return table_add_line(table, NULL,
                &(struct line){
                        .vg = *vg,
                        .name = vg->metadata->name,
                        .n_pvs = vg->metadata->n_pvs,
                        .bytes = vg->text_size * vg->n_used,
                        .read_usec = cost.read_usec,
                        .fewer = cost.fewer > 0 ? cost.fewer : COLUMN_UNKNOWN,
                        .fewer_usec = cost.fewer > 0 ? cost.fewer_usec : COLUMN_UNKNOWN,
                        .recommended = recommended > 0 ? recommended : COLUMN_UNKNOWN,
                        .reason = reason,
                },
                NULL);
}

static int show(struct survey *survey, const struct system_id *host, char *const names[], size_t n)
{
        _cleanup_free_ const struct surveyed_vg **vgs = calloc(survey->n_vgs + 1, sizeof(*vgs));
        _cleanup_table_ struct table table = {};
        size_t n_vgs = 0;
        int r;

        for (size_t i = 0; vgs && i < survey->n_vgs; i++)
                if (is_asked_for(&survey->vgs[i], names, n))
                        vgs[n_vgs++] = &survey->vgs[i];
        r = vgs ? table_new(&arg_table, &table) : -ENOMEM;
        if (r >= 0)
                r = survey_measure(survey, vgs, n_vgs);
        for (size_t i = 0; r >= 0 && i < n_vgs; i++)
                r = add_line(&table, vgs[i], host);
        if (r >= 0)
                r = table_print(&table);
        if (r < 0)
                return verb_fail(r, "Failed to read the copies: %m");
        return EXIT_SUCCESS;
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

/* Says how many copies there are after all. */
static int tell_result(const char *name)
{
        _cleanup_survey_ struct survey survey = {};
        const struct surveyed_vg *vg;
        int r;

        r = make_survey(&survey);
        vg = r >= 0 ? survey_find(&survey, name) : NULL;
        if (vg)
                log_info("VG %s has %zu %s in use now, and %zu ignored.", name, vg->n_used,
                        vg->n_used == 1 ? "copy" : "copies", vg->n_ignored);
        return r;
}

static int balance(const struct survey *survey, const struct system_id *host, char *const names[], size_t n,
        uint32_t n_copies)
{
        int status = EXIT_SUCCESS, r;

        for (size_t i = 0; i < n; i++) {
                r = metadata_balance(
                        survey_find(survey, names[i]), host, n_copies, arg_yes ? BALANCE_GIVEN : BALANCE_ASK);
                if (r < 0)
                        return verb_fail(r, "Failed to have lvm2 change VG %s: %m", names[i]);
                if (r == 0)
                        status = EXIT_NOT_ALL_UP;
                else if (tell_result(names[i]) < 0)
                        return EXIT_CANNOT_TELL;
        }
        return status;
}

int verb_metadata(int argc, char *argv[])
{
        _cleanup_configuration_ struct configuration configuration = {};
        _cleanup_survey_ struct survey survey = {};
        char *const *names;
        uint32_t n_copies = 0;
        size_t n;
        int r;

        r = table_parse_options(argc, argv, &verb, &arg_table);
        if (r <= 0)
                return -r;
        names = argv + optind;
        n = (size_t) (argc - optind);

        r = parse_balance(n, &n_copies);
        if (r >= 0)
                r = read_system_id(&configuration);
        if (r >= 0)
                r = make_survey(&survey);
        if (r < 0)
                return EXIT_CANNOT_TELL;
        if (check_names(&survey, names, n) < 0)
                return EXIT_NOT_ALL_UP;
        return arg_balance ? balance(&survey, &configuration.system_id, names, n, n_copies)
                           : show(&survey, &configuration.system_id, names, n);
}
