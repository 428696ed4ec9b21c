/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The events that have an identifier of their own in the journal. Each was made with "systemd-id128 new" and has
 * an entry in src/shared/headgate.catalog; a test compares the two. */
#define MESSAGE_VOLUME_GROUP_COMPLETE "e5e77bdbab24461eb54f2e147a3daea9"
#define MESSAGE_VOLUME_GROUP_ACTIVATED "81d57454aac3470f9e2fdf1103f61c6d"
#define MESSAGE_VOLUME_GROUP_FAILED "20be03cc5a1b4501bfcf7c4ee0fea737"
#define MESSAGE_VOLUME_GROUP_SKIPPED "166358643b024f6b8cbade79816e4435"
#define MESSAGE_VOLUME_GROUP_OVERDUE "8808daba88684bee97b3b60faa3bd0c5"
#define MESSAGE_VOLUME_GROUP_ABSENT "ac044cc63d204f67920f6869d3c457ae"
#define MESSAGE_METADATA_DAMAGED "23e52044796c4b9a85a8e84870ee654c"
#define MESSAGE_HANDED_OVER "a51c37a7b4304f3babbd3e1075d67a1a"
#define MESSAGE_STORAGE_TREE_DOWN "272b0c314c2140d6809e2575ff623bf8"
#define MESSAGE_STORAGE_TREE_LEFT "fbd89ad45c024481b81d613b19ddcdb2"
#define MESSAGE_NODE_LEFT "fd3cc5ed96884230a1e670502040f61f"
#define MESSAGE_TEARDOWN_ENDED "ebd6a388bb88406e9f55be817c2c341e"
