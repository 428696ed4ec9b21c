/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Takes the process out of the machine's namespaces: those of `flags` (CLONE_NEW..., see clone(2)), and for who is not
 * root one of users, in which it is. Whatever goes wrong ends the test. */
void own_namespace_enter(int flags);

/* Writes a file that may be there. Likewise. */
void own_namespace_write(const char *path, const char *text);
