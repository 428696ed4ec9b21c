# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all machines have in common: a command that is the guest, and that ends when the guest has powered off."""

import contextlib
import os
import signal
import subprocess
import time


# How the guest marks those lines of its console that are for whoever looks on.
MARK = "GUEST| "


def run_guest(words, console_path, seconds, follow=False, **environment):
    """Run a guest whose console is its command's output, and return whether it ended by itself in time.

    With follow, what the guest notes is printed as it comes.
    """
    with open(console_path, "wb") as console, open(console_path, errors="replace", encoding="utf-8") as reader:
        guest = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT,
                                 env=os.environ | environment, start_new_session=True)
        try:
            if follow:
                show_notes(guest, reader, time.monotonic() + seconds)
            else:
                guest.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False
        finally:
            # A guest may be many processes of the host, all of them in the session that was started for it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(guest.pid, signal.SIGKILL)
            guest.wait()


def show_notes(guest, console, until):
    """Print what the guest notes until it ends."""
    ended = False
    line = ""
    while not ended:
        # Asked before the last look, so that nothing is left unread.
        ended = guest.poll() is not None
        for part in console:
            line += part
            if line.endswith("\n"):
                _, mark, note = line.partition(MARK)
                if mark:
                    print(note, end="", flush=True)
                line = ""
        if not ended and time.monotonic() > until:
            raise subprocess.TimeoutExpired(guest.args, 0)
        time.sleep(0.2)
