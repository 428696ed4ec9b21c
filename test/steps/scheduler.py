# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs steps, as many at a time as the processors bear; what waits for nothing starts as soon as there is room."""

import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

from step import ALONE, COMPUTING, MEASURING, WAITING, Step

GRACE_SECONDS = 10
# How often to look whether processors are idle, and how many of them make room for one step more.
LOOK_SECONDS = 4
IDLE_PROCESSORS = 0.15
# In this order: what is measured comes last, when nothing has to be waited for any more.
PHASES = {COMPUTING: 0, WAITING: 0, MEASURING: 1, ALONE: 2}


@dataclass
class Result:
    step: Step
    ok: bool
    seconds: float
    cpu_seconds: float                          # its own and those of what it has waited for
    output: str


class Scheduler:
    def __init__(self, steps, processors, usual_seconds):
        """usual_seconds: name of a step -> what it took the last time."""
        def expected(step):
            return usual_seconds.get(step.name, step.seconds)

        names = {step.name for step in steps}
        for step in steps:
            step.after = [name for name in step.after if name in names]
        # What others need comes first. Of all that may run beside each other the longest come first.
        self.waiting = sorted(steps, key=lambda step: (step.kind != "build", PHASES[step.load], -expected(step)))
        self.running = {}                       # process ID -> (process, step, its log, when it began)
        self.processors = processors
        self.extra = 0                          # steps for which idle processors have made room
        self.seen = processor_times()
        self.succeeded = set()
        self.late = set()                       # names of steps that were ended
        self.failed = set()

    def results(self):
        """Run all; yield the Result of each as it ends."""
        try:
            while self.waiting or self.running:
                yield from self.start()
                self.extra = 0
                result = self.wait() if self.running else None
                if result:
                    yield result
        finally:
            self.end_all()

    def start(self):
        """Start what there is room for; yield a Result for what cannot be run any more."""
        for step in list(self.waiting):
            if self.failed & set(step.after):
                self.waiting.remove(step)
                self.failed.add(step.name)
                yield Result(step, False, 0, 0, f"it needs '{step.after[0]}', which has failed\n")
            elif self.succeeded.issuperset(step.after) and self.fits(step):
                self.waiting.remove(step)
                log = tempfile.TemporaryFile()
                process = subprocess.Popen(step.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                           start_new_session=True)
                self.running[process.pid] = process, step, log, time.monotonic()

    def fits(self, step):
        loads = [running.load for _, running, *_ in self.running.values()]
        if step.load == ALONE:
            return not loads
        if any(PHASES[load] != PHASES[step.load] for load in loads):
            return False
        if loads.count(step.load) < self.processors:
            return True
        if step.load == MEASURING:
            return False
        self.extra -= 1
        return self.extra >= 0

    def wait(self):
        """Wait for one to end, and return its Result; or None once there is room for one more, since processors are idle."""
        while not (ended := os.wait4(-1, os.WNOHANG))[0]:
            time.sleep(0.1)
            self.end_what_is_late()
            if self.has_idle_processors() and len(self.running) <= 3 * self.processors:
                self.extra = 1
                return None
        process_id, status, usage = ended
        process, step, log, began = self.running.pop(process_id)
        process.returncode = os.waitstatus_to_exitcode(status)
        with log:
            log.seek(0)
            output = log.read().decode(errors="replace")
            if step.name in self.late:
                output += f"ended, since it took longer than {step.limit} s\n"
        ok = process.returncode == 0
        (self.succeeded if ok else self.failed).add(step.name)
        return Result(step, ok, time.monotonic() - began, usage.ru_utime + usage.ru_stime, output)

    def end_what_is_late(self):
        """Ask what has taken longer than it may to end, once; kill it if it does not."""
        for process_id, (_, step, _, began) in self.running.items():
            seconds = time.monotonic() - began
            if seconds > step.limit and step.name not in self.late:
                self.late.add(step.name)
                os.killpg(process_id, signal.SIGTERM)
            elif seconds > step.limit + GRACE_SECONDS:
                os.killpg(process_id, signal.SIGKILL)

    def has_idle_processors(self):
        """Whether some were, from the last time that this was looked at until now."""
        idle, total = processor_times()
        seen_idle, seen_total = self.seen
        if total - seen_total < LOOK_SECONDS * self.processors:
            return False
        self.seen = idle, total
        return (idle - seen_idle) / (total - seen_total) * self.processors >= IDLE_PROCESSORS

    def end_all(self):
        """What still runs is ended, and with it whatever it has started."""
        for process_id in self.running:
            os.killpg(process_id, signal.SIGTERM)
        until = time.monotonic() + GRACE_SECONDS
        for process, *_ in self.running.values():
            try:
                process.wait(max(0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def processor_times():
    """Seconds that all processors together have been idle, and in all."""
    with open("/proc/stat", encoding="ascii") as stat:
        times = [int(word) / os.sysconf("SC_CLK_TCK") for word in stat.readline().split()[1:9]]
    return times[3] + times[4], sum(times)
