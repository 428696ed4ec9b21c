/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate: the command. Finds the verb, parses its options, creates its table if it has one, and runs it. */

#include <assert.h>
#include <ctype.h>
#include <getopt.h>

#include "cli/verb.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

/* Without a function: run() handles it. */
static const struct verb verb_help = {"help", "[VERB...]", "Show this help, or the help of a verb"};

static const struct verb *const verbs[] = {&verb_status, &verb_why, &verb_tree, &verb_blame, &verb_plot,
        &verb_shutdown_log, &verb_doctor, &verb_report, &verb_activate, &verb_deactivate, &verb_wait, &verb_plan,
        &verb_metadata, &verb_enable, &verb_disable, &verb_help, NULL};

static const struct verb headgate = {
        .help = "Usage: headgate [OPTION...] VERB ...\n\n"
                "Activate and deactivate LVM volume groups.\n\n"
                "Verbs:\n",
        .footer = "See headgate(8). The help of each verb names its manual page.\n",
        .verbs = verbs,
        .choice = "verb",
};

/* ------ options ------ */

static struct table_options arg_table;
static bool arg_help;
static bool arg_list_columns;
static bool arg_version;

/* Options of all verbs with a table, besides their own. Other verbs have only the last one. */
static const struct verb_option table_options[] = {
        {"json", '\0', NULL, "Print JSON", &arg_table.json},
        {"output", 'o', "LIST", "Show these columns; with +LIST, add them", .value = &arg_table.columns},
        {"list-columns", '\0', NULL, "List the columns and exit", &arg_list_columns},
        {"noheadings", '\0', NULL, "Omit the headings", &arg_table.no_headings},
        {"no-legend", '\0', NULL, "Same as --noheadings", &arg_table.no_headings},
        {"help", 'h', NULL, "Show this help", &arg_help},
        {},
};

static const struct verb_option choice_options[] = {
        {"help", 'h', NULL, "Show this help; VERB --help explains a verb", &arg_help},
        {"version", 'V', NULL, "Show the version", &arg_version},
        {},
};

/* Value of getopt_long() for the first option; an option with a letter has the letter as value. */
#define OPTION_FIRST 256

#define OPTIONS_MAX 16

struct verb_options {
        struct verb_option rows[OPTIONS_MAX];
        struct option long_options[OPTIONS_MAX + 1];
        size_t n;
        const char *command; /* "headgate plan initrd", for messages */
};

static void add_options(struct verb_options *options, const struct verb_option *rows)
{
        for (; rows && rows->name; rows++) {
                int has_argument = !rows->argument          ? no_argument
                                   : *rows->argument == '[' ? optional_argument
                                                            : required_argument;

                assert(options->n < OPTIONS_MAX);
                options->long_options[options->n] = (struct option){
                        rows->name, has_argument, NULL, rows->letter ?: OPTION_FIRST + (int) options->n};
                options->rows[options->n++] = *rows;
        }
}

static void print_help(const struct verb *verb, const struct verb_options *options)
{
        printf("%s", verb->help);
        for (const struct verb *const *choice = verb->verbs; choice && *choice; choice++)
                printf("  %-12s %-11s %s\n", (*choice)->name, (*choice)->arguments, (*choice)->description);
        if (verb->verbs)
                printf("\nOptions:\n");
        FOREACH_ARRAY(row, options->rows, options->n) {
                const char letter[] = {'-', row->letter, ',', '\0'}, *argument = row->argument ?: "";
                int width = printf("  %-3s --%s%s%s", row->letter != '\0' ? letter : "", row->name,
                        *argument != '\0' && *argument != '[' ? " " : "", argument);

                printf("%*s%s\n", 26 - width, "", row->help);
        }
        printf("\n%s", verb->footer ?: "");
        if (verb->name)
                printf("See headgate-%s(8).\n", verb->page ?: verb->name);
}

/* Finds an option by the value of getopt_long() or optopt; NULL if there is none. */
static const struct verb_option *find_option(const struct verb_options *options, int c)
{
        for (size_t i = 0; i < options->n; i++)
                if (c == options->long_options[i].val)
                        return &options->rows[i];
        return NULL;
}

/* getopt_long() also accepts the beginning of a long option, unless several begin like that. */
static void log_unknown_option(const struct verb_options *options, const char *word)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = word};
        size_t n_longer = 0;

        FOREACH_ARRAY(row, options->rows, options->n) {
                struct path name = path_format("--%s", row->name);

                suggestion_consider(&suggestion, name.text);
                n_longer += skip_prefix(name.text, word) != NULL;
        }
        log_error("%s option \"%s\"%s%s%s See \"%s --help\".", n_longer > 1 ? "Ambiguous" : "Unknown", word,
                suggestion.nearest ? "; did you mean \"" : ".", suggestion.nearest ?: "",
                suggestion.nearest ? "\"?" : "", options->command);
}

/* `c` is what getopt_long() has returned for an option that it does not accept: ':' if its argument is missing. */
static void log_refused_option(const struct verb_options *options, int c, const char *last_word)
{
        const struct verb_option *row = find_option(options, optopt);

        if (row)
                log_error("Option \"--%s\" %s. See \"%s --help\".", row->name,
                        c == ':' ? "requires an argument" : "takes no argument", options->command);
        else if (optopt != 0)
                log_unknown_option(options, path_format("-%c", optopt).text);
        else
                log_unknown_option(options, path_format("%.*s", (int) strcspn(last_word, "="), last_word).text);
}

/* As with "journalctl -b -1". No option is a digit, and no VG has a name that begins with "-". */
static bool takes_offset(const struct verb_option *row, const char *word)
{
        return row->argument && row->argument[0] == '[' && word && word[0] == '-' &&
               isdigit((unsigned char) word[1]);
}

/* Returns 1 to continue, with arguments from argv[optind] on; or a negated exit status. */
static int parse_options(const struct verb *verb, const struct verb_options *rows, int argc, char *argv[])
{
        char letters[2 * OPTIONS_MAX + 3] = "", *letter = letters;

        /* Options after the first argument belong to the verb that it names. */
        if (verb->verbs)
                *letter++ = '+';
        /* With ":", getopt_long() distinguishes a missing argument from an unknown option. */
        *letter++ = ':';
        FOREACH_ARRAY(option, rows->long_options, rows->n)
                if (option->val < OPTION_FIRST)
                        letter +=
                                sprintf(letter, option->has_arg == required_argument ? "%c:" : "%c", option->val);
        opterr = 0;
        /* 0, not 1, resets getopt_long() for each verb. */
        optind = 0;
        for (int c; (c = getopt_long(argc, argv, letters, rows->long_options, NULL)) >= 0;) {
                const struct verb_option *row = find_option(rows, c);

                if (!row) {
                        log_refused_option(rows, c, argv[optind - 1]);
                        return -EXIT_CANNOT_TELL;
                }
                if (row->given)
                        *row->given = true;
                if (!optarg && takes_offset(row, argv[optind]))
                        optarg = argv[optind++];
                if (row->value)
                        *row->value = optarg;
                if (row->usec && parse_time_span(optarg, row->usec) < 0) {
                        log_error(
                                "Option \"--%s\" requires a time span such as \"90\", \"500ms\" or \"1min 30s\", not \"%s\". See \"%s --help\".",
                                row->name, optarg, rows->command);
                        return -EXIT_CANNOT_TELL;
                }
                if (arg_help)
                        print_help(verb, rows);
                if (arg_version)
                        printf("headgate %s\n", HEADGATE_VERSION);
                if (arg_help || arg_version)
                        return -EXIT_SUCCESS;
        }
        return 1;
}

/* ------ verbs ------ */

/* Logs an unknown name. Returns NULL then. */
static const struct verb *find_verb(const struct verb *of, const char *command, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};

        for (const struct verb *const *verb = of->verbs; *verb; verb++) {
                if (streq((*verb)->name, name))
                        return *verb;
                suggestion_consider(&suggestion, (*verb)->name);
        }
        suggestion_log_unknown(&suggestion, of->choice, path_format("see \"%s --help\"", command).text);
        return NULL;
}

static int run_verb(const struct verb *verb, const char *command, char *names[], size_t n)
{
        const struct table_kind *kind = verb->choose_table ? verb->choose_table() : verb->table;
        _cleanup_table_ struct table table = {};
        int r;

        if (verb->choose_table && !kind)
                return EXIT_CANNOT_TELL;
        if (kind && arg_list_columns) {
                table_list_columns(kind);
                return EXIT_SUCCESS;
        }
        if (verb->takes_no_names && n > 0)
                return verb_refuse("Unexpected argument \"%s\". See \"%s --help\".", names[0], command);
        /* Tests read files of their own. */
        if (verb->root_only && geteuid() != 0 && !root_is_chosen())
                return verb_refuse("Only root can %s.", verb->root_only);
        r = kind ? table_new(kind, &arg_table, &table) : 0;
        if (r == -ENOMEM)
                log_oom();
        return r < 0 ? EXIT_CANNOT_TELL : verb->run(names, n, &table);
}

static int run(int argc, char *argv[])
{
        const struct verb *verb = &headgate;
        char command[64] = "headgate";
        bool help = false;

        while (verb) {
                struct verb_options options = {.command = command};
                int r;

                add_options(&options, verb->options);
                add_options(&options, verb->verbs ? choice_options
                                      : verb->table || verb->choose_table
                                              ? table_options
                                              : &table_options[ELEMENTSOF(table_options) - 2]);
                r = parse_options(verb, &options, argc, argv);
                if (r <= 0)
                        return -r;
                argc -= optind;
                argv += optind;
                if (verb->run && !help)
                        return run_verb(verb, command, argv, (size_t) argc);
                if (argc == 0 || verb->run) {
                        print_help(verb, &options);
                        return help ? EXIT_SUCCESS : EXIT_CANNOT_TELL;
                }
                verb = find_verb(verb, command, argv[0]);
                /* The arguments are verbs, and none of them runs. */
                if (verb == &verb_help) {
                        help = true;
                        verb = &headgate;
                } else if (verb) {
                        (void) snprintf(
                                command + strlen(command), sizeof(command) - strlen(command), " %s", verb->name);
                }
        }
        return EXIT_CANNOT_TELL;
}

int main(int argc, char *argv[])
{
        int status;

        log_open("headgate", log_target_of_stderr());
        status = run(argc, argv);
        if (fflush(stdout) == 0 && !ferror(stdout))
                return status;
        return verb_fail(-errno, "Failed to write to standard output: %m");
}
