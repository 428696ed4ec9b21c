# SPDX-License-Identifier: LGPL-2.1-or-later
"""What qemu runs a guest's instructions with: KVM if it works, else translation by qemu itself (TCG).

That /dev/kvm exists says little: where the host is itself a guest, KVM may start and then stop at some instruction. So
it is tried, with the kernel that is going to run.
"""

import os
from pathlib import Path

from harness import trial
from harness.progress import package_version, say

# How many times longer than in user-mode Linux a guest may take. Under TCG a boot was seen to take 2 to 3 times as long
# with two CPUs of the host to itself; it may have less.
SLOWNESS = {"kvm": 1, "tcg": 5}
# qemu 7.2 cannot set arch-capabilities on some hosts that announce it, and ends.
OPTIONS = {"kvm": ["-accel", "kvm", "-cpu", "host,arch-capabilities=off"],
           # The default CPU: what a newer one can do more is not for free when it is emulated.
           "tcg": ["-accel", "tcg,thread=multi"]}
MACHINE = ["-machine", "q35", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
           "-serial", "stdio"]
# Programs lie at the same addresses each time: otherwise teardown-layers takes 40 % more CPU time where it is emulated.
CMDLINE = "console=ttyS0 panic=-1 norandmaps"


def qemu(accelerator, kernel, memory_mib, cmdline, cpus=2):
    """The beginning of a command that runs a kernel; its console is the command's output."""
    return ["qemu-system-x86_64", *MACHINE, *OPTIONS[accelerator], "-smp", str(cpus), "-m", f"{memory_mib}M",
            "-kernel", kernel.image, "-initrd", kernel.initrd, "-append", f"{CMDLINE} {cmdline}"]


def choose(cache, kernel):
    """Return "kvm" or "tcg"."""
    return trial.answer(cache, [Path(__file__).read_text(), package_version("qemu-system-x86"), kernel.image],
                        lambda: "tcg" if kvm_fails(kernel) else "kvm")


def kvm_fails(kernel):
    say("trying whether KVM works")
    problem = "no access to /dev/kvm"
    if os.access("/dev/kvm", os.R_OK | os.W_OK):
        problem = trial.problem(qemu("kvm", kernel, trial.MEMORY_MIB, trial.WORD))
    say(f"no KVM ({problem}): emulating with TCG, which is slow" if problem else "KVM works")
    return bool(problem)
