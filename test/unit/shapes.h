/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "fake-dm.h"
#include "tree/order.h"
#include "tree/read.h"

/* What src/tree reads of a machine, below a directory of the test's own: for shapes that no tool makes, or not in
 * reasonable time. Whatever goes wrong ends the test. */

void shape_set_up(void);
void shape_tear_down(void);

/* Its descriptor. */
int shape_root(void);

/* Writes a file, and what it needs of directories. */
void shape_write(const char *path, const char *content);
/* Makes a link, and the directories above it. */
void shape_link(const char *path, const char *target);
/* A block device below /sys/devices, without anything in its directory. */
void shape_device(const char *kernel_name, unsigned int major_number, unsigned int minor_number);
/* One elsewhere below it, "pci0000:00/.../block/sda". */
void shape_device_at(const char *location, unsigned int major_number, unsigned int minor_number);
/* A device-mapper device, in sysfs and in the list of fake-dm.h. Numbers are 253:MINOR. */
void shape_dm(unsigned int minor_number, const char *name, const char *uuid, const char *target);
/* As `lower`'s holders/ and `upper`'s slaves/ have it. */
void shape_hold(const char *lower, const char *upper);
/* An ext4 on a device of that number, mounted below the mount `parent_id`. */
void shape_mount(unsigned int id, unsigned int parent_id, unsigned int major_number, unsigned int minor_number,
        const char *mount_point);
/* Any line of mountinfo. */
void shape_mountinfo(const char *line);

/* Reads it, or a captured tree, and orders it. */
struct tree *shape_read(void) _must_check_;
struct tree *shape_read_captured(const char *name) _must_check_;

/* The node of that name, which there must be; of several the first. */
struct tree_node *shape_node(const struct tree *tree, const char *name);
/* Whether `upper` holds `lower` directly. */
void shape_is_held(const struct tree *tree, const char *lower, const char *upper);

/* Takes everything down, as if each removal succeeded and each mount and swap went as soon as nothing was below
 * it. Checks that nothing goes before what holds it. Returns how many of the nodes that are ours are left. */
size_t shape_take_down(struct tree *tree);
