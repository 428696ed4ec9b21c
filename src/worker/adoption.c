/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker/adoption.h"

#include <fcntl.h>
#include <systemd/sd-login.h>

#include "shared/flags.h"
#include "shared/log.h"
#include "shared/util.h"
#include "worker/activation.h"
#include "worker/names.h"
#include "worker/vg.h"

/* The VGs that a vgchange of ours works on are the arguments after "--", each with its NUL. Returns whether it is one. */
static int adopt_groups(struct worker *worker, struct job *job)
{
        _cleanup_free_ char *path = string_format("/proc/%i/cmdline", job->command.pid);
        _cleanup_free_ char *command_line = NULL;
        bool is_vgchange = false, names = false;
        size_t size;
        int r;

        if (!path)
                return -ENOMEM;
        /* One that has just ended has no command line. */
        if (read_file_at(AT_FDCWD, path, &command_line, &size) < 0)
                return 0;
        for (const char *word = command_line; word < command_line + size; word += strlen(word) + 1) {
                struct managed_group *group;

                if (!names) {
                        is_vgchange = is_vgchange || streq(word, "vgchange");
                        names = is_vgchange && streq(word, "--");
                        continue;
                }
                group = names_find(worker->inventory, word);
                if (!group || group->job)
                        continue;
                r = vg_take(worker, group, &(struct vg_news){.event = VG_ADOPTED});
                if (r < 0)
                        return r;
                if (group->volume_group->state != VOLUME_GROUP_ACTIVATING)
                        continue;
                group->job = job;
                if (group->volume_group->activating_usec == 0)
                        group->volume_group->activating_usec = now_usec();
        }
        return names;
}

static int adopt_process(struct worker *worker, pid_t pid)
{
        struct job *job;
        int r;

        r = job_adopt(worker->event, pid, activation_on_ended, worker, &job);
        if (r == -ESRCH)
                return 0;
        if (r < 0)
                return r;

        r = adopt_groups(worker, job);
        if (r <= 0) {
                /* Not a vgchange: a reader about to end, or a pvscan, whose devices are shown to lvm2 anew. */
                job_free(job);
                return r;
        }
        /* Which VGs are active is found out by a turn of each, and not to wait for it. */
        job->slow = worker->inventory->records_lost;
        log_notice("Waiting for a vgchange that an earlier worker has started (process %i).", pid);
        dm_list_add(&worker->jobs, &job->list);
        return 0;
}

int adoption_start(struct worker *worker)
{
        _cleanup_free_ char *cgroup = NULL;
        _cleanup_free_ char *path = NULL;
        _cleanup_free_ char *pids = NULL;
        char *rest;
        int r;

        /* Left by a worker that was started by hand, and killed: systemd has it taken back otherwise. */
        r = flags_clear(worker->run_fd, FLAGS_COMPLETING);
        if (r < 0)
                return log_error_errno(r, "Failed to remove /run/headgate/" FLAGS_COMPLETING ": %m");

        /* Started by hand, there is no cgroup of ours, and no earlier worker in it. */
        if (!secure_getenv("INVOCATION_ID") || sd_pid_get_cgroup(0, &cgroup) < 0)
                return 0;
        path = string_format("/sys/fs/cgroup%s/cgroup.procs", cgroup);
        if (!path)
                return log_oom();
        r = read_file_at(AT_FDCWD, path, &pids, NULL);
        if (r < 0) {
                /* Only of interest after a worker that ended without notice. */
                if (flags_is_set(worker->run_fd, FLAGS_LISTENING) > 0 ||
                        flags_is_set(worker->run_fd, FLAGS_RESYNC) > 0)
                        log_warning("Failed to list the processes of headgate.service (%s); not waiting for a "
                                    "vgchange that an earlier worker may have left. This needs cgroup v2.",
                                strerror(-r));
                return 0;
        }

        rest = pids;
        for (char *line; (line = strsep(&rest, "\n"));) {
                uint32_t pid;

                if (parse_u32(line, &pid) < 0 || (pid_t) pid == getpid())
                        continue;
                r = adopt_process(worker, (pid_t) pid);
                if (r < 0)
                        return log_error_errno(r, "Failed to follow process %u: %m", pid);
        }
        return 0;
}

int adoption_go_on(struct worker *worker)
{
        struct job *job;

        if (!worker->inventory->records_lost || dm_list_empty(&worker->inventory->groups[VOLUME_GROUP_COMPLETE]))
                return 0;
        dm_list_iterate_items(job, &worker->jobs) {
                int r = job->kind == JOB_ADOPTED ? adopt_groups(worker, job) : 0;

                if (r < 0)
                        return log_error_errno(r, "Failed to follow process %i: %m", job->command.pid);
        }
        return 0;
}
