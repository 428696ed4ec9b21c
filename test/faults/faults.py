# SPDX-License-Identifier: LGPL-2.1-or-later
"""What can go wrong with a program: each of its system calls, in each way that the kernel knows for it."""

import collections
import re
from dataclasses import dataclass

# With these, any call of these names may fail; with the two that follow, any call at all.
ERRORS = {
    "EINTR": r"read|write|open|epoll_wait|wait4|poll|recv|send|fcntl|flock|connect|accept|ioctl|sleep",
    "EMFILE": r"open|socket|pipe|epoll_create|inotify_init|timerfd_create|signalfd|eventfd|memfd_create|dup|fcntl",
    "ENOSPC": r"write|open|mkdir|mknod|link|rename|truncate|inotify_add|epoll_ctl",
    "EIO": "",
    "ENOMEM": "",
}
# These cannot fail, or do not come back.
NEVER = {"exit_group", "exit", "rt_sigreturn", "execve", "restart_syscall", "getpid", "gettid"}


@dataclass(frozen=True)
class Fault:
    """The nth call of that name, of the program itself, or of the processes that it forks; with paths, of calls on these files."""
    call: str
    nth: int
    how: str  # an errno, or a signal: "KILL", "STOP"
    forked: bool
    paths: tuple = ()

    def __str__(self):
        return f"{self.how} at {self.call} {self.nth}{' of a child' if self.forked else ''}{' on a device' if self.paths else ''}"

    def wrapper(self):
        """Programs that the broken one starts are left alone."""
        how = f"signal={self.how}" if self.how in ("KILL", "STOP") else f"error={self.how}"
        return ["strace", "-D", *(FOLLOW if self.forked else ()), *only(self.paths), "-qq", "-o", "/dev/null",
                "-e", f"trace={self.call}", "-e", f"inject={self.call}:{how}:when={self.nth}"]


FOLLOW = ("-f", "-b", "execve")


def only(paths):
    return [word for path in paths for word in ("-P", str(path))]


def observer(path, paths=()):
    """What notes all calls, or those on these files, for possible_faults()."""
    return ["strace", "-D", *FOLLOW, *only(paths), "-qq", "-o", str(path)]


def possible_faults(trace, paths=()):
    """All faults of what an observer has seen, in the order of the calls. strace counts in each process, so of the calls of
    children there are those only that no other process comes to; what is about to become another program is no child. The
    files that are given are touched by children only."""
    lines = [match.groups() for match in re.finditer(r"^(\d+) +(\w+)\(", trace, re.M)]
    program = None if paths else lines[0][0]
    own = collections.Counter(call for pid, call in lines if pid == program)
    starters = {pid for pid, call in lines if call == "execve" and pid != program}
    others = {call for pid, call in lines if pid in starters}
    count = collections.Counter()
    faults = {}
    for pid, call in lines:
        count[pid, call] += 1
        forked = pid != program
        if call in NEVER or forked and (call in others or count[pid, call] <= own[call]):
            continue
        for how in ("KILL", *ERRORS):
            if how == "KILL" or re.search(ERRORS[how], call):
                faults[Fault(call, count[pid, call], how, forked, tuple(paths))] = None
    return list(faults)
