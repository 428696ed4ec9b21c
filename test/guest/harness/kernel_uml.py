# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kernel of user-mode guests: user-mode Linux of a newer Debian than the guest's own.

Debian 12's 6.1 takes nearly twice as long to fork, and forking is most of what a boot does. The program needs a newer
C library than the host's, so that it comes with its own.
"""

import os
import shutil
import tempfile
from pathlib import Path

from harness.cache import used
from harness.progress import command, key_of, need_packages, say

SUITE = "trixie"
LIBRARIES = "usr/lib/x86_64-linux-gnu"


class UmlKernel:
    description = "uml"
    slowness = 1                                    # all deadlines are meant for this machine

    def __init__(self, tree):
        self.program = tree / "usr/bin/linux.uml"
        self.libraries = tree / LIBRARIES
        self.modules = next((tree / "usr/lib/uml/modules").iterdir())
        self.version = self.modules.name

    def command_line(self, *words):
        """A command that runs the kernel in a mount namespace where its libraries lie in place of the host's."""
        script = 'mount --bind "$1" "/$2" && shift 2 && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", script, "sh", str(self.libraries), LIBRARIES, str(self.program),
                *words]


def uml_kernel(cache, _suite):
    """Return the UmlKernel, from the cache if it was fetched before. It is the same for guests of any release."""
    need_packages("mmdebstrap")
    tree = cache / f"kernel-{key_of(Path(__file__).read_text())}"
    if not tree.exists():
        say(f"fetching user-mode Linux of Debian {SUITE}")
        with tempfile.TemporaryDirectory(dir=cache, prefix="kernel-") as scratch:
            command("mmdebstrap", "--variant=extract", "--include=user-mode-linux", SUITE, f"{scratch}/all.tar")
            command("tar", "-xf", f"{scratch}/all.tar", "-C", scratch, "./usr/bin/linux.uml", "./usr/lib/uml",
                    f"./{LIBRARIES}")
            shutil.move(f"{scratch}/usr", f"{scratch}/tree/usr")
            os.rename(f"{scratch}/tree", tree)
    return UmlKernel(used(tree))
