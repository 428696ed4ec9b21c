/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Device-mapper tasks, and text in lvm.conf's syntax with the checks that libdevmapper's parser needs. */

#include "shared/dm.h"

#include <sys/sysmacros.h>

#include "shared/log.h"
#include "shared/util.h"

/* Metadata has four levels: VG, logical_volumes, LV and segment. The parser crashes at 100,000. Braces in strings
 * and comments count, too. */
#define NESTING_MAX 1000

struct dm_task *dm_task_new(int type, dev_t number)
{
        _cleanup_dm_task_ struct dm_task *task = dm_task_create(type);

        if (!task || !dm_task_set_major_minor(task, (int) major(number), (int) minor(number), 0))
                return NULL;
        return TAKE_PTR(task);
}

int dm_open_count(dev_t number)
{
        _cleanup_dm_task_ struct dm_task *task = dm_task_new(DM_DEVICE_INFO, number);
        struct dm_info info;

        return task && dm_task_run(task) && dm_task_get_info(task, &info) ? info.open_count : -1;
}

static bool is_empty(const char *text)
{
        for (;;) {
                text += strspn(text, " \t\r\n\f\v");
                if (*text != '#')
                        return !*text;
                text += strcspn(text, "\n");
        }
}

bool config_text_is_too_deep(const char *text)
{
        for (unsigned int depth = 0; (text = strpbrk(text, "{}")); text++) {
                if (*text == '{' && ++depth > NESTING_MAX)
                        return true;
                depth -= *text == '}' && depth > 0;
        }
        return false;
}

int config_tree_read(int dir_fd, const char *path, struct dm_config_tree **ret, char **ret_message)
{
        _cleanup_dm_config_ struct dm_config_tree *tree = NULL;
        _cleanup_free_ char *text = NULL;
        int r = read_file_at(dir_fd, path, &text, NULL);

        if (r < 0)
                return r;
        if (config_text_is_too_deep(text))
                return -EBADMSG;
        tree = dm_config_create();
        if (!tree)
                return -ENOMEM;
        log_divert_libdevmapper(ret_message);
        /* The parser needs at least one key. */
        if (!is_empty(text) && !dm_config_parse(tree, text, text + strlen(text)))
                r = -EBADMSG;
        log_divert_libdevmapper(NULL);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(tree);
        return 0;
}

int config_tree_find_bool(const struct dm_config_tree *tree, const char *path, int default_value)
{
        const struct dm_config_node *node = dm_config_tree_find_node(tree, path);

        return node && node->v ? dm_config_tree_find_bool(tree, path, default_value) : default_value;
}
