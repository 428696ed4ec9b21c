/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "teardown/users.h"

#include "shared/util.h"

/* As the process itself chose it, at most 15 bytes: any but NUL (proc(5)). Unlike its command line it can be read
 * whatever the process waits for. Returns 1 and `*ret`, 0 for one that has gone, or -ENOMEM. */
static int read_command(int process_fd, char **ret)
{
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = read_file_at(process_fd, "comm", &text, &size);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (size > 0 && text[size - 1] == '\n')
                text[size - 1] = '\0';
        *ret = string_printable(text);
        return *ret ? 1 : -ENOMEM;
}

int users_add(struct users *users, int process_fd, pid_t pid, char *how)
{
        _cleanup_free_ char *taken = how, *command = NULL;
        int r;

        if (!taken)
                return -ENOMEM;
        if (users->n > 0 && users->last == pid)
                return 0;
        r = read_command(process_fd, &command);
        if (r <= 0)
                return r;
        if (users->n < USERS_KEPT_MAX)
                users->users[users->n] = (struct user){pid, TAKE_PTR(command), TAKE_PTR(taken)};
        users->n++;
        users->last = pid;
        return 0;
}

char *users_describe(const struct users *users)
{
        _cleanup_free_ char *text = strdup("");
        size_t n_kept = MIN(users->n, USERS_KEPT_MAX);

        for (size_t i = 0; text && i < n_kept; i++) {
                const struct user *user = &users->users[i];
                const char *separator = i == 0 ? "" : i + 1 == users->n ? " and " : ", ";

                if (string_replace(&text, string_format("%s%sprocess %d (%s) %s", text, separator, user->pid,
                                                  user->command, user->how)) < 0)
                        return NULL;
        }
        if (text && users->n > n_kept)
                return string_format("%s, and %zu more", text, users->n - n_kept);
        return TAKE_PTR(text);
}

void users_done(struct users *users)
{
        for (size_t i = 0; i < MIN(users->n, USERS_KEPT_MAX); i++) {
                free(users->users[i].command);
                free(users->users[i].how);
        }
        *users = (struct users){};
}
