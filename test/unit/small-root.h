/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A root directory of the test's own, see test/roots/README. Whatever goes wrong ends the test. */

/* Makes it, of the tree of that name. Returns a descriptor. */
int small_root_set_up(const char *name);

/* Adds one line of such a text. */
void small_root_add(const char *line);

/* Makes a file empty that a tree has. */
void small_root_empty(const char *path);

void small_root_tear_down(void);
