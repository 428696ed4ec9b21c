/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "shared/macro.h"

/* For programs whose only options are -h, --help, --version, and perhaps one flag, which may also follow other
 * words. Libc only. Returns 1 to continue, with arguments from argv[optind] on; 0 after printing `usage` or the
 * version; or -EINVAL after getopt_long() has printed an error. */
int arguments_parse(int argc, char *argv[], const char *usage, const char *flag, bool *ret_given)
        _nonnull_(2, 3) _must_check_;
#define arguments_parse_plain(argc, argv, usage) arguments_parse(argc, argv, usage, NULL, NULL)

/* Parses a time span as in systemd.time(7), "90" for seconds, "500ms", "1.5s", "1min 30s", with units up to weeks.
 * Returns 0 and microseconds, -EINVAL, or -ERANGE beyond 1000 years. */
int parse_time_span(const char *string, uint64_t *ret) _nonnull_all_ _must_check_;

/* The directory of all input, which is opened by openat() with relative paths: $HEADGATE_ROOT, which tests set, or
 * "/". */
const char *root_path(void);

/* Whether it was set: then the system itself must not be changed. */
bool root_is_chosen(void);

/* Opens it. Returns a descriptor or a negative errno. */
int root_open(void);

/* Makes an absolute path relative, for openat(). */
static inline const char *root_relative(const char *path)
{
        return path + strspn(path, "/");
}

/* Blocks SIGCHLD, SIGTERM and SIGINT for an event loop. Call before threads are started. command_start() unblocks
 * them for programs. Returns 0 or a negative errno. */
int signals_block(void) _must_check_;

/* Whether one of the `n` files below `dir_fd` differs from `known` by device, inode, size or time; updates `known`.
 * Initialize that with zeros. A file that changed less than 20 ms ago differs the next time, too. */
bool files_have_changed(int dir_fd, const char *const paths[], size_t n, struct stat *known) _nonnull_all_;
