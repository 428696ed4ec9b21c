/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <check.h>

#include "inventory/vg-record.h"

/* A run directory of the test's own, in the place of /run/headgate and /run/lvm. Whatever goes wrong ends the
 * test. */
extern int run_fd;
void run_directory_set_up(void);
void run_directory_tear_down(void);

/* Its path. */
const char *run_directory(void);

/* Adds a record to those below a directory; "" removes it. */
void put_record(int dir_fd, const char *key, const char *text);

/* Likewise that of a VG. */
void save_vg(int dir_fd, const struct vg *vg);

/* Writes a file below it, and makes the directories that it needs. */
void write_file_and_directories(const char *path, const char *text);

/* Removes a directory and everything in it. */
void remove_tree(const char *path);

/* Runs a suite. Returns the exit status for main(). */
int run_suite(Suite *suite);
