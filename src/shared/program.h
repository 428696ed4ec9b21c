/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "shared/macro.h"

/* For programs whose only options are -h, --help, --version, and perhaps one more, a flag, which may also follow other words.
 * Libc only. Returns 1 to go on, with what is not an option from argv[optind] on; 0 if `usage` or the version was printed, and
 * the program is done; or -EINVAL, getopt_long() having said why. */
int arguments_parse(int argc, char *argv[], const char *usage, const char *flag, bool *ret_given)
        _nonnull_(2, 3) _must_check_;
#define arguments_parse_plain(argc, argv, usage) arguments_parse(argc, argv, usage, NULL, NULL)

/* Reads a time span as in systemd.time(7), "90" for seconds, "500ms", "1.5s", "1min 30s", with units up to weeks. Returns 0 and
 * microseconds, -EINVAL, or -ERANGE beyond 1000 years. */
int parse_time_span(const char *string, uint64_t *ret) _nonnull_all_ _must_check_;

/* The directory below which all input is read, by openat() and with paths that begin without a slash:
 * $HEADGATE_ROOT, which tests set, or "/". */
const char *root_path(void);

/* Whether it was set: then nothing of the system itself is to be touched. */
bool root_is_chosen(void);

/* Opens it. Returns a descriptor or a negative errno. */
int root_open(void);

/* An absolute path as openat() wants it: without the slashes at its beginning. */
static inline const char *root_relative(const char *path)
{
        return path + strspn(path, "/");
}

/* Blocks SIGCHLD, SIGTERM and SIGINT, for an event loop to read: before any thread is started. Programs that are
 * started by command_start() get them back. Returns 0 or a negative errno. */
int signals_block(void) _must_check_;

/* Whether one of the `n` files below `dir_fd` is another one than `known` has it, by device, inode, size and time; `known` is brought
 * up to date. It starts empty: all zeros. One that was changed less than 20 ms ago is another one the next time as well. */
bool files_have_changed(int dir_fd, const char *const paths[], size_t n, struct stat *known) _nonnull_all_;
