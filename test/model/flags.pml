/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The running/pending protocol of src/shared/flags.h with everything that takes part in it: udev's events and their
 * rule, request programs, systemd with socket and service, two workers, and whoever kills any of these at any moment.
 *
 * Every order in which their steps can come is tried, see `run`. In all of them has to hold:
 *
 *      never two      no two workers are at work at the same time;
 *      none lost      once everything is at rest, whatever was asked for, by an event or by a person, has been looked at
 *                     after that and dealt with. Only of a request program that was killed an entry may be left for the
 *                     next run;
 *      no livelock    everything comes to rest: events and kills are finite, and so is each order of steps.
 *
 * The steps R1 to R4 and W1 to W6 are those of flags.h, L1 to L4, about listening, those of src/worker/handover.c and
 * loop.c. A step is what the kernel does at once, a system call. Taken together are only steps between which nobody
 * can tell the difference: what a worker hears from inotify, socket and udev before it acts on it; that it begins with
 * all that there is to do; what it decides by what it alone knows, and the system call that follows; that udev tells of
 * an event and takes it off its queue, for which only a worker looks that wants to leave. Of events, which are alike,
 * that with the lower number always comes first. And what is remembered for the properties alone is forgotten when it
 * is of no account any more. Otherwise there were too many states to try.
 *
 * With -DBROKEN=1 and so on one step is left out, or made at the wrong time. Then the same run has to find it out.
 */

#ifndef REQUESTERS
#define REQUESTERS 3
#endif
#ifndef KILLS
#define KILLS 2
#endif
#ifndef BROKEN
#define BROKEN 0
#endif

#ifndef PERSONS
#define PERSONS 1
#endif

#define WORKERS 2
/* The first requesters are persons who ask for a VG by name, all others udev's events of one device: a request must not
 * be swallowed by an earlier one that is in work. */
#define ENTRIES 2
#define A_VOLUME_GROUP 0
#define A_DEVICE 1
#define entry_of(requester) (requester < PERSONS -> A_VOLUME_GROUP : A_DEVICE)

/* ------ what the file system, the kernel and udev know, whoever ends ------ */

bool entry_pending[ENTRIES]; /* pending.d/ENTRY */
bool entry_working[ENTRIES]; /* working.d/ENTRY */
bool pending;
bool listening;
bool resync;
bool running;                /* somebody has locked it */
bool datagram;               /* in the socket */
bool tagged;                 /* the device, by udev's database */
byte queue;                  /* events in udev's queue */

/* What the kernel keeps for a worker, and throws away when that ends. */
bool watching[WORKERS], inotify[WORKERS];
bool subscribed[WORKERS];
bool message[WORKERS];       /* of udev, not received yet */

/* ------ for the properties: nobody who takes part looks at these ------ */

bool announced[REQUESTERS];
bool dealt[REQUESTERS];
bool orphaned[REQUESTERS];
byte at_work;

byte kills = KILLS;

/* Whoever makes a step may be killed instead. */
#define OR_KILLED :: atomic { kills > 0 -> kills--; goto killed }

/* ------ who asks ------ */

#define WAKE_WATCHERS inotify[0] = inotify[0] || watching[0]; inotify[1] = inotify[1] || watching[1]

/* The request program, or "headgate activate". */
inline request(e) {
#if BROKEN == 1
        if
        :: running -> was_running = true                                                /* R3 too early */
        :: !running
        OR_KILLED
        fi;
#endif
        if
        :: atomic { announced[e] = true; entry_pending[entry_of(e)] = true }            /* R1 */
        OR_KILLED
        fi;
#if BROKEN != 3
        if
        :: atomic { pending = true; WAKE_WATCHERS }                                     /* R2 */
        OR_KILLED
        fi;
#endif
#if BROKEN == 1
        if
        :: was_running
        :: !was_running -> datagram = true
        fi
#else
        if
        :: running                                                                      /* R3 */
        :: !running ->
                if
                :: datagram = true                                                      /* R4 */
                OR_KILLED
                fi
        OR_KILLED
        fi
#endif
}

proctype person(byte e)
{
        bool was_running;

        request(e);
        goto told;
killed:
        atomic { orphaned[e] = !dealt[e] };
told:
        skip
}

/* One event of udev, the rule, and the program that it starts. */
proctype event(byte e)
{
        bool was_running;

        atomic {
                e == PERSONS || announced[e - 1];
                announced[e] = true;
                queue++
        }
        /* TEST!="/run/headgate/listening"; after all rules the database is written; then programs are started. */
        if
        :: listening -> tagged = true; goto told
        :: !listening -> tagged = true
        fi;
        request(e);
        goto told;
killed:
        atomic { orphaned[e] = !dealt[e] };
told:
        /* Only now udev tells those that have subscribed, and then takes the event off its queue. */
        atomic {
                message[0] = message[0] || subscribed[0];
                message[1] = message[1] || subscribed[1];
                queue--
        }
}

/* ------ the worker ------ */

#if BROKEN == 3
#define SOMETHING_PENDING (pending)
#else
#define SOMETHING_PENDING (pending || entry_pending[0] || entry_pending[1])
#endif
#define heard(w) (inotify[w] || message[w] || (w == 0 && datagram))
#define nothing_to_do (!look && !todo[0] && !todo[1] && !busy[0] && !busy[1])

inline hear(w) {
        atomic {
                look = look || inotify[w] || (w == 0 && datagram);
                todo[A_DEVICE] = todo[A_DEVICE] || message[w];
                inotify[w] = false;
                message[w] = false;
                if
                :: w == 0 -> datagram = false
                :: else
                fi
        }
}

inline take(d) {
        if
        :: atomic { entry_pending[d] ->
                entry_pending[d] = false;
#if BROKEN != 2
                entry_working[d] = true;
#endif
                todo[d] = true
           }
        :: !entry_pending[d]
        OR_KILLED
        fi
}

#define is_begun(d, requester) (todo[d] && !busy[d] && announced[requester] && !dealt[requester])

inline begin_reading() {
        atomic {
                i = 0;
                do
                :: i < REQUESTERS ->
                        read[entry_of(i)] = read[entry_of(i)] | (is_begun(entry_of(i), i) << i);
                        i++
                :: else -> break
                od;
                i = 0;
                if
                :: todo[0] && !busy[0] -> todo[0] = false; busy[0] = true
                :: else
                fi;
                if
                :: todo[1] && !busy[1] -> todo[1] = false; busy[1] = true
                :: else
                fi
        }
}

/* What came of it is written down; only then the request ends, and not if there was a new one meanwhile. */
inline end_reading(d) {
        atomic { busy[d] ->
                i = 0;
                do
                :: i < REQUESTERS ->
                        dealt[i] = dealt[i] || (read[d] & (1 << i));
                        orphaned[i] = orphaned[i] && !dealt[i];
                        i++
                :: else -> break
                od;
                i = 0;
                read[d] = 0;
                busy[d] = false
        };
        if
        :: todo[d]
#if BROKEN == 7
        :: entry_working[d] = false
#else
        :: atomic { !todo[d] -> entry_working[d] = false }                              /* W4 */
#endif
        OR_KILLED
        fi
}

proctype worker(byte w; bool started)
{
        bool look, leaving, todo[ENTRIES], busy[ENTRIES], stopped;
        byte read[ENTRIES], i;

        if
        :: atomic { started -> started = false; goto start }
        :: !started
        fi;
end_inactive:
        /* systemd starts the service when there is something in its socket. */
        w == 0 && datagram;
start:
        atomic { !running -> running = true; at_work++ };                               /* W1 */
        assert(at_work == 1);
        if
        :: watching[w] = true
        OR_KILLED
        fi;
        if
#if BROKEN == 8
        :: skip
#else
        :: subscribed[w] = true                                                         /* L1 */
#endif
        OR_KILLED
        fi;
        if
        :: atomic { listening || resync -> stopped = true }
        :: atomic { else -> stopped = false }
        OR_KILLED
        fi;
        if
        :: listening = true
        OR_KILLED
        fi;
#if BROKEN == 8
        subscribed[w] = true;
#endif
        /* An earlier one has ended without notice: udev is asked for all devices. */
        atomic {
                todo[A_DEVICE] = stopped && tagged;
                stopped = false;
                todo[0] = todo[0] || entry_working[0];
                todo[1] = todo[1] || entry_working[1];
                look = true
        };
        if
        :: resync = false
        OR_KILLED
        fi;

        do
        OR_KILLED
        :: atomic { heard(w) -> hear(w) }
        :: end_reading(0)
        :: end_reading(1)
        :: atomic { look -> look = false; pending = false };                            /* W2 */
                take(0);                                                                /* W3 */
                take(1)
        :: atomic { !heard(w) && !look && ((todo[0] && !busy[0]) || (todo[1] && !busy[1])) -> begin_reading() }
        :: atomic { leaving && !nothing_to_do -> listening = true; leaving = false; look = true }
        :: atomic { nothing_to_do && !leaving ->
#if BROKEN == 4
                listening = false; leaving = true }
#else
                listening = false; resync = true; leaving = true }                      /* L2 */
#endif
#if BROKEN == 5
        :: !heard(w) && nothing_to_do && leaving ->
#else
        :: nothing_to_do && leaving && queue == 0 ->                                    /* L3 */
                /* Whatever came before the queue was empty is in the monitor by now. */
#endif
                hear(w);
                if
                :: atomic { !nothing_to_do -> goto stay }
                :: atomic { nothing_to_do -> resync = false }                           /* L4 */
                OR_KILLED
                fi;
                if
                :: atomic { running = false; at_work-- }                                /* W5 */
                OR_KILLED
                fi;
#if BROKEN == 6
                goto gone;
#else
                if
                :: atomic { !SOMETHING_PENDING -> goto gone }                           /* W6 */
                :: SOMETHING_PENDING ->
                        if
                        :: atomic { !running -> running = true; at_work++ };
                                goto stay
                        :: atomic { running -> goto gone }
                        fi
                fi
#endif
stay:
                if
                :: atomic { listening = true; leaving = false; look = true }
                OR_KILLED
                fi
        od;
gone:
        atomic {
                leaving = false;
                watching[w] = false;
                inotify[w] = false;
                subscribed[w] = false;
                message[w] = false
        };
        /* Who was started by hand stays away. */
        goto end_inactive;

killed:
        atomic {
                running = false;
                at_work--;
                look = false;
                leaving = false;
                todo[0] = false;
                todo[1] = false;
                busy[0] = false;
                busy[1] = false;
                read[0] = 0;
                read[1] = 0;
                stopped = false;
                watching[w] = false;
                inotify[w] = false;
                subscribed[w] = false;
                message[w] = false
        };
        /* ExecStopPost=, which may fail as well; then Restart=on-failure. */
        if
#if BROKEN == 9
        :: atomic { listening -> listening = false; resync = true }
#else
        :: atomic { listening && !running -> running = true };                          /* W1 */
                if
                :: atomic { listening = false; resync = true }                          /* L2 */
                :: atomic { kills > 0 -> kills-- }
                fi;
                running = false;                                                        /* W5 */
                if
                :: SOMETHING_PENDING -> datagram = true                                 /* W6, R4 */
                :: !SOMETHING_PENDING
                fi
#endif
        :: skip
        fi;
        goto start
}

init {
        byte e;
        bool at_boot, second;

        /* At boot a worker is started before there are events; later one is there, or none. A second one may be
         * started by hand. */
        if
        :: at_boot = true
        :: at_boot = false
        fi;
        if
        :: second = true
        :: second = false
        fi;
        atomic {
                run worker(0, at_boot);
                run worker(1, second);
                at_boot = false;
                second = false;
                for (e : 0 .. REQUESTERS - 1) {
                        if
                        :: e < PERSONS -> run person(e)
                        :: else -> run event(e)
                        fi
                }
        }

        /* Nobody can make a step any more. */
        timeout;
        for (e : 0 .. REQUESTERS - 1) {
                assert(dealt[e] || orphaned[e]);
                assert(dealt[e] || !entry_working[entry_of(e)])
        }
        assert(!running && !datagram)
}
