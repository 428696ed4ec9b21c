# SPDX-License-Identifier: LGPL-2.1-or-later
"""A guest in user-mode Linux: a process of the host, one CPU."""

import contextlib
import fcntl
import itertools
import os

from harness.disks import MIB, PACK_PADDING
from harness.machine import LOG_WORDS, Machine, run_guest
from harness.progress import KernelFault

BASE_MIB = 768
# What the kernel says when it has followed a wrong pointer of its own. 6.12 does so now and then when a process is
# killed that is just being copied by fork(): it looks at memory maps that are being taken down.
FAULT = "Kernel panic - not syncing: Kernel mode fault"

# udev would spend 2 s with 512 terminals of an old kind, and half a second with 64 serial lines. The kernel would measure
# for 0.1 s how long its loops take, which only delays of microseconds depend on.
QUICK_START = ["initcall_blacklist=ssl_init", "pty.legacy_count=0", "lpj=10000000"]
# Each boot would measure for 0.9 s which code is the fastest for RAID 6 (the function has another name since 7.1). Without that
# the kernel cannot do RAID 6.
WITHOUT_RAID6 = "initcall_blacklist=raid6_select_algo,raid6_init"


class Uml(Machine):
    """Starts a guest whose base image is only read: writes go to a copy-on-write file, which is kept from boot to
    boot. Its disks are in its memory, and new at each boot; what is to be kept of them goes to a file."""

    def __init__(self, folder, kernel, base, scenario, disk_set):
        super().__init__(folder, scenario)
        self.kernel = kernel
        self.base = base
        self.pack = disk_set.pack
        self.quick_start = [*QUICK_START, *([] if "raid6" in scenario.body else [WITHOUT_RAID6])]
        self.kept = folder / "kept.raw"
        with open(self.kept, "wb") as kept:
            kept.truncate(PACK_PADDING + scenario.disks * scenario.disk_mib * MIB)
        self.memory = max(scenario.memory_mib, BASE_MIB) + scenario.disks * (scenario.disk_mib + kernel.overhead_mib)

    def run(self, deadline, follow):
        """Boot, and wait until the guest has powered itself off."""
        words = self.kernel.command_line(
            f"mem={self.memory}M", f"umid=guest-{os.getpid()}", f"uml_dir={self.folder}",
            f"ubd0={self.folder}/root.cow,{self.base}", f"ubd1r={self.folder}/payload.tar",
            f"ubd2={self.folder}/results.tar", f"ubd3r={self.pack}",
            f"ubd4={self.kept}", *([f"ubd5r={self.previous}", "guest_previous=/dev/ubdf"] if self.previous else []),
            *self.root_words(), "init=/usr/lib/guest/stage-one", "con=null", "con0=null,fd:1", "ssl=null",
            "panic=1", "noreboot", *self.quick_start, *LOG_WORDS.split(), f"guest_boot={self.boot}", "systemd.log_color=0",
            "guest_payload=/dev/ubdb", "guest_results=/dev/ubdc", "guest_pack=/dev/ubdd", "guest_kept=/dev/ubde",
            *self.cmdline.split())
        # The guest's memory is a file in TMPDIR: on a disk it would be written out again and again.
        environment = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}
        with cpu_of_our_own(self.folder.parent) as cpu:
            run_guest(["taskset", "--cpu-list", str(cpu), *words], self.folder / "console.log", deadline, follow,
                      **environment)
        console = (self.folder / "console.log").read_text(errors="replace")
        for line in console.splitlines():
            if FAULT in line:
                raise KernelFault(line.strip())

    def root_words(self):
        return ["root=/dev/ubda", "rw"]


@contextlib.contextmanager
def cpu_of_our_own(folder):
    """Choose a CPU that no other guest uses, or as few as can be.

    The kernel and its processes run by turns, never at once: on one CPU the guest is more than twice as fast as when
    the host's scheduler spreads them over several.
    """
    cpus = sorted(os.sched_getaffinity(0))
    for place in itertools.count():
        for cpu in cpus:
            with open(folder / f"cpu-{cpu}.{place}.lock", "w", encoding="ascii") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                yield cpu
                return
