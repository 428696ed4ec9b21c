/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

/* The running/pending protocol: how a request reaches the worker, and why none is lost.
 *
 * In the run directory (/run/headgate) there are
 *
 *   pending.d/ENTRY   a request, an empty file: "MAJOR:MINOR" for a device, "change:MAJOR:MINOR" for one that was
 *                     only written to, "vg:NAME" for a VG to retry, "expect:NAME" for an expected VG
 *   pending           there may be entries in pending.d
 *   working.d/ENTRY   a request that the worker has taken and not finished
 *   wakeup            the socket of headgate.socket, for R4 below
 *   running           locked (fcntl OFD) by the worker as long as it will check pending.d again
 *   listening         the worker receives devices from udev; the rule then starts no program
 *   resync            a listening worker died, or is about to leave and may be killed: the next one has to
 *                     ask udev for all devices
 *   soft-reboot       likewise, after a soft reboot; all other files here are newer than that
 *   coldplug          systemd has triggered the events of all devices
 *   boot-finished     udev has handled all devices of coldplug
 *   failed-wait:NAME  a link to the name of a unit headgate-vg@.service that failed as the VG was not active
 *   given-up          the worker failed too often: headgate takes over only after headgate enable --now
 *   failures          decimal number of failures without a settled VG in between
 *   taken-over        68-headgate.rules is in effect instead of lvm2's rule
 *   taken-over-late   decimal time of a takeover on a running system, see find_earlier_handling()
 *   pvs-on-lvs        68-headgate.rules handles PVs on LVs like all others
 *   no-systemd-ready  68-headgate.rules does not set SYSTEMD_READY, as lvm2's rule does not
 *   completing        the worker completes device-mapper's cookies for udev, see fast-rules/cookies.h
 *   late-program      no worker completes cookies until the next boot; the udev program that was too late
 *   dm-names/NAME     VG and LV of the device name of an LV that is being activated, see fast-rules/dm-names.h
 *   records           the worker's state of VGs and devices, see inventory/record-file.h
 *
 * A requester does, in this order: R1 make pending.d/ENTRY; R2 make pending; R3 check whether running is locked;
 * if not, R4 wake the worker through its socket. R2 also wakes an idle worker, through inotify.
 *
 * The worker does: W1 lock running; W2 unlink pending; W3 move every pending.d/ENTRY to working.d; W4 handle them
 * and unlink each from working.d. It repeats this from W2 while there are entries. Then it does: W5 unlock
 * running; W6 check again, and go back to W1 if there are entries.
 *
 * No request is lost: if R3 finds running locked, W6 follows R1 and finds the entry; if not, R4 starts a worker.
 * Requests taken by a killed worker stay in working.d, where the next one finds them. A second worker waits in W1;
 * if it exited, systemd would start it again, as the datagram is still in the socket.
 *
 * Listening is the other half: L1 subscribe to udev, then set listening; if it was set, or resync is, ask udev for
 * all devices. A worker leaves by these steps before W5: L2 rename listening to resync; L3 wait until udev's queue
 * is empty and take the events up to then; L4 remove resync. An event whose rule has seen listening is either
 * taken in L3, or the next worker finds resync. After a worker was killed, systemd's ExecStopPost= does L2, with
 * the lock: without it, the flag of a newer worker might be renamed.
 *
 * test/model/flags.pml is this protocol for spin, which tries every order of these steps, with every kill.
 *
 * This file needs libc only, as half of headgate-request, which runs for each device. Every function gets the run
 * directory as `run_fd` (O_PATH suffices). It returns 0, a positive result if one is named, or a negative errno.
 */

#define FLAGS_PENDING_DIRECTORY "pending.d"
#define FLAGS_WORKING_DIRECTORY "working.d"
#define FLAGS_PENDING "pending"
#define FLAGS_RUNNING "running"
#define FLAGS_LISTENING "listening"
#define FLAGS_RESYNC "resync"
#define FLAGS_SOFT_REBOOT "soft-reboot"
#define FLAGS_COLDPLUG "coldplug"
#define FLAGS_BOOT_FINISHED "boot-finished"
#define FLAGS_GIVEN_UP "given-up"
#define FLAGS_FAILURES "failures"
#define FLAGS_TAKEN_OVER "taken-over"
#define FLAGS_TAKEN_OVER_LATE "taken-over-late"
#define FLAGS_PVS_ON_LVS "pvs-on-lvs"
#define FLAGS_NO_SYSTEMD_READY "no-systemd-ready"
#define FLAGS_COMPLETING "completing"
#define FLAGS_DM_NAMES "dm-names"
#define FLAGS_LATE_PROGRAM "late-program"

/* Prefixes of entries for a VG, followed by its name. */
#define FLAGS_ENTRY_VG "vg:"
#define FLAGS_ENTRY_EXPECTED "expect:"
/* Prefix of entries for devices that were only written to, followed by the number. */
#define FLAGS_ENTRY_CHANGED "change:"

/* Prefix of links for failed units that waited for a VG, followed by its name. */
#define FLAGS_FAILED_WAIT "failed-wait:"

/* The datagrams of R4. The first one only wakes the worker; the requests are in pending.d. The second one is sent
 * if R1 failed, for example on a full file system, and makes the worker ask udev for all devices. */
#define FLAGS_WAKE "wake"
#define FLAGS_WAKE_RESYNC "resync"

/* Opens the run directory: $HEADGATE_RUN_DIRECTORY, which tests set, or /run/headgate. Returns a descriptor or a
 * negative errno. */
int flags_open_run_directory(void);

/* Creates the directories of entries. */
int flags_prepare(int run_fd);

/* R1 and R2. `entry` is a file name. An existing entry is not an error. */
int flags_post(int run_fd, const char *entry);

enum {
        FLAGS_NOT_RUNNING = 0,
        FLAGS_IS_RUNNING = 1,
};

/* R3: whether a worker holds the lock. Does not take the lock, which would make a starting worker wait. */
int flags_ask_running(int run_fd);

/* R4: sends `datagram` to the socket "wakeup" of the run directory, without waiting. A full queue is success: the
 * worker has been woken already. If systemd has lost the socket, FLAGS_WAKE starts headgate.service instead.
 * -ECONNREFUSED or -ENOENT: no worker is woken.
 *
 * systemd loses the socket if the file of headgate.socket is missing for a moment, as in an upgrade, when it
 * reloads its units. The unit stays active, but nothing reads the socket until it is restarted (socket_coldplug()
 * in src/core/socket.c of systemd). */
int flags_wake(const char *datagram);

/* Makes systemd restart headgate.socket, and headgate.service with it. Waits only until the job is queued. */
int flags_restart_socket(void);

/* W1, once. On FLAGS_NOT_RUNNING, `*ret_fd` holds the lock until it is closed; it is not inherited by programs. With
 * FLAGS_IS_RUNNING another worker has it. */
int flags_take_running(int run_fd, int *ret_fd);

/* Called for each entry; a negative return value ends the walk and is passed on. */
typedef int (*flags_entry_function)(const char *entry, void *userdata);

/* W2 and W3. `function` is called after the entry was moved. */
int flags_take_requests(int run_fd, flags_entry_function function, void *userdata);

/* Takes unfinished requests of an earlier worker; once, before the first W2. */
int flags_take_left_over(int run_fd, flags_entry_function function, void *userdata);

/* Walks over pending and taken requests, for commands. One that is moved meanwhile may be seen twice. */
int flags_walk_requests(int run_fd, flags_entry_function function, void *userdata);

/* The end of W4 for one entry. A missing entry is not an error. */
int flags_finish(int run_fd, const char *entry);

/* W6, and the end of the loop of W2 to W4: whether there are requests, 0, 1 or a negative errno. */
int flags_ask_pending(int run_fd);

/* L2, also for a worker that died; the caller has the lock. Without "listening" it does nothing. */
int flags_end_listening(int run_fd);

/* Create or remove a plain flag. Setting an existing one, or clearing a missing one, is not an error. */
int flags_set(int run_fd, const char *flag);
int flags_clear(int run_fd, const char *flag);

/* Whether a plain flag exists: 0, 1 or a negative errno. */
int flags_is_set(int run_fd, const char *flag);

enum {
        FLAGS_WOKEN = 0,
        FLAGS_WOKEN_TO_RESYNC = 1, /* a request could not be stored: ask udev for all devices */
};

/* Receives all datagrams of R4 from the socket `fd`. Invalid ones, and those not from root, are counted in
 * `*n_ignored`. Returns a value of the enum above, or a negative errno. */
int flags_receive_wakeups(int fd, unsigned int *n_ignored);
