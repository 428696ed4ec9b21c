# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kernel of guests in qemu: that of their release of Debian, in its flavour for virtual machines, with an initrd."""

import lzma
import os
import shutil
import tempfile
from pathlib import Path

from harness import accelerator, trial
from harness.cache import made
from harness.progress import command, fetch, key_of, need_packages, point_release, say

PACKAGE = "linux-image-cloud-amd64"
# What it takes to reach the base image; everything else is loaded from there.
INITRD_MODULES = ["virtio_pci", "virtio_blk", "ext4"]


class QemuKernel:
    # Set once the kernel has shown what it runs with.
    accelerator = slowness = description = None

    def __init__(self, tree):
        self.image = tree / "vmlinuz"
        self.initrd = tree / "initrd"
        self.modules = next((tree / "lib/modules").iterdir())


def qemu_kernel(cache, suite):
    """Return the QemuKernel of a release of Debian, from the cache if it was fetched before."""
    need_packages("qemu-system-x86")
    key = key_of(Path(__file__).read_text(), trial.INIT.read_text(), suite, point_release(suite))
    tree = cache / f"kernel-qemu-{key}"

    def make():
        need_packages("mmdebstrap", "kmod")
        say(f"fetching {PACKAGE} of Debian {suite}")
        with tempfile.TemporaryDirectory(dir=cache, prefix="kernel-") as name:
            scratch = Path(name)
            fetch(suite, scratch / "all.tar", "--variant=extract", f"--include={PACKAGE}")
            (scratch / "tree").mkdir()
            wanted = scratch / "wanted"
            wanted.write_text("".join(f"{name}\n" for name in command("tar", "-tf", scratch / "all.tar").splitlines()
                                      if name.startswith("./boot/vmlinuz-") or "/lib/modules/" in name))
            # Since Debian 13 the modules are below /usr in the package, too.
            command("tar", "-xf", scratch / "all.tar", "-C", scratch / "tree", "--no-recursion", "-T", wanted,
                    "--transform", "s,^[.]/usr/,./,")
            shutil.move(image_in(scratch / "tree"), scratch / "tree/vmlinuz")
            make_initrd(scratch / "tree", scratch / "initrd")
            os.rename(scratch / "tree", tree)
    kernel = QemuKernel(made(tree, make))
    kernel.accelerator = accelerator.choose(cache, kernel)
    kernel.slowness = accelerator.SLOWNESS[kernel.accelerator]
    kernel.description = f"qemu ({kernel.accelerator})"
    return kernel


def image_in(tree):
    """The kernel's image. In forky it comes among the modules."""
    return next(path for pattern in ("boot/vmlinuz-*", "lib/modules/*/vmlinuz") for path in tree.glob(pattern))


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
        copy_module(Path(path), scratch / "modules" / f"{number:02}-{Path(path).name.removesuffix('.xz')}")
    trial.make_initrd(tree / "initrd", scratch)


def copy_module(module, copy):
    """Unpacked if need be: since Debian 13 modules are compressed, and our init leaves unpacking to nobody."""
    if module.suffix == ".xz":
        copy.write_bytes(lzma.decompress(module.read_bytes()))
    else:
        shutil.copy(module, copy)
