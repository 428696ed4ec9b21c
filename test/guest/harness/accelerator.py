# SPDX-License-Identifier: LGPL-2.1-or-later
"""What qemu runs a guest's instructions with: KVM if it works, else translation by qemu itself (TCG).

That /dev/kvm exists says little: where the host is itself a guest, KVM may start and then stop at some instruction. So
it is tried, with the kernel that is going to run.
"""

import os
import subprocess
from pathlib import Path

from harness.cache import used
from harness.progress import key_of, package_version, say

# How many times longer than in user-mode Linux a guest may take. Under TCG a boot was seen to take 2 to 3 times as long
# with two CPUs of the host to itself; it may have less.
SLOWNESS = {"kvm": 1, "tcg": 5}
# qemu 7.2 cannot set arch-capabilities on some hosts that announce it, and ends.
OPTIONS = {"kvm": ["-accel", "kvm", "-cpu", "host,arch-capabilities=off"],
           # The default CPU: what a newer one can do more is not for free when it is emulated.
           "tcg": ["-accel", "tcg,thread=multi"]}
MACHINE = ["-machine", "q35", "-smp", "2", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
           "-serial", "stdio"]
CMDLINE = "console=ttyS0 panic=-1"
TRIAL_SECONDS = 10
TRIAL_MIB = 256
TRIAL_MARK = b"GUEST: alive"


def qemu(accelerator, kernel, memory_mib, cmdline):
    """The beginning of a command that runs a kernel; its console is the command's output."""
    return ["qemu-system-x86_64", *MACHINE, *OPTIONS[accelerator], "-m", f"{memory_mib}M", "-kernel", kernel.image,
            "-initrd", kernel.initrd, "-append", f"{CMDLINE} {cmdline}"]


def choose(cache, kernel):
    """Return "kvm" or "tcg". The answer is kept until the host is booted again."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    ingredients = Path(__file__).read_text(), boot, package_version("qemu-system-x86"), kernel.image
    answer = cache / f"accelerator-{key_of(*ingredients)}"
    if not answer.exists():
        problem = try_kvm(kernel)
        say(f"no KVM ({problem}): emulating with TCG, which is slow" if problem else "KVM works")
        answer.write_text("tcg" if problem else "kvm")
    return used(answer).read_text()


def try_kvm(kernel):
    """Return why KVM does not work, or nothing if it does."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "no access to /dev/kvm"
    say("trying whether KVM works")
    try:
        tried = subprocess.run(qemu("kvm", kernel, TRIAL_MIB, "guest_trial=1"), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TRIAL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"the trial did not end within {TRIAL_SECONDS} s"
    if tried.returncode != 0 or TRIAL_MARK not in tried.stdout:
        return "the trial failed"
    return None
