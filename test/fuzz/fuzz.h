/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/macro.h"

/* What the targets of libFuzzer share. A target is a file fuzz-NAME.c with the function below, which reads what others
 * wrote as headgate would read it. It looks for more than crashes: what comes of it has to be what the header promises,
 * which it says with fuzz_check(). */
int fuzz_one(const uint8_t *data, size_t size);

/* Calls it, and checks that it allocates no more than inputs of that size may cost. Built with clang it is called by
 * libFuzzer, see test/fuzz/run; built otherwise, replay.c calls it with files. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program, as a find, unless the condition holds. */
#define fuzz_check(condition)                                                                                     \
        do {                                                                                                      \
                if (!(condition))                                                                                 \
                        fuzz_fail(#condition, __FILE__, __LINE__);                                                \
        } while (false)
__attribute__((noreturn)) void fuzz_fail(const char *condition, const char *file, int line) _nonnull_(1, 2);

/* A directory of the target's own, made by the first call and removed at the end. Nothing is logged from then on, and
 * $HEADGATE_RUN_DIRECTORY is this directory, $HEADGATE_LVM_RUN_DIRECTORY "lvm" in it. */
int fuzz_root(void);

/* Writes a file below it, and makes the directories that it needs. */
void fuzz_write(const char *path, const void *data, size_t size) _nonnull_(1, 2);

/* Removes the files of one of its directories. */
void fuzz_empty(const char *directory) _nonnull_(1);

/* A copy that ends with a NUL, to be freed by the caller. */
char *fuzz_text(const uint8_t *data, size_t size) _nonnull_(1) _must_check_;

/* Two VGs, "data" and "my-data", of which lvm2 has a backup below fuzz_root(). */
void fuzz_write_backups(void);

/* Whether it may go to a terminal. */
bool fuzz_is_printable(const char *string) _nonnull_(1);
