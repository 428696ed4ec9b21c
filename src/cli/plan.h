/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The plans of "headgate plan". Each gets the arguments from its own name on, and returns the program's exit
 * status, 0 or EXIT_CANNOT_TELL, having said on standard error whatever went wrong. */
int plan_activate(int argc, char *argv[]);
int plan_initrd(int argc, char *argv[]);
int plan_teardown(int argc, char *argv[]);
