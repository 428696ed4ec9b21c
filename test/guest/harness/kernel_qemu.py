# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kernel of guests in qemu: Debian 12's own, in its flavour for virtual machines, with an initrd."""

import os
import shutil
import tempfile
from pathlib import Path

from harness import accelerator
from harness.cache import used
from harness.progress import command, key_of, need_packages, point_release, say

SUITE = "bookworm"
PACKAGE = "linux-image-cloud-amd64"
# What it takes to reach the base image; everything else is loaded from there.
INITRD_MODULES = ["virtio_pci", "virtio_blk", "ext4"]
INIT = Path(__file__).parent.parent / "inside" / "initrd" / "init.c"


class QemuKernel:
    # Set once the kernel has shown what it runs with.
    accelerator = slowness = description = None

    def __init__(self, tree):
        self.image = tree / "vmlinuz"
        self.initrd = tree / "initrd"
        self.modules = next((tree / "lib/modules").iterdir())


def qemu_kernel(cache):
    need_packages("qemu-system-x86")
    tree = cache / f"kernel-qemu-{key_of(Path(__file__).read_text(), INIT.read_text(), point_release(SUITE))}"
    if not tree.exists():
        need_packages("mmdebstrap", "kmod", "cpio", "gcc", "libc6-dev")
        say(f"fetching {PACKAGE} of Debian {SUITE}")
        with tempfile.TemporaryDirectory(dir=cache, prefix="kernel-") as name:
            scratch = Path(name)
            command("mmdebstrap", "--variant=extract", f"--include={PACKAGE}", SUITE, scratch / "all.tar")
            (scratch / "tree").mkdir()
            command("tar", "-xf", scratch / "all.tar", "-C", scratch / "tree", "--wildcards", "./boot/vmlinuz-*",
                    "./lib/modules")
            shutil.move(next(scratch.glob("tree/boot/vmlinuz-*")), scratch / "tree/vmlinuz")
            make_initrd(scratch / "tree", scratch / "initrd")
            os.rename(scratch / "tree", tree)
    kernel = QemuKernel(used(tree))
    kernel.accelerator = accelerator.choose(cache, kernel)
    kernel.slowness = accelerator.SLOWNESS[kernel.accelerator]
    kernel.description = f"qemu ({kernel.accelerator})"
    return kernel


def make_initrd(tree, scratch):
    """Write tree/initrd: our init, and the modules under names that sort in the order of loading."""
    version = next((tree / "lib/modules").iterdir()).name
    command("depmod", "-b", tree, version)
    modules = []
    for name in INITRD_MODULES:
        for line in command("modprobe", "--show-depends", "-d", tree, "-S", version, name).splitlines():
            word, _, path = line.strip().partition(" ")
            if word == "insmod" and path not in modules:
                modules.append(path)
    (scratch / "modules").mkdir(parents=True)
    for number, path in enumerate(modules):
        shutil.copy(path, scratch / "modules" / f"{number:02}-{Path(path).name}")
    command("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-o", scratch / "init", INIT)
    command("sh", "-c", 'find . | cpio --quiet -o -H newc -R 0:0 > "$1"', "sh", tree / "initrd", cwd=scratch)
