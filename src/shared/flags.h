/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

/* The running/pending protocol: how a request reaches the worker, and why none is lost.
 *
 * In the run directory (/run/headgate) there are
 *
 *   pending.d/ENTRY   a request, an empty file: "MAJOR:MINOR" for a device, "vg:NAME" for a VG that is to be tried
 *                     anew, "expect:NAME" for one that somebody waits for
 *   pending           there may be something in pending.d
 *   working.d/ENTRY   a request that the worker has taken and not yet dealt with
 *   running           locked (fcntl OFD) by the worker as long as it will look at pending.d again
 *   listening         the worker hears of devices from udev itself; the rule then starts no request program
 *   resync            a worker that was listening died, or is about to leave: should it not come to its end, the
 *                     next one has to ask udev for all devices
 *   soft-reboot       the same, since systemd has restarted all of userspace; nothing else here is older than that
 *   coldplug          systemd has asked the kernel for an event of each device
 *   boot-finished     the events of coldplug have been worked off
 *   failed-wait:NAME  a link to the name of the unit headgate-vg@.service that has failed since the VG was not active
 *   given-up          the worker has failed too often, and headgate must not take over again by itself
 *   failures          how many workers have failed with no VG settled in between, in decimal
 *   taken-over        68-headgate.rules may act, since lvm2's own rule does not
 *   pvs-on-lvs        68-headgate.rules takes PVs on LVs for PVs like all others
 *   no-systemd-ready  68-headgate.rules does not set SYSTEMD_READY, as lvm2's rule does not
 *   completing        the worker completes cookies of device-mapper for udev, see fast-rules/cookies.h
 *   late-program      no worker completes cookies until the next boot; the program of udev's that had to be waited for
 *   dm-names/NAME     what the name of an LV that is being activated is made of, see fast-rules/dm-names.h
 *   records           what the worker knows of VGs and devices, see inventory/record-file.h
 *
 * Who requests does, in this order: R1 make pending.d/ENTRY, R2 make pending, R3 look whether running is locked,
 * and if not, R4 wake the worker through its socket. A worker that has nothing to do is woken by R2 as well,
 * through inotify. The worker does: W1 lock running, W2 unlink pending, W3 move every pending.d/ENTRY into
 * working.d, W4 deal with them and unlink each from working.d, and again from W2 while there is anything; then W5
 * unlock running, and W6 look once more, and go back to W1 if there is anything.
 *
 * Nothing is lost: if R3 finds running locked, W6 comes after R1 and finds the entry; if not, R4 starts a worker.
 * What a killed worker had taken stays in working.d, where the next one finds it. A second worker waits in W1, so
 * that the socket of the first is not left alone with what woke it.
 *
 * Listening is the other half: L1 subscribe to udev, then set listening, and if it was set, or resync, ask udev for
 * all devices; to leave, before W5, L2 turn listening into resync in one step, L3 wait until udev's queue is empty
 * and take what has come by then, L4 remove resync. An event whose rule has seen listening is either taken in L3, or
 * whoever comes next finds resync. For a worker that was killed, L2 is made by systemd's ExecStopPost=, with the lock:
 * a worker that had come before that would not find its own flag any more, nor the next one a trace of it.
 *
 * test/model/flags.pml is this protocol for spin, which tries every order of these steps, with every kill.
 *
 * This file needs libc only: it is half of headgate-request, which runs once for each device. Every function gets
 * the run directory as `run_fd` (O_PATH suffices) and returns 0, a positive outcome where one is named, or a
 * negative errno.
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

/* What an entry for a VG begins with; its name follows. */
#define FLAGS_ENTRY_VG "vg:"
#define FLAGS_ENTRY_EXPECTED "expect:"
/* What an entry for a device begins with that was merely written to; its number follows. */
#define FLAGS_ENTRY_CHANGED "change:"

/* What the link for a unit that has waited for a VG in vain begins with; the VG's name follows. */
#define FLAGS_FAILED_WAIT "failed-wait:"

/* The datagrams of R4. They only wake: what there is to do is in pending.d. The second is sent where R1 failed, a
 * full file system for instance, and has the worker ask udev for all devices. */
#define FLAGS_WAKE "wake"
#define FLAGS_WAKE_RESYNC "resync"

/* Opens the run directory: $HEADGATE_RUN_DIRECTORY, which tests set, or /run/headgate. Returns a descriptor or a
 * negative errno. */
int flags_open_run_directory(void);

/* Makes the directories of the entries, where they are missing. */
int flags_prepare(int run_fd);

/* R1 and R2. `entry` is a file name. An entry that is there already is success. */
int flags_post(int run_fd, const char *entry);

enum {
        FLAGS_NOT_RUNNING = 0,
        FLAGS_IS_RUNNING = 1,
};

/* R3: whether a worker holds the lock. Only asks; a probe that took the lock for a moment would make a starting
 * worker leave. */
int flags_ask_running(int run_fd);

/* R4: sends `datagram` to the socket "wakeup" of the run directory, without waiting. A full queue is success: then
 * the worker has been woken already. Where systemd has lost the socket it is asked for headgate.service instead, which
 * does for FLAGS_WAKE. -ECONNREFUSED or -ENOENT: nobody is woken.
 *
 * systemd loses it if it reads its units again while the file of headgate.socket is not there, be it for a moment of an
 * upgrade: the unit stays active, with nobody at its socket, until it is restarted (socket_coldplug() in systemd's
 * src/core/socket.c). */
int flags_wake(const char *datagram);

enum {
        FLAGS_SOCKET_FINE = 0, /* or stopped */
        FLAGS_SOCKET_LOST = 1,
};

/* For a worker that was started without the socket: whether nobody has it. */
int flags_ask_socket(void);

/* Has systemd restart headgate.socket, and headgate.service with it. Waits until systemd has heard that, no longer. */
int flags_restart_socket(void);

/* W1, once. On FLAGS_NOT_RUNNING, `*ret_fd` holds the lock until it is closed; it is not inherited by programs. With
 * FLAGS_IS_RUNNING another worker has it. */
int flags_take_running(int run_fd, int *ret_fd);

/* Called for each entry; a negative return value ends the walk and is passed on. */
typedef int (*flags_entry_function)(const char *entry, void *userdata);

/* W2 and W3. `function` is called after the entry was moved. */
int flags_take_requests(int run_fd, flags_entry_function function, void *userdata);

/* What an earlier worker had taken and not finished; for a starting worker, once, before its first W2. */
int flags_take_left_over(int run_fd, flags_entry_function function, void *userdata);

/* All requests that are pending or in work, for whoever looks on. One that is moved meanwhile may come twice. */
int flags_walk_requests(int run_fd, flags_entry_function function, void *userdata);

/* The end of W4 for one entry. One that is not there is success. */
int flags_finish(int run_fd, const char *entry);

enum {
        FLAGS_NOTHING_PENDING = 0,
        FLAGS_SOMETHING_PENDING = 1,
};

/* W6, and the end of the loop of W2 to W4. */
int flags_ask_pending(int run_fd);

/* L2, or what is left to do for a worker that died; the caller has the lock. Without "listening" it does nothing. */
int flags_end_listening(int run_fd);

/* Makes or removes one of the plain flags. Setting one that is there, and clearing one that is not, is success. */
int flags_set(int run_fd, const char *flag);
int flags_clear(int run_fd, const char *flag);

/* Whether a plain flag is there: 0, 1 or a negative errno. */
int flags_is_set(int run_fd, const char *flag);

enum {
        FLAGS_WOKEN = 0,
        FLAGS_WOKEN_TO_RESYNC = 1, /* a request could not be written down: ask udev for all devices */
};

/* Takes all datagrams, R4, that wait at the socket `fd`. Those that are not from root, or are none of ours, are
 * counted in `*n_ignored`. Returns one of the above, or a negative errno. */
int flags_receive_wakeups(int fd, unsigned int *n_ignored);
