/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What headgate-request is compared with. */
int main(void)
{
        return 0;
}
