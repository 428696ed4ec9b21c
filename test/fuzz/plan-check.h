/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Makes the generator's plan of what is below fuzz_root(), and looks whether it is one: VGs in the order of their
 * names, each with a reason, and problems of one printable line. Ends as a find where it is not. */
void plan_check(void);
