/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "shared/util.h"

/* One process of the lvm program, or of another that is started in the same way. */
struct lvm_command {
        pid_t pid;     /* 0 if none was started */
        int output_fd; /* an unnamed file with what it prints, standard output and error */
};

/* Starts "lvm" ($HEADGATE_LVM in tests) with `arguments`, the first of which is lvm's subcommand. The output
 * goes to a file in memory, not to a pipe: a pipe whose reader has died would kill lvm in the middle of an
 * activation. Standard input is /dev/null, no other descriptor is open, and the environment is the same whatever
 * our own is, but for LVM_SYSTEM_DIR and LVM_SUPPRESS_LOCKING_FAILURE_MESSAGES, which are passed on. Returns 0 or a
 * negative errno. The caller waits for the process. */
int lvm_command_start(const struct string_vector *arguments, struct lvm_command *ret) _nonnull_(1, 2) _must_check_;

/* The same in the place of this process, whose standard streams it keeps. Returns a negative errno, or not at all. */
int lvm_command_become(const struct string_vector *arguments) _nonnull_(1) _must_check_;

/* All that was printed so far, to be freed by the caller, with a NUL at its end; nothing of it if that is more
 * than 16 MiB, which a disk may bring about. Returns 0 or a negative errno. */
int lvm_command_read_output(const struct lvm_command *command, char **ret) _nonnull_(1, 2) _must_check_;

/* The same with another program, `path`. */
int command_start(const char *path, const struct string_vector *arguments, struct lvm_command *ret)
        _nonnull_(1, 2, 3) _must_check_;

/* The same, and waits until it has ended. `words` end with NULL. Returns its exit status, -EIO if it was killed, or another
 * negative errno; `*ret_output`, what it has printed, is to be freed by the caller. */
int command_run(const char *path, const char *const *words, char **ret_output) _nonnull_(1, 2, 3) _must_check_;

void lvm_command_done(struct lvm_command *command) _nonnull_(1);

/* The first line of `output` in which `word` stands by itself, that is not as a part of a longer name, without
 * its indentation. The line of how many LVs of a VG are active does not count. lvm2 prints much as it stands on the
 * disk; here it is as string_printable() writes it. Returns a string to be freed by the caller, or NULL: no such line,
 * or no memory. */
char *lvm_output_find(const char *output, const char *word) _nonnull_(1, 2) _must_check_;

/* Whether vgchange has come to its end with a VG, and has said how many of its LVs are active. */
bool lvm_output_has_summary(const char *output, const char *volume_group_name) _nonnull_(1, 2);

/* Whether lvm2 says that there is no VG of that name (tools/toollib.c). */
bool lvm_output_misses(const char *output, const char *volume_group_name) _nonnull_(1, 2);
