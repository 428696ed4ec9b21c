/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints the unit of each VG that is named on standard input, a line each, for the test "unit-names"; "-" where
 * there is none. */

#include "shared/names.h"
#include "shared/util.h"

int main(void)
{
        _cleanup_free_ char *line = NULL;
        size_t allocated = 0;

        while (getline(&line, &allocated, stdin) > 0) {
                _cleanup_free_ char *unit = NULL;

                line[strcspn(line, "\n")] = '\0';
                puts(unit_name_of_vg(line, &unit) < 0 ? "-" : unit);
        }
        return EXIT_SUCCESS;
}
