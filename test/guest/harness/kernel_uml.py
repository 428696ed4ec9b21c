# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kernel of user-mode guests: user-mode Linux of a newer Debian than the guest's own.

7.2 can have seccomp instead of ptrace catch the system calls of the guest's processes, which halves the time of most
scenarios. Where that does not work, 7.2 without it is used, else 6.12. The program needs a newer C library than the
host's, so that it comes with its own.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness import trial
from harness.cache import made
from harness.progress import Trouble, command, fetch, key_of, need_packages, say

LIBRARIES = "usr/lib/x86_64-linux-gnu"


@dataclass
class Way:
    """A way to run a guest: a release of Debian for the kernel, a word for it, and what a disk costs in memory."""
    name: str
    suite: str
    word: str
    # What the kernel, udev and scsi_debug keep for a disk beyond its contents.
    overhead_mib: int


# The best first.
WAYS = [Way("7.2 with seccomp", "forky", "seccomp=on", 8), Way("7.2", "forky", "seccomp=off", 8),
        Way("6.12", "trixie", "", 2)]


class UmlKernel:
    slowness = 1                                    # all deadlines are meant for this machine

    def __init__(self, tree, way):
        self.description = f"user-mode Linux {way.name}"
        self.program = tree / "usr/bin/linux.uml"
        self.libraries = tree / LIBRARIES
        self.modules = next((tree / "usr/lib/uml/modules").iterdir())
        self.word = way.word
        self.overhead_mib = way.overhead_mib

    def command_line(self, *words):
        """A command that runs the kernel in a mount namespace where its libraries lie in place of the host's."""
        # The guest's memory is a file in /dev/shm. With huge pages, where the host has them, a guest takes 7 % less CPU time.
        script = 'mount -t tmpfs -o huge=always tmpfs /dev/shm; mount --bind "$1" "/$2" && shift 2 && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", script, "sh", str(self.libraries), LIBRARIES, str(self.program),
                *filter(None, [self.word]), *words]


def uml_kernel(cache, _suite):
    """Return the UmlKernel, from the cache if it was fetched before. It is the same for guests of any release."""
    name = trial.answer(cache, [Path(__file__).read_text()], lambda: best_way(cache).name)
    way = next(way for way in WAYS if way.name == name)
    return UmlKernel(kernel_tree(cache, way.suite), way)


def best_way(cache):
    """Return the first Way of which a trial boot succeeds; say which, and why not those before it."""
    for way in WAYS:
        try:
            failed = try_kernel(UmlKernel(kernel_tree(cache, way.suite), way))
        except Trouble as trouble:
            failed = trouble
        say(f"user-mode Linux {way.name} " + (f"cannot be used: {failed}" if failed else "works"))
        if not failed:
            return way
    raise Trouble("no user-mode Linux can be used")


def try_kernel(kernel):
    with tempfile.TemporaryDirectory(prefix="guest-trial-") as name:
        scratch = Path(name)
        trial.make_initrd(scratch / "initrd", scratch / "tree")
        return trial.problem(kernel.command_line(
            f"mem={trial.MEMORY_MIB}M", f"uml_dir={scratch}", f"initrd={scratch}/initrd", "con=null", "con0=null,fd:1",
            "ssl=null", "panic=1", "noreboot", trial.WORD))


def kernel_tree(cache, suite):
    tree = cache / f"kernel-{key_of(suite, LIBRARIES)}"

    def make():
        need_packages("mmdebstrap")
        say(f"fetching user-mode Linux of Debian {suite}")
        with tempfile.TemporaryDirectory(dir=cache, prefix="kernel-") as scratch:
            fetch(suite, f"{scratch}/all.tar", "--variant=extract", "--include=user-mode-linux")
            command("tar", "-xf", f"{scratch}/all.tar", "-C", scratch, "./usr/bin/linux.uml", "./usr/lib/uml",
                    f"./{LIBRARIES}")
            shutil.move(f"{scratch}/usr", f"{scratch}/tree/usr")
            Path(f"{scratch}/tree").rename(tree)
    return made(tree, make)
