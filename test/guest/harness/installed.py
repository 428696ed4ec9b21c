# SPDX-License-Identifier: LGPL-2.1-or-later
"""Guests whose root file system is an LV, with an initrd of their own, made by one of the makers in initrd_makers.

They boot as installed machines do: kernel, initrd, the LV, systemd. The disk with the LV is kept from boot to boot, and what the guest
has made of its initrd is what its next boot starts with.
"""

import copy
import os
import shutil
import tempfile
from pathlib import Path

from harness import image, initrd_makers, layout, payload
from harness.cache import made
from harness.disks import MIB, Maker
from harness.machine_qemu import Qemu
from harness.machine_uml import Uml
from harness.progress import command, key_of, need_packages, package_version, say

VOLUME = "system/root"
DEVICE = f"/dev/mapper/{VOLUME.replace('/', '-')}"
DISK_MIB = 1024
# In the initrd there may be an lvm for each disk at once, each with memory that it has locked.
LVM_MIB = 24
CONFIGURATION = {
    "etc/lvm/lvmlocal.conf": 'devices {\n\ttypes = [ "ubd", 16 ]\n}\n',
    "etc/fstab": f"{DEVICE} / ext4 errors=remount-ro 0 1\n",
}
# What a boot leaves to be in the initrd of the next.
LEFT = "in-initrd"
# What of the payload is needed in the initrd.
NEEDED = [f"{payload.HERE}/{name}" for name in ("attach-disks", "initrd-disks", "manifest", "scsi-disks", "settings")]


class InstalledSystem:
    """A disk in the cache, with the initrd that boots it."""

    def __init__(self, folder):
        self.disk = folder / "disk"
        self.initrd = folder / "initrd"


def installed_system(cache, kernel, suite, maker, more_packages):
    """Return the InstalledSystem, from the cache if it was made before.

    maker is the word for who makes its initrd; more_packages are installed beside what every guest has.
    """
    need_packages("mmdebstrap", "e2fsprogs", "lvm2")
    wrapper = payload.compiled_program(cache, payload.INSIDE / "lvm-wrapper.c")
    maker = initrd_makers.MAKERS[maker]
    key = key_of(*image.ingredients(suite), Path(__file__).read_text(), Path(initrd_makers.__file__).read_text(),
                 *(path.read_text() for path in sorted(maker.inside.iterdir())), kernel.modules.relative_to(cache), wrapper,
                 package_version("lvm2"), *more_packages)
    folder = cache / f"system-{maker.name}-{key}"

    def make():
        with tempfile.TemporaryDirectory(dir=cache, prefix="system-") as scratch:
            install(cache, Path(scratch), kernel, wrapper, suite, maker, more_packages)
            os.rename(f"{scratch}/finished", folder)
    return InstalledSystem(made(folder, make))


def install(cache, scratch, kernel, wrapper, suite, maker, more_packages):
    """Make disk and initrd in scratch/finished."""
    tree, finished = scratch / "tree", scratch / "finished"
    image.debootstrap(cache, tree, suite, [*image.packages(suite), *maker.packages, *more_packages])
    say("building the system on LVM: initrd")
    shutil.copytree(kernel.modules, tree / "usr/lib/modules" / kernel.modules.name, symlinks=True)
    command("chroot", tree, "depmod", kernel.modules.name)
    image.furnish(tree)
    initrd_makers.write(tree, CONFIGURATION)
    # The wrapper counts the lvm commands in the initrd, too.
    os.rename(tree / "usr/sbin/lvm", tree / "usr/sbin/lvm.real")
    shutil.copy(wrapper, tree / "usr/sbin/lvm")
    finished.mkdir()
    maker.make(tree, kernel.modules.name, finished / "initrd")
    say("building the system on LVM: disk")
    disk = Maker(scratch, 1, DISK_MIB)
    group, name = VOLUME.split("/")
    disk.run(layout.expand([f"vgcreate {group} d1", f"lvcreate -n {name} -l 90%VG {group}", f"mkfs ext4 {VOLUME} -d {tree}"], 1))
    os.rename(disk.images[0], finished / "disk")


class InstalledQemu(Qemu):
    """A guest in qemu with the root disk of an installed system, and an initrd of its own."""

    def __init__(self, folder, kernel, system, scenario, disk_set):
        super().__init__(folder, copy.copy(kernel), system.disk, scenario, disk_set)
        self.memory += scenario.disks * LVM_MIB
        self.initrd = self.kernel.initrd = system.initrd

    def hand_over(self, report):
        """Take an initrd, or what is to be in it, too."""
        super().hand_over(report)
        self.initrd = own_initrd(self.folder, report) or self.initrd
        self.kernel.initrd = appended_initrd(self.folder, self.initrd, report.folder / LEFT)

    def root_words(self):
        return f"root={DEVICE} ro init=/usr/lib/guest/stage-one"


class InstalledUml(Uml):
    """The same in user-mode Linux, where what is of one boot only is appended to the initrd."""

    def __init__(self, folder, kernel, system, scenario, disk_set):
        super().__init__(folder, kernel, system.disk, scenario, disk_set)
        self.initrd = system.initrd
        self.left = None
        # The initrd is unpacked into memory, and freed late.
        self.memory += scenario.disks * LVM_MIB + 2 * self.initrd.stat().st_size // MIB

    def hand_over(self, report):
        """Take an initrd, or what is to be in it, too."""
        super().hand_over(report)
        self.initrd = own_initrd(self.folder, report) or self.initrd
        self.left = report.folder

    def root_words(self):
        scratch = self.folder / LEFT
        shutil.rmtree(scratch, ignore_errors=True)
        if self.left and (self.left / LEFT).exists():
            shutil.copytree(self.left / LEFT, scratch)
        scratch.mkdir(exist_ok=True)
        command("tar", "-xf", self.folder / "payload.tar", "-C", scratch, *NEEDED)
        if self.left and (self.left / "kept").exists():
            shutil.copy(self.left / "kept", scratch / payload.HERE)
        return [f"initrd={appended_initrd(self.folder, self.initrd, scratch)}", f"root={DEVICE}", "ro"]


def appended_initrd(folder, initrd, files):
    """A copy of an initrd with the files of a folder behind it; without that folder the initrd itself."""
    if not files.exists():
        return initrd
    shutil.copy(initrd, folder / "initrd")
    # The kernel finds another archive behind zeros.
    os.truncate(folder / "initrd", -(-initrd.stat().st_size // 512) * 512)
    command("sh", "-c", 'find . | cpio --quiet -o -H newc -R 0:0 >> "$1"', "sh", folder / "initrd", cwd=files)
    return folder / "initrd"


def own_initrd(folder, report):
    """The initrd that a guest has made, if there is one in its report, which moves to its folder."""
    if not (report.folder / "initrd").exists():
        return None
    os.replace(report.folder / "initrd", folder / "own-initrd")
    return folder / "own-initrd"
