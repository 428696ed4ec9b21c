/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared/arguments.h"

#include <getopt.h>

int arguments_parse_plain(int argc, char *argv[], void (*help)(void))
{
        static const struct option options[] = {
                {"help", no_argument, NULL, 'h'},
                {"version", no_argument, NULL, 'V'},
                {},
        };

        /* "+": what follows the first word that is no option belongs to that word. */
        for (int c; (c = getopt_long(argc, argv, "+h", options, NULL)) >= 0;)
                switch (c) {
                case 'h':
                        help();
                        return 0;
                case 'V':
                        printf("headgate %s\n", HEADGATE_VERSION);
                        return 0;
                default:
                        return -EINVAL;
                }
        return 1;
}
