/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli/metadata-balance.h"

#include <inttypes.h>
#include <sys/wait.h>

#include "copies/advice.h"
#include "lvm/command.h"
#include "shared/log.h"

static void announce(const struct surveyed_vg *vg, uint32_t n_copies)
{
        size_t n_areas = vg->n_used + vg->n_ignored;

        log_info("VG %s has %zu %s of its metadata in use, and %zu ignored.", vg->metadata->name, vg->n_used,
                vg->n_used == 1 ? "copy" : "copies", vg->n_ignored);
        if (n_copies == 0)
                log_info("\"vgchange --vgmetadatacopies 0\" has lvm2 no longer see to how many there are.");
        else if (n_copies >= n_areas)
                log_info("\"vgchange --vgmetadatacopies %" PRIu32 "\" has lvm2 use all %zu, and no more.",
                        n_copies, n_areas);
        else
                log_info("\"vgchange --vgmetadatacopies %" PRIu32 "\" has lvm2 use %" PRIu32
                         ", on PVs of its choice, and "
                         "ignore the other %zu.",
                        n_copies, n_copies, n_areas - n_copies);
}

/* Only from a terminal: nobody else can have read what is asked. */
static bool ask(void)
{
        _cleanup_free_ char *answer = NULL;
        size_t size = 0;

        if (!isatty(STDIN_FILENO)) {
                log_error("Nothing is changed: give --yes where nobody can be asked.");
                return false;
        }
        fprintf(stderr, "Go on? [y/N] ");
        if (getline(&answer, &size, stdin) > 0 && (streq(answer, "y\n") || streq(answer, "yes\n")))
                return true;
        log_error("Nothing is changed.");
        return false;
}

/* Returns the exit status of vgchange, or a negative errno. */
static int run_vgchange(const char *name, uint32_t n_copies)
{
        _cleanup_free_ char *number = string_format("%" PRIu32, n_copies), *output = NULL;
        const char *const words[] = {"vgchange", "--vgmetadatacopies", number, "--"};
        _cleanup_string_vector_ struct string_vector arguments = {};
        _cleanup_(lvm_command_done) struct lvm_command command = {.output_fd = -EBADF};
        char *rest;
        int status, r;

        r = number ? string_vector_add_all(&arguments, words, ELEMENTSOF(words)) : -ENOMEM;
        if (r >= 0)
                r = string_vector_add(&arguments, name);
        if (r >= 0)
                r = lvm_command_start(&arguments, &command);
        if (r < 0)
                return r;
        while (waitpid(command.pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        r = lvm_command_read_output(&command, &output);
        if (r < 0)
                return r;
        rest = output;
        for (char *line; (line = strsep(&rest, "\n"));)
                if (line[strspn(line, " \t")] != '\0')
                        log_info("lvm2: %s", line + strspn(line, " \t"));
        return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

int metadata_balance(const struct surveyed_vg *vg, const struct system_id *host, uint32_t n_copies,
        enum balance_consent consent)
{
        const char *name = vg->metadata->name;
        _cleanup_free_ char *refusal = NULL;
        int r;

        r = copies_describe_refusal(vg, host, &refusal);
        if (r < 0)
                return r;
        if (refusal) {
                log_error("VG %s is left alone: %s.", name, refusal);
                return 0;
        }
        announce(vg, n_copies);
        if (consent == BALANCE_ASK && !ask())
                return 0;
        r = run_vgchange(name, n_copies);
        if (r > 0)
                log_error("lvm2 has not changed VG %s: vgchange has ended with status %i.", name, r);
        return r < 0 ? r : r == 0;
}
