/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A root directory of the test's own, see test/trees/README. Whatever goes wrong ends the test. */

/* Makes it, of the tree of that name. Returns a descriptor. */
int tree_set_up(const char *name);

/* Adds one line of such a text. */
void tree_add(const char *line);

/* Makes a file empty that a tree has. */
void tree_empty(const char *path);

void tree_tear_down(void);
