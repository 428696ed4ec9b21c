/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "lvm/configuration.h"
#include "lvm/dm_devices.h"
#include "lvm/volume_group.h"
#include "shared/settings.h"

/* What "headgate why" reads once, whatever it is asked for. No process is started for it, and nothing is waited
 * for. */
struct sources {
        int root_fd;
        int run_fd;                  /* /run/headgate; < 0 where there is none */
        int lvm_run_fd;              /* /run/lvm; < 0 where there is none */
        bool in_charge;              /* headgate activates VGs, not lvm2's own udev rule */
        struct record_file *records; /* of the worker; NULL if there are none that can be read */
        struct settings settings;
        struct configuration configuration;
        struct dm_devices devices; /* of device-mapper, without details */
        struct problems problems;  /* of configuration files */
};

/* Returns 0 or a negative errno, -EACCES or -EPERM for somebody who is not root. */
int sources_read(struct sources *ret) _nonnull_(1) _must_check_;
void sources_done(struct sources *sources) _nonnull_(1);
#define _cleanup_sources_ _cleanup_(sources_done)

/* Whether the kernel has a block device of that number. */
bool sources_has_device(const struct sources *sources, dev_t number) _nonnull_(1);

/* The device-mapper device of that number or UUID, or NULL. */
const struct dm_device *sources_find_dm_device(const struct sources *sources, dev_t number) _nonnull_(1);

/* A time of the VG on now_usec()'s clock: "2026-01-31 12:00:00, 3min 2s ago". NULL without memory. */
char *describe_time(const struct volume_group *volume_group, uint64_t usec) _must_check_;
/* The same of a time in seconds since 1970. */
char *describe_date(int64_t seconds) _must_check_;
