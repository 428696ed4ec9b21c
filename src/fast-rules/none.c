/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Instead of everything else in this folder where headgate is built without it (-Dfast_dm_rules=false): there are no
 * such rules, so there is nothing to do for them. */

#include "fast-rules/cookies.h"
#include "fast-rules/dm-names.h"
#include "fast-rules/rules.h"
#include "shared/log.h"

struct cookies *cookies_free(_unused_ struct cookies *cookies)
{
        return NULL;
}

void cookies_expect(_unused_ struct cookies **cookies, _unused_ sd_event *event, _unused_ int run_fd)
{
}

int cookies_withdraw(_unused_ struct cookies *cookies)
{
        return 0;
}

int cookies_drain(_unused_ struct cookies *cookies)
{
        return 0;
}

int cookies_adopt(_unused_ int run_fd)
{
        return 0;
}

int dm_names_write(_unused_ int run_fd, _unused_ const struct volume_group *volume_group)
{
        return 0;
}

void dm_names_remove(_unused_ int run_fd, _unused_ const struct volume_group *volume_group)
{
}

int install_rule_overrides(void)
{
        return log_error_errno(-EOPNOTSUPP, "headgate was built without fast device-mapper rules.");
}

int rule_overrides_find_obstacles(_unused_ int root_fd, _unused_ struct string_vector *ret)
{
        return 0;
}
