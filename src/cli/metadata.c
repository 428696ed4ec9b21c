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
#include "shared/root.h"
#include "shared/suggestion.h"
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

/* ------ columns: each makes its cell of a line, NULL without memory ------ */

struct line {
        const struct surveyed_vg *vg;
        struct copies_cost cost;
        size_t recommended;
        char *reason;
};

static char *format_number(bool known, uint64_t number)
{
        return known ? string_format("%" PRIu64, number) : strdup("");
}

static char *format_vg(const void *data)
{
        const struct line *line = data;

        return string_printable(line->vg->metadata->name);
}

static char *format_pvs(const void *data)
{
        const struct surveyed_vg *vg = ((const struct line *) data)->vg;

        return vg->n_seen == vg->metadata->n_pvs ? string_format("%zu", vg->n_seen)
                                                 : string_format("%zu/%zu", vg->n_seen, vg->metadata->n_pvs);
}

static char *format_n_pvs(const void *data)
{
        const struct line *line = data;

        return format_number(true, line->vg->metadata->n_pvs);
}

static char *format_n_seen(const void *data)
{
        const struct line *line = data;

        return format_number(true, line->vg->n_seen);
}

static char *format_copies(const void *data)
{
        const struct line *line = data;

        return format_number(true, line->vg->n_used);
}

static char *format_ignored(const void *data)
{
        const struct line *line = data;

        return format_number(true, line->vg->n_ignored);
}

static char *format_damaged(const void *data)
{
        const struct line *line = data;

        return format_number(true, line->vg->n_damaged);
}

static char *format_copy_bytes(const void *data)
{
        const struct line *line = data;

        return format_number(true, line->vg->text_size);
}

static char *format_bytes(const void *data)
{
        const struct line *line = data;

        return format_number(true, line->vg->text_size * line->vg->n_used);
}

static char *format_read(const void *data)
{
        const struct line *line = data;

        return format_short_duration(line->cost.read_usec);
}

static char *format_read_usec(const void *data)
{
        const struct line *line = data;

        return format_number(true, line->cost.read_usec);
}

static char *format_fewer(const void *data)
{
        const struct line *line = data;

        return format_number(line->cost.fewer > 0, line->cost.fewer);
}

static char *format_fewer_read(const void *data)
{
        const struct line *line = data;

        return line->cost.fewer > 0 ? format_short_duration(line->cost.fewer_usec) : strdup("");
}

static char *format_fewer_read_usec(const void *data)
{
        const struct line *line = data;

        return format_number(line->cost.fewer > 0, line->cost.fewer_usec);
}

static char *format_recommended(const void *data)
{
        const struct line *line = data;

        return format_number(line->recommended > 0, line->recommended);
}

static char *format_reason(const void *data)
{
        const struct line *line = data;

        return strdup(line->reason);
}

static const char *color_of(const void *data)
{
        const struct line *line = data;

        return line->recommended > 0 ? "yellow" : NULL;
}

#define NUMBER_COLUMN(name, shown, description, format)                                                           \
        {                                                                                                         \
                name, description, shown, SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER, format                               \
        }

#define TEXT_COLUMN(name, description, format)                                                                    \
        {                                                                                                         \
                name, description, COLUMN_IN_TABLE, SCOLS_FL_RIGHT, SCOLS_JSON_STRING, format                     \
        }

static const struct column columns[] = {
        {"VG", "name of the volume group", COLUMN_ALWAYS, 0, SCOLS_JSON_STRING, format_vg},
        TEXT_COLUMN("PVS", "how many physical volumes it has; before a /, how many of them are there", format_pvs),
        NUMBER_COLUMN("N-PVS", COLUMN_IN_JSON, "how many physical volumes it has", format_n_pvs),
        NUMBER_COLUMN("N-PVS-SEEN", COLUMN_IN_JSON, "how many of them are there", format_n_seen),
        NUMBER_COLUMN("COPIES", COLUMN_ALWAYS, "how many copies of its metadata are in use", format_copies),
        NUMBER_COLUMN("IGNORED", COLUMN_ALWAYS, "how many lvm2 was told to ignore", format_ignored),
        NUMBER_COLUMN("DAMAGED", COLUMN_IN_JSON, "how many cannot be read", format_damaged),
        NUMBER_COLUMN("COPY-BYTES", COLUMN_ALWAYS, "how large each copy is", format_copy_bytes),
        NUMBER_COLUMN("BYTES", COLUMN_ALWAYS, "how large all that are in use are", format_bytes),
        TEXT_COLUMN("READ", "how long it takes to read them all", format_read),
        NUMBER_COLUMN("READ-USEC", COLUMN_IN_JSON, "the same, in microseconds", format_read_usec),
        NUMBER_COLUMN("FEWER", COLUMN_ALWAYS, "a smaller number of copies", format_fewer),
        TEXT_COLUMN("FEWER-READ", "how long it takes to read so many", format_fewer_read),
        NUMBER_COLUMN("FEWER-READ-USEC", COLUMN_IN_JSON, "the same, in microseconds", format_fewer_read_usec),
        {"RECOMMENDED", "how many it had better have; nothing if it is well as it is", COLUMN_ALWAYS,
                SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER, format_recommended, .color = color_of},
        {"REASON", "why", COLUMN_ALWAYS, SCOLS_FL_WRAP, SCOLS_JSON_STRING, format_reason},
};

static const struct table_verb verb = {
        help, "volumegroups", columns, ELEMENTSOF(columns), switches, ELEMENTSOF(switches)};

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
        return r < 0 ? log_error_errno(r, "Failed to read the PVs: %m") : 0;
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
        struct line line = {.vg = vg, .cost.fewer = copies_fewer(vg)};
        int r;

        line.cost.read_usec = survey_read_usec(vg, vg->n_used);
        line.cost.fewer_usec = survey_read_usec(vg, line.cost.fewer);
        r = copies_advise(vg, host, &line.cost, &line.recommended, &line.reason);
        if (r >= 0)
                r = table_add_line(table, NULL, &line, NULL);
        free(line.reason);
        return r;
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
        r = vgs ? table_new(&verb, &arg_table, &table) : -ENOMEM;
        if (r >= 0)
                r = survey_measure(survey, vgs, n_vgs);
        for (size_t i = 0; r >= 0 && i < n_vgs; i++)
                r = add_line(&table, vgs[i], host);
        if (r >= 0)
                r = table_print(&table);
        if (r < 0) {
                (void) log_error_errno(r, "Failed to read the copies: %m");
                return EXIT_CANNOT_TELL;
        }
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
                if (r < 0) {
                        (void) log_error_errno(r, "Failed to have lvm2 change VG %s: %m", names[i]);
                        return EXIT_CANNOT_TELL;
                }
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
