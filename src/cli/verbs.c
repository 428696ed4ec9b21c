/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/verbs.h"

#include "shared/log.h"
#include "shared/names.h"
#include "shared/program.h"
#include "shared/util.h"

static void say_unknown(const struct verb_choice *choice, const char *name)
{
        _cleanup_suggestion_ struct suggestion suggestion = {.wanted = name};
        _cleanup_free_ char *otherwise = string_format("see %s", choice->help_command);

        for (size_t i = 0; i < choice->n; i++)
                suggestion_consider(&suggestion, choice->verbs[i].name);
        suggestion_log_unknown(&suggestion, choice->what, otherwise ?: "see --help");
}

int verb_run(const struct verb_choice *choice, int argc, char *argv[])
{
        int r;

        r = arguments_parse_plain(argc, argv, choice->help);
        if (r <= 0)
                return r < 0 ? EXIT_CANNOT_TELL : EXIT_SUCCESS;
        if (optind == argc) {
                choice->help();
                return EXIT_CANNOT_TELL;
        }

        argc -= optind;
        argv += optind;
        /* 0, not 1: getopt_long() is to begin anew, with the verb as the program's name. */
        optind = 0;
        for (size_t i = 0; i < choice->n; i++)
                if (streq(choice->verbs[i].name, argv[0]))
                        return choice->verbs[i].function(argc, argv);

        say_unknown(choice, argv[0]);
        return EXIT_CANNOT_TELL;
}
