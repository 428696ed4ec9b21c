/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "timeline/boots.h"
#include "timeline/timeline.h"

/* The archive of timelines: files named by the ID of their boot, in a directory that headgate-keep.service makes, by
 * StateDirectory=. They have the syntax of lvm2's metadata, which libdevmapper reads, and a version: what another version of
 * headgate has written is not guessed at. What was half written when the machine was switched off has another name, and is
 * removed by the next writer. */

#define ARCHIVE_DIRECTORY "var/lib/headgate"

/* Of each part, those of the last boots. With the size of a file that bounds what the directory takes. */
#define ARCHIVE_BOOTS_MAX 10

/* So large is a file at most: enough for a thousand VGs or devices. Of more, what took least is left out. */
#define ARCHIVE_FILE_SIZE_MAX ((size_t) 512 * 1024)

/* One file each, since they have writers that do not know of each other. */
enum archive_part {
        ARCHIVE_BOOT,
        ARCHIVE_SHUTDOWN_LOCAL,   /* what headgate-teardown.service has taken down */
        ARCHIVE_SHUTDOWN_NETWORK, /* and headgate-teardown-net.service */
        _ARCHIVE_PART_MAX,
};

/* Opens the directory below `root_fd`. Returns a descriptor or a negative errno. */
int archive_open(int root_fd) _must_check_;

/* The same while file systems are being unmounted: only if it is on the same file system as the root directory,
 * which stays to the end. -EXDEV if it is not; what is mounted is not touched then, for it could not be
 * unmounted in that moment. */
int archive_open_at_shutdown(int root_fd) _must_check_;

/* Writes, or replaces, a timeline, which it sorts, and removes those that are too many. Waits for others who
 * write. Returns 0 or a negative errno. */
int archive_write(int archive_fd, enum archive_part part, sd_id128_t boot, struct timeline *timeline)
        _nonnull_(4) _must_check_;

/* Adds what is archived of that boot, or of the shutdown that ended it, by the timeline's kind. A damaged file is
 * left out, with a line in the log that names it. Returns 0; -ENOENT if there is nothing; or another negative
 * errno. */
int archive_read(int archive_fd, sd_id128_t boot, struct timeline *timeline) _nonnull_(3) _must_check_;

/* Adds all boots of which something is archived. Returns 0 or a negative errno. */
int archive_note_boots(int archive_fd, struct boots *boots) _nonnull_(2) _must_check_;

/* Sorts the timeline by blame, and returns the text of its file, to be freed by the caller, or NULL without memory. */
char *archive_format(struct timeline *timeline) _nonnull_(1) _must_check_;

/* Adds what a text has to a timeline of that kind: of one shutdown there can be two. Returns 0; -EBADMSG if it is
 * damaged, or about something else; -EPROTONOSUPPORT if it is of another version; or -ENOMEM. Then the
 * bars are as they were. */
int archive_parse(const char *text, struct timeline *timeline) _nonnull_(1, 2) _must_check_;
