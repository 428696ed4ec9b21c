/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/command.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>

static int spawn(const char *program, char *const arguments[], int output_fd, pid_t *ret)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t signals;
        int r;

        r = posix_spawn_file_actions_init(&actions);
        if (r != 0)
                return -r;
        r = posix_spawnattr_init(&attributes);
        if (r != 0) {
                posix_spawn_file_actions_destroy(&actions);
                return -r;
        }

        /* The worker blocks the signals that its event loop reads; lvm wants them as usual. */
        sigemptyset(&signals);
        r = posix_spawnattr_setsigmask(&attributes, &signals);
        if (r == 0)
                r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        if (r == 0)
                r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (r == 0)
                r = posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
        if (r == 0)
                r = posix_spawn_file_actions_adddup2(&actions, output_fd, STDERR_FILENO);
        if (r == 0)
                r = posix_spawn(ret, program, &actions, &attributes, arguments, environ);

        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        return -r;
}

int command_start(const char *path, const struct string_vector *arguments, struct lvm_command *ret)
{
        _cleanup_free_ const char **vector = calloc(arguments->n + 2, sizeof(*vector));
        _cleanup_close_ int output_fd = -EBADF;
        pid_t pid;
        int r;

        if (!vector)
                return -ENOMEM;
        vector[0] = path;
        for (size_t i = 0; i < arguments->n; i++)
                vector[i + 1] = arguments->strings[i];

        output_fd = memfd_create("lvm-output", MFD_CLOEXEC);
        if (output_fd < 0)
                return -errno;

        r = spawn(path, (char *const *) vector, output_fd, &pid);
        if (r < 0)
                return r;

        *ret = (struct lvm_command){.pid = pid, .output_fd = TAKE_FD(output_fd)};
        return 0;
}

int lvm_command_start(const struct string_vector *arguments, struct lvm_command *ret)
{
        return command_start(secure_getenv("HEADGATE_LVM") ?: LVM_PROGRAM, arguments, ret);
}

int lvm_command_read_output(const struct lvm_command *command, char **ret)
{
        _cleanup_free_ char *path = string_format("/proc/self/fd/%i", command->output_fd);

        /* Opened anew, since the process and we share one file offset. */
        return path ? read_file_at(AT_FDCWD, path, ret, NULL) : -ENOMEM;
}

void lvm_command_done(struct lvm_command *command)
{
        closep(&command->output_fd);
        *command = (struct lvm_command){.output_fd = -EBADF};
}

/* What may stand in the names of devices and VGs; a full stop also ends sentences and counts only when
 * something follows it. */
static bool is_part_of_name(const char *position)
{
        if (*position == '.')
                return isalnum((unsigned char) position[1]);
        return isalnum((unsigned char) *position) || (*position != '\0' && strchr("_+-/", *position));
}

static bool contains_word(const char *line, const char *word)
{
        size_t length = strlen(word);

        for (const char *found = line; (found = strstr(found, word)); found++)
                if ((found == line || !is_part_of_name(found - 1)) && !is_part_of_name(found + length))
                        return true;
        return false;
}

/* vgchange prints it of each VG, whatever came of it. */
static bool is_summary(const char *line)
{
        return strstr(line, " logical volume(s) in volume group ");
}

bool lvm_output_has_summary(const char *output, const char *volume_group_name)
{
        _cleanup_free_ char *summary =
                string_format(" logical volume(s) in volume group \"%s\" ", volume_group_name);

        return summary && strstr(output, summary);
}

char *lvm_output_find(const char *output, const char *word)
{
        _cleanup_free_ char *copy = strdup(output);
        char *rest = copy;

        for (char *line; copy && (line = strsep(&rest, "\n"));) {
                line += strspn(line, " \t");
                if (contains_word(line, word) && !is_summary(line))
                        return strdup(line);
        }
        return NULL;
}
