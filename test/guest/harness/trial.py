# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trial boots: whether a kernel runs on this host in a certain way is found out by running it.

The answer is kept until the host is booted again.
"""

import subprocess
from pathlib import Path

from harness.cache import made
from harness.progress import command, key_of, need_packages

# Words for the kernel of a trial; inside/initrd/init.c answers with the mark and powers off.
WORD = "guest_trial=1"
MARK = b"GUEST: alive"
SECONDS = 10
MEMORY_MIB = 256
INIT = Path(__file__).parent.parent / "inside" / "initrd" / "init.c"


def answer(cache, ingredients, ask):
    """Return the string that ask() returns, from the cache if it was asked since the host booted."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    kept = cache / f"trial-{key_of(Path(__file__).read_text(), INIT.read_text(), boot, *ingredients)}"
    return made(kept, lambda: kept.write_text(ask())).read_text()


def problem(words):
    """Run a trial by this command. Return why it failed, or None if the kernel came up."""
    try:
        tried = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"the trial did not end within {SECONDS} s"
    if tried.returncode != 0 or MARK not in tried.stdout:
        return "the trial failed"
    return None


def make_initrd(target, scratch):
    """Write an initrd with inside/initrd/init.c and with what there is in the folder scratch, usually modules."""
    need_packages("cpio", "gcc", "libc6-dev")
    (scratch / "modules").mkdir(parents=True, exist_ok=True)
    command("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-o", scratch / "init", INIT)
    command("sh", "-c", 'find . | cpio --quiet -o -H newc -R 0:0 > "$1"', "sh", target, cwd=scratch)
