/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lvm/job.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include "shared/log.h"
#include "shared/util.h"

/* Two looks: until the first, each lvm command has used processor time to read its configuration. */
#define LOOK_USEC (2500 * USEC_PER_MSEC)

struct job *job_free(struct job *job)
{
        if (!job)
                return NULL;
        sd_event_source_disable_unref(job->source);
        lvm_command_done(&job->command);
        free(job);
        return NULL;
}

static int job_new(enum job_kind kind, job_exit_function on_exit, void *userdata, struct job **ret)
{
        struct job *job = calloc(1, sizeof(*job));

        if (!job)
                return -ENOMEM;
        *job = (struct job){
                .kind = kind,
                .started_usec = now_usec(),
                .command.output_fd = -EBADF,
                .userdata = userdata,
                .on_exit = on_exit,
        };
        job->look_usec = job->started_usec + LOOK_USEC;
        dm_list_init(&job->list);
        *ret = job;
        return 0;
}

bool job_stands_still(struct job *job)
{
        uint64_t now = now_usec(), before = job->cpu_usec;

        if (now < job->look_usec)
                return false;
        job->look_usec = now + LOOK_USEC;
        job->cpu_usec = process_cpu_usec(job->command.pid);
        return job->cpu_usec == before;
}

static int on_child(_unused_ sd_event_source *source, const siginfo_t *info, void *userdata)
{
        struct job *job = userdata;
        int exit_status = info->si_code == CLD_EXITED ? info->si_status : 128 + info->si_status;

        return job->on_exit(job, exit_status, job->userdata);
}

static int on_pidfd(_unused_ sd_event_source *source, _unused_ int fd, _unused_ uint32_t events, void *userdata)
{
        struct job *job = userdata;

        return job->on_exit(job, -1, job->userdata);
}

int job_start(sd_event *event, enum job_kind kind, const struct string_vector *arguments,
        job_exit_function on_exit, void *userdata, struct job **ret)
{
        _cleanup_job_ struct job *job = NULL;
        int r;

        r = job_new(kind, on_exit, userdata, &job);
        if (r < 0)
                return r;
        r = kind == JOB_ASK_SYSTEMD ? command_start("/bin/systemctl", arguments, &job->command)
                                    : lvm_command_start(arguments, &job->command);
        if (r < 0)
                return r;
        r = sd_event_add_child(event, &job->source, job->command.pid, WEXITED, on_child, job);
        if (r < 0)
                return r;

        (void) sd_event_source_set_exit_on_failure(job->source, true);
        *ret = TAKE_PTR(job);
        return 0;
}

int job_adopt(sd_event *event, pid_t pid, job_exit_function on_exit, void *userdata, struct job **ret)
{
        _cleanup_job_ struct job *job = NULL;
        int fd, r;

        fd = (int) syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0)
                return -errno;

        r = job_new(JOB_ADOPTED, on_exit, userdata, &job);
        if (r >= 0) {
                job->command.pid = pid;
                r = sd_event_add_io(event, &job->source, fd, EPOLLIN, on_pidfd, job);
        }
        if (r < 0) {
                close(fd);
                return r;
        }
        (void) sd_event_source_set_io_fd_own(job->source, true);
        (void) sd_event_source_set_exit_on_failure(job->source, true);

        *ret = TAKE_PTR(job);
        return 0;
}
