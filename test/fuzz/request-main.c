/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* headgate-request as a function. */

int headgate_request_main(int argc, char *argv[]);

#define main headgate_request_main
#include "../../src/request/main.c"
