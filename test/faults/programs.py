# SPDX-License-Identifier: LGPL-2.1-or-later
"""What each program has to withstand: how it is run with a fault, and what must hold afterwards."""

import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

from faults import observer, possible_faults
from worker_machine import RUN, STATE

TESTS = Path(__file__).parent.parent
# How long a worker may take that tries again each second.
SETTLED_DISTURBED_S = 5
INODES = 10000
# It goes on, but not with all that there is to do.
BY_HAND = "after somebody restarts it"
# What cannot be helped: a program that did not come to the point of writing the request down. udev logs its failure.
LOST = "not, the request is lost, which udev is told"


# How often it is tried to have all VGs active.
BEGINNINGS_MAX = 5


class Worker:
    """A batch of three VGs, from the start of the worker until it is stopped."""
    name = "headgated"

    def __init__(self, machine):
        self.machine = machine

    def work(self, wrapper):
        self.machine.begin()
        self.machine.ask_for_devices()
        return self.machine.work(wrapper)

    def faults(self):
        return self.faults_on() + self.faults_on(self.machine.paths.values())

    def faults_on(self, paths=()):
        """Of all calls, or of those of readers on devices."""
        results = self.work(observer(RUN / "trace", paths))
        problems = self.machine.problems()
        assert not problems, (results, problems)
        return possible_faults((RUN / "trace").read_text(), paths)

    def withstands(self, fault):
        """What came of it, and what is wrong then."""
        results = self.work(fault.wrapper())
        by_hand = any(result.startswith("timeout") for result in results)
        outcome = BY_HAND if by_hand else "after systemd restarts it" if len(results) > 1 else "by itself"
        return outcome, self.machine.problems()


class ReadAgain(Worker):
    """All devices are read again, of VGs that are active and of one that was deactivated by hand; each reader fails, or is killed. No
    VG is lost meanwhile, none is activated, and none degraded."""
    name = "headgated, devices are read again"

    def begin(self):
        # A worker that was too slow on a busy machine, and killed, may have left something to be done.
        for _ in range(BEGINNINGS_MAX):
            if super().work(()) == ["success (0)"] and self.machine.is_settled():
                break
        self.machine.deactivate("v")
        # What cannot be read counts as missing for no policy.
        self.machine.allow_degraded(("plain", "v"))
        self.machine.ask_for_devices(prefix="change:")

    def work(self, wrapper):
        self.begin()
        try:
            return self.machine.work(wrapper)
        finally:
            self.machine.allow_degraded(())

    def faults(self):
        return [fault for fault in super().faults() if fault.forked]

    def withstands(self, fault):
        self.begin()
        result, status = self.machine.run_to_the_end(self.machine.start(fault.wrapper()))
        lost = [f"VG {vg} was {state}" for vg, state in self.machine.states().items() if state != "active"]
        self.machine.allow_degraded(())
        self.machine.take_logged()
        if result == "success":
            return "by itself", lost + self.machine.problems()
        # Each reader that follows fails at the same call.
        self.machine.stopped(result, status)
        self.machine.work()
        return "when readers read again", lost + self.machine.problems()


class Disturbed(Worker):
    """The same, and something else happens at one of the worker's calls."""

    def faults(self):
        return [replace(fault, how="STOP") for fault in super().faults() if fault.how == "KILL" and not fault.forked]

    def withstands(self, fault):
        self.machine.begin()
        self.machine.ask_for_devices()
        pid = self.machine.start(fault.wrapper())
        if self.wait_until_stopped(pid):
            self.happens()
            # What looked like the stop may have been one for strace, with the other still to come.
            for _ in range(10):
                os.kill(pid, signal.SIGCONT)
                time.sleep(0.02)
            self.ends()
        result, status = self.machine.run_to_the_end(pid, SETTLED_DISTURBED_S)
        self.machine.take_logged()
        if result == "success":
            return "by itself", self.machine.problems()
        self.machine.stopped(result, status)
        results = self.machine.work()
        problems = self.machine.problems() + ([f"the worker ended with {result}"] if result == "timeout" else [])
        return "after systemd restarts it", problems + ([str(results)] if len(results) > 1 else [])

    def wait_until_stopped(self, pid):
        """Whether it has come to that call. A run that made fewer calls has not, and is like any other."""
        until, n_stopped = time.monotonic() + SETTLED_DISTURBED_S, 0
        # It is stopped for a moment at each call, for strace.
        while n_stopped < 4 and time.monotonic() < until and not self.machine.is_settled():
            is_stopped = re.search(r"^State:\s+[Tt]", Path(f"/proc/{pid}/status").read_text(), re.M)
            n_stopped = n_stopped + 1 if is_stopped else 0
            time.sleep(0.003)
        return n_stopped == 4

    def happens(self):
        raise NotImplementedError

    def ends(self):
        pass


class Removal(Disturbed):
    """A disk of one of the VGs is removed."""
    name = "headgated, a disk is removed"

    def happens(self):
        self.machine.remove("plain-1")


class NoInodes(Disturbed):
    """/run/headgate can have no more files for a while."""
    name = "headgated, no inodes in /run"

    def happens(self):
        self.allow(os.statvfs(STATE).f_files - os.statvfs(STATE).f_ffree)

    def ends(self):
        self.allow(INODES)

    def allow(self, inodes):
        # Fails if the worker has made a file meanwhile: then it is not hindered this time.
        subprocess.run(["mount", "-o", f"remount,nr_inodes={inodes}", STATE], check=False, stderr=subprocess.DEVNULL)


class NoJournal(Worker):
    """The worker is killed, and journald is stopped, with its queue full."""
    name = "headgated, journald is stopped"

    def work(self, wrapper):
        self.machine.fill_journal()
        try:
            return super().work(wrapper)
        finally:
            self.machine.journal_is_full = False
            self.machine.take_logged()

    def faults(self):
        return [fault for fault in super().faults() if fault.how == "KILL"]


class Request:
    """A request for one of two PVs, which is kept or not; then a worker works."""
    name = "headgate-request"
    image = "plain-1"

    def __init__(self, machine, program):
        self.machine = machine
        self.program = program

    def ask(self, wrapper):
        self.machine.begin()
        self.machine.ask_for_devices(but=self.image)
        # Only what this one sends is to wake anybody.
        self.machine.socket.recv(16)
        return subprocess.run([*wrapper, self.program, self.machine.numbers[self.image]], check=False, timeout=10,
                              stdin=subprocess.DEVNULL, capture_output=True, env={}).returncode

    def faults(self):
        assert self.ask(observer(RUN / "trace")) == 0
        return possible_faults((RUN / "trace").read_text())

    def withstands(self, fault):
        status = self.ask(fault.wrapper())
        kept = (STATE / "pending.d" / self.machine.numbers[self.image]).exists() or self.machine.is_woken() == b"resync"
        if not kept:
            return LOST, [] if status != 0 else ["it says that all is well"]
        # Whoever wakes the worker next.
        self.machine.ask_for_devices(but=self.image)
        results = self.machine.work()
        return "with the request", self.machine.problems() + ([str(results)] if len(results) > 1 else [])


class Generator:
    """Units for direct activation of what two files and some backups name."""
    name = "headgate-generator"

    def __init__(self, program):
        self.program = program
        self.root = RUN / "generator"
        self.folders = [RUN / name for name in ("normal", "early", "late")]
        shutil.copytree(TESTS / "generator/39-enabled", self.root, symlinks=True)
        # May be of any VG, as is taken of a file that cannot be read: then the group "rest" has a unit.
        with open(self.root / "etc/fstab", "a", encoding="ascii") as fstab:
            fstab.write("LABEL=any /any ext4 defaults 0 2\n")
        (self.root / "etc/lvm/backup").mkdir(parents=True, exist_ok=True)
        for name in ("data", "home", "srv", "system"):
            shutil.copy(TESTS / "generator/backups" / name, self.root / "etc/lvm/backup")
        status, self.whole = self.generate(())
        assert status == 0 and len(self.whole) > 3, self.whole

    def generate(self, wrapper):
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        status = subprocess.run([*wrapper, self.program, *self.folders], check=False, timeout=10,
                                stdin=subprocess.DEVNULL, capture_output=True, env={"HEADGATE_ROOT": str(self.root)}).returncode
        return status, {str(path): path.read_text() if path.is_file() and not path.is_symlink() else str(path.readlink())
                        for folder in self.folders for path in folder.rglob("[!.]*") if path.is_symlink() or path.is_file()}

    def faults(self):
        self.generate(observer(RUN / "trace"))
        return possible_faults((RUN / "trace").read_text())

    def withstands(self, fault):
        """A VG or a whole file may be missing: then events activate. What is there, and systemd reads, is whole."""
        _, files = self.generate(fault.wrapper())
        problems = [f"{name}: {text!r}, not {self.whole.get(name)!r}" for name, text in files.items()
                    if name not in self.whole or skeleton(text) != skeleton(self.whole[name])]
        return "with all units" if files == self.whole else "with fewer units", problems


def skeleton(text):
    """A file without the VGs that it names, if their list is whole, and without comments, which tell why these."""
    without_comments = re.sub(r"(?m)^#.*\n", "", text)
    return re.sub(r" wait(?: --[\w-]+)* --(?: \\\n +\S+)+\n", " wait\n", without_comments)
