# SPDX-License-Identifier: LGPL-2.1-or-later
"""A guest in user-mode Linux: a process of the host, one CPU."""

import contextlib
import fcntl
import os

from harness.machine import run_guest

# What the kernel, udev and scsi_debug keep for a disk beyond its contents.
OVERHEAD_MIB = 2
BASE_MIB = 768


class Uml:
    """Starts a guest in a folder of its own. The base image is only read: writes go to a copy-on-write file."""

    def __init__(self, folder, kernel, base, scenario, disk_set):
        self.folder = folder
        self.kernel = kernel
        self.base = base
        self.pack = disk_set.pack
        self.memory = BASE_MIB + scenario.disks * (scenario.disk_mib + OVERHEAD_MIB)
        self.cmdline = scenario.cmdline

    def run(self, seconds, follow):
        """Boot, wait until the guest has powered itself off, and return whether it did."""
        words = self.kernel.command_line(
            f"mem={self.memory}M", f"umid=guest-{os.getpid()}", f"uml_dir={self.folder}",
            f"ubd0={self.folder}/root.cow,{self.base}", f"ubd1r={self.folder}/payload.tar",
            f"ubd2={self.folder}/results.tar", f"ubd3r={self.pack}",
            "root=/dev/ubda", "rw", "init=/usr/lib/guest/stage-one", "con=null", "con0=null,fd:1", "ssl=null",
            "panic=1", "systemd.log_color=0",
            "guest_payload=/dev/ubdb", "guest_results=/dev/ubdc", "guest_pack=/dev/ubdd",
            *self.cmdline.split())
        # The guest's memory is a file in TMPDIR: on a disk it would be written out again and again.
        environment = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}
        with cpu_of_our_own(self.folder.parent) as cpu:
            return run_guest(["taskset", "--cpu-list", str(cpu), *words], self.folder / "console.log", seconds, follow,
                             **environment)


@contextlib.contextmanager
def cpu_of_our_own(folder):
    """Choose a CPU that no other guest uses, if there is one.

    The kernel and its processes run by turns, never at once: on one CPU the guest is more than twice as fast as when
    the host's scheduler spreads them over several.
    """
    cpus = sorted(os.sched_getaffinity(0))
    for cpu in cpus:
        with open(folder / f"cpu-{cpu}.lock", "w", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield cpu
            return
    yield cpus[os.getpid() % len(cpus)]
