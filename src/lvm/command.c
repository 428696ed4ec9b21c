/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Processes of lvm, and jobs: processes that an event loop follows. */

#include "lvm/command.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "shared/kernel.h"
#include "shared/log.h"
#include "shared/util.h"

/* The environment of other programs, whatever headgate's own is: the default PATH of units (systemd.exec(5)), and
 * untranslated messages, as headgate looks for names in them. */
static const char *const own_environment[] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL=C",
        /* Without it, pvscan of a single device looks for its links in all of /dev. */
        "DEVLINKS=",
};

/* Makes the arguments and the environment for execve(). */
static int make_vectors(
        const char *path, const struct strv *arguments, struct strv *argv, struct strv *environment)
{
        /* lvm2-monitor.service sets the second, since /run/lock may be read-only when it stops. */
        const struct {
                const char *name, *value;
        } passed_on[] = {
                {"LVM_SYSTEM_DIR", secure_getenv("LVM_SYSTEM_DIR")},
                {"LVM_SUPPRESS_LOCKING_FAILURE_MESSAGES", secure_getenv("LVM_SUPPRESS_LOCKING_FAILURE_MESSAGES")},
        };
        int r = strv_add(argv, path)
                ?: strv_add_all(argv, (const char *const *) arguments->strings, arguments->n)
                ?: strv_add_all(environment, own_environment, ELEMENTSOF(own_environment));

        FOREACH_ELEMENT(variable, passed_on)
                if (variable->value)
                        r = r ?: strv_take(environment, string_format("%s=%s", variable->name, variable->value));
        return r;
}

int command_start(const char *path, const struct strv *arguments, struct lvm_command *ret)
{
        _cleanup_strv_ struct strv argv = {}, environment = {};
        _cleanup_close_ int output_fd = -EBADF;
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t signals;
        pid_t pid;
        int r = make_vectors(path, arguments, &argv, &environment);

        if (r < 0)
                return r;
        output_fd = memfd_create("lvm-output", MFD_CLOEXEC);
        if (output_fd < 0)
                return -errno;

        /* The worker blocks the signals of its event loop, but lvm needs them unblocked. Libraries such as
         * libdevmapper leave their files open on exec. */
        sigemptyset(&signals);
        (void) posix_spawn_file_actions_init(&actions);
        (void) posix_spawnattr_init(&attributes);
        r = posix_spawnattr_setsigmask(&attributes, &signals)
                    ?: posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK)
                    ?: posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
                    ?: posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO)
                    ?: posix_spawn_file_actions_adddup2(&actions, output_fd, STDERR_FILENO)
                    ?: posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
                    ?: posix_spawn(&pid, path, &actions, &attributes, argv.strings,
                               environment.strings);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        if (r != 0)
                return -r;

        *ret = (struct lvm_command){.pid = pid, .output_fd = TAKE_FD(output_fd)};
        return 0;
}

const char *lvm_program(void)
{
        return secure_getenv("HEADGATE_LVM") ?: LVM_PROGRAM;
}

int lvm_command_become(const struct strv *arguments)
{
        _cleanup_strv_ struct strv argv = {}, environment = {};
        int r = make_vectors(lvm_program(), arguments, &argv, &environment);

        if (r < 0)
                return r;
        /* Done last, as logging an error needs some of them. */
        (void) close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
        execve(argv.strings[0], argv.strings, environment.strings);
        return -errno;
}

int lvm_command_read_output(const struct lvm_command *command, char **ret)
{
        /* Opened again, as the process and headgate share one file offset. */
        return read_file_at(AT_FDCWD, path_format("/proc/self/fd/%i", command->output_fd).text, ret, NULL);
}

int command_run(const char *path, const char *const *words, char **ret_output)
{
        _cleanup_(lvm_command_done) struct lvm_command command = {.output_fd = -EBADF};
        struct strv arguments = {.strings = (char **) words};
        int status, r;

        while (words[arguments.n])
                arguments.n++;
        r = command_start(path, &arguments, &command);
        if (r >= 0 && waitpid(command.pid, &status, 0) < 0)
                r = -errno;
        r = r ?: lvm_command_read_output(&command, ret_output);
        return r < 0 ? r : WIFEXITED(status) ? WEXITSTATUS(status) : -EIO;
}

bool command_try(const char *path, const char *const *words)
{
        _cleanup_free_ char *output = NULL;
        int r = command_run(path, words, &output);

        if (r != 0)
                log_warning("Failed to run %s %s: %s", path, words[0], r < 0 ? strerror(-r) : output);
        return r == 0;
}

void lvm_command_done(struct lvm_command *command)
{
        closep(&command->output_fd);
        *command = (struct lvm_command){.output_fd = -EBADF};
}

/* Characters of device and VG names. A full stop also ends sentences, and counts only if something follows. */
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

/* Lines that explain nothing: vgchange prints one for each VG in any case, and one when it reads all devices (lvm2,
 * tools/vgchange.c). */
static bool is_no_reason(const char *line)
{
        return strstr(line, " logical volume(s) in volume group ") || strstr(line, ", using all devices.");
}

/* Limit for general errors, which lvm2 may print many times. */
#define LINES_MAX 4

/* Returns the next line without indentation, or NULL at the end. `*rest` is the remaining text, which is modified. */
static char *next_line(char **rest)
{
        char *line = strsep(rest, "\n");

        return line ? line + strspn(line, " \t") : NULL;
}

char *lvm_output_find(const char *output, const char *word)
{
        _cleanup_free_ char *copy = strdup(output);

        for (char *line, *rest = copy; (line = next_line(&rest));)
                if (contains_word(line, word) && !is_no_reason(line))
                        return string_printable(line);
        return NULL;
}

char *lvm_output_errors(const char *output)
{
        _cleanup_free_ char *copy = strdup(output);
        char *errors = calloc(1, strlen(output) + 2), *end = errors;

        for (char *line, *rest = copy; errors && (line = next_line(&rest));)
                if (!isempty(line) && !skip_prefix(line, "WARNING:") && !is_no_reason(line))
                        end = stpcpy(stpcpy(end, line), "\n");
        return errors;
}

char *lvm_output_begin(const char *output)
{
        _cleanup_strv_ struct strv lines = {};
        _cleanup_free_ char *copy = strdup(output), *words = NULL;

        for (char *line, *rest = copy; lines.n < LINES_MAX && (line = next_line(&rest));)
                if (!isempty(line) && !is_no_reason(line) && !strv_has(&lines, line) && strv_add(&lines, line) < 0)
                        return NULL;
        words = copy ? strv_join(&lines, "; ") : NULL;
        return words ? string_printable(words) : NULL;
}

/* If the kernel counts CPU time in ticks, a process that reads disks may get none within a shorter interval. */
#define LOOK_USEC (2500 * USEC_PER_MSEC)

#define PROGRAMS_LOOK_USEC (1 * USEC_PER_SEC)

void program_times_add(struct program_times *times, const char *name, uint64_t now)
{
        if (name && !streq(name, times->last.name)) {
                times->last = (struct program_time){};
                (void) snprintf(times->last.name, sizeof(times->last.name), "%s", name);
        }
        if (name)
                times->last.usec += MIN(now - times->looked_usec, 2 * PROGRAMS_LOOK_USEC);
        if (times->last.usec > times->longest.usec)
                times->longest = times->last;
        times->looked_usec = now;
}

/* Looks for a child process (proc_pid_task_children(5)), regularly. */
static int on_look(sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
        struct job *job = userdata;
        pid_t pid = job->command.pid;
        _cleanup_free_ char *children = NULL, *name = NULL;
        struct path path = path_format("/proc/%i/task/%i/children", pid, pid);

        if (read_file_at(AT_FDCWD, path.text, &children, NULL) >= 0 && *children != '\0' &&
                sysfs_read_at(AT_FDCWD, path_format("/proc/%li/comm", strtol(children, NULL, 10)).text, &name) < 0)
                name = NULL;
        program_times_add(&job->programs, name, now_usec());
        (void) sd_event_source_set_time_relative(source, PROGRAMS_LOOK_USEC);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

struct job *job_free(struct job *job)
{
        if (!job)
                return NULL;
        sd_event_source_disable_unref(job->look_source);
        sd_event_source_disable_unref(job->source);
        lvm_command_done(&job->command);
        free(job);
        return NULL;
}

bool job_stands_still(struct job *job)
{
        uint64_t now = now_usec(), before = job->cpu_usec;
        clockid_t clock;

        if (now < job->look_usec)
                return false;
        job->look_usec = now + LOOK_USEC;
        /* The process was not reaped yet, so the PID is still its own. */
        job->cpu_usec = clock_getcpuclockid(job->command.pid, &clock) == 0 ? clock_usec(clock) : 0;
        job->still = job->cpu_usec == before ? job->still + 1 : 0;
        return job->still > 0;
}

static int on_child(_unused_ sd_event_source *source, const siginfo_t *info, void *userdata)
{
        _cleanup_job_ struct job *job = userdata;
        _cleanup_free_ char *output = NULL;
        int exit_status = info->si_code == CLD_EXITED ? info->si_status : 128 + info->si_status;
        int r = lvm_command_read_output(&job->command, &output);

        if (r < 0)
                (void) log_error_errno(r, "Failed to read output of a program: %m");
        return job->on_exit(job, exit_status, output ?: "", job->userdata);
}

static int on_pidfd(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t events, void *userdata)
{
        _cleanup_job_ struct job *job = userdata;

        return job->on_exit(job, -1, NULL, job->userdata);
}

static struct job *job_new(enum job_kind kind, job_exit_function on_exit, void *userdata)
{
        struct job *job = malloc(sizeof(*job));
        uint64_t now = now_usec();

        if (!job)
                return NULL;
        *job = (struct job){
                .kind = kind,
                .started_usec = now,
                .look_usec = now + LOOK_USEC,
                .cpu_usec = USEC_INFINITY,
                .command.output_fd = -EBADF,
                .programs.looked_usec = now,
                .userdata = userdata,
                .on_exit = on_exit,
        };
        dm_list_init(&job->list);
        return job;
}

int job_start(sd_event *event, enum job_kind kind, const struct strv *arguments, job_exit_function on_exit,
        void *userdata, struct job **ret)
{
        _cleanup_job_ struct job *job = job_new(kind, on_exit, userdata);
        int r;

        if (!job)
                return -ENOMEM;
        r = command_start(kind == JOB_ASK_SYSTEMD ? "/bin/systemctl" : lvm_program(), arguments, &job->command);
        if (r < 0)
                return r;
        r = sd_event_add_child(event, &job->source, job->command.pid, WEXITED, on_child, job);
        if (r < 0)
                return r;
        /* This is only a figure for people; the job continues without it. */
        if (kind == JOB_ACTIVATE || kind == JOB_ACTIVATE_DEGRADED)
                (void) sd_event_add_time_relative(
                        event, &job->look_source, CLOCK_MONOTONIC, PROGRAMS_LOOK_USEC, 0, on_look, job);
        (void) sd_event_source_set_exit_on_failure(job->source, true);
        *ret = TAKE_PTR(job);
        return 0;
}

int job_adopt(sd_event *event, pid_t pid, job_exit_function on_exit, void *userdata, struct job **ret)
{
        _cleanup_job_ struct job *job = job_new(JOB_ADOPTED, on_exit, userdata);
        _cleanup_close_ int fd = (int) syscall(SYS_pidfd_open, pid, 0);
        int r;

        if (fd < 0 || !job)
                return fd < 0 ? -errno : -ENOMEM;
        job->command.pid = pid;
        r = sd_event_add_io(event, &job->source, fd, EPOLLIN, on_pidfd, job);
        if (r < 0)
                return r;
        (void) TAKE_FD(fd);
        (void) sd_event_source_set_io_fd_own(job->source, true);
        (void) sd_event_source_set_exit_on_failure(job->source, true);

        *ret = TAKE_PTR(job);
        return 0;
}
