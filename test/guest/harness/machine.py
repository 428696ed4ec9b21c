# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all machines have in common: a command that is the guest, and that ends when the guest has powered off."""

import contextlib
import os
import signal
import subprocess
import tarfile
import time
from dataclasses import dataclass

from harness.progress import KernelFault, Trouble

# How the guest marks those lines of its console that are for whoever looks on.
MARK = "GUEST| "
# What it says when its kernel has come to the first program that is neither the kernel's nor the base image's.
STARTED = "GUEST: started"
# What it says when it begins to shut down really.
SHUTTING_DOWN = "GUEST: shutting down"
# The kernel's log has room for all that systemd-shutdown says, and takes each line.
LOG_WORDS = "log_buf_len=4M printk.devkmsg=on"


@dataclass
class Deadline:
    """Seconds that a guest may take: until it says that it has started, to its end, and for a real shutdown."""
    start: float
    whole: float
    shutdown: float


class Machine:
    """A guest in a folder of its own, which is booted once or several times."""

    def __init__(self, folder, scenario):
        self.folder = folder
        self.cmdline = scenario.cmdline
        self.boot = 1
        # The results of the boot before, from the second one on.
        self.previous = None

    def hand_over(self, report):
        """Take what a boot has left for the next one: its results with its console, and words for the kernel."""
        self.boot += 1
        self.cmdline = report.text("next-cmdline").strip()
        self.previous = self.folder / "previous.tar"
        os.replace(self.folder / "results.tar", self.previous)
        # What the kernel says at last, when nothing is left that could report it.
        with tarfile.open(self.previous, "a") as archive:
            archive.add(self.folder / "console.log", "console")


def run_guest(words, console_path, deadline, follow=False, **environment):
    """Run a guest whose console is its command's output until it ends by itself; raise Trouble if it is too late.

    With follow, what the guest notes is printed as it comes.
    """
    with open(console_path, "wb") as console, open(console_path, errors="replace", encoding="utf-8") as reader:
        guest = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT,
                                 env=os.environ | environment, start_new_session=True)
        try:
            watch(guest, reader, deadline, follow)
        finally:
            # A guest may be many processes of the host, all of them in the session that was started for it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(guest.pid, signal.SIGKILL)
            guest.wait()


def watch(guest, console, deadline, follow):
    """Return when the guest has ended."""
    start_until = time.monotonic() + deadline.start
    until, what = time.monotonic() + deadline.whole, f"end within {deadline.whole} s"
    started = ended = False
    line = ""
    while not ended:
        # Asked before the last look, so that nothing is left unread.
        ended = guest.poll() is not None
        for part in console:
            line += part
            if line.endswith("\n"):
                _, mark, note = line.partition(MARK)
                if mark and follow:
                    print(note, end="", flush=True)
                started |= STARTED in line
                if SHUTTING_DOWN in line:
                    until, what = time.monotonic() + deadline.shutdown, f"shut down within {deadline.shutdown} s"
                line = ""
        if not ended and not started and time.monotonic() > start_until:
            raise KernelFault(f"it has not come to its first program within {deadline.start:.0f} s")
        if not ended and time.monotonic() > until:
            raise Trouble(f"the guest did not {what} and was stopped")
        time.sleep(0.2)
